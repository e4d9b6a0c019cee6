"""Needles: texts that every match of a regular expression must contain, and a search for the nearest."""

import re

from codeplane.query.search.memmem import Content, find

_LEAST = 3
_MAX_BRANCHES = 6
_PLAIN = frozenset("_ -/:=,;<>'\"@#%&!~`")
# Escapes that take more characters along, and groups that set flags.
_UNREAD = re.compile(r"\\[xpPQ0-9]|\(\?(?!:)")
_SAMPLES = 4
_SAMPLE = 128 * 1024


class Needles:
    """The rarest required text of each alternative."""

    def __init__(self, alternatives: tuple[tuple[bytes, ...], ...]) -> None:
        self._alternatives = alternatives
        self._content: Content = b""
        self._needles: tuple[bytes, ...] = ()
        # Of each text what is known: from where to where it was looked for, and where it is first.
        self._known: list[tuple[int, int, int]] = []

    def find_nearest(self, content: Content, start: int, end: int) -> int:
        """The offset of the nearest text, or -1."""
        if content is not self._content:
            self._content = content
            self._needles = tuple(_rarest(content, texts) for texts in self._alternatives)
            self._known = [(0, 0, -1)] * len(self._needles)
        best = -1
        for index, needle in enumerate(self._needles):
            first, ended, at = self._known[index]
            if not (first <= start and (start <= at or (at < 0 and end <= ended))):
                at = find(content, needle, start, end)
                self._known[index] = (start, end, at)
            if at >= 0 and at + len(needle) <= end and (best < 0 or at < best):
                best = at
        return best


def _rarest(content: Content, texts: tuple[bytes, ...]) -> bytes:
    if len(texts) == 1:
        return texts[0]
    step = max(len(content) // _SAMPLES, _SAMPLE)
    samples = [bytes(content[at : at + _SAMPLE]) for at in range(step // 2, len(content), step)]
    return min(texts, key=lambda text: (sum(sample.count(text) for sample in samples), -len(text)))


def _after_class(expression: str, at: int) -> int:
    """The end of a character class, honouring escapes and named classes."""
    at += 2 if expression[at + 1 : at + 2] == "^" else 1
    first = at
    while at < len(expression):
        if expression[at] == "\\":
            at += 2
        elif expression.startswith("[:", at) and ":]" in expression[at:]:
            at = expression.index(":]", at) + 2
        elif expression[at] == "]" and at > first:
            return at + 1
        else:
            at += 1
    return at


def required_texts(expression: str) -> tuple[tuple[bytes, ...], ...]:
    """The required texts of each alternative; empty if they cannot be determined."""
    if not expression.isascii() or _UNREAD.search(expression):
        return ()
    branches, run, depth, at = [[""]], "", 0, 0
    while at < len(expression):
        char, following = expression[at], at + 1
        literal = char if char.isalnum() or char in _PLAIN else ""
        if char == "\\":
            escaped = expression[at + 1 : at + 2]
            literal, following = "" if escaped.isalnum() else escaped, at + 2
        elif char == "[":
            following = _after_class(expression, at)
        elif char in "?*{":
            # What stands before it need not be there.
            run = run[:-1]
            following = (expression.find("}", at) + 1 or len(expression)) if char == "{" else following
        depth += (char == "(") - (char == ")")
        if literal and not depth:
            run += literal
        else:
            branches[-1].append(run)
            run = ""
        if char == "|" and not depth:
            branches.append([])
        at = following
    branches[-1].append(run)
    texts = tuple(tuple(dict.fromkeys(text.encode() for text in runs if len(text) >= _LEAST)) for runs in branches)
    return texts if all(texts) and len(texts) <= _MAX_BRANCHES else ()
