"""Definitions by name, by a part of it, by place and by id."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from codeplane.code.languages.javascript.this_binding import Side, side_of
from codeplane.code.model import Definition
from codeplane.code.resolve.entity import Bound
from codeplane.code.resolve.references import occurrences
from codeplane.code.resolve.resolver import Resolver
from codeplane.code.resolve.world import World
from codeplane.index.fact_store import FactStore, Symbol
from codeplane.index.files.paths import shown
from codeplane.index.path_kinds import is_copy, is_test
from codeplane.index.snapshot import Snapshot
from codeplane.kernel.errors import InvalidArgument, NotFound
from codeplane.query.search.hit import MatchType, line_start
from codeplane.query.search.matches import Found, Place
from codeplane.query.search.name_table import NameTable
from codeplane.query.search.scope import Keep

_LOCATION = re.compile(r"^(?P<path>.+?):(?P<line>\d{1,9})(?::(?P<column>\d{1,9}))?$")
_UID = re.compile(r"^[0-9a-f]{16}$")
_MAX_NAMED = 1000
_MAX_NAMES = 300
_STEP = re.compile(r"::|[.#]")
_IDENTIFIER = re.compile(rb"[A-Za-z_$\x80-\xff][\w$\x80-\xff]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A symbol that was asked for: where it is bound, and one definition of it."""

    bound: Bound
    symbol: Symbol | None
    definition: Definition | None

    def line(self) -> str:
        """How it is named in an answer."""
        if self.symbol is None:
            return f"{self.bound.name} in {shown(self.bound.file)}"
        return f"{self.symbol.kind} {self.symbol.path} ({shown(self.symbol.file)}:{self.symbol.line})"


def definitions(snapshot: Snapshot, store: FactStore, query: str, *, keep: Keep | None, kinds: Sequence[str]) -> Found:
    """The definitions a name, a dotted name, a place or an id stands for."""
    must_be_kinds(store, kinds)
    found = _live(snapshot, _asked(store, query), keep, kinds)
    return Found(places=[place_of(store, one) for one in found], total=len(found))


def symbols(
    snapshot: Snapshot, store: FactStore, names: NameTable, query: str, *, keep: Keep | None, kinds: Sequence[str]
) -> Found:
    """Definitions whose name is, begins with, contains, or is abbreviated by what was asked for, best first."""
    must_be_kinds(store, kinds)
    wanted = next(filter(None, reversed(_STEP.split(query.strip()))), query)
    alike, all_of_them = names.like(wanted, most=_MAX_NAMES)
    places: list[Place] = []
    named = store.named_any([name for _, name in alike], limit=_MAX_NAMED)
    for score, name in alike:
        how: MatchType = "exact" if name == wanted else "fuzzy"
        for one in _live(snapshot, named.get(name, ()), keep, kinds):
            places.append(place_of(store, one, score=score, match_type=how))
    return Found(places=places, total=len(places), exact=all_of_them)


def must_be_kinds(store: FactStore, kinds: Sequence[str]) -> None:
    """Refuse kinds that nothing here is of: an empty answer would look like one."""
    known = store.kinds() if kinds else []
    unknown = [kind for kind in kinds if kind not in known]
    if unknown and known:
        raise InvalidArgument(f"nothing here is a {unknown[0]!r}", hint=f"kinds here: {', '.join(known)}")


def targets(world: World, store: FactStore, query: str, *, keep: Keep | None = None) -> list[Target]:
    """The symbols a question is about; a place may name a use, which leads to what it means."""
    location = _LOCATION.match(query)
    if location and world.snapshot.files.get(location["path"]) is not None:
        column = int(location["column"]) if location["column"] else None
        return _at(world, store, location["path"], int(location["line"]), column)
    path, _, name = query.rpartition(":")
    if name and world.snapshot.files.get(path) is not None:
        # As answers name symbols: the file, and the name in it.
        return targets(world, store, name, keep=lambda one: one == path and (keep is None or keep(one)))
    found: dict[Bound, Target] = {}
    for one in _live(world.snapshot, _asked(store, query), keep, ()):
        facts = world.facts(one.file)
        if facts is None or one.position >= len(facts.definitions):
            continue
        definition = facts.definitions[one.position]
        bound = Bound(one.file, definition.scope, definition.name)
        found.setdefault(bound, Target(bound=bound, symbol=one, definition=definition))
    return list(found.values()) or _exported(world, store, query)


def _exported(world: World, store: FactStore, query: str) -> list[Target]:
    """What a package gives under a dotted name, wherever it is defined: `package.Class.method`."""
    parts = [part for part in query.removesuffix("()").split(".") if part]
    resolver = Resolver(world)
    for cut in range(len(parts) - 1, 0, -1):
        for module in world.python().find(".".join(parts[:cut]), ""):
            found = [one for one in resolver.export(module, parts[cut]) if isinstance(one, Bound)]
            for name in parts[cut + 1 :]:
                members = [resolver.member(one, name)[0] for one in found]
                found = [one for one in members if one is not None]
            if found:
                return [_target(store, world, one) for one in found]
    return []


