"""The best line of a file for a query: a definition or passage rather than an import."""

import re
from bisect import insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from codeplane.query.search.memmem import Find, make_finder

# What a line is. One that opens a definition says more than one that uses it; one that only brings names in, or a
# banner, says nothing.
_LINE = re.compile(
    rb"[ \t]*(?:"
    rb"(?P<comment>//|/?\*|#(?![ \t]*(?:define|if|include)\b|\[)|--[ \t]|<!--|;;)"
    rb"|(?P<hollow>import\b|from\b[^\n]*\bimport\b|(?:pub[ \t]+)?use[ \t]+[\w:{]|#[ \t]*include\b|package\b"
    rb"|using[ \t]+\w|export[ \t]+(?:type[ \t]+)?[{*]|\}?[ \t]*from[ \t]+['\"]"
    rb"|(?:const|let|var)\b[^\n]*\brequire\(|require(?:_relative)?\b|mod[ \t]+\w+;)"
    rb"|(?P<opens>(?:(?:async|export|default|public|private|protected|internal|static|final|abstract"
    rb"|pub(?:\([^)]*\))?|unsafe|override|inline|extern|const(?=[ \t]+fn))[ \t]+)*"
    rb"(?:(?:def|class|function\*?|func|fn|interface|struct|type|enum|trait|impl|record|object|module|namespace"
    rb"|macro_rules!)(?![ \t]*[:=,.)])\b"
    rb"|(?:const|let|var|val)[ \t]+\w+[^=\n]*=[ \t]*(?:async[ \t]*)?(?:function\b|\([^\n]*(?:=>|[(,]$)|\w+[ \t]*=>))"
    # A function of C, C++ or Java: a type, a name and arguments, with nothing that would make it a call.
    rb"|(?:(?:public|private|protected|static|final|inline|extern)[ \t]+)+[\w<>\[\], .*&:?]+\([^;=\n]*$)"
    rb")|(?P<function>^[A-Za-z_][\w \t*&:<>,]*[ \t*&]\w+\([^;=\n]*[{,)][ \t]*$)",
    re.MULTILINE,
)
_BANNER = re.compile(rb"[^\n]*(?:copyright|spdx-|licensed under|eslint-|\bnoqa\b|@author\b)", re.IGNORECASE)
_FACTORS = {"opens": 1.5, "function": 1.5, "comment": 0.8, "hollow": 0.2, None: 1.0}
_OPENS = _FACTORS["opens"]
_MAX_LINE_WORDS = 24
# So many lines of a file are weighed, those with the rarest words first: a word that is on hundreds tells little.
_MAX_LINES = 40
_ROUNDED = 1 + 1e-9
_MAX_LINE_LENGTH = 200
_MAX_LOOKED_AT = 300
_MAX_FIRST_LINES = 300
# Among so many of the best lines the one with the most words around it is shown.
_CANDIDATES = 2
_AROUND_LINES, _MAX_AROUND = 4, 2000
_AROUND = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class BestLine:
    """A line that shows why a file matches."""

    number: int
    text: str
    offset: int


def best_lines(text: bytes, words: Mapping[str, float], *, limit: int = 1) -> list[BestLine]:
    """The lines of a file with the highest weight of words, in file order."""
    return [_best_line(text, start) for start in sorted(LineFinder(words).best_starts(text, limit=limit))]


