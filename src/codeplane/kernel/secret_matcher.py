"""Finds known secrets in data, in any of the forms that programs write them in."""

import base64
import html
import json
import re
import shlex
from bisect import bisect, bisect_left
from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import quote, quote_plus

from codeplane.kernel.secret_values import PASSPHRASE, SHORTEST

if TYPE_CHECKING:
    from re import Pattern

# What a long secret is found by.
_HEAD = 64
# The shortest part of one that is left out where an ellipsis says that text was cut, and how far its end is looked for.
_PART = 6
_FARTHEST = 256
# As we mark a cut, also escaped as JSON, and as other programs do.
_MARKS = ("…".encode(), rb"\u2026", b"...")
_CUT = re.compile("…".encode() + rb"|\\u2026|\.{3,}")
_PATTERN_BYTES = 65_536

Spans = list[tuple[int, int]]


class SecretMatcher:
    """Finds known secrets in bytes: as they are, and as programs write them (`_forms`).

    A long one is found by how it begins, and reaches as far as the data agrees with it; one that text was cut in, by
    what is left of it there. Patterns are of bounded size, so that they can be compiled whatever the secrets are.
    """

    def __init__(self, values: Iterable[str]) -> None:
        forms = {form for value in values for form in _forms(value)}
        self._forms = sorted(forms)
        self._reversed = sorted(form[::-1] for form in forms)
        self._starts = {form[:_PART] for form in forms}
        self._ends = {form[-_PART:] for form in forms}
        self._long = [form for form in self._forms if len(form) > _HEAD]
        self.longest = max(map(len, forms), default=0)
        # The longest first: a secret that begins with another one must not leave its end behind.
        heads = sorted({form[:_HEAD] for form in forms}, key=lambda head: (-len(head), head))
        self._patterns = [pattern for some in _parts(heads) for pattern in _compile(some)]
        # Whatever holds a secret, or ends in one, holds one of these.
        self._hints = [
            pattern for some in _parts(sorted({head[:SHORTEST] for head in heads})) for pattern in _compile(some)
        ]

    def finds(self, data: bytes) -> bool:
        """Whether any of them may be there; there is none where it says no."""
        if any(hint.search(data) for hint in self._hints):
            return True
        if any(mark in data for mark in _MARKS) and self._cut(data):
            return True
        if any(self._find_wrapped(data, *lines) for lines in _wrapped_lines(data)):
            return True
        return any(self._find_hexadecimal(data, *run) for run in _coded_letters(data))

    def spans(self, data: bytes) -> Spans:
        """Their spans, whole or cut, in order."""
        found = self._find_plain(data)
        for lines in _wrapped_lines(data):
            found += self._find_wrapped(data, *lines)
        for run in _coded_letters(data):
            found += self._find_hexadecimal(data, *run)
        found += self._cut(data)
        return merge_spans(found)

    def open_start(self, data: bytes) -> int:
        """The offset at which the data may begin one of them without ending it; its length if there is none."""
        start = len(data)
        for at in range(max(0, len(data) - self.longest), len(data)):
            # Of a long tail the first bytes tell, and most have others.
            if len(data) - at >= _PART and data[at : at + _PART] not in self._starts:
                continue
            found = bisect_left(self._forms, data[at:])
            if found < len(self._forms) and self._forms[found].startswith(data[at:]):
                start = at
                break
        # Broken into lines, or written letter by letter, one takes at most so much more.
        for pattern, factor in ((_OPEN_LINES, 2), (_OPEN_LETTERS, 12)):
            first = max(0, len(data) - factor * self.longest)
            if (match := _pattern(pattern).search(data, first)) is not None:
                start = min(start, match.start())
        return start

    def _find_plain(self, data: bytes) -> Spans:
        found: Spans = []
        for pattern in self._patterns:
            end = 0
            while (match := pattern.search(data, end)) is not None:
                start, stop = match.span()
                end = stop if stop - start < _HEAD else start + self._reach(data[start : start + self.longest])
                found.append((start, end))
        return found

    def _reach(self, data: bytes) -> int:
        """The length up to which the data agrees with a long secret."""
        at = bisect(self._long, data)
        return max(_HEAD, 0, *(_common_length(data, form) for form in self._long[max(at - 1, 0) : at + 1]))

    def _find_wrapped(self, data: bytes, start: int, stop: int) -> Spans:
        """Find them in base64 or hexadecimal that is wrapped into lines."""
        if not (found := self._find_plain(_LINE_END.sub(b"", data[start:stop]))):
            return []
        places: list[int] = []
        for line_end in _LINE_END.finditer(data, start, stop):
            places += range(start, line_end.start())
            start = line_end.end()
        places += range(start, stop)
        return [(places[first], places[last - 1] + 1) for first, last in found]

    def _find_hexadecimal(self, data: bytes, start: int, stop: int) -> Spans:
        """Find them in text written byte by byte in hexadecimal."""
        if data[start:stop].isalnum():
            # One of the forms is found in it, or none.
            return []
        letters = bytes.fromhex(b"".join(_PAIR.findall(data, start, stop)).decode())
        if not (found := self._find_plain(letters)):
            return []
        pairs = list(_PAIR.finditer(data, start, stop))
        return [(pairs[first].start(), pairs[last - 1].end()) for first, last in found]

    def _cut(self, data: bytes) -> Spans:
        """Find parts of them where text was cut: at its end, and on both sides of an ellipsis."""
        found: Spans = []
        ends = [len(data)]
        for mark in _CUT.finditer(data):
            ends.append(mark.start())
            if size := self._tail_of_one(data[mark.end() : mark.end() + _FARTHEST]):
                found.append((mark.end(), mark.end() + size))
        for end in ends:
            shortest = SHORTEST if end == len(data) else _PART
            if size := self._head_of_one(data[max(0, end - _HEAD) : end], shortest):
                found.append((end - size, end))
        return found

    def _head_of_one(self, data: bytes, shortest: int) -> int:
        """The length of its longest suffix that is a prefix of a secret."""
        for size in range(len(data), shortest - 1, -1):
            at = len(data) - size
            if data[at : at + _PART] in self._starts and _is_part(self._forms, data[at:]):
                return size
        return 0

    def _tail_of_one(self, data: bytes) -> int:
        """The length of its longest prefix that is a suffix of a secret."""
        for size in range(len(data), _PART - 1, -1):
            if data[size - _PART : size] in self._ends and _is_part(self._reversed, data[size - 1 :: -1]):
                return size
        return 0


