"""Ranking of tests by how closely they mention the changed definitions, or what uses these."""

import heapq
import math
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from codeplane.code.model import Facts
from codeplane.code.resolve.world import World
from codeplane.index.fact_store import FactStore
from codeplane.testing.changes import Lines
from codeplane.testing.import_graph import ImportGraph
from codeplane.testing.target import Target

_DECAY = 0.6
_TO_CLASS = 0.5
_LEAST = 0.01
_IMPORTED = 0.5
_FURTHER = 0.7
_MAX_STEPS = 250
_MAX_FILES = 300
_MAX_HITS = 200
_MAX_KEPT = 200_000
# Names of files that stand for the folder they are in.
_WHOLE_FOLDER = frozenset({"init", "index", "mod", "lib", "main"})
_HOLDERS = frozenset({"function", "method", "class", "constructor", "property", "interface", "struct", "trait"})
_WORD = re.compile(rb"[\w\x80-\xff]")
_SMALL = frozenset({"local", "argument"})


@dataclass(frozen=True, slots=True)
class _Place:
    """A definition by its file and index."""

    path: str
    index: int


class UseCache:
    """Where files use names, cached by content: most files stay the same from one edit to the next."""

    def __init__(self) -> None:
        self._find_uses: dict[tuple[str, str], tuple[int, ...]] = {}

    def get(self, digest: str, name: str) -> tuple[int, ...] | None:
        """Return the places of a name in a file of this content; None when they are not cached."""
        return self._find_uses.get((digest, name))

    def put(self, digest: str, name: str, places: Sequence[int]) -> None:
        """Cache the places; the cache is cleared when it is full."""
        if len(self._find_uses) >= _MAX_KEPT:
            self._find_uses.clear()
        self._find_uses[digest, name] = tuple(places)