class LineFinder:
    """Finds the lines of files with the highest weight of some words."""

    def __init__(self, words: Mapping[str, float]) -> None:
        wanted = sorted(words, key=lambda word: (-words[word], word))[:_MAX_LINE_WORDS]
        counts = [(word.encode(), words[word]) for word in wanted]
        self._words = [_Word.of(counts[first:]) for first in range(len(counts))]
        self._counts = dict(counts)
        # A word inside of another does not count beside it, for which they are looked for together: that takes longer.
        nested = any(word in other for word in self._counts for other in self._counts if word is not other)
        longest = sorted(self._counts, key=len, reverse=True)
        self._words_of = re.compile(b"|".join(map(re.escape, longest))).findall if nested else None

    def passage(self, text: bytes) -> int:
        """The start of the best line, considering the lines around it, or of the first definition."""
        starts = self.best_starts(text, limit=_CANDIDATES)
        if len(starts) < 2:
            return starts[0] if starts else _first_definition(text)
        return max(starts, key=lambda start: (self._value(text, start), -start))

    def _value(self, text: bytes, start: int) -> float:
        """The weight of a line and the lines around it."""
        first, end = start, text.find(b"\n", start)
        last = end = end if end >= 0 else len(text)
        for _ in range(_AROUND_LINES):
            first = text.rfind(b"\n", 0, max(first - 1, 0)) + 1
            last = text.find(b"\n", last + 1)
            last = last if last >= 0 else len(text)
        first, last = max(first, start - _MAX_AROUND), min(last, end + _MAX_AROUND)
        own = self._words_in(text[start : min(end, start + _MAX_AROUND)].lower())
        around = self._words_in(text[first:last].lower()) - own
        beside = sum([self._counts[word] for word in sorted(around)])
        return sum([self._counts[word] for word in sorted(own)]) * _factor(text, start) + _AROUND * beside

    def _words_in(self, text: bytes) -> frozenset[bytes]:
        if self._words_of is not None:
            return frozenset(self._words_of(text))
        return frozenset(word for word in self._counts if word in text)

    def best_starts(self, text: bytes, *, limit: int = 1) -> list[int]:
        """The starts of the best lines, best first."""
        lowered = text.lower()
        seek = make_finder(lowered)
        best: list[tuple[float, int]] = []
        seen: set[int] = set()
        for word in self._words:
            if len(seen) >= _MAX_LINES or (len(best) >= limit and best[-1][0] < -word.left * _OPENS):
                # No line without the words so far can be better: those that are left do not count enough, and need
                # not be looked for.
                break
            self._weigh(text, lowered, seek, word, seen, best, limit)
        return [start for _, start in best]

    def _weigh(
        self,
        text: bytes,
        lowered: bytes,
        seek: Find,
        word: "_Word",
        seen: set[int],
        best: list[tuple[float, int]],
        limit: int,
    ) -> None:
        """Add unseen lines with a word to the best ones."""
        find, rfind, plain = lowered.find, lowered.rfind, self._words_of is None
        spelled, count, later = word.spelled, word.count, word.later
        least = -best[-1][0] if len(best) >= limit else 0.0
        # A line of this word needs others beside it to be one of the best: the one that counts most has to be there
        # where all that are left do not make up for it.
        needed = self._needed_word(word, least) if plain else b""
        at = seek(spelled)
        while at >= 0 and len(seen) < _MAX_LINES:
            start, end = rfind(b"\n", 0, at) + 1, find(b"\n", at)
            end = len(lowered) if end < 0 else end
            if start not in seen:
                seen.add(start)
                if needed and find(needed, start, end) < 0:
                    at = seek(spelled, end)
                    continue
                line = lowered[start:end]
                # Written out, as is all of this: it runs for hundreds of lines a question.
                score = count
                if plain:
                    for other, more in later:
                        if other in line:
                            score += more
                else:
                    score = self._together(line)
                # What a line is gets looked at where that could make it one of the best.
                if score * _OPENS >= least:
                    score *= _factor(text, start)
                    if score > least or len(best) < limit or start < best[-1][1]:
                        insort(best, (-score, start))
                        del best[limit:]
                        least = -best[-1][0] if len(best) >= limit else 0.0
                        needed = self._needed_word(word, least) if plain else b""
            at = seek(spelled, end)

    @staticmethod
    def _needed_word(word: "_Word", least: float) -> bytes:
        """The word that a line must also have to compete with the best, if any."""
        if not word.later:
            return b""
        spelled, count = word.later[0]
        return spelled if (word.left - count) * _OPENS < least else b""

    def _together(self, line: bytes) -> float:
        """The weight of a line's words where some contain others."""
        held = set(self._words_of(line)) if self._words_of is not None else ()
        # In one order, so that sums do not differ in their last bits.
        return sum([self._counts[word] for word in sorted(held)])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Word:
    """A word with its weight, the words after it, and their total weight.

    A line that holds an earlier word was seen when that was looked for.
    """

    spelled: bytes
    count: float
    later: tuple[tuple[bytes, float], ...]
    left: float

    @classmethod
    def of(cls, counts: Sequence[tuple[bytes, float]]) -> "_Word":
        (spelled, count), *later = counts
        # With more than sums differ by in their last bits.
        left = sum(weight for _, weight in counts) * _ROUNDED
        return cls(spelled=spelled, count=count, later=tuple(later), left=left)


def _factor(text: bytes, start: int) -> float:
    """The factor of a line by its kind."""
    # A line may be as long as a file, and these look through all of what they are given.
    match = _LINE.match(text, start, start + _MAX_LOOKED_AT)
    if match is None:
        return 1.0
    kind = match.lastgroup
    if kind == "comment" and _BANNER.match(text, start, start + _MAX_LOOKED_AT):
        kind = "hollow"
    return _FACTORS[kind]


def _first_definition(text: bytes) -> int:
    """The start of the first line with a definition, or of the text."""
    start = 0
    for _ in range(_MAX_FIRST_LINES):
        if _factor(text, start) == _OPENS:
            return start
        start = text.find(b"\n", start) + 1
        if not start:
            break
    return 0


def _best_line(text: bytes, start: int) -> BestLine:
    end = text.find(b"\n", start)
    line = text[start : end if end >= 0 else len(text)].decode("utf-8", "replace").strip()
    shown = line if len(line) <= _MAX_LINE_LENGTH else line[:_MAX_LINE_LENGTH] + "…"
    return BestLine(number=text.count(b"\n", 0, start) + 1, text=shown, offset=start)