def merge_spans(spans: Spans) -> Spans:
    """The same places in order, those that overlap as one."""
    found: Spans = []
    for start, stop in sorted(spans):
        if found and start < found[-1][1]:
            found[-1] = found[-1][0], max(stop, found[-1][1])
        elif start < stop:
            found.append((start, stop))
    return found


def splice(data: bytes, spans: Spans, mark: bytes, begin: int = 0, end: int | None = None) -> bytes:
    """The data from `begin` to `end` with a mark in the place of each span, also of one that is only partly in it."""
    parts: list[bytes] = []
    at, end = begin, len(data) if end is None else end
    for start, stop in spans:
        if stop > at and start < end:
            parts += (data[at : max(start, at)], mark)
            at = stop
    return b"".join([*parts, data[at:end]])


def _is_telling(part: bytes) -> bool:
    """Whether a part of a secret says something of it: words that others say too do not."""
    words = re.split(rb"[-_./:@,;= \t]+", part)
    return len(part) >= PASSPHRASE or not all(
        word.isalpha() or (word.isdigit() and len(word) <= 4) or not word for word in words
    )


def _is_part(forms: list[bytes], part: bytes) -> bool:
    """Whether one of the forms begins with a part that tells of it."""
    at = bisect_left(forms, part)
    return at < len(forms) and forms[at].startswith(part) and _is_telling(part)


# Lines of base64 or hexadecimal of some width, in text or in JSON.
_LINE_END = re.compile(rb"\r?\n|(?:\\r)?\\n")
_LINES = rb"(?:[A-Za-z0-9+/_-]{8,}(?:\r?\n|(?:\\r)?\\n))+[A-Za-z0-9+/_=-]+"
# Letters in hexadecimal: \x68, \u0068, %68, 0x68, &#x68; or 68, together or apart, in lines that `od` may have counted.
_MARK = rb"(?:\\+x|\\+u00|%|0[xX]|&#x)?"
_PAIR = re.compile(rb"(?:(?:(?<=\n)|(?<=\\n))[0-7]{7} +)?" + _MARK + rb"([0-9A-Fa-f]{2})")
_BETWEEN = rb";?[ \t,:-]*(?:(?:\r?\n|(?:\\r)?\\n)(?:[0-7]{7} +)?[ \t]*)?"
_LETTERS = rb"(?:" + _MARK + rb"[0-9A-Fa-f]{2}" + _BETWEEN + rb"){8,}"

