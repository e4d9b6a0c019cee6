"""Comments and docstrings of a source file."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from codeplane.code.languages.comment_syntax import CommentSyntax
from codeplane.code.languages.registry import LANGUAGES
from codeplane.code.model import Definition, Facts

# Characters right before a piece of a string or of text between tags, and hardly ever before a comment.
_BEFORE_TEXT = b"\"'`}>"
_STARS = re.compile(r"(?m)^[ \t]*(?:\*(?!/)|//+[!/]?|#+:?|--+)|/\*+!?|\*+/")
_WITH_BODY = frozenset({"class", "function", "method"})
_QUOTED = re.compile(rb"(?i)[rub]{0,2}(\"\"\"|'''|\"|')")


@dataclass(frozen=True, kw_only=True)
class Comment:
    """A comment or docstring of a source file."""

    start: int
    end: int
    raw: bytes
    is_docstring: bool

    @cached_property
    def text(self) -> str:
        """Its text, one character per byte, with blanks in place of comment marks."""
        text = self.raw.decode("latin-1")
        return text if self.is_docstring else _STARS.sub(lambda match: " " * len(match[0]), text)


def find_comments(facts: Facts, text: bytes, name: bytes) -> Iterator[Comment]:
    """Yield the comments that contain a name, and in Python the docstrings, in the order of the file."""
    texts = facts.texts
    language = LANGUAGES[facts.language]
    spans = _Spans(language.comments, text, texts.tolist())
    done, at = -1, text.find(name)
    while at >= 0:
        index = int(texts[:, 0].searchsorted(at, side="right")) - 1 if len(texts) else -1
        start, end = spans.all[index] if index >= 0 else (0, 0)
        if index > done and at < end:
            done = index
            if spans.is_comment(index):
                first, done = spans.around(index)
                start, end = spans.all[first][0], spans.all[done][1]
                yield Comment(start=start, end=end, raw=text[start:end], is_docstring=False)
            elif language.docstrings and _is_docstring(facts, text, start, dict(spans.all)):
                yield Comment(start=start, end=end, raw=text[start:end], is_docstring=True)
        at = text.find(name, at + 1 if at >= end else max(at + 1, end))


class _Spans:
    """The strings and comments of a file, and which comments belong together."""

    def __init__(self, syntax: CommentSyntax, text: bytes, spans: list[tuple[int, int]]) -> None:
        self.all = [(start, end) for start, end in spans]
        self._syntax, self._text = syntax, text

    def is_comment(self, index: int) -> bool:
        """Whether a span is a comment."""
        return _is_comment(self._syntax, self._text, *self.all[index])

    def around(self, index: int) -> tuple[int, int]:
        """Return the first and last of the comments that this one is a line of."""
        first = last = index
        while first and self._continues(first - 1):
            first -= 1
        while last + 1 < len(self.all) and self._continues(last):
            last += 1
        return first, last

    def _continues(self, index: int) -> bool:
        end, start = self.all[index][1], self.all[index + 1][0]
        between = self._text[max(end - 1, 0) : start]
        blank = not between[1:].strip() and between.count(b"\n") <= 1
        return blank and self.is_comment(index) and self.is_comment(index + 1)


def _is_comment(syntax: CommentSyntax, text: bytes, start: int, end: int) -> bool:
    if start and text[start - 1] in _BEFORE_TEXT:
        return False
    stripped = text[start:end].strip()
    if any(
        stripped.startswith(opens) and stripped.find(closes, len(opens)) == len(stripped) - len(closes)
        for opens, closes in syntax.blocks
    ):
        return True
    return any(all(line.lstrip().startswith(opens) for line in stripped.split(b"\n")) for opens in syntax.lines)


def _is_docstring(facts: Facts, text: bytes, start: int, ends: dict[int, int]) -> bool:
    """Whether a string is the first statement of the module, or of the class or function around it."""
    if not _QUOTED.match(text, start):
        return False
    around = [
        definition
        for definition in facts.definitions
        if definition.start < start < definition.end and definition.kind in _WITH_BODY
    ]
    if not around:
        return _next(text, ends, 3 if text.startswith(b"\xef\xbb\xbf") else 0) == start
    return _next(text, ends, _colon(text, ends, around[-1]) + 1) == start


def _colon(text: bytes, ends: dict[int, int], definition: Definition) -> int:
    """Return the offset of the colon that ends a definition's head."""
    at, depth = definition.name_at, 0
    while at < definition.end:
        if at in ends:
            at = ends[at]
            continue
        char = text[at : at + 1]
        if char in (b"(", b"[", b"{"):
            depth += 1
        elif char in (b")", b"]", b"}"):
            depth -= 1
        elif char == b":" and not depth:
            return at
        at += 1
    return definition.end


def _next(text: bytes, ends: dict[int, int], at: int) -> int:
    """Return where the next token begins, after blanks and comments."""
    while at < len(text):
        if text[at : at + 1] in (b" ", b"\t", b"\r", b"\n", b"\f", b"\\"):
            at += 1
        elif text[at : at + 1] == b"#":
            at = max(ends.get(at, at), at + 1)
        else:
            return at
    return at
