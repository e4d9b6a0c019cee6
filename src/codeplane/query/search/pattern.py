"""Search patterns: literal text, or a linear-time regular expression."""

import re
from typing import Protocol

import re2  # type: ignore[import-untyped]  # the package ships no types

from codeplane.kernel.errors import InvalidArgument
from codeplane.query.search.memmem import Content, find
from codeplane.query.search.regex_syntax import is_word, translate
from codeplane.query.search.required_texts import Needles, required_texts

MAX_PATTERN = 4096
_MAX_IDLE = 2_000
_MAX_MEMORY = 64 * 1024 * 1024
_LOOKS_LIKE_REGEX = re.compile(r"\\[wsdbWSDB(.\[{*+?|^$]|\.[*+?]|[\])][*+?{]|^\^|\$$|\(\?|\w\|\w|\[[^\]]+\]")


class Pattern(Protocol):
    """Finds its next match in a range of content."""

    def find(self, content: Content, start: int, end: int) -> tuple[int, int] | None:
        """The start and end of the next match, or None."""
        ...


class Literal:
    """Literal text."""

    def __init__(self, text: str) -> None:
        if len(text) > MAX_PATTERN:
            raise InvalidArgument(
                f"the text has {len(text)} characters, {MAX_PATTERN} are possible", hint="mode=ranked takes longer ones"
            )
        self._needle = text.encode("utf-8", "surrogateescape")
        if not self._needle:
            raise InvalidArgument("query is empty", hint="say what to look for")

    def find(self, content: Content, start: int, end: int) -> tuple[int, int] | None:
        """Find the next occurrence."""
        at = find(content, self._needle, start, end)
        return None if at < 0 else (at, at + len(self._needle))


class Regex:
    """An RE2 regular expression, matched within lines in linear time."""

    def __init__(self, text: str, *, ignore_case: bool = False) -> None:
        if not text:
            raise InvalidArgument("query is empty", hint="say what to look for")
        options = re2.Options()
        # As grep does it: a match never reaches over the end of a line.
        options.never_nl = True
        options.never_capture = True
        options.case_sensitive = not ignore_case
        options.max_mem = _MAX_MEMORY
        options.log_errors = False
        if len(text) > MAX_PATTERN:
            raise InvalidArgument(
                f"the expression has {len(text)} characters, {MAX_PATTERN} are possible", hint="mode=ranked takes texts"
            )
        translated = translate(text, ignore_case=ignore_case)
        self._beside = translated.beside
        source = translated.source.encode("utf-8", "surrogateescape")
        # Bytes are matched faster than characters.
        encoding = re2.Options.Encoding
        options.encoding = encoding.UTF8 if translated.is_unicode else encoding.LATIN1
        try:
            self._compiled = re2.compile(b"(?m)" + source, options)
        except re2.error as error:
            reason = error.args[0] if error.args else ""
            message = (reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)).replace(
                "(?m)", ""
            )
            raise InvalidArgument(
                f"this regular expression is not supported: {message}",
                hint="RE2 syntax: no look-around, no back-references; use mode=literal for text as it stands",
            ) from error

        if all(self._compiled.search(sample) is not None for sample in (b"", b"a", b"0 ", b"\x01")):
            raise InvalidArgument("every line matches this regular expression", hint="read_files reads whole files")
        # A text that every match holds is found faster than the expression, and decides which lines are looked at.
        needles = () if ignore_case else required_texts(text)
        self._needles = Needles(needles) if needles else None
        self._idle = 0

    def find(self, content: Content, start: int, end: int) -> tuple[int, int] | None:
        """Find the next match, which may be empty."""
        needles = self._needles
        while needles is not None and self._idle < _MAX_IDLE:
            at = needles.find_nearest(content, start, end)
            if at < 0:
                return None
            first = max(content.rfind(b"\n", start, at) + 1, start)
            last = content.find(b"\n", at, end)
            last = end if last < 0 else last
            match = self._search(content, first, last)
            if match is not None:
                return match
            # A text that is everywhere and a match that is nowhere: then one sweep is faster.
            self._idle += 1
            start = last + 1
            if start >= end:
                return None
        return self._search(content, start, end)

    def _search(self, content: Content, start: int, end: int) -> tuple[int, int] | None:
        """The next match that does not continue a word where the expression asks for the end of one."""
        while (match := self._compiled.search(content, start, end)) is not None:
            first, last = match.start(), match.end()
            if not (self._beside[0] and _follows_word(content, first)) and not (
                self._beside[1] and _precedes_word(content, last)
            ):
                return first, last
            start = first + 1
        return None


def _follows_word(content: Content, at: int) -> bool:
    """Whether a letter outside of ASCII stands before a place; RE2 knows the others."""
    if at == 0 or content[at - 1] < 0x80:
        return False
    before = bytes(content[max(at - 4, 0) : at]).decode("utf-8", "ignore")
    return is_word(before[-1:])


def _precedes_word(content: Content, at: int) -> bool:
    """Whether a letter outside of ASCII stands behind a place."""
    if at >= len(content) or content[at] < 0x80:
        return False
    behind = bytes(content[at : at + 4]).decode("utf-8", "ignore")
    return is_word(behind[:1])


def looks_like_regex(query: str) -> bool:
    """Whether a query looks like a regular expression."""
    return bool(_LOOKS_LIKE_REGEX.search(query))


def literal_ignoring_case(text: str) -> Regex:
    """A case-insensitive literal."""
    return Regex(re2.escape(text), ignore_case=True)
