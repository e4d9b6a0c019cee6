"""A table of all defined names for fuzzy lookup."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from heapq import nsmallest
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

_LONGEST_INITIALS = 8
# Up to so many lines are looked at one by one; more are searched faster as one text.
_FEW = 2000
# The bit of each letter and digit; no other character has one.
_OTHER = 127
_BITS = np.zeros(_OTHER + 1, np.uint64)
for _number, _letter in enumerate("abcdefghijklmnopqrstuvwxyz0123456789"):
    _BITS[ord(_letter)] = np.uint64(1 << _number)
_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z]+")


class NameTable:
    """Sorted names joined into one searchable text, with and without underscores."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names
        self._lowered = _Lines([name.lower() for name in names])
        flat = [name.replace("_", "") for name in self._lowered.lines]
        self._flat = _Lines(flat, letters=self._lowered.letters)

    def find_similar(self, wanted: str, *, most: int) -> tuple[list[tuple[float, str]], bool]:
        """Names that equal, start with, contain or are abbreviated by `wanted`, best first with scores; and if all."""
        asked = wanted.lower()
        plain = asked.replace("_", "")
        beginnings = _beginnings(wanted)
        scores: dict[int, float] = {}
        for index in self._lowered.find_containing(asked):
            low = self._lowered.lines[index]
            scores[index] = 0.95 if low == asked else 0.8 if low.startswith(asked) else 0.6
            if self.names[index] == wanted:
                scores[index] = 1.0
            elif beginnings and low != asked and self.names[index].startswith(wanted):
                scores[index] = 0.9
        for index in self._find_abbreviated("".join(beginnings)) if beginnings else ():
            if scores.get(index, 0.0) < 0.85 and _is_abbreviation(self.names[index], beginnings):
                scores[index] = 0.85
        # What is less alike counts only where there is room for it.
        for index in self._flat.find_containing(plain) if plain and len(scores) <= most else ():
            scores.setdefault(index, 0.5)
        if 1 < len(asked) <= _LONGEST_INITIALS and len(scores) <= most:
            for index in self._find_abbreviated(asked):
                if index not in scores and _initials(self.names[index]) == asked:
                    scores[index] = 0.4
        # Names are sorted, so that their numbers are their order.
        order = nsmallest(most, ((-score, len(self.names[index]), index) for index, score in scores.items()))
        return [(-score, self.names[index]) for score, _, index in order], len(scores) <= most

    def _find_abbreviated(self, letters: str) -> Iterator[int]:
        """Names that start with the first letter and contain the others in order."""
        # Names are sorted: those with one beginning lie together, and what is not ASCII, whose lower case may be, last.
        last = bisect_left(self.names, "\x80")
        for begin in {letters[0].upper()[0], "_", letters[0]}:
            low, high = bisect_left(self.names, begin), bisect_left(self.names, chr(ord(begin) + 1))
            yield from self._lowered.find_abbreviated(letters, low, min(high, last))
        yield from self._lowered.find_abbreviated(letters, last, len(self.names))


class _Lines:
    """Lines joined into one text, with the letters and digits that are in each."""

    def __init__(self, lines: Sequence[str], *, letters: NDArray[np.uint64] | None = None) -> None:
        self.lines = lines
        self._text = "\n".join([*lines, ""])
        self._starts = list(accumulate([len(line) + 1 for line in lines], initial=0))
        self.letters = letters if letters is not None else _letters_of(self._text, self._starts[:-1])

    def find_containing(self, part: str) -> Iterator[int]:
        """The lines with a substring."""
        if "\n" in part:
            return iter(())
        few = self._with_letters(part, 0, len(self.lines))
        lines = self.lines
        return (index for index in few if part in lines[index]) if len(few) <= _FEW else self._sweep(part)

    def _sweep(self, part: str) -> Iterator[int]:
        at = self._text.find(part)
        while at >= 0:
            index = bisect_right(self._starts, at) - 1
            yield index
            at = self._text.find(part, self._starts[index + 1])

    def find_abbreviated(self, letters: str, low: int, high: int) -> Iterator[int]:
        """Lines in a range that start with the first letter and contain the others in order."""
        later = "".join(f"[^{re.escape(letter)}]*+{re.escape(letter)}" for letter in letters[1:])
        match = re.compile(f"_*+{re.escape(letters[0])}{later}").match
        return (index for index in self._with_letters(letters, low, high) if match(self.lines[index]))

    def _with_letters(self, part: str, low: int, high: int) -> list[int]:
        """The lines in a range that have all letters and digits of a text, in whichever order."""
        wanted = np.bitwise_or.reduce(_BITS[np.minimum(_codes(part), _OTHER)], initial=np.uint64(0))
        found: list[int] = np.flatnonzero(self.letters[low:high] & wanted == wanted).tolist()
        return [low + index for index in found] if low else found


def _letters_of(text: str, starts: Sequence[int]) -> NDArray[np.uint64]:
    """A bit for each letter and digit of each line."""
    bits = _BITS[np.minimum(_codes(text), _OTHER)]
    return np.bitwise_or.reduceat(bits, starts) if starts else np.zeros(0, np.uint64)


def _codes(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def _beginnings(wanted: str) -> list[str]:
    """The word beginnings in an abbreviation such as `QS`, `QuSet` or `qu_set`, or nothing."""
    letters = wanted.replace("_", "")
    if not (letters.isascii() and letters.isalnum()):
        return []
    parts = list(letters) if letters.isupper() and letters.isalpha() else _PARTS.findall(wanted)
    return [part.lower() for part in parts] if len(parts) > 1 else []


def _is_abbreviation(name: str, beginnings: Sequence[str]) -> bool:
    """Whether each word of a name has the given beginning."""
    words = _PARTS.findall(name)
    begins = zip(words, beginnings, strict=False)
    return len(words) == len(beginnings) and all(word.lower().startswith(begin) for word, begin in begins)


def _initials(name: str) -> str:
    return "".join(part[0] for part in _PARTS.findall(name)).lower()