def place_of(store: FactStore, one: Symbol, *, score: float = 1.0, match_type: MatchType = "exact") -> Place:
    """Where a definition's name stands; that is found out only if it is shown."""
    return Place(
        path=one.file,
        offset=0,
        length=len(one.name.encode()),
        score=score,
        match_type=match_type,
        symbol=one,
        located=partial(_name_at, store, one),
    )


def _name_at(store: FactStore, one: Symbol, text: bytes) -> int:
    """Where the name is on its line; its facts, which take longer to read, are asked where it is there twice."""
    start = line_start(text, one.line)
    end = text.find(b"\n", start)
    there = occurrences(text[start : end if end >= 0 else len(text)], one.name)
    if len(there) == 1:
        return start + there[0]
    facts = store.facts(one.file, one.digest)
    return facts.definitions[one.position].name_at if facts and one.position < len(facts.definitions) else 0


def _asked(store: FactStore, query: str) -> list[Symbol]:
    """By id, by name, or by the end of a dotted name."""
    query = query.strip()
    if _UID.match(query):
        found = store.with_uid(query)
        if found is not None:
            return [found]
    location = _LOCATION.match(query)
    if location:
        line = int(location["line"])
        inside = _around(store, location["path"], line)
        if inside:
            return inside
    parts = [part for part in _STEP.split(query.removesuffix("()")) if part]
    if not parts:
        return []
    named = store.named(parts[-1], limit=_MAX_NAMED)
    return [one for one in named if _ends_with(one, parts)] if len(parts) > 1 else named


def _around(store: FactStore, path: str, line: int) -> list[Symbol]:
    """What is defined on a line, or else the innermost definition the line is in."""
    listed = store.in_file(path, limit=100_000)
    on_line = [one for one in listed if one.line == line]
    if on_line or not listed:
        return on_line
    facts = store.facts(path, listed[0].digest)
    if facts is None:
        return []
    holding = [one for one in listed if one.line <= line <= facts.definitions[one.position].end_line]
    return holding[-1:]


def _ends_with(one: Symbol, parts: Sequence[str]) -> bool:
    """Whether a dotted name leads to a definition: its own path first, then its module's."""
    whole = [*re.split(r"[/.]", one.file.rpartition(".")[0].removesuffix("/__init__").removesuffix("/index"))]
    whole += one.path.split(".")
    return whole[-len(parts) :] == list(parts)


def _live(snapshot: Snapshot, found: Iterable[Symbol], keep: Keep | None, kinds: Sequence[str]) -> list[Symbol]:
    """Those whose file is as the snapshot knows it and which are asked for; tests last."""
    chosen = [
        one
        for one in found
        if (known := snapshot.files.get(one.file)) is not None
        and known.digest == one.digest
        and (keep is None or keep(one.file))
        and (not kinds or one.kind in kinds)
    ]
    return sorted(chosen, key=lambda one: (is_test(one.file), is_copy(one.file)))


def _at(world: World, store: FactStore, path: str, line: int, column: int | None) -> list[Target]:
    facts, text = world.facts(path), world.text(path)
    if facts is None:
        raise NotFound(f"{shown(path)} has no parsed symbols", hint="search for the name instead")
    start = 0
    for _ in range(line - 1):
        start = text.find(b"\n", start) + 1
        if start == 0:
            raise NotFound(f"{shown(path)} has no line {line}", hint="lines count from 1")
    end = text.find(b"\n", start)
    end = len(text) if end < 0 else end
    on_line = [one for one in facts.definitions if start <= one.name_at < end]
    if column is None:
        wanted = on_line[:1] or [one for one in facts.definitions if one.line <= line <= one.end_line][-1:]
        if not wanted:
            raise NotFound(f"nothing is defined at {shown(path)}:{line}", hint="add the column: path:line:column")
        return [_target(store, world, Bound(path, wanted[0].scope, wanted[0].name))]
    at = start + len(text[start:end].decode("utf-8", "replace")[: column - 1].encode())
    for match in _IDENTIFIER.finditer(text, start, end):
        if match.start() <= at <= match.end():
            name = match[0].decode("utf-8", "replace")
            for one in on_line:
                if one.name_at == match.start():
                    return [_target(store, world, Bound(path, one.scope, one.name), at=one.name_at)]
            meaning = Resolver(world).at(path, match.start(), name)
            return [_target(store, world, one, side=meaning.side) for one in meaning.entities if isinstance(one, Bound)]
    raise NotFound(f"no name at {shown(path)}:{line}:{column}", hint="columns count from 1")


def _target(store: FactStore, world: World, bound: Bound, *, at: int | None = None, side: Side = "") -> Target:
    """What is bound there, by its first definition or the one whose name stands at a place, or of a side."""
    facts = world.facts(bound.file)
    positions = facts.declared.get((bound.scope, bound.name), []) if facts else []
    inside = {one.position: one for one in store.in_file(bound.file, limit=100_000)} if positions else {}
    if facts is not None and at is not None:
        positions = sorted(positions, key=lambda one: facts.definitions[one].name_at != at)
    if facts is not None and side:
        text = world.text(bound.file)
        positions = sorted(positions, key=lambda one: side_of(facts, text, facts.definitions[one]) != side)
    for position in positions:
        if facts is not None and position in inside:
            return Target(bound=bound, symbol=inside[position], definition=facts.definitions[position])
    return Target(bound=bound, symbol=None, definition=None)
