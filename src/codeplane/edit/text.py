"""The text of a file as callers see it, with `\\n` line ends, and its encoding back into bytes."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from codeplane.edit.line_diff import diff_lines, split_lines
from codeplane.index.files.encoding import LATIN, decode, encode, mark_of
from codeplane.kernel.errors import InvalidArgument, NotText


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A stretch of the plain text and the text that replaces it."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, kw_only=True)
class Text:
    """The text of a file: `raw` with its own line ends, and its encoding."""

    raw: str
    encoding: str = "utf-8"
    mark: bytes = b""

    @classmethod
    def of(cls, content: bytes, path: str) -> "Text":
        """Decode the bytes of a file; NotText when they are binary."""
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
        """The line ending of most lines."""
        pairs = self.raw.count("\r\n")
        return "CRLF" if pairs * 2 > self.raw.count("\n") else "LF"

    def replace_spans(self, spans: Sequence[Span]) -> "Text":
        """Return a copy with spans replaced, which must not overlap; new text gets the line ends of the file."""
        pieces: list[str] = []
        done = 0
        looked, before = 0, -1
        for span in sorted(spans, key=lambda span: (span.start, span.end)):
            start, end = self._raw_offset(span.start), self._raw_offset(span.end)
            # Search only between two spans, so that many on one long line stay cheap.
            if (newline := self.raw.rfind("\n", looked, start)) >= 0:
                before = newline
            looked = start
            pieces += (self.raw[done:start], self._with_line_ends(span.text, before))
            done = end
        pieces.append(self.raw[done:])
        return Text(raw="".join(pieces), encoding=self.encoding, mark=self.mark)

    def rewrite(self, content: str) -> "Text":
        """Return a copy with new content: unchanged lines keep their ends, new ones get those of the file."""
        if "\r\n" in content or "\r\n" not in self.raw:
            return Text(raw=content, encoding=self.encoding, mark=self.mark)
        old, new = split_lines(self.plain), split_lines(content)
        starts = [0]
        for line in old:
            starts.append(starts[-1] + len(line))
        spans = [
            Span(start=starts[hunk.start], end=starts[hunk.end], text="".join(new[hunk.new_start : hunk.new_end]))
            for hunk in diff_lines(old, new)
        ]
        return self.replace_spans(spans)

    def encode(self, path: str) -> bytes:
        """Encode the text; NotText when the file's encoding lacks a character."""
        try:
            return encode(self.raw, self.encoding, mark=self.mark)
        except UnicodeEncodeError as error:
            lacking = self.raw[error.start : error.start + 1]
            if self.encoding != LATIN:
                raise InvalidArgument(f"{path}: {lacking!r} is no character that a file can hold") from error
            raise NotText(
                f"{path} is not UTF-8 and is edited byte by byte; {lacking!r} cannot be written into it",
                hint="use characters up to U+00FF, or delete the file and create it again as UTF-8",
            ) from error

    @cached_property
    def _pairs(self) -> list[int]:
        """The offsets in the plain text of newlines that are `\\r\\n` in the file."""
        offsets, at, seen = [], self.raw.find("\r\n"), 0
        while at >= 0:
            offsets.append(at - seen)
            seen += 1
            at = self.raw.find("\r\n", at + 2)
        return offsets

    def _raw_offset(self, plain: int) -> int:
        return plain + bisect_left(self._pairs, plain)

    @cached_property
    def _first_newline(self) -> int:
        return self.raw.find("\n")

    def _with_line_ends(self, text: str, before: int) -> str:
        """Give a text the line ends of the newline before it, or of the first in the file."""
        text = text.replace("\r\n", "\n")
        if "\n" not in text or not self._pairs:
            return text
        end = before if before >= 0 else self._first_newline
        return text.replace("\n", "\r\n") if self.raw[end - 1 : end] == "\r" else text