# The same, going on to the end of the data.
_OPEN_LINES = rb"(?:[A-Za-z0-9+/_-]{8,}(?:\r?\n|(?:\\r)?\\n))+[A-Za-z0-9+/_=-]*\z"
_OPEN_LETTERS = rb"(?:" + _MARK + rb"[0-9A-Fa-f]{2}" + _BETWEEN + rb")+[\\\\uxX%&#0-9A-Fa-f]{0,8}\z"


def _wrapped_lines(data: bytes) -> Iterator[tuple[int, int]]:
    return (found.span() for found in _pattern(_LINES).finditer(data))


def _coded_letters(data: bytes) -> Iterator[tuple[int, int]]:
    return (found.span() for found in _pattern(_LETTERS).finditer(data))


@cache
def _pattern(pattern: bytes) -> "Pattern[bytes]":
    return next(_compile([pattern], is_literal=False))


def _common_length(left: bytes, other: bytes) -> int:
    """The length of the common prefix of two."""
    pairs = enumerate(zip(left, other, strict=False))
    return next((at for at, (left, right) in pairs if left != right), min(len(left), len(other)))


def _forms(value: str) -> Iterator[bytes]:
    """A secret as it is, escaped for JSON, an address, a shell, source code or HTML, in base64 and in hexadecimal."""
    raw = value.encode("utf-8", "surrogatepass")
    for text in dict.fromkeys(_escape(value)):
        if len(text) >= SHORTEST:
            yield text.encode("utf-8", "surrogatepass")
    yield raw.hex().encode()
    yield raw.hex().upper().encode()
    # What the base64 of a longer text has of it, wherever in that text it begins.
    for offset, unsure in ((0, 0), (1, 2), (2, 3)):
        encoded = base64.b64encode(b"\0" * offset + raw).rstrip(b"=")
        sure = encoded[unsure : -1 if (offset + len(raw)) % 3 else None]
        if len(sure) >= SHORTEST:
            yield sure
            yield sure.replace(b"+", b"-").replace(b"/", b"_")


def _escape(value: str) -> Iterator[str]:
    yield value
    for as_ascii in (False, True):
        escaped = json.dumps(value, ensure_ascii=as_ascii)[1:-1]
        yield escaped
        yield json.dumps(escaped, ensure_ascii=as_ascii)[1:-1]
        # As PHP and Go write it.
        yield escaped.replace("/", "\\/")
        yield re.sub("[<>&]", lambda sign: f"\\u{ord(sign[0]):04x}", escaped)
    for safe in ("", "/"):
        quoted = quote(value, safe=safe, errors="surrogatepass")
        yield quoted
        yield re.sub("%..", lambda code: code[0].lower(), quoted)
    yield quote_plus(value, errors="surrogatepass")
    yield html.escape(value)
    yield html.escape(value, quote=False)
    yield html.escape(value).replace("&#x27;", "&#39;").replace("&quot;", "&#34;")
    if "'" in value:
        yield shlex.quote(value)[1:-1]
        yield value.replace("'", "'\\''")
    # As bash's %q writes it, between double quotes, and as Python's repr does.
    yield re.sub(r"([^\w@%+=:,./-])", r"\\\1", value, flags=re.ASCII)
    yield re.sub(r'([$`"\\])', r"\\\1", value)
    yield repr(value)[1:-1]


def _parts(heads: list[bytes]) -> Iterator[list[bytes]]:
    """The heads, in lists of a size that a pattern can hold."""
    part: list[bytes] = []
    size = 0
    for head in heads:
        if part and size + len(head) > _PATTERN_BYTES:
            yield part
            part, size = [], 0
        part.append(head)
        size += len(head)
    if part:
        yield part


def _compile(heads: list[bytes], *, is_literal: bool = True) -> "Iterator[Pattern[bytes]]":
    import re2  # type: ignore[import-untyped]  # the package ships no types

    options = re2.Options()
    options.log_errors = False
    options.encoding = re2.Options.Encoding.LATIN1
    options.max_mem = 64 * 1024 * 1024
    try:
        pattern: Pattern[bytes] = re2.compile(b"|".join(map(re2.escape, heads) if is_literal else heads), options)
    except re2.error:
        if len(heads) == 1:
            raise
        half = len(heads) // 2
        yield from _compile(heads[:half])
        yield from _compile(heads[half:])
    else:
        yield pattern
