"""Conditions of the preprocessor inside of declarations and expressions, which no grammar has a place for."""

import re
from dataclasses import dataclass, field
from itertools import pairwise

_LINE = re.compile(rb"^[ \t]*#[ \t]*(if|ifdef|ifndef|el\w+|endif)\b(?:\\\r?\n|[^\n])*", re.MULTILINE)
_NOT_BLANK = re.compile(rb"[^\s]")
_COMMENT = re.compile(rb"//[^\n\"]*\Z|/\*(?:[^*]|\*(?!/))*\*/[ \t\r]*\Z")
# What needs no sign behind it: a call of a macro, or a macro, alone on its line.
_MACRO_LINE = re.compile(rb"[ \t]*[A-Z][A-Z0-9_]{2,}[ \t]*(?:\(.*\))?[ \t\r]*\Z")
_LABEL = re.compile(rb"[ \t]*(?:case\b.*|\w+[ \t]*):[ \t\r]*\Z")
_TEXT = re.compile(rb"//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)+'")
_BEFORE = 400
_CONTENT = 4_000


@dataclass(slots=True)
class _Conditional:
    """An `#if` and the lines of its other branches, and whether it stands inside of something."""

    lines: list[re.Match[bytes]] = field(default_factory=list)
    inside: bool = False


def without_inner_conditions(text: bytes) -> bytes:
    """Blank the conditions inside of a declaration or an expression, and all of their branches but the first.

    Names in a branch that is blanked are still found in the text, where no syntax says what they mean.
    """
    stack: list[_Conditional] = []
    blanked: list[tuple[int, int]] = []
    for line in _LINE.finditer(text):
        word = line[1]
        if word.startswith(b"el"):
            if stack:
                stack[-1].lines.append(line)
            continue
        if word != b"endif":
            inside = (
                _is_cut(text, line.start()) if not _follows_condition(text, line.start(), stack) else stack[-1].inside
            )
            stack.append(_Conditional(lines=[line], inside=inside))
            continue
        if not stack:
            continue
        ended = stack.pop()
        lines = [*ended.lines, line]
        if not (ended.inside or _has_part(text, lines)):
            continue
        if len(lines) > 2 and _is_list(text, lines):
            continue
        blanked.append((lines[0].start(), lines[0].end()))
        # The text from the second branch on.
        blanked.append((lines[1].start(), line.end()))
    if not blanked:
        return text
    changed = bytearray(text)
    for start, end in blanked:
        changed[start:end] = _NOT_BLANK.sub(b" ", text[start:end])
    return bytes(changed)


def _follows_condition(text: bytes, at: int, stack: list[_Conditional]) -> bool:
    """Whether nothing stands between a condition and the one that it is in."""
    return bool(stack) and not text[stack[-1].lines[-1].end() : at].strip()


def _is_cut(text: bytes, at: int) -> bool:
    """Whether the text before a line ends in the middle of something."""
    rows = text[max(0, at - _BEFORE) : at].rstrip().rsplit(b"\n", 1)
    row = _COMMENT.sub(b"", rows[-1].rstrip()).rstrip()
    if not row or row.lstrip()[:2] in (b"/*", b"* ", b"*") or row.lstrip()[:1] == b"#" or row.endswith(b"\\"):
        return False
    if row[-1:] in b";}{" or _MACRO_LINE.match(row) or _LABEL.match(row):
        return False
    return not (len(rows) == 1 and at > _BEFORE)


def _has_part(text: bytes, lines: list[re.Match[bytes]]) -> bool:
    """Whether the first branch begins or ends in the middle of something."""
    start, end = lines[0].end(), lines[1].start()
    content = text[start:end].strip() if end - start <= _CONTENT else b""
    if not content:
        return False
    if content[:1] in b",)&|?" or (content[:1] == b":" and content[:2] != b"::"):
        return True
    if content.count(b"{") != content.count(b"}"):
        bare = _TEXT.sub(b"", content)
        if bare.count(b"{") != bare.count(b"}"):
            return True
    return _is_cut(text, end) and not content.startswith(b"#")


def _is_list(text: bytes, lines: list[re.Match[bytes]]) -> bool:
    """Whether all branches are whole items of a list, which the grammar knows in some places."""
    return all(text[before.end() : after.start()].rstrip()[-1:] == b"," for before, after in pairwise(lines))
