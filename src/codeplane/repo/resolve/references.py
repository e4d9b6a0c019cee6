"""All places that may refer to a definition, each with how sure that is."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from codeplane.repo.facts.model import Facts
from codeplane.repo.index.facts import FactStore
from codeplane.repo.resolve.entity import Bound
from codeplane.repo.resolve.expression import shape
from codeplane.repo.resolve.resolver import Meaning, Resolver
from codeplane.repo.resolve.world import World

Tier = Literal["PROVEN", "STRONG", "ANCHORED", "UNKNOWN"]
Role = Literal["DEFINITION", "REFERENCE", "IMPORT", "EXPORT"]
TIERS: tuple[Tier, ...] = ("PROVEN", "STRONG", "ANCHORED", "UNKNOWN")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """An occurrence of a name and how it relates to the definition asked about."""

    path: str
    offset: int
    tier: Tier
    role: Role
    receiver: str


def references(world: World, store: FactStore, wanted: Sequence[Bound]) -> Iterator[Reference]:
    """Every occurrence of the name that is, or may be, a reference to one of these bindings; in the order of files.

    The bindings share their name: together they are what an ambiguous question asks for.
    """
    resolver = Resolver(world)
    asked = _Asked.of(world, wanted)
    if not asked.bounds:
        return
    name = asked.bounds[0].name
    paths = sorted({one.file for one in asked.bounds}) if asked.local else [path for path, _ in store.files_with(name)]
    pattern = occurrence(name)
    for path in paths:
        known = world.snapshot.files.get(path)
        facts = world.facts(path) if known is not None and known.skipped is None else None
        if facts is None or world.language(facts).family not in asked.families:
            continue
        text = world.text(path)
        for match in pattern.finditer(text):
            if not facts.in_text(match.start()):
                found = _judged(resolver, text, facts, path, match.start(), asked)
                if found is not None:
                    yield found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What references are looked for, and what kind of names these are."""

    bounds: tuple[Bound, ...]
    families: frozenset[str | None]
    member: bool
    plain: bool
    local: bool

    @classmethod
    def of(cls, world: World, wanted: Sequence[Bound]) -> "_Asked":
        bounds, families, members = [], set(), set()
        for one in wanted:
            facts = world.facts(one.file)
            if facts is not None:
                bounds.append(one)
                families.add(world.language(facts).family)
                if facts.scopes[one.scope].kind in world.language(facts).methods_in:
                    members.add(one)
        plain = [one for one in bounds if one not in members]
        return cls(
            bounds=tuple(bounds),
            families=frozenset(families),
            member=bool(members),
            plain=any(one.scope == 0 for one in plain),
            local=not members and all(one.scope != 0 for one in plain),
        )


def occurrence(name: str) -> re.Pattern[bytes]:
    """Matches a name as a whole word."""
    return re.compile(rb"(?<![\w$\x80-\xff])" + re.escape(name.encode()) + rb"(?![\w$\x80-\xff])")


def _judged(resolver: Resolver, text: bytes, facts: Facts, path: str, offset: int, asked: _Asked) -> Reference | None:
    if any(path == of.file and _defines(facts, of, offset) for of in asked.bounds):
        return Reference(path=path, offset=offset, tier="PROVEN", role="DEFINITION", receiver="")
    meaning = resolver.at(path, offset, asked.bounds[0].name)
    tier = _tier(meaning, path, asked)
    if tier is None:
        return None
    role: Role = "IMPORT" if meaning.how == "import" else "REFERENCE"
    receiver = shape(text, offset) if meaning.how == "member" else ""
    return Reference(path=path, offset=offset, tier=tier, role=role, receiver=receiver)


def _defines(facts: Facts, of: Bound, offset: int) -> bool:
    if any(facts.definitions[index].name_at == offset for index in facts.declared.get((of.scope, of.name), ())):
        return True
    return any(int(facts.binds[row, 1]) == offset for row in facts.bound.get((of.scope, of.name), ()))


def _tier(meaning: Meaning, path: str, asked: _Asked) -> Tier | None:
    """How sure a place refers to what is asked for; None when it certainly means something else."""
    meant = [one for one in asked.bounds if one in meaning.entities or one == meaning.own]
    if meant:
        if meaning.how == "name" and any(path == one.file for one in meant):
            return "PROVEN"
        if meaning.how == "member" and not meaning.certain:
            return "ANCHORED"
        return "STRONG"
    if meaning.how == "label":
        return "UNKNOWN" if asked.member else None
    if meaning.entities or meaning.own is not None:
        return None
    if meaning.how == "member":
        return "ANCHORED" if asked.member else "UNKNOWN"
    # A name that nothing here binds, or an import whose module cannot be found.
    return "UNKNOWN" if asked.plain else None
