"""The most used definitions."""

import numpy as np
from pydantic import Field

from codeplane.index.fact_store import FactStore
from codeplane.index.files.paths import path_text
from codeplane.index.snapshot import Snapshot
from codeplane.kernel.operation import Result
from codeplane.kernel.plural import plural
from codeplane.kernel.workspace_request import WorkspaceRequest
from codeplane.query.overview.graph import Graph
from codeplane.query.overview.outline import best_rows
from codeplane.query.signature import signature

_MAX_SIGNATURE = 110
_LOOKED_AT = 4
_CLOSED = frozenset({"function", "method"})


class MostUsedRequest(WorkspaceRequest):
    """How many."""

    limit: int = Field(20, ge=1, le=100)


class UsedSymbol(Result):
    """A definition, and how many other files name it and where it comes from."""

    name: str
    kind: str
    path: str
    line: int
    signature: str
    files: int


class MostUsed(Result):
    """The definitions that most other files use, the most first."""

    symbols: tuple[UsedSymbol, ...]
    code_files: int
    cut: str = Field("", description="what was left out of the count")
    epoch: int
    partial: str | None = None

    def text(self) -> str:
        lines = [
            f"{plural(symbol.files, 'file')}: {symbol.path}:{symbol.line} {symbol.signature}" for symbol in self.symbols
        ]
        return "\n".join(lines) or "[nothing is used across files, or nothing is parsed yet]"


def most_used(snapshot: Snapshot, store: FactStore, graph: Graph, limit: int) -> tuple[UsedSymbol, ...]:
    """Definitions by number of using files; those missing from the snapshot are skipped."""
    if not len(graph.def_file):
        return ()
    near = graph.edge_to[graph.edge_near]
    used = np.bincount(near, minlength=len(graph.def_file)).astype(np.float64)
    symbols: list[UsedSymbol] = []
    for row in best_rows(used, _LOOKED_AT * limit):
        file = int(graph.def_file[row])
        known = snapshot.files.get(graph.paths[file])
        if not used[row] or len(symbols) == limit:
            break
        if known is None or known.skipped is not None or known.digest != graph.digests[file]:
            continue
        facts = store.facts(known.path, known.digest)
        position = int(graph.def_position[row])
        if facts is None or position >= len(facts.definitions):
            continue
        definition = facts.definitions[position]
        if definition.container >= 0 and facts.definitions[definition.container].kind in _CLOSED:
            # Nobody outside can mean it, whatever else has its name.
            continue
        if definition.container < 0 and definition.kind == "function" and definition.name == "main":
            # The system starts it; other files that have the name say `package main`.
            continue
        text = signature(facts, snapshot.text(known), definition)
        symbols.append(
            UsedSymbol(
                name=definition.name,
                kind=definition.kind,
                path=path_text(known.path),
                line=definition.line,
                signature=text if len(text) <= _MAX_SIGNATURE else f"{text[:_MAX_SIGNATURE]}…",
                files=int(used[row]),
            )
        )
    return tuple(symbols)
