"""Finds the passage of a file that is most like a text which is not in the file."""

from collections import Counter
from collections.abc import Callable, Sequence
from difflib import Match, SequenceMatcher
from itertools import accumulate

# In a larger file only equal lines are searched for.
_MAX_COMPARED = 2_000_000
_MAX_OLD = 20_000
_MAX_LINE = 1_000
_SHORT = 40
_MAX_LETTERS = 400
_STEPS = 2_000_000
_PASSAGES, _SHORT_PASSAGES = 8, 64
_SHIFTS = (0, -1, 1, -2, 2)
_ALIKE, _ALIKE_LONG = 0.5, 0.3


def find_nearest(lines: Sequence[str], old: str) -> int | None:
    """Return the index of the line where the passage most like `old` starts; None when nothing is similar."""
    wanted = _first_lines(old)
    if not wanted:
        return None
    short = sum(map(len, wanted)) < _SHORT
    pieces = _pieces_of(2 if short else 3) if sum(map(len, lines)) <= _MAX_COMPARED else _line_words
    scores = _scores(lines, wanted, pieces)
    likeness = _Likeness(wanted)
    best = (0.0, 0)
    for start in _best_starts(scores, len(wanted), _SHORT_PASSAGES if short else _PASSAGES):
        for shift in _SHIFTS:
            at = start + shift
            if 0 <= at < len(lines) and lines[at].strip():
                best = max(best, (likeness.of(lines[at : at + len(wanted)]), -at))
    return -best[1] if best[0] >= likeness.least else None


def _first_lines(old: str) -> list[str]:
    """Return the first lines of a text, squeezed, without blank lines around them."""
    lines: list[str] = []
    size = 0
    for line in old.strip().split("\n"):
        size += len(line)
        if lines and size > _MAX_OLD:
            break
        lines.append(_squeeze(line))
    return lines if any(lines) else []


def _squeeze(line: str) -> str:
    """Remove the white space of a line and cut it to the length that is compared."""
    return "".join(line[:_MAX_LINE].split())


def _pieces_of(size: int) -> Callable[[str], frozenset[str]]:
    def pieces(line: str) -> frozenset[str]:
        squeezed = _squeeze(line)
        return frozenset(squeezed[at : at + size] for at in range(max(len(squeezed) - size, 0) + 1))

    return pieces


def _line_words(line: str) -> frozenset[str]:
    return frozenset((_squeeze(line),))


def _scores(lines: Sequence[str], wanted: Sequence[str], pieces: Callable[[str], frozenset[str]]) -> list[float]:
    """Score how much each line has in common with a text; pieces that many lines have count less."""
    sought = frozenset[str]().union(*map(pieces, wanted)) - {""}
    known: dict[str, frozenset[str]] = {}
    by_line = []
    for line in lines:
        common = known.get(line)
        if common is None:
            common = known[line] = pieces(line) & sought
        by_line.append(common)
    counts = Counter(piece for common in by_line for piece in common)
    return [sum(1 / counts[piece] for piece in common) for common in by_line]


def _best_starts(scores: Sequence[float], size: int, most: int) -> list[int]:
    """Return the starts of the best-scoring passages of `size` lines, none of them overlapping."""
    sums = list(accumulate(scores, initial=0.0))
    last = max(len(scores) - size, 0)
    # Rounded, so that the first of equal passages comes first.
    windows = [round(sums[min(at + size, len(scores))] - sums[at], 6) for at in range(last + 1)]
    starts: list[int] = []
    for at in sorted(range(last + 1), key=lambda start: -windows[start])[: most * (2 * size + 1)]:
        if windows[at] > 0 and all(abs(at - other) >= size for other in starts):
            starts.append(at)
            if len(starts) == most:
                break
    return starts


class BoundedMatcher(SequenceMatcher[int]):
    """A SequenceMatcher that stops searching after a number of steps and calls the rest different."""

    a: Sequence[int]
    b2j: dict[int, list[int]]

    def __init__(self, before: Sequence[int], after: Sequence[int], *, steps: int) -> None:
        self.steps = steps
        super().__init__(None, before, after, autojunk=False)

    def find_longest_match(self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None) -> Match:
        """Find the longest equal stretch, or none when that would take more steps than are left."""
        end = len(self.a) if ahi is None else ahi
        # The search visits, for every item, all its places on the other side.
        self.steps -= sum(1 + len(self.b2j.get(self.a[at], ())) for at in range(alo, end))
        if self.steps < 0:
            return Match(alo, blo, 0)
        return super().find_longest_match(alo, end, blo, bhi)


class _Likeness:
    """Compare passages with one text: a short one letter by letter, a long one by its pieces."""

    def __init__(self, wanted: Sequence[str]) -> None:
        self._text = "".join(wanted)
        self._by_letter = len(self._text) <= _MAX_LETTERS
        self._matcher = BoundedMatcher([], [ord(letter) for letter in self._text], steps=_STEPS)
        self._pieces = _counted_pieces(self._text) if not self._by_letter else Counter[str]()
        self.least = _ALIKE if self._by_letter else _ALIKE_LONG

    def of(self, lines: Sequence[str]) -> float:
        """Return how similar lines are to the text, from 0 to 1."""
        text = "".join(map(_squeeze, lines))
        if not self._by_letter:
            other = _counted_pieces(text)
            return 2 * (self._pieces & other).total() / max(self._pieces.total() + other.total(), 1)
        if len(text) > 4 * _MAX_LETTERS or self._matcher.steps < 0:
            return 0.0
        self._matcher.set_seq1([ord(letter) for letter in text])
        if len(text) > len(self._text):
            # The text may be a part of the first line.
            match = self._matcher.find_longest_match()
            start = max(0, match.a - match.b)
            self._matcher.set_seq1([ord(letter) for letter in text[start : start + len(self._text)]])
        return self._matcher.ratio()


def _counted_pieces(text: str) -> Counter[str]:
    return Counter(text[at : at + 3] for at in range(len(text) - 2))
