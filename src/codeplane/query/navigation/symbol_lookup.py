"""What the name at a place means, by the facts of one world."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from codeplane.code.entity import Bound, Entity, Instance, Meaning, Module, Outside, Side
from codeplane.code.languages.member_side import side_of
from codeplane.code.languages.modules import is_package
from codeplane.code.languages.registry import LANGUAGES
from codeplane.code.model import Definition, Facts
from codeplane.code.resolve.occurrences import is_documentation_link
from codeplane.code.resolve.references import Role
from codeplane.code.resolve.resolver import Resolver
from codeplane.code.resolve.tier import Tier
from codeplane.code.resolve.world import World
from codeplane.index.files.paths import path_text
from codeplane.index.parse_worker import uid_of
from codeplane.query.navigation.name_token import NameToken, name_token
from codeplane.query.navigation.positions import Positions, Unit
from codeplane.query.navigation.records import Span, SymbolPlace
from codeplane.query.signature import doc, signature

MAX_PLACES = 100
_OVERLOADED = frozenset({"function", "method"})
_ROLES: dict[str, Role] = {"import": "IMPORT", "export": "EXPORT"}


@dataclass(frozen=True, slots=True, kw_only=True)
class NameAt:
    """A name at a place and its meaning; of a definition's own name, the definition."""

    token: NameToken
    meaning: Meaning
    tier: Tier
    role: Role
    definition: Definition | None = None

    @property
    def bounds(self) -> tuple[Bound, ...]:
        """The bindings that the name may refer to."""
        return tuple(entity for entity in self.meaning.entities if isinstance(entity, Bound))


