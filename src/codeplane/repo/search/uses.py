"""References to a symbol, by tier."""

from codeplane.repo.index.facts import FactStore
from codeplane.repo.resolve.references import TIERS, references
from codeplane.repo.resolve.world import World
from codeplane.repo.search.found import Found, Place
from codeplane.repo.search.scope import Keep
from codeplane.repo.search.symbols import Target, targets

MAX_REFERENCES = 20_000


def uses(world: World, store: FactStore, query: str, *, keep: Keep | None) -> Found:
    """Every place that refers to what was asked for, surest first, then in the order of files."""
    wanted = targets(world, store, query)
    return used(world, store, wanted, keep=keep)


def used(world: World, store: FactStore, wanted: list[Target], *, keep: Keep | None) -> Found:
    """The same for targets already found; definitions that share a name are looked for at once."""
    places: list[Place] = []
    exact = True
    for name in dict.fromkeys(one.bound.name for one in wanted):
        bounds = [one.bound for one in wanted if one.bound.name == name]
        for one in references(world, store, bounds):
            if len(places) >= MAX_REFERENCES:
                exact = False
                break
            if keep is None or keep(one.path):
                places.append(Place(path=one.path, offset=one.offset, length=len(name.encode()), tier=one.tier))
    places.sort(key=lambda place: place.tier not in ("PROVEN", "STRONG"))
    tiers = {tier: sum(place.tier == tier for place in places) for tier in TIERS}
    return Found(
        places=places,
        total=len(places),
        exact=exact,
        tiers={tier: count for tier, count in tiers.items() if count},
        of=tuple(one.line() for one in wanted),
        missing=frozenset(world.missing),
    )
