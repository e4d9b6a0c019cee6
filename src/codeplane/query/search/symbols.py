"""Definitions by name, part of a name, place or id."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from codeplane.code.entity import Bound, Side
from codeplane.code.languages.member_side import side_of
from codeplane.code.model import Definition, Facts
from codeplane.code.resolve.occurrences import occurrences
from codeplane.code.resolve.resolver import Resolver
from codeplane.code.resolve.world import World
from codeplane.index.fact_store import FactStore, Symbol
from codeplane.index.files.paths import path_text
from codeplane.index.path_kinds import is_copy, is_test
from codeplane.index.snapshot import Snapshot
from codeplane.kernel.errors import IndexNotReady, InvalidArgument, NotFound
from codeplane.query.search.hit import MatchType, line_start
from codeplane.query.search.matches import MatchList, Place
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
    """A requested symbol: its binding, and one definition."""

    bound: Bound
    symbol: Symbol | None
    definition: Definition | None

    def line(self) -> str:
        """The target as one line."""
        if self.symbol is None:
            return f"{self.bound.name} in {path_text(self.bound.file)}"
        return f"{self.symbol.kind} {self.symbol.path} ({path_text(self.symbol.file)}:{self.symbol.line})"


def side_of_target(world: World, target: Target) -> Side:
    """Return which of several members of its name and class a target is; empty if it may be any."""
    facts = world.facts(target.bound.file)
    if facts is None or target.definition is None:
        return ""
    side = side_of(facts, world.text(target.bound.file), target.definition)
    return side if side in ("method", "field", "type") else ""


def definitions(
    snapshot: Snapshot, store: FactStore, query: str, *, keep: Keep | None, kinds: Sequence[str]
) -> MatchList:
    """Definitions by name, dotted name, place or id."""
    must_be_kinds(store, kinds)
    symbols_found = _live_symbols(snapshot, _find_symbols(store, query), keep, kinds)
    return MatchList(places=[place_of(store, symbol) for symbol in symbols_found], total=len(symbols_found))


def symbols(
    snapshot: Snapshot, store: FactStore, names: NameTable, query: str, *, keep: Keep | None, kinds: Sequence[str]
) -> MatchList:
    """Definitions whose name equals, starts with, contains or is abbreviated by the query, best first."""
    must_be_kinds(store, kinds)
    wanted = next(filter(None, reversed(_STEP.split(query.strip()))), query)
    alike, all_of_them = names.find_similar(wanted, most=_MAX_NAMES)
    places: list[Place] = []
    named = store.named_any([name for _, name in alike], limit=_MAX_NAMED)
    for score, name in alike:
        how: MatchType = "exact" if name == wanted else "fuzzy"
        for symbol in _live_symbols(snapshot, named.get(name, ()), keep, kinds):
            places.append(place_of(store, symbol, score=score, match_type=how))
    return MatchList(places=places, total=len(places), exact=all_of_them)


def must_be_kinds(store: FactStore, kinds: Sequence[str]) -> None:
    """Raise InvalidArgument for kinds that no definition has."""
    known = store.kinds() if kinds else []
    unknown = [kind for kind in kinds if kind not in known]
    if unknown and known:
        raise InvalidArgument(f"nothing here is a {unknown[0]!r}", hint=f"kinds here: {', '.join(known)}")


def targets(world: World, store: FactStore, query: str, *, keep: Keep | None = None) -> list[Target]:
    """Resolve a query to targets; a place may be a reference, which is resolved."""
    location = _LOCATION.match(query)
    if location and world.snapshot.files.get(location["path"]) is not None:
        column = int(location["column"]) if location["column"] else None
        return _at(world, store, location["path"], int(location["line"]), column)
    path, _, name = query.rpartition(":")
    if name and world.snapshot.files.get(path) is not None:
        # As answers name symbols: the file, and the name in it.
        return targets(world, store, name, keep=lambda file: file == path and (keep is None or keep(file)))
    targets_by_bound: dict[Bound, Target] = {}
    for symbol in _live_symbols(world.snapshot, _find_symbols(store, query), keep, ()):
        facts = world.facts(symbol.file)
        if facts is None or symbol.position >= len(facts.definitions):
            continue
        definition = facts.definitions[symbol.position]
        bound = Bound(symbol.file, definition.scope, definition.name)
        targets_by_bound.setdefault(bound, Target(bound=bound, symbol=symbol, definition=definition))
    return list(targets_by_bound.values()) or _exported_targets(world, store, query)


def _exported_targets(world: World, store: FactStore, query: str) -> list[Target]:
    """Targets that a package exports under a dotted name such as `package.Class.method`."""
    parts = [part for part in query.removesuffix("()").split(".") if part]
    resolver = Resolver(world)
    for cut in range(len(parts) - 1, 0, -1):
        for module in world.python().find(".".join(parts[:cut]), ""):
            bounds = [bound for bound in resolver.export(module, parts[cut]) if isinstance(bound, Bound)]
            for name in parts[cut + 1 :]:
                members = [resolver.member(bound, name)[0] for bound in bounds]
                bounds = [member for member in members if member is not None]
            if bounds:
                return [_target(store, world, bound) for bound in bounds]
    return []


def place_of(store: FactStore, symbol: Symbol, *, score: float = 1.0, match_type: MatchType = "exact") -> Place:
    """The place of a definition's name, located when shown."""
    return Place(
        path=symbol.file,
        offset=0,
        length=len(symbol.name.encode()),
        score=score,
        match_type=match_type,
        symbol=symbol,
        located=partial(_name_at, store, symbol),
    )


