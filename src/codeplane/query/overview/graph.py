"""The graph of which files use other files' definitions, and its ranking."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from codeplane.code.languages.registry import languages
from codeplane.index.fact_store import FactStore
from codeplane.index.path_kinds import is_test
from codeplane.query.overview.neighbourhood import Neighbourhood

MAX_FILES = 20_000
MAX_DEFINITIONS = 400_000
_MAX_EDGES = 4_000_000
# A name that is defined in more places says too little of which one is meant.
_MAX_DEFINERS = 6
# Lower than is usual: what many files use matters more than what is at the end of long chains.
_DAMPING = 0.6
# A file that does not speak of a definition's module has a name of its own, most likely.
_FAR = 0.05
_ROUNDS = 25
_CLOSE = 1e-5
_TELLING = re.compile(r"[a-z0-9][A-Z]|[A-Za-z0-9]_[A-Za-z0-9]")
_ASIDE = re.compile(
    r"(?:^|/)(?:vendor|vendored|_vendor|third_party|node_modules|dist|generated)/|\.min\.\w+$|_pb2(?:_grpc)?\.py$|\.pb(?:\.gw)?\.go$"
)
_SMALL = frozenset({"field", "enum_member", "attribute", "argument", "local", "inherited", "index"})
_VALUES = frozenset({"variable", "constant", "property"})
_KINDS = {"class": 1.0, "interface": 1.0, "trait": 1.0, "struct": 1.0, "enum": 0.8, "type": 0.8, "function": 1.0}
_KINDS |= {"method": 0.5, "constructor": 0.3, "constant": 0.3, "macro": 0.5, "module": 0.3, "variable": 0.15}
_OTHER_KIND = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """The rank of each file and definition, by row of the graph."""

    files: NDArray[np.float64]
    definitions: NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Graph:
    """Files and definitions as rows; an edge leads from a file to another file's definition that it names."""

    paths: tuple[str, ...]
    digests: tuple[str, ...]
    names: tuple[str, ...]
    def_file: NDArray[np.int64]
    def_position: NDArray[np.int64]
    def_name: NDArray[np.int64]
    def_weight: NDArray[np.float64]
    edge_from: NDArray[np.int64]
    edge_to: NDArray[np.int64]
    edge_weight: NDArray[np.float64]
    edge_near: NDArray[np.bool_]
    """Whether the file also names the definition's module; otherwise the name is probably its own."""
    parsed: int
    cut: str = ""

    @cached_property
    def row_of(self) -> dict[str, int]:
        """The row of each file."""
        return {path: row for row, path in enumerate(self.paths)}

    @cached_property
    def name_row(self) -> dict[str, int]:
        """The row of each defined name."""
        return {name: row for row, name in enumerate(self.names)}

    @cached_property
    def is_test(self) -> NDArray[np.bool_]:
        """Which files are tests."""
        return np.array([is_test(path) for path in self.paths], dtype=np.bool_)

    def files_of(self, name: int) -> list[int]:
        """The files that define a name, tests last."""
        first, last = np.searchsorted(self.def_name, [name, name + 1])
        return list(dict.fromkeys(self.def_file[first:last].tolist()))

    @cached_property
    def plain(self) -> Ranking:
        """The ranking without a focus."""
        start = np.where(self.is_test, 0.15, 1.0)
        files, used = self._flow(start / max(start.sum(), 1.0), self.edge_weight)
        # What nobody uses elsewhere still counts in a file that matters, by a little.
        own = files[self.def_file] / self._size[self.def_file]
        return Ranking(files=files, definitions=(used + 0.1 * own) * self.def_weight)

    def rank(self, seeds: Mapping[int, float], names: Mapping[int, float]) -> Ranking:
        """PageRank from the seeded files with boosted names; the plain ranking without both."""
        if not seeds and not names:
            return self.plain
        chosen = np.where(self.is_test, 0.15, 1.0)
        if seeds:
            chosen = np.zeros(len(self.paths))
            chosen[list(seeds)] = list(seeds.values())
        chosen /= chosen.sum()
        boost = np.ones(len(self.names))
        boost[list(names)] = list(names.values())
        files, used = self._flow(chosen, self.edge_weight * boost[self.def_name[self.edge_to]])
        own = chosen[self.def_file] / np.sqrt(self._size[self.def_file])
        scores = (used + own) * self.def_weight * boost[self.def_name]
        # What everybody uses everywhere says little about what was asked.
        usual = self.plain.definitions
        return Ranking(files=files, definitions=scores / np.sqrt(usual + usual.mean()))

    @cached_property
    def _size(self) -> NDArray[np.int64]:
        return np.maximum(np.bincount(self.def_file, minlength=len(self.paths)), 1)

    def _flow(
        self, start: NDArray[np.float64], weight: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The rank of each file, and its share at each definition."""
        count = len(self.paths)
        out = np.bincount(self.edge_from, weight, count)
        share = weight / out[self.edge_from]
        dangling, target = out == 0, self.def_file[self.edge_to]
        rank = start
        for _ in range(_ROUNDS):
            flow = np.bincount(target, rank[self.edge_from] * share, count)
            new = _DAMPING * (flow + rank[dangling].sum() * start) + (1 - _DAMPING) * start
            settled = np.abs(new - rank).sum() < _CLOSE
            rank = new
            if settled:
                break
        used: NDArray[np.float64] = np.zeros(len(self.def_file))
        if len(share):
            used += np.bincount(self.edge_to, rank[self.edge_from] * share, len(self.def_file))
        return rank, used


def graph_of(store: FactStore, *, max_files: int = MAX_FILES, max_definitions: int = MAX_DEFINITIONS) -> Graph:
    """Build the graph of the parsed files; beyond the limits, deep files and tests are left out and noted."""
    files = [file for file in store.parsed_files() if _is_code(file[1])]
    parsed, cut = len(files), ""
    if parsed > max_files:
        files.sort(key=lambda file: (is_test(file[1]), file[1].count("/"), file[1]))
        files = sorted(files[:max_files], key=lambda file: file[1])
        cut = f"{max_files:,} of {parsed:,} code files ranked"
    row_of = {file_id: row for row, (file_id, _, _) in enumerate(files)}
    rows = store.outline([file_id for file_id, _, _ in files], limit=max_definitions)
    if len(rows) == max_definitions:
        cut = f"{cut}; " * bool(cut) + f"the first {max_definitions:,} definitions ranked"
    aside = np.array([_aside(path) for _, path, _ in files], dtype=np.bool_)
    tests = np.array([is_test(path) for _, path, _ in files], dtype=np.bool_) | aside
    # Small things, values inside classes and what is inside functions are not what a map shows.
    rows = [row for row in rows if row[3] not in _SMALL and row[4].count(".") <= (row[3] not in _VALUES)]
    last = {file_id: bool(tests[row]) for file_id, row in row_of.items()}
    rows.sort(key=lambda row: (row[2], last[row[0]]))
    names: dict[str, int] = {}
    def_name = np.array([names.setdefault(row[2], len(names)) for row in rows], dtype=np.int64)
    telling = np.array([_weight(name) for name in names], dtype=np.float64)
    kind = np.array([_KINDS.get(row[3], _OTHER_KIND) for row in rows], dtype=np.float64)
    def_file = np.array([row_of[row[0]] for row in rows], dtype=np.int64)
    # What only tests define is not what others use: they define the same names over and over.
    definers = np.bincount(def_name[~tests[def_file]], minlength=len(names))
    edges, clipped = _edges(store, row_of, names, def_name, definers)
    if clipped:
        cut = f"{cut}; " * bool(cut) + "the most used names left out"
    source, target = edges
    family = _numbers(_family(path) for _, path, _ in files)
    apart = (source != def_file[target]) & (family[source] == family[def_file[target]])
    source, target = source[apart], target[apart]
    hidden = np.array(
        [_is_hidden(files[row][1], line[2]) for row, line in zip(def_file, rows, strict=True)], dtype=np.bool_
    )
    folder = _numbers(path.rpartition("/")[0] for _, path, _ in files)
    seen = ~hidden[target] | (folder[source] == folder[def_file[target]])
    source, target = source[seen], target[seen]
    around = Neighbourhood(store, [path for _, path, _ in files], row_of)
    near = around.are_near(source, def_file[target], around.words_of(list(names))[def_name[target]])
    return Graph(
        paths=tuple(path for _, path, _ in files),
        digests=tuple(digest for _, _, digest in files),
        names=tuple(names),
        def_file=def_file,
        def_position=np.array([row[1] for row in rows], dtype=np.int64),
        def_name=def_name,
        def_weight=kind * telling[def_name] * np.where(aside[def_file], 0.02, 1.0),
        edge_from=source,
        edge_to=target,
        edge_weight=kind[target] * telling[def_name[target]] / definers[def_name[target]] * np.where(near, 1.0, _FAR),
        edge_near=near.astype(np.bool_),
        parsed=parsed,
        cut=cut,
    )


def _edges(
    store: FactStore,
    row_of: Mapping[int, int],
    names: Mapping[str, int],
    def_name: NDArray[np.int64],
    definers: NDArray[np.int64],
) -> tuple[tuple[NDArray[np.int64], NDArray[np.int64]], bool]:
    """Edges from each file with a name to the name's definitions."""
    empty = np.zeros(0, dtype=np.int64)
    first = np.searchsorted(def_name, np.arange(len(names)))
    postings = store.postings([name for name, row in names.items() if 0 < definers[row] <= _MAX_DEFINERS])
    sizes = [len(packed) // 4 * int(definers[names[name]]) for name, packed in postings]
    clipped = sum(sizes) > _MAX_EDGES
    if clipped:
        order = np.argsort(np.array(sizes), kind="stable")
        within = order[np.cumsum(np.array(sizes)[order]) <= _MAX_EDGES]
        postings = [postings[index] for index in within.tolist()]
    if not postings:
        return (empty, empty), clipped
    ids = np.frombuffer(b"".join(packed for _, packed in postings), dtype=np.uint32).astype(np.int64)
    of = np.repeat(
        np.array([names[name] for name, _ in postings], dtype=np.int64), [len(packed) // 4 for _, packed in postings]
    )
    # A file that was parsed after the list was read is not known yet; the next version of the store has it.
    rows = np.full(max(int(ids.max()), *row_of) + 1 if row_of else 1, -1, dtype=np.int64)
    rows[list(row_of)] = list(row_of.values())
    users = rows[ids]
    known = users >= 0
    users, of = users[known], of[known]
    count = definers[of]
    source = np.repeat(users, count)
    within_name = np.arange(len(source)) - np.repeat(np.cumsum(count) - count, count)
    return (source, np.repeat(first[of], count) + within_name), clipped


def _numbers(texts: Iterable[str]) -> NDArray[np.int64]:
    """A number for each text, the same for equal ones."""
    known: dict[str, int] = {}
    return np.array([known.setdefault(text, len(known)) for text in texts], dtype=np.int64)


def _is_hidden(path: str, name: str) -> bool:
    """Whether files of other folders cannot mean a name: what Go does not export."""
    return path.endswith(".go") and not name[:1].isupper()


def _is_code(path: str) -> bool:
    """Whether a file's names may be used by others: text and data have headings and keys, which are not."""
    found = languages().of(path)
    return found is None or found.names_things


def _family(path: str) -> str:
    language = languages().of(path)
    return language.family or language.name if language is not None else ""


def _aside(path: str) -> bool:
    """Whether a file is vendored or generated."""
    return _ASIDE.search(path) is not None


def _weight(name: str) -> float:
    """The weight of a name: several words are specific, a plain word may be coincidence."""
    if name.startswith("_"):
        return 0.05
    if len(name) >= 8 and _TELLING.search(name):
        return 1.0
    if len(name) < 3:
        return 0.01
    return 0.6 if len(name) >= 4 and name[0].isupper() else 0.1
