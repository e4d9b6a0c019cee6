"""Finding the passage of a file that is most like a text which is not in it."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import accumulate

from codeplane.edit.hunks import Matcher

# In a larger file only lines that are the same are looked for.
_MAX_COMPARED = 2_000_000
_MAX_OLD = 20_000
_MAX_LINE = 1_000
_SHORT = 40
_MAX_LETTERS = 400
_STEPS = 2_000_000
_PASSAGES, _SHORT_PASSAGES = 8, 64
_SHIFTS = (0, -1, 1, -2, 2)
_ALIKE, _ALIKE_LONG = 0.5, 0.3


def nearest(lines: Sequence[str], old: str) -> int | None:
    """The index of the line where the passage most like `old` begins; None where nothing is much alike."""
    wanted = _wanted(old)
    if not wanted:
        return None
    short = sum(map(len, wanted)) < _SHORT
    pieces = _pieces_of(2 if short else 3) if sum(map(len, lines)) <= _MAX_COMPARED else _whole
    scores = _scores(lines, wanted, pieces)
    likeness = _Likeness(wanted)
    best = (0.0, 0)
    for start in _best_starts(scores, len(wanted), _SHORT_PASSAGES if short else _PASSAGES):
        for shift in _SHIFTS:
            at = start + shift
            if 0 <= at < len(lines) and lines[at].strip():
                best = max(best, (likeness.of(lines[at : at + len(wanted)]), -at))
    return -best[1] if best[0] >= likeness.least else None


def _wanted(old: str) -> list[str]:
    """The first lines of a text, without blank ones around them."""
    found: list[str] = []
    size = 0
    for line in old.strip().split("\n"):
        size += len(line)
        if found and size > _MAX_OLD:
            break
        found.append(_squeezed(line))
    return found if any(found) else []


def _squeezed(line: str) -> str:
    """A line without its white space, no longer than is compared."""
    return "".join(line[:_MAX_LINE].split())


def _pieces_of(size: int) -> Callable[[str], frozenset[str]]:
    def pieces(line: str) -> frozenset[str]:
        squeezed = _squeezed(line)
        return frozenset(squeezed[at : at + size] for at in range(max(len(squeezed) - size, 0) + 1))

    return pieces


def _whole(line: str) -> frozenset[str]:
    return frozenset((_squeezed(line),))


def _scores(lines: Sequence[str], wanted: Sequence[str], pieces: Callable[[str], frozenset[str]]) -> list[float]:
    """How much each line has in common with a text; what many lines have says little."""
    sought = frozenset[str]().union(*map(pieces, wanted)) - {""}
    known: dict[str, frozenset[str]] = {}
    held = []
    for line in lines:
        common = known.get(line)
        if common is None:
            common = known[line] = pieces(line) & sought
        held.append(common)
    counts = Counter(piece for common in held for piece in common)
    return [sum(1 / counts[piece] for piece in common) for common in held]


def _best_starts(scores: Sequence[float], size: int, most: int) -> list[int]:
    """Where the passages of so many lines begin that score best, none of them overlapping."""
    sums = list(accumulate(scores, initial=0.0))
    last = max(len(scores) - size, 0)
    # Rounded, so that of passages that are the same the first one is found.
    windows = [round(sums[min(at + size, len(scores))] - sums[at], 6) for at in range(last + 1)]
    found: list[int] = []
    for at in sorted(range(last + 1), key=lambda one: -windows[one])[: most * (2 * size + 1)]:
        if windows[at] > 0 and all(abs(at - other) >= size for other in found):
            found.append(at)
            if len(found) == most:
                break
    return found


class _Likeness:
    """Compares passages with one text: a short one letter by letter, a long one by its pieces."""

    def __init__(self, wanted: Sequence[str]) -> None:
        self._text = "".join(wanted)
        self._by_letter = len(self._text) <= _MAX_LETTERS
        self._matcher = Matcher([], [ord(letter) for letter in self._text], steps=_STEPS, autojunk=False)
        self._pieces = _counted_pieces(self._text) if not self._by_letter else Counter[str]()
        self.least = _ALIKE if self._by_letter else _ALIKE_LONG

    def of(self, lines: Sequence[str]) -> float:
        """How much lines are like the text, from 0 to 1."""
        text = "".join(map(_squeezed, lines))
        if not self._by_letter:
            other = _counted_pieces(text)
            return 2 * (self._pieces & other).total() / max(self._pieces.total() + other.total(), 1)
        if len(text) > 4 * _MAX_LETTERS or self._matcher.steps < 0:
            return 0.0
        self._matcher.set_seq1([ord(letter) for letter in text])
        if len(text) > len(self._text):
            # The text may be a piece of its first line.
            alike = self._matcher.find_longest_match()
            begin = max(0, alike.a - alike.b)
            self._matcher.set_seq1([ord(letter) for letter in text[begin : begin + len(self._text)]])
        return self._matcher.ratio()


def _counted_pieces(text: str) -> Counter[str]:
    return Counter(text[at : at + 3] for at in range(len(text) - 2))