def _name_at(store: FactStore, symbol: Symbol, text: bytes) -> int:
    """The offset of the name; facts are read only if it is on its line twice."""
    start = line_start(text, symbol.line)
    end = text.find(b"\n", start)
    there = occurrences(text[start : end if end >= 0 else len(text)], symbol.name)
    if len(there) == 1:
        return start + there[0]
    facts = store.facts(symbol.file, symbol.digest)
    return facts.definitions[symbol.position].name_at if facts and symbol.position < len(facts.definitions) else 0


def _find_symbols(store: FactStore, query: str) -> list[Symbol]:
    """By id, by name, or by the end of a dotted name."""
    query = query.strip()
    if _UID.match(query):
        symbol_by_id = store.with_uid(query)
        if symbol_by_id is not None:
            return [symbol_by_id]
    location = _LOCATION.match(query)
    if location:
        line = int(location["line"])
        inside = _around(store, location["path"], line)
        if inside:
            return inside
    parts = [part for part in _STEP.split(query.removesuffix("()")) if part]
    if not parts:
        return []
    named = store.find_symbols(parts[-1], limit=_MAX_NAMED)
    return [symbol for symbol in named if _ends_with(symbol, parts)] if len(parts) > 1 else named


def _around(store: FactStore, path: str, line: int) -> list[Symbol]:
    """The definitions on a line, or the innermost one around it."""
    listed = store.in_file(path, limit=100_000)
    on_line = [symbol for symbol in listed if symbol.line == line]
    if on_line or not listed:
        return on_line
    facts = store.facts(path, listed[0].digest)
    if facts is None:
        return []
    holding = [symbol for symbol in listed if symbol.line <= line <= facts.definitions[symbol.position].end_line]
    return holding[-1:]


def _ends_with(symbol: Symbol, parts: Sequence[str]) -> bool:
    """Whether a dotted name ends in a definition's module and lexical path."""
    whole = [*re.split(r"[/.]", symbol.file.rpartition(".")[0].removesuffix("/__init__").removesuffix("/index"))]
    whole += symbol.path.split(".")
    return whole[-len(parts) :] == list(parts)


def _live_symbols(
    snapshot: Snapshot, candidates: Iterable[Symbol], keep: Keep | None, kinds: Sequence[str]
) -> list[Symbol]:
    """Symbols in scope whose file is unchanged, tests last."""
    chosen = [
        symbol
        for symbol in candidates
        if (known := snapshot.files.get(symbol.file)) is not None
        and known.digest == symbol.digest
        and (keep is None or keep(symbol.file))
        and (not kinds or symbol.kind in kinds)
    ]
    return sorted(chosen, key=lambda symbol: (is_test(symbol.file), is_copy(symbol.file)))


def _at(world: World, store: FactStore, path: str, line: int, column: int | None) -> list[Target]:
    facts, text = world.facts(path), world.text(path)
    if facts is None:
        if path in world.missing and store.parsed_digests().get(path) != world.snapshot.files[path].digest:
            raise IndexNotReady(f"{path_text(path)} is not parsed yet")
        raise NotFound(f"{path_text(path)} has no parsed symbols", hint="search for the name instead")
    start = 0
    for _ in range(line - 1):
        start = text.find(b"\n", start) + 1
        if start == 0:
            raise NotFound(f"{path_text(path)} has no line {line}", hint="lines count from 1")
    end = text.find(b"\n", start)
    end = len(text) if end < 0 else end
    on_line = [definition for definition in facts.definitions if start <= definition.name_at < end]
    if column is None:
        wanted = (
            on_line[:1]
            or [definition for definition in facts.definitions if definition.line <= line <= definition.end_line][-1:]
        )
        if not wanted:
            raise NotFound(f"nothing is defined at {path_text(path)}:{line}", hint="add the column: path:line:column")
        return [_target(store, world, Bound(path, wanted[0].scope, wanted[0].name))]
    at = start + len(text[start:end].decode("utf-8", "replace")[: column - 1].encode())
    for match in _IDENTIFIER.finditer(text, start, end):
        if match.start() <= at <= match.end():
            name = match[0].decode("utf-8", "replace")
            for definition in on_line:
                if definition.name_at == match.start():
                    return [
                        _target(store, world, Bound(path, definition.scope, definition.name), at=definition.name_at)
                    ]
            meaning = Resolver(world).at(path, match.start(), name)
            bounds = [entity for entity in meaning.entities if isinstance(entity, Bound)]
            # A shorthand is a field as well as the variable that it binds.
            binding = [bound for bound in bounds if bound.file == path and _is_bound_at(facts, bound, match.start())]
            return [_target(store, world, bound, side=meaning.side) for bound in binding or bounds]
    raise NotFound(f"no name at {path_text(path)}:{line}:{column}", hint="columns count from 1")


def _is_bound_at(facts: Facts, bound: Bound, at: int) -> bool:
    return any(facts.bind_at(row) == at for row in facts.rows(bound.scope, bound.name))


def _target(store: FactStore, world: World, bound: Bound, *, at: int | None = None, side: Side = "") -> Target:
    """The target of a binding, by its first definition, or the one at a place or of a side."""
    facts = world.facts(bound.file)
    positions = facts.definitions_by_binding.get((bound.scope, bound.name), []) if facts else []
    inside = {symbol.position: symbol for symbol in store.in_file(bound.file, limit=100_000)} if positions else {}
    if facts is not None and at is not None:
        positions = sorted(positions, key=lambda position: facts.definitions[position].name_at != at)
    if facts is not None and side:
        text = world.text(bound.file)
        positions = sorted(positions, key=lambda position: side_of(facts, text, facts.definitions[position]) != side)
    for position in positions:
        if facts is not None and position in inside:
            return Target(bound=bound, symbol=inside[position], definition=facts.definitions[position])
    return Target(bound=bound, symbol=None, definition=None)
