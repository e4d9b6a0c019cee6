"""Which files use what other files define, as a graph that says what matters."""

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
    r"(?:^|/)(?:vendor|vendored|_vendor|third_party|node_modules|dist|generated)/|\.min\.\w+$|_pb2(?:_grpc)?\.py$"
)
_SMALL = frozenset({"field", "enum_member", "attribute", "argument", "local", "inherited", "index"})
_VALUES = frozenset({"variable", "constant", "property"})
_KINDS = {"class": 1.0, "interface": 1.0, "trait": 1.0, "struct": 1.0, "enum": 0.8, "type": 0.8, "function": 1.0}
_KINDS |= {"method": 0.5, "constructor": 0.3, "constant": 0.3, "macro": 0.5, "module": 0.3, "variable": 0.15}
_OTHER_KIND = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """How much each file and each definition matters, as rows of the graph's arrays."""

    files: NDArray[np.float64]
    definitions: NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Graph:
    """Files and definitions as rows; an edge leads from a file to a definition of another file that it names."""

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
    """Whether the file also speaks of the module of what it names: otherwise the name is its own, most likely."""
    parsed: int
    cut: str = ""

    @cached_property
    def row_of(self) -> dict[str, int]:
        """The row of each file."""
        return {path: row for row, path in enumerate(self.paths)}

    @cached_property
    def name_row(self) -> dict[str, int]:
        """The row of each name that is defined."""
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
        """What matters to someone who asks about nothing in particular."""
        start = np.where(self.is_test, 0.15, 1.0)
        files, used = self._flow(start / max(start.sum(), 1.0), self.edge_weight)
        # What nobody uses elsewhere still counts in a file that matters, by a little.
        own = files[self.def_file] / self._size[self.def_file]
        return Ranking(files=files, definitions=(used + 0.1 * own) * self.def_weight)

    def rank(self, seeds: Mapping[int, float], names: Mapping[int, float]) -> Ranking:
        """PageRank that starts from the seeded files, with names that count more; the plain one without both."""
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
        """The rank of each file, and how much of it arrives at each definition."""
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
    """The graph of what is parsed; beyond its bounds the files deepest down and the tests are left out, and said."""
    files = [one for one in store.parsed_files() if _is_code(one[1])]
    parsed, cut = len(files), ""
    if parsed > max_files:
        files.sort(key=lambda one: (is_test(one[1]), one[1].count("/"), one[1]))
        files = sorted(files[:max_files], key=lambda one: one[1])
        cut = f"{max_files:,} of {parsed:,} code files ranked"
    row_of = {file_id: row for row, (file_id, _, _) in enumerate(files)}
    rows = store.outline([file_id for file_id, _, _ in files], limit=max_definitions)
    if len(rows) == max_definitions:
        cut = f"{cut}; " * bool(cut) + f"the first {max_definitions:,} definitions ranked"
    aside = np.array([_aside(path) for _, path, _ in files], dtype=np.bool_)
    tests = np.array([is_test(path) for _, path, _ in files], dtype=np.bool_) | aside
    # Small things, values inside classes and what is inside functions are not what a map shows.
    rows = [one for one in rows if one[3] not in _SMALL and one[4].count(".") <= (one[3] not in _VALUES)]
    last = {file_id: bool(tests[row]) for file_id, row in row_of.items()}
    rows.sort(key=lambda one: (one[2], last[one[0]]))
    names: dict[str, int] = {}
    def_name = np.array([names.setdefault(one[2], len(names)) for one in rows], dtype=np.int64)
    telling = np.array([_weight(name) for name in names], dtype=np.float64)
    kind = np.array([_KINDS.get(one[3], _OTHER_KIND) for one in rows], dtype=np.float64)
    def_file = np.array([row_of[one[0]] for one in rows], dtype=np.int64)
    # What only tests define is not what others use: they define the same names over and over.
    definers = np.bincount(def_name[~tests[def_file]], minlength=len(names))
    edges, clipped = _edges(store, row_of, names, def_name, definers)
    if clipped:
        cut = f"{cut}; " * bool(cut) + "the most used names left out"
    source, target = edges
    family = _families([path for _, path, _ in files])
    apart = (source != def_file[target]) & (family[source] == family[def_file[target]])
    source, target = source[apart], target[apart]
    around = Neighbourhood(store, [path for _, path, _ in files], row_of)
    near = around.near(source, def_file[target], around.words_of(list(names))[def_name[target]])
    return Graph(
        paths=tuple(path for _, path, _ in files),
        digests=tuple(digest for _, _, digest in files),
        names=tuple(names),
        def_file=def_file,
        def_position=np.array([one[1] for one in rows], dtype=np.int64),
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
    """From the row of each file that has a name to the rows of its definitions: sorted by name, tests last."""
    empty = np.zeros(0, dtype=np.int64)
    first = np.searchsorted(def_name, np.arange(len(names)))
    found = store.postings([name for name, row in names.items() if 0 < definers[row] <= _MAX_DEFINERS])
    sizes = [len(packed) // 4 * int(definers[names[name]]) for name, packed in found]
    clipped = sum(sizes) > _MAX_EDGES
    if clipped:
        order = np.argsort(np.array(sizes), kind="stable")
        within = order[np.cumsum(np.array(sizes)[order]) <= _MAX_EDGES]
        found = [found[index] for index in within.tolist()]
    if not found:
        return (empty, empty), clipped
    ids = np.frombuffer(b"".join(packed for _, packed in found), dtype=np.uint32).astype(np.int64)
    of = np.repeat(
        np.array([names[name] for name, _ in found], dtype=np.int64), [len(packed) // 4 for _, packed in found]
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


def _families(paths: Iterable[str]) -> NDArray[np.int64]:
    """A number for each file's family of languages: names of different families are different names."""
    known: dict[str, int] = {}
    return np.array([known.setdefault(_family(path), len(known)) for path in paths], dtype=np.int64)


def _is_code(path: str) -> bool:
    """Whether a file's names may be used by others: text and data have headings and keys, which are not."""
    found = languages().of(path)
    return found is None or found.names_things


def _family(path: str) -> str:
    found = languages().of(path)
    return found.family or found.name if found is not None else ""


def _aside(path: str) -> bool:
    """Whether a file was copied or made rather than written here."""
    return _ASIDE.search(path) is not None


def _weight(name: str) -> float:
    """How much a name tells: one of several words is meant, a plain word may be chance."""
    if name.startswith("_"):
        return 0.05
    if len(name) >= 8 and _TELLING.search(name):
        return 1.0
    if len(name) < 3:
        return 0.01
    return 0.6 if len(name) >= 4 and name[0].isupper() else 0.1