class Ranking:
    """Follows names from changed definitions to the tests that use them, weaker with every step."""

    def __init__(
        self, world: World, store: FactStore, imports: ImportGraph, targets: Sequence[Target], kept: UseCache
    ) -> None:
        self._world = world
        self._store = store
        self._imports = imports
        self._kept = kept
        self._targets = {path: target.target_id for target in targets for path in target.files}
        self._folded: dict[str, tuple[list[int], list[int]]] = {}

    def rank(self, changed: Mapping[str, Lines], among: Sequence[str]) -> list[tuple[str, str]]:
        """Return these targets, the likeliest to fail first, each with the name that ties it to the change."""
        evidence: dict[str, list[tuple[float, str]]] = {target_id: [] for target_id in among}
        reach = self._imports.files_reaching(changed)
        distance = {self._targets[path]: step.distance for path, step in reach.items() if path in self._targets}
        for target_id, score, why in self._evidence(changed, set(reach)):
            if target_id in evidence:
                evidence[target_id].append((score, why))
        for target_id, far in distance.items():
            if far == 1 and target_id in evidence:
                evidence[target_id].append((_IMPORTED, ""))
        scores, reasons = dict[str, float](), dict[str, str]()
        for target_id, found in evidence.items():
            found.sort(reverse=True)
            # Many weak ties do not make a strong one: long files have weak ties to everything.
            scores[target_id] = sum(score * _FURTHER**at for at, (score, _) in enumerate(found))
            reasons[target_id] = next((why for _, why in found if why), "")
        size = self._sizes
        order = sorted(
            among,
            key=lambda target_id: (-scores[target_id], distance.get(target_id, 99), -size.get(target_id, 0), target_id),
        )
        return [(target_id, reasons[target_id]) for target_id in order]

    @cached_property
    def _sizes(self) -> dict[str, int]:
        sizes: dict[str, int] = {}
        for path, target_id in self._targets.items():
            known = self._world.snapshot.files.get(path)
            sizes[target_id] = sizes.get(target_id, 0) + (known.length if known is not None else 0)
        return sizes

    def _evidence(self, changed: Mapping[str, Lines], reach: set[str]) -> "list[tuple[str, float, str]]":
        found: list[tuple[str, float, str]] = []
        for path in changed:
            found += self._tests_by_name(path)
        best: dict[_Place, float] = {}
        heap: list[tuple[float, str, int, str]] = []

        def visit(place: _Place, score: float, origin: str) -> None:
            if score >= _LEAST and score > best.get(place, 0.0):
                best[place] = score
                heapq.heappush(heap, (-score, place.path, place.index, origin))

        for path, lines in changed.items():
            for index, weight in self._seeds(path, lines):
                facts = self._world.facts(path)
                assert facts is not None
                name = facts.definitions[index].name
                visit(_Place(path, index), weight, name)
                found += self._with_name(name, weight)
        steps = 0
        while heap and steps < _MAX_STEPS:
            negative, path, index, origin = heapq.heappop(heap)
            place = _Place(path, index)
            if -negative < best[place]:
                continue
            steps += 1
            found += self._follow(place, -negative, origin, reach, visit)
        return found

    def _follow(
        self, place: _Place, score: float, origin: str, reach: set[str], visit: object
    ) -> "list[tuple[str, float, str]]":
        assert callable(visit)
        facts = self._world.facts(place.path)
        if facts is None:
            return []
        definition = facts.definitions[place.index]
        container = self._container(facts, place.index)
        if container is not None and facts.definitions[container].kind in ("class", "struct", "interface"):
            whole = _is_hook(definition.name)
            visit(_Place(place.path, container), score * (0.9 if whole else _TO_CLASS), origin)
            if whole:
                return []
        weight = score * self._distinctiveness(definition.name)
        found: list[tuple[str, float, str]] = []
        if weight < _LEAST:
            return found
        users = self._store.files_with(definition.name)
        if len(users) > _MAX_FILES:
            return found
        for path, _ in users:
            if path not in reach and path != place.path:
                continue
            target_id = self._targets.get(path)
            hits = self._hits(path, definition.name)
            if target_id is not None:
                if hits:
                    why = f"names {definition.name}" + (f", which uses {origin}" if origin != definition.name else "")
                    found.append((target_id, weight * (1 + math.log(len(hits))), why))
                continue
            for holder in {self._holder(path, at) for at in hits} - {None}:
                assert holder is not None
                if (path, holder) != (place.path, place.index):
                    visit(_Place(path, holder), weight * _DECAY, origin)
        return found

    def _seeds(self, path: str, lines: Lines) -> list[tuple[int, float]]:
        """Return the definitions around changed lines, the innermost weighted most; all of them without lines."""
        facts = self._world.facts(path)
        if facts is None:
            return []
        if not lines:
            return [(index, 0.5) for index, definition in enumerate(facts.definitions) if "." not in definition.path][
                :_MAX_FILES
            ]
        found: dict[int, float] = {}
        for first, last in lines:
            inside = [
                index
                for index, definition in enumerate(facts.definitions)
                if definition.kind not in _SMALL and definition.line <= last and definition.end_line >= first
            ]
            holders = [index for index in inside if facts.definitions[index].kind in _HOLDERS]
            near = holders or inside
            if not near:
                continue
            smallest = min(facts.definitions[index].end_line - facts.definitions[index].line for index in near)
            for index in near:
                span = facts.definitions[index].end_line - facts.definitions[index].line
                if span == smallest:
                    found[index] = 1.0
            # A changed line outside of functions that binds a name belongs to that name, too.
            for index in inside:
                around = facts.definitions[index].container
                is_inner = around >= 0 and facts.definitions[around].kind not in ("class", "interface", "struct")
                if index not in holders and not is_inner:
                    found.setdefault(index, 0.8)
        if not found:
            return [(index, 0.4) for index, definition in enumerate(facts.definitions) if "." not in definition.path][
                :_MAX_FILES
            ]
        return list(found.items())

    def _tests_by_name(self, path: str) -> list[tuple[str, float, str]]:
        """Return the tests whose file is named after the changed one."""
        found = []
        for other, target_id in self._targets.items():
            same = likeness(path, other)
            if same:
                found.append((target_id, 2.0 * same, f"is called after {path.rpartition('/')[2]}"))
        return found

    def _with_name(self, name: str, weight: float) -> list[tuple[str, float, str]]:
        """Return the tests that use the name inside a longer one, as in test_name_of_it, or are named after it."""
        words = _words(name)
        found = []
        bare = name.strip("_")
        if len(bare) < 4:
            return []
        pattern = re.compile(re.escape(bare.encode()), re.I)
        for path, target_id in self._targets.items():
            count = len(pattern.findall(self._world.text(path)))
            if count:
                found.append((target_id, 0.5 * weight * (1 + math.log(count)), f"has {bare} in a name"))
            same = words & _words(path.rpartition("/")[2].partition(".")[0])
            if same:
                found.append((target_id, weight * len(same) / len(words), f"is called after {name}"))
        return found

    def _distinctiveness(self, name: str) -> float:
        """Return how well a name alone identifies a definition: worse for a name that many have."""
        definers = {symbol.path for symbol in self._store.find_symbols(name, limit=30)} - set(self._targets)
        return 1.0 / (1.0 + math.log(max(1, len(definers)), 2)) if len(name) > 2 else 0.1

    def _hits(self, path: str, name: str) -> Sequence[int]:
        known = self._world.snapshot.files.get(path)
        if known is None:
            return ()
        hits = self._kept.get(known.digest, name)
        if hits is None:
            hits = tuple(self._find_uses(path, name))
            # Before the file is parsed, strings and comments are not known.
            if path not in self._world.missing:
                self._kept.put(known.digest, name, hits)
        return hits

    def _find_uses(self, path: str, name: str) -> list[int]:
        facts = self._world.facts(path)
        text = self._world.text(path)
        wanted = name.encode()
        found: list[int] = []
        at = text.find(wanted)
        # Searching for the bytes first is many times as fast as a regular expression with word borders.
        while at >= 0 and len(found) < _MAX_HITS:
            end = at + len(wanted)
            borders = text[at - 1 : at] + text[end : end + 1] if at else text[end : end + 1]
            if not _WORD.search(borders) and (facts is None or not facts.in_text(at)):
                found.append(at)
            at = text.find(wanted, end)
        return found

    def _holder(self, path: str, at: int) -> int | None:
        """Return the innermost function, method or class around a place."""
        facts = self._world.facts(path)
        if facts is None:
            return None
        starts, numbers = self._starts(path, facts)
        place = bisect_right(starts, at) - 1
        number = numbers[place] if place >= 0 else -1
        # The definition that starts last before it, or one around that.
        while number >= 0:
            definition = facts.definitions[number]
            if definition.kind in _HOLDERS and definition.start <= at < definition.end:
                return number
            number = definition.container
        return None

    def _starts(self, path: str, facts: Facts) -> tuple[list[int], list[int]]:
        starts = self._folded.get(path)
        if starts is None:
            order = sorted(
                (definition.start, number)
                for number, definition in enumerate(facts.definitions)
                if definition.kind in _HOLDERS
            )
            starts = ([start for start, _ in order], [number for _, number in order])
            self._folded[path] = starts
        return starts

    def _container(self, facts: Facts, index: int) -> int | None:
        container = facts.definitions[index].container
        return container if container >= 0 else None


def _is_hook(name: str) -> bool:
    """Whether the language itself calls a method of this name."""
    return (name.startswith("__") and name.endswith("__")) or name == "constructor"


def likeness(path: str, test: str) -> float:
    """The share of the words in a file's name that a test's name has, too."""
    stem = _stem_words(path)
    return len(stem & _stem_words(test)) / max(1, len(stem))


def _stem_words(path: str) -> set[str]:
    """The words of a file's name, or of its folder's where the file stands for the folder."""
    folder, _, name = path.rpartition("/")
    words = _words(name.partition(".")[0])
    return _words(folder.rpartition("/")[2]) if words <= _WHOLE_FOLDER else words


def _words(name: str) -> set[str]:
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    return {
        word.rstrip("s") for word in re.split(r"[^a-z0-9]+", split) if word and word not in ("test", "tests", "spec")
    }
