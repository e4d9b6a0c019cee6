"""The lines of a file that are worth reading for a task."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from codeplane.code.model import Facts
from codeplane.query.search.best_line import LineFinder
from codeplane.query.search.question import stem
from codeplane.query.signature import signature
from codeplane.query.task_context.task_input import Lines

_BEST_LINES = 2
_MOST_SPANS = 3
_AROUND = 12
_MAX_LINES = 80
# A name that ties a file to the task counts as the best of the task's words.
_HOLDERS = frozenset({"function", "method", "class", "struct", "interface", "enum", "trait", "constructor", "impl"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Lined:
    """A stretch of lines, and the definition it is or lies in."""

    first: int
    last: int
    size: int
    title: str


def choose_spans(
    text: bytes, facts: Facts | None, *, words: Mapping[str, float], names: Sequence[str], places: Lines
) -> list[Lined]:
    """The lines that hold the most of the words and names, and those around places, as whole definitions."""
    strongest = max(words.values(), default=1.0)
    weights: dict[str, float] = {}
    for word, weight in words.items():
        weights[stem(word)] = max(weights.get(stem(word), 0.0), weight)
    weights |= {name.lower(): strongest for name in names[:_MOST_SPANS]}
    starts = LineFinder(weights).best_starts(text, limit=_BEST_LINES) if weights else []
    numbers = [first for first, _ in places] + [text.count(b"\n", 0, start) + 1 for start in starts]
    rows = text.split(b"\n")
    total = max(1, len(rows) - (rows[-1] == b""))
    spans: list[Lined] = []
    for first, last, title in _around(text, facts, numbers or [1], total):
        if not any(first <= span.last and last >= span.first for span in spans):
            spans.append(Lined(first=first, last=last, size=len(b"\n".join(rows[first - 1 : last])), title=title))
    return sorted(spans[:_MOST_SPANS], key=lambda span: span.first)


def _around(text: bytes, facts: Facts | None, numbers: Iterable[int], total: int) -> Iterable[tuple[int, int, str]]:
    for number in numbers:
        number = min(max(1, number), total)
        holders = [
            definition
            for definition in (facts.definitions if facts is not None else ())
            if definition.kind in _HOLDERS and definition.line <= number <= definition.end_line
        ]
        inner = max(holders, key=lambda definition: (definition.line, -definition.end_line), default=None)
        title = signature(facts, text, inner) if facts is not None and inner is not None else ""
        if inner is not None and inner.end_line - inner.line < _MAX_LINES:
            yield inner.line, min(inner.end_line, total), title
        else:
            yield max(1, number - _AROUND), min(total, number + _AROUND), title
