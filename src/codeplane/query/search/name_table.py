"""A table of all defined names for fuzzy lookup."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from heapq import nsmallest

_LONGEST_INITIALS = 8
_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z]+")


class NameTable:
    """Sorted names joined into one searchable text, with and without underscores."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names
        self._lowered = _Lines([name.lower() for name in names])
        self._flat = _Lines([name.replace("_", "") for name in self._lowered.lines])

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
    """Lines joined into one text."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self._text = "\n".join([*lines, ""])
        self._starts: list[int] = []
        at = 0
        for line in lines:
            self._starts.append(at)
            at += len(line) + 1

    def find_containing(self, part: str) -> Iterator[int]:
        """The lines with a substring."""
        at = -1 if "\n" in part else self._text.find(part)
        while at >= 0:
            index = bisect_right(self._starts, at) - 1
            if index + 1 >= len(self._starts):
                yield index
                return
            yield index
            at = self._text.find(part, self._starts[index + 1])

    def find_abbreviated(self, letters: str, low: int, high: int) -> Iterator[int]:
        """Lines in a range that start with the first letter and contain the others in order."""
        if low >= high:
            return
        later = "".join(f"[^\n{re.escape(letter)}]*+{re.escape(letter)}" for letter in letters[1:])
        pattern = re.compile(f"^_*+{re.escape(letters[0])}{later}", re.MULTILINE)
        end = self._starts[high] if high < len(self._starts) else len(self._text)
        for match in pattern.finditer(self._text, self._starts[low], end):
            yield bisect_right(self._starts, match.start()) - 1


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
