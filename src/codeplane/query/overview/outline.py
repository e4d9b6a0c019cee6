"""The outline of the highest ranked definitions, by file, within a budget."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from codeplane.code.model import Facts
from codeplane.index.fact_store import FactStore
from codeplane.index.files.paths import path_text
from codeplane.index.snapshot import Snapshot
from codeplane.kernel.operation import Result
from codeplane.query.overview.graph import Graph, Ranking
from codeplane.query.signature import signature

_MAX_LOOKED_AT = 5000
_MAX_SIGNATURE = 110
_PER_FILE = 8
# When one line does not fit, a shorter one that matters nearly as much may.
_MAX_MISSES = 10
_TESTS = 0.1


class OutlineLine(Result):
    """A definition on one line."""

    line: int
    kind: str
    name: str
    signature: str
    depth: int = 0

    def text(self) -> str:
        return f"  {self.line} {'  ' * self.depth}{self.signature}"


class OutlineFile(Result):
    """A file and its most important definitions, in the order of the file."""

    path: str
    definitions: tuple[OutlineLine, ...]

    def text(self) -> str:
        return "\n".join([self.path, *(definition.text() for definition in self.definitions)])


@dataclass(slots=True)
class _Chosen:
    facts: Facts
    text: bytes
    lines: dict[int, OutlineLine] = field(default_factory=dict)


def outline(
    snapshot: Snapshot, store: FactStore, graph: Graph, ranking: Ranking, *, room: int, with_tests: bool
) -> dict[str, OutlineFile]:
    """Definitions by rank until the room is used, grouped by file; stale ones are skipped."""
    scores = (
        ranking.definitions if with_tests else ranking.definitions * np.where(graph.is_test, _TESTS, 1)[graph.def_file]
    )
    files: dict[int, _Chosen | None] = {}
    misses = 0
    for row in best_rows(scores, _MAX_LOOKED_AT):
        file = int(graph.def_file[row])
        if file not in files:
            files[file] = _open_file(snapshot, store, graph.paths[file], graph.digests[file])
        chosen = files[file]
        if chosen is None or len(chosen.lines) >= _PER_FILE:
            continue
        added = _lines(chosen, int(graph.def_position[row]))
        cost = sum(len(line.text()) + 1 for line in added.values())
        if not chosen.lines:
            cost += len(path_text(graph.paths[file])) + 1
        if cost > room:
            misses += 1
            if misses > _MAX_MISSES:
                break
            continue
        room -= cost
        chosen.lines |= added
    return {
        graph.paths[file]: OutlineFile(
            path=path_text(graph.paths[file]),
            definitions=tuple(chosen.lines[position] for position in sorted(chosen.lines)),
        )
        for file, chosen in files.items()
        if chosen is not None and chosen.lines
    }


def best_rows(scores: "np.ndarray[tuple[int], np.dtype[np.float64]]", limit: int) -> Sequence[int]:
    """The rows with the highest scores, ties in order."""
    rows = np.sort(np.argpartition(-scores, limit)[:limit]) if len(scores) > limit else np.arange(len(scores))
    order: list[int] = rows[np.argsort(-scores[rows], kind="stable")].tolist()
    return order


def _open_file(snapshot: Snapshot, store: FactStore, path: str, digest: str) -> _Chosen | None:
    known = snapshot.files.get(path)
    if known is None or known.skipped is not None or known.digest != digest:
        return None
    facts = store.facts(path, digest)
    return _Chosen(facts=facts, text=snapshot.text(known)) if facts is not None else None


def _lines(chosen: _Chosen, position: int) -> dict[int, OutlineLine]:
    """A definition after its containers, without lines already present."""
    lines: dict[int, OutlineLine] = {}
    wanted: list[int] = []
    while 0 <= position < len(chosen.facts.definitions):
        wanted.insert(0, position)
        position = chosen.facts.definitions[position].container
    for depth, index in enumerate(wanted):
        if index not in chosen.lines:
            definition = chosen.facts.definitions[index]
            text = signature(chosen.facts, chosen.text, definition)
            text = text if len(text) <= _MAX_SIGNATURE else f"{text[:_MAX_SIGNATURE]}…"
            lines[index] = OutlineLine(
                line=definition.line, kind=definition.kind, name=definition.name, signature=text, depth=depth
            )
    return lines
