"""A file's text as callers see it, with `\\n` alone, and back into bytes as the file has them."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from codeplane.edit.hunks import hunks, lines_of
from codeplane.index.files.encoding import LATIN, decode, encode, mark_of
from codeplane.kernel.errors import InvalidArgument, NotText


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A stretch of the plain text that another text takes the place of."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, kw_only=True)
class Text:
    """The text of a file: `raw` with its line ends, and what it is encoded in."""

    raw: str
    encoding: str = "utf-8"
    mark: bytes = b""

    @classmethod
    def of(cls, content: bytes, path: str) -> "Text":
        """The text of a file's bytes; NotText when it is none."""
        text, encoding = decode(content)
        if "\0" in text:
            raise NotText(f"{path} is binary")
        return cls(raw=text, encoding=encoding, mark=mark_of(content, encoding))

    @cached_property
    def plain(self) -> str:
        """The text with every `\\r\\n` as `\\n`."""
        return self.raw.replace("\r\n", "\n")

    @property
    def line_ending(self) -> Literal["LF", "CRLF"]:
        """What most of its lines end with."""
        pairs = self.raw.count("\r\n")
        return "CRLF" if pairs * 2 > self.raw.count("\n") else "LF"

    def replaced(self, spans: Sequence[Span]) -> "Text":
        """With the stretches replaced, which do not overlap; nothing else changes, and line ends are the file's."""
        pieces: list[str] = []
        done = 0
        looked, before = 0, -1
        for span in sorted(spans, key=lambda span: (span.start, span.end)):
            start, end = self._place(span.start), self._place(span.end)
            # Only what lies between two stretches is looked through, so that many on one long line stay cheap.
            if (newline := self.raw.rfind("\n", looked, start)) >= 0:
                before = newline
            looked = start
            pieces += (self.raw[done:start], self._ended(span.text, before))
            done = end
        pieces.append(self.raw[done:])
        return Text(raw="".join(pieces), encoding=self.encoding, mark=self.mark)

    def rewritten(self, content: str) -> "Text":
        """With a whole new content: lines that stay keep their ends, new ones get the file's."""
        if "\r\n" in content:
            return Text(raw=content, encoding=self.encoding, mark=self.mark)
        old, new = lines_of(self.plain), lines_of(content)
        starts = [0]
        for line in old:
            starts.append(starts[-1] + len(line))
        spans = [
            Span(start=starts[hunk.start], end=starts[hunk.end], text="".join(new[hunk.new_start : hunk.new_end]))
            for hunk in hunks(old, new)
        ]
        return self.replaced(spans)

    def encoded(self, path: str) -> bytes:
        """The bytes; NotText when the file's encoding lacks a character."""
        try:
            return encode(self.raw, self.encoding, mark=self.mark)
        except UnicodeEncodeError as error:
            lacking = self.raw[error.start : error.start + 1]
            if self.encoding != LATIN:
                raise InvalidArgument(f"{path}: {lacking!r} is no character that a file can hold") from error
            raise NotText(
                f"{path} is not UTF-8 and is edited byte by byte; {lacking!r} cannot be written into it",
                hint="use characters up to U+00FF, or delete the file and create it anew as UTF-8",
            ) from error

    @cached_property
    def _pairs(self) -> list[int]:
        """Where in the plain text the newlines are that stand for two characters."""
        found, at, seen = [], self.raw.find("\r\n"), 0
        while at >= 0:
            found.append(at - seen)
            seen += 1
            at = self.raw.find("\r\n", at + 2)
        return found

    def _place(self, plain: int) -> int:
        return plain + bisect_left(self._pairs, plain)

    @cached_property
    def _first_newline(self) -> int:
        return self.raw.find("\n")

    def _ended(self, text: str, before: int) -> str:
        """A text with the line ends that the file has there: that of the newline before, or of the first."""
        text = text.replace("\r\n", "\n")
        if "\n" not in text or not self._pairs:
            return text
        end = before if before >= 0 else self._first_newline
        return text.replace("\n", "\r\n") if self.raw[end - 1 : end] == "\r" else text
