"""References to a symbol, by tier, and its aliases."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from codeplane.code.entity import Side
from codeplane.code.resolve.references import Reference, references
from codeplane.code.resolve.tier import SURE, TIERS
from codeplane.code.resolve.world import World
from codeplane.index.fact_store import FactStore
from codeplane.index.files.paths import path_text
from codeplane.kernel.plural import plural
from codeplane.query.search.matches import MatchList, Place
from codeplane.query.search.scope import Keep
from codeplane.query.search.symbols import Target, side_of_target, targets

_MAX_ALIASES = 5
_NO_NAMES = frozenset({"", "*", "default"})
# Where a name goes from file to file, and may get another one.
_PASSING = frozenset({"IMPORT", "EXPORT"})
MAX_REFERENCES = 20_000
# A name that is everywhere is counted so far before its first page leaves; the next page waits for all of them.
COUNTED = 200


def find_references(
    world: World, store: FactStore, query: str, *, keep: Keep | None, page: int | None = None
) -> MatchList:
    """All references to a query's targets, certain ones first, then by file.

    With `page` the first so many are in their places, and what is found beyond them is a part of all.
    """
    wanted = targets(world, store, query)
    return references_to(world, store, wanted, keep=keep, page=page)


def references_to(
    world: World, store: FactStore, wanted: list[Target], *, keep: Keep | None, page: int | None = None
) -> MatchList:
    """References to resolved targets; those with the same name are searched together."""
    sure: list[Place] = []
    unsure: list[Place] = []
    exact = whole = True
    passing: dict[str, dict[str, list[int]]] = {}
    for bound in (target.bound for target in wanted if target.bound.scope == 0):
        passing.setdefault(bound.name, {})[bound.file] = []
    for name, reference in _each_reference(world, store, wanted, keep):
        count = len(sure) + len(unsure)
        whole = page is None or count < COUNTED or len(sure) < page
        if count >= MAX_REFERENCES or not whole:
            exact = False
            break
        place = Place(path=reference.path, offset=reference.offset, length=len(name.encode()), tier=reference.tier)
        (sure if reference.tier in SURE else unsure).append(place)
        if reference.role in _PASSING and reference.tier in SURE:
            passing.setdefault(name, {}).setdefault(reference.path, []).append(reference.offset)
    places = sure + unsure
    files = dict.fromkeys(target.bound.file for target in wanted)
    counts = Counter(place.tier for place in places)
    return MatchList(
        places=places,
        total=len(places),
        exact=exact,
        whole=whole,
        tiers={tier: counts[tier] for tier in TIERS if counts[tier]},
        of=tuple(reference.line() for reference in wanted),
        missing=frozenset(world.missing),
        partial="; ".join(dict.fromkeys(what for path in files for what in world.missing_configs(path))) or None,
        aside=alias_note(
            {key: paths for name in passing for key, paths in other_names(world, name, passing[name]).items()}
        ),
    )


def _each_reference(
    world: World, store: FactStore, wanted: list[Target], keep: Keep | None
) -> Iterator[tuple[str, Reference]]:
    for name in dict.fromkeys(target.bound.name for target in wanted):
        bounds = [target.bound for target in wanted if target.bound.name == name]
        sides = {side_of_target(world, target) for target in wanted if target.bound.name == name}
        side: Side = sides.pop() if len(sides) == 1 else ""
        for target in references(world, store, bounds, keep=keep, receivers=False, side=side):
            yield name, target


def alias_note(names: Mapping[str, list[str]]) -> str | None:
    """A note that uses under aliases are not listed."""
    if not names:
        return None
    listed = [
        f"{name} in {path_text(paths[0]) if len(paths) == 1 else plural(len(paths), 'file')}"
        for name, paths in list(names.items())[:_MAX_ALIASES]
    ]
    more = f" and {len(names) - _MAX_ALIASES} more names" if len(names) > _MAX_ALIASES else ""
    return f"also known as {', '.join(listed)}{more}; uses under another name are not listed: mode=literal finds them"


def other_names(world: World, name: str, places: Mapping[str, Iterable[int]]) -> dict[str, list[str]]:
    """The aliases of a name with the files that give them; `places` are its imports and exports."""
    names: dict[str, list[str]] = {}
    for path, offsets in places.items():
        facts, there = world.facts(path), frozenset(offsets)
        if facts is None:
            continue
        taken = [item.alias for item in facts.imports if item.imported == name and item.imported_at in there]
        given = [export.name for export in facts.exports if export.local == name]
        for other in dict.fromkeys((*taken, *given)):
            if other != name and other not in _NO_NAMES:
                names.setdefault(other, []).append(path)
    return names