class SymbolLookup:
    """Finds names, what they mean, and where that is; everything it answers is of one world."""

    def __init__(self, world: World, resolver: Resolver, unit: Unit) -> None:
        self.world = world
        self.resolver = resolver
        self._unit = unit
        self._positions: dict[str, Positions] = {}

    def positions(self, path: str) -> Positions:
        """Return the lines and columns of a file."""
        found = self._positions.get(path)
        if found is None:
            found = self._positions[path] = Positions(self.world.text(path), self._unit)
        return found

    def name_at(self, path: str, facts: Facts, offset: int) -> NameAt | str:
        """Return the name at a place with its meaning, or why there is none."""
        text = self.world.text(path)
        language = LANGUAGES[facts.language]
        token = name_token(text, offset, facts)
        if token is None:
            return "there is no name at this place"
        defined = self.resolver.definition_at(path, facts, token.start)
        if defined is not None:
            bound = Bound(path, defined.scope, defined.name)
            meaning = Meaning(entities=(bound,), certain=True, how="name", side=_side(facts, text, defined))
            return NameAt(token=token, meaning=meaning, tier="PROVEN", role="DEFINITION", definition=defined)
        if facts.in_text(token.start):
            if not is_documentation_link(language, text, token.start):
                return "this place is in a string or comment"
            meaning = self.resolver.resolve_plain_name(path, facts, token.start, token.name)
            return NameAt(token=token, meaning=meaning, tier=_tier(meaning, path), role="REFERENCE")
        reserved = language.reserved
        if reserved is not None and token.name in reserved.hard and not language.names.members_may_be_keywords:
            return f"{token.name} is a keyword"
        meaning = self.resolver.at(path, token.start, token.name)
        return NameAt(token=token, meaning=meaning, tier=_tier(meaning, path), role=self._role(facts, meaning, token))

    def places(self, name: NameAt, *, detail: bool) -> Iterator[SymbolPlace]:
        """Yield the definitions that a name refers to."""
        if name.definition is not None:
            (bound,) = name.bounds
            for definition in self._implementations(bound, name.definition):
                yield from self._definition_places(bound.file, definition, name.tier, detail=detail)
            return
        for entity in self._chosen(name):
            yield from self.entity_places(entity, name.tier, detail=detail, side=name.meaning.side)

    def _definition_places(
        self, path: str, definition: Definition, tier: Tier, *, detail: bool
    ) -> Iterator[SymbolPlace]:
        """Yield where something is defined: of a module that is only declared, its file."""
        facts = self.world.facts(path)
        files = self.resolver.module_files(path, facts, definition) if facts is not None else ()
        for file in files:
            yield from self._module_places(Module(file), tier)
        if not files:
            yield self.definition_place(path, definition, tier, detail=detail)

    def _implementations(self, bound: Bound, of: Definition) -> list[Definition]:
        """Return what implements the declaration of an overloaded function; of anything else the definition itself."""
        facts = self.world.facts(bound.file)
        if facts is None or of.body_after >= 0 or of.kind not in _OVERLOADED:
            return [of]
        if LANGUAGES[facts.language].contract.overloads != "without_body":
            return [of]
        all_of_it = [each for _, each in self.resolver.definitions(bound)]
        return [each for each in all_of_it if each.body_after >= 0 and each.kind == of.kind] or [of]

    def declaration_places(self, path: str, name: NameAt) -> Iterator[SymbolPlace]:
        """Yield where the name is brought into its own file, for one that comes from another."""
        own = self.own_binding(path, name)
        facts = self.world.facts(path)
        if own is None or facts is None or own.file != path:
            return
        yield from self._bindings(own, facts, "PROVEN")

    def own_binding(self, path: str, name: NameAt) -> Bound | None:
        """Return what brings a name into its own file: for a name in an import, what that binds."""
        facts = self.world.facts(path)
        index = facts.imported_at.get(name.token.start) if facts is not None else None
        if name.meaning.own is not None or facts is None or index is None:
            return name.meaning.own
        import_ = facts.imports[index]
        return Bound(path, import_.scope, import_.local)

    def entity_places(
        self, entity: Entity, tier: Tier, *, detail: bool = False, side: Side = ""
    ) -> Iterator[SymbolPlace]:
        """Yield where an entity is defined."""
        if isinstance(entity, Module):
            yield from self._module_places(entity, tier)
        of = entity.of if isinstance(entity, Instance) else entity
        if not isinstance(of, Bound):
            return
        facts = self.world.facts(of.file)
        if facts is None:
            return
        defined = [definition for _, definition in self.resolver.definitions(of)]
        if side:
            text = self.world.text(of.file)
            defined = [each for each in defined if side_of(facts, text, each) in ("", side)] or defined
        for definition in defined:
            yield from self._definition_places(of.file, definition, tier, detail=detail)
        if not defined:
            yield from self._bindings(of, facts, tier)

    def definition_place(self, path: str, definition: Definition, tier: Tier, *, detail: bool = False) -> SymbolPlace:
        """Return a definition as an answer shows it."""
        facts = self.world.facts(path)
        assert facts is not None, "a definition is found in facts"
        text = self.world.text(path)
        return SymbolPlace(
            id=self.uid(path, facts, definition),
            kind=definition.kind,
            name=definition.name,
            qualified_name=definition.path,
            path=path_text(path),
            name_span=self.span(path, definition.name_at, definition.name_at + len(definition.name.encode())),
            span=self.span(path, definition.start, definition.end),
            tier=tier,
            signature=signature(facts, text, definition) if detail else None,
            doc=(doc(facts, text, definition) or None) if detail else None,
        )

    def candidates(self, name: str, group: str) -> tuple[list[SymbolPlace], int]:
        """Return definitions of a name in a group of languages, and how many there are."""
        listed, _ = self.world.find_definitions(name, limit=MAX_PLACES * 10)
        found = []
        for path, index in listed:
            facts = self.world.facts(path)
            if facts is not None and index < len(facts.definitions) and LANGUAGES[facts.language].group == group:
                found.append((path, facts.definitions[index]))
        return [self.definition_place(path, each, "UNKNOWN") for path, each in found[:10]], len(found)

    def span(self, path: str, start: int, end: int) -> Span:
        """Return a stretch of a file in lines and columns."""
        positions = self.positions(path)
        line, column = positions.place(start)
        end_line, end_column = positions.place(end)
        return Span(line=line, column=column, end_line=end_line, end_column=end_column)

    def uid(self, path: str, facts: Facts, definition: Definition) -> str:
        """Return the id of a definition, as other answers give it."""
        return uid_of(self._family(facts), os.fsencode(path).decode("latin-1"), definition).hex()

    def _family(self, facts: Facts) -> str:
        return LANGUAGES[facts.language].family_name

    def _chosen(self, name: NameAt) -> Iterable[Entity]:
        """Return the entities to go to: a shorthand is a field and a variable, and the variable is the nearer one."""
        return name.meaning.entities

    def _role(self, facts: Facts, meaning: Meaning, token: NameToken) -> Role:
        own = meaning.own
        if own is not None and any(facts.bind_at(row) == token.start for row in facts.rows(own.scope, own.name)):
            return "IMPORT" if token.start in facts.imported_at else "DEFINITION"
        return _ROLES.get(meaning.how, "REFERENCE")

    def _bindings(self, bound: Bound, facts: Facts, tier: Tier) -> Iterator[SymbolPlace]:
        """Yield where a name is bound that has no definition, such as a parameter or a variable of a function."""
        size = len(bound.name.encode())
        for row in facts.rows(bound.scope, bound.name)[:MAX_PLACES]:
            at = facts.bind_at(row)
            yield SymbolPlace(
                kind="name",
                name=bound.name,
                qualified_name=bound.name,
                path=path_text(bound.file),
                name_span=self.span(bound.file, at, at + size),
                span=self.span(bound.file, at, at + size),
                tier=tier,
            )

    def _module_places(self, module: Module, tier: Tier) -> Iterator[SymbolPlace]:
        """Yield the file of a module, or the files of a package."""
        files = self.world.snapshot.files
        paths = [module.path] if module.path in files else []
        if not paths and is_package(module.path):
            prefix = f"{module.path.rstrip('/')}/"
            paths = [path for path in files if path.startswith(prefix) and "/" not in path[len(prefix) :]]
        first = Span(line=1, column=1, end_line=1, end_column=1)
        for path in paths[:MAX_PLACES]:
            yield SymbolPlace(
                kind="module",
                name=path.rpartition("/")[2],
                qualified_name=path_text(path),
                path=path_text(path),
                name_span=first,
                span=first,
                tier=tier,
            )


def outside_source(meaning: Meaning) -> str | None:
    """Return the package that a name comes from, if it is certainly not of this repository."""
    sources = [entity.source for entity in meaning.entities if isinstance(entity, Outside)]
    return sources[0] if sources and len(sources) == len(meaning.entities) else None


def _tier(meaning: Meaning, path: str) -> Tier:
    if not meaning.entities:
        return "UNKNOWN"
    if not meaning.certain:
        return "ANCHORED"
    here = any(isinstance(entity, Bound) and entity.file == path for entity in meaning.entities)
    return "PROVEN" if meaning.how == "name" and here else "STRONG"


def _side(facts: Facts, text: bytes, definition: Definition) -> Side:
    side = side_of(facts, text, definition)
    return side if side in ("method", "field", "type") else ""
