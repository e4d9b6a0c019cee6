"""References to a symbol, by tier."""

from collections import Counter
from collections.abc import Iterator

from codeplane.code.resolve.references import Reference, references
from codeplane.code.resolve.tier import SURE, TIERS
from codeplane.code.resolve.world import World
from codeplane.index.fact_store import FactStore
from codeplane.query.search.aliases import other_names, told
from codeplane.query.search.matches import Found, Place
from codeplane.query.search.scope import Keep
from codeplane.query.search.symbols import Target, targets

# Where a name goes from file to file, and may get another one.
_PASSING = frozenset({"IMPORT", "EXPORT"})
MAX_REFERENCES = 20_000
# A name that is everywhere is counted so far before its first page leaves; the next page waits for all of them.
COUNTED = 200


def uses(world: World, store: FactStore, query: str, *, keep: Keep | None, page: int | None = None) -> Found:
    """Every place that refers to what was asked for, surest first, then in the order of files.

    With `page` the first so many are in their places, and what is found beyond them is a part of all.
    """
    wanted = targets(world, store, query)
    return used(world, store, wanted, keep=keep, page=page)


def used(world: World, store: FactStore, wanted: list[Target], *, keep: Keep | None, page: int | None = None) -> Found:
    """The same for targets already found; definitions that share a name are looked for at once."""
    sure: list[Place] = []
    unsure: list[Place] = []
    exact = whole = True
    passing: dict[str, dict[str, list[int]]] = {}
    for bound in (target.bound for target in wanted if target.bound.scope == 0):
        passing.setdefault(bound.name, {})[bound.file] = []
    for name, one in _found(world, store, wanted, keep):
        count = len(sure) + len(unsure)
        whole = page is None or count < COUNTED or len(sure) < page
        if count >= MAX_REFERENCES or not whole:
            exact = False
            break
        place = Place(path=one.path, offset=one.offset, length=len(name.encode()), tier=one.tier)
        (sure if one.tier in SURE else unsure).append(place)
        if one.role in _PASSING and one.tier in SURE:
            passing.setdefault(name, {}).setdefault(one.path, []).append(one.offset)
    places = sure + unsure
    counts = Counter(place.tier for place in places)
    return Found(
        places=places,
        total=len(places),
        exact=exact,
        whole=whole,
        tiers={tier: counts[tier] for tier in TIERS if counts[tier]},
        of=tuple(one.line() for one in wanted),
        missing=frozenset(world.missing),
        aside=told({key: paths for name in passing for key, paths in other_names(world, name, passing[name]).items()}),
    )


def _found(world: World, store: FactStore, wanted: list[Target], keep: Keep | None) -> Iterator[tuple[str, Reference]]:
    for name in dict.fromkeys(one.bound.name for one in wanted):
        bounds = [one.bound for one in wanted if one.bound.name == name]
        for one in references(world, store, bounds, keep=keep, receivers=False):
            yield name, one
