"""What refers to a symbol: how many references of each tier, a few of their lines, and the places of the others."""

import time
from collections import Counter

from codeplane.code.resolve.references import Reference, references
from codeplane.code.resolve.tier import SURE, TIERS
from codeplane.code.resolve.world import World
from codeplane.index.fact_store import FactStore
from codeplane.index.files.paths import path_text
from codeplane.index.path_kinds import is_test
from codeplane.query.explain.explanation import OtherPlaces, ReferenceSummary
from codeplane.query.search.hit import line_at
from codeplane.query.search.matches import Place
from codeplane.query.search.symbols import Target, side_of_target

_MAX_LINES = 8
_PER_FILE = 2
# Lines of tests are shown only where little else refers to a symbol.
_TEST_LINES = 2
_MAX_PLACES = 150
_PLACES_PER_FILE = 20
_MAX_REFERENCES = 20_000
_MAX_TESTS = 20
_MAX_CHECKED = 2_000
_FOR_SEC = 2.0


def summarise_references(world: World, store: FactStore, target: Target) -> tuple[ReferenceSummary, frozenset[str]]:
    """Return the references of a symbol, counted and with the best of them, and the files that have them."""
    tiers: Counter[str] = Counter()
    files: set[str] = set()
    tests: Counter[str] = Counter()
    references_found: list[Reference] = []
    exact, until = True, time.monotonic() + _FOR_SEC
    for reference in references(world, store, [target.bound], receivers=False, side=side_of_target(world, target)):
        if reference.role == "DEFINITION":
            continue
        if len(references_found) >= _MAX_REFERENCES or time.monotonic() > until:
            exact = False
            break
        references_found.append(reference)
        tiers[reference.tier] += 1
        files.add(reference.path)
        if is_test(reference.path):
            tests[reference.path] += 1
    best = _best_references(references_found, target.bound.file)
    size = len(target.bound.name.encode())
    hits = [
        Place(path=reference.path, offset=reference.offset, length=size, tier=reference.tier).hit(world.snapshot, 0)
        for reference in best
    ]
    ranked = sorted(tests, key=lambda path: (-tests[path], path))
    others = _other_places(world, [each for each in references_found if each not in set(best)], ranked)
    summary = ReferenceSummary(
        total=len(references_found),
        total_is_exact=exact and not world.missing,
        tiers={tier: tiers[tier] for tier in TIERS if tiers[tier]},
        files=len(files),
        lines=tuple(hits),
        others=others,
        not_shown=len(references_found) - len(hits) - sum(places.count for places in others),
        tests={path_text(path): tests[path] for path in ranked[:_MAX_TESTS]},
        test_count=len(tests),
    )
    # Whatever is counted is looked at again before the answer leaves, what it names first.
    named = dict.fromkeys([*(reference.path for reference in best), *ranked, *sorted(files)])
    return summary, frozenset(list(named)[:_MAX_CHECKED])


def _other_places(world: World, left: list[Reference], tests: list[str]) -> tuple[OtherPlaces, ...]:
    """Where references are whose lines are not shown, by file: code before tests, as far as the bounds go."""
    by_file: dict[str, list[Reference]] = {}
    for reference in sorted(left, key=lambda each: (is_test(each.path), each.tier not in SURE)):
        by_file.setdefault(reference.path, []).append(reference)
    room = _MAX_PLACES
    others: list[OtherPlaces] = []
    for path in sorted(by_file, key=lambda path: tests.index(path) if path in tests else -1):
        some = by_file[path][: min(room, _PLACES_PER_FILE)]
        lines = {_line(world, reference): reference.tier not in SURE for reference in reversed(some)}
        if not lines:
            break
        room -= len(some)
        others.append(
            OtherPlaces(
                path=path_text(path),
                lines=tuple(sorted(lines)),
                unsure=tuple(sorted(line for line, unsure in lines.items() if unsure)),
                count=len(some),
            )
        )
    return tuple(others)


def _line(world: World, reference: Reference) -> int:
    return line_at(world.snapshot, world.snapshot.files[reference.path], reference.offset)[0]


def _best_references(candidates: list[Reference], home: str) -> list[Reference]:
    """A few references: certain ones first, other files before its own, imports and tests last and of these two."""
    order = sorted(
        range(len(candidates)),
        key=lambda index: (
            is_test(candidates[index].path),
            candidates[index].tier not in SURE,
            candidates[index].role == "IMPORT",
            candidates[index].path == home,
            index,
        ),
    )
    chosen: list[int] = []
    held: Counter[str] = Counter()
    in_code = sum(not is_test(candidate.path) for candidate in candidates)
    per_file = _PER_FILE if in_code > _MAX_LINES else _MAX_LINES
    for index in order[: max(in_code, _TEST_LINES)]:
        if len(chosen) < _MAX_LINES and held[candidates[index].path] < per_file:
            held[candidates[index].path] += 1
            chosen.append(index)
    places = {candidates[index].path: place for place, index in reversed(list(enumerate(chosen)))}
    return sorted(
        (candidates[index] for index in chosen), key=lambda reference: (places[reference.path], reference.offset)
    )
