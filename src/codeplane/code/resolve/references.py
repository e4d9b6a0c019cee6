"""Finds all places that may refer to a definition, and how certain each of them is."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Literal

from msgspec import Struct

from codeplane.code.entity import Bound, Entity, Meaning, Outside, Side
from codeplane.code.languages.expression import is_short, shape
from codeplane.code.languages.language import Language
from codeplane.code.languages.member_side import side_of
from codeplane.code.languages.outside_packages import package_of
from codeplane.code.languages.registry import LANGUAGES, languages
from codeplane.code.model import Definition, Facts
from codeplane.code.resolve.occurrences import (
    doubtful_places,
    is_documentation_link,
    name_places,
    path_places,
    places_in_code,
    symbol_places,
    text_places,
    with_names_in_strings,
)
from codeplane.code.resolve.resolver import Resolver
from codeplane.code.resolve.soft_keywords import names_alone
from codeplane.code.resolve.tier import Tier
from codeplane.code.resolve.type_places import are_types, is_read_from_value
from codeplane.code.resolve.world import World
from codeplane.index.fact_store import FactStore

Role = Literal["DEFINITION", "REFERENCE", "IMPORT", "EXPORT"]
_NEAR = 20
_ROLES: dict[str, Role] = {"import": "IMPORT", "export": "EXPORT"}
# Scopes whose names are reached from outside through the name of their owner.
_OPEN = frozenset({"enum", "interface", "namespace", "object", "struct", "trait"})
_REACHED = frozenset({"field", "method", "property"})
# JavaScript scopes in which every member is a symbol of its own, wherever it is written.
_DECLARING = frozenset({"class", "interface", "type"})
# Those that only say what a value has.
_DECLARED = frozenset({"interface", "type"})
_EMBEDDABLE = frozenset({"interface", "struct", "type"})
_MARKS = re.compile(rb"\b(?:(?:ref|mut)\s+)+\Z")
_SIGNS = "#@?!="


class Reference(Struct, frozen=True, kw_only=True, gc=False):
    """An occurrence of a name, and how it relates to the definition that is searched for."""

    path: str
    offset: int
    tier: Tier
    role: Role
    receiver: str
    side: Side = ""
    """Whether it is a member of a class or of its instances, if that is certain and the language separates them."""
    likely: bool = True
    """False for a member of an unknown receiver in a search for a module's name: the receiver is hardly a module."""


def references(
    world: World,
    store: FactStore,
    wanted: Sequence[Bound],
    *,
    keep: Callable[[str], bool] | None = None,
    receivers: bool = True,
    resolver: Resolver | None = None,
    side: Side = "",
    documentation: bool = False,
) -> Iterator[Reference]:
    """Yield every occurrence of the name that is or may be a reference to one of these bindings, in the order of files.

    The bindings have the same name: together they are what an ambiguous question asks for. `keep` selects the files to
    search. Without `receivers`, the text before a member is not recorded, which takes a fifth of the time. A `resolver`
    of the same world can be passed to reuse its results. `side` leaves out what certainly is another member of the same
    name and class. With `documentation`, names that comments link to are among the places.
    """
    resolver = resolver or Resolver(world)
    asked = _Asked.of(world, wanted, resolver)
    if not asked.bounds:
        return
    name = asked.bounds[0].name
    # The words by which files are found do not include signs.
    word = name.strip(_SIGNS) or name
    words = [word, *(sign + word for sign in sorted(asked.signs) if not word.startswith(sign))]
    paths = (
        {bound.file for bound in asked.bounds}
        if asked.local
        else {path for spelled in words for path in world.files_with(spelled)}
    )
    for path in sorted(paths):
        known = world.snapshot.files.get(path)
        if known is None or known.skipped is not None or not asked.may_be_in(path):
            continue
        if keep is not None and not keep(path):
            continue
        facts = world.facts(path)
        if facts is None or world.language(facts).group not in asked.groups:
            continue
        if not any(resolver.may_reach(path, facts, bound) for bound in asked.bounds):
            continue
        text = world.text(path)
        offsets = name_places(world.language(facts).names, text, name)
        in_code = names_alone(world.language(facts), text, name, places_in_code(facts, offsets))
        in_code = with_names_in_strings(world.language(facts), facts, text, offsets, in_code, len(name.encode()))
        spoken = symbol_places(world.language(facts), facts, text, name) if not asked.local else frozenset()
        if asked.named_in_texts:
            spoken |= text_places(facts, text, name)
        if asked.types_named_in_texts:
            spoken |= path_places(facts, text, name)
        doubted = doubtful_places(facts, text, offsets) if facts.errors and len(in_code) < len(offsets) else frozenset()
        defining = {at for of in asked.by_file.get(path, ()) for at in _definition_places(resolver, facts, of)}
        for offset in sorted({*in_code, *doubted, *spoken}) if doubted or spoken else in_code:
            if offset in doubted or (offset in spoken and offset not in defining):
                yield Reference(path=path, offset=offset, tier="UNKNOWN", role="REFERENCE", receiver="")
            elif offset in defining and _is_of_side(resolver, path, facts, text, offset, side):
                yield Reference(path=path, offset=offset, tier="PROVEN", role="DEFINITION", receiver="")
            elif offset not in defining:
                found = _judge(resolver, text, facts, path, offset, asked, receivers=receivers)
                if found is not None and (not side or found.side in ("", side)):
                    yield found
        if documentation and len(in_code) < len(offsets):
            yield from _links(resolver, text, facts, path, offsets, asked)


def _is_of_side(resolver: Resolver, path: str, facts: Facts, text: bytes, offset: int, side: Side) -> bool:
    """Whether a definition, of several with its name in a class, may be the one searched for."""
    defined = resolver.definition_at(path, facts, offset) if side else None
    return defined is None or side_of(facts, text, defined) in ("", side)


_NAMED_IN_TEXTS = frozenset(
    {"accessor", "class", "enum", "function", "interface", "method", "module", "protocol", "struct", "trait"}
)
_TYPES_NAMED_IN_TEXTS = frozenset({"annotation", "class", "enum", "interface", "object", "record"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """The bindings whose references are searched for, and what kinds of names they are."""

    bounds: tuple[Bound, ...]
    by_file: Mapping[str, Sequence[Bound]]
    """The bindings by file: a popular name has hundreds, but a file has only a few of them."""
    among: frozenset[Bound]
    groups: frozenset[str]
    member: bool
    plain: bool
    local: bool
    shaped: bool
    """Whether one is a member of an object or class, whose shape may come from any type that declares the name."""
    embedded: bool
    """Whether one is a Go type, which gives its name to the fields that embed it."""
    signs: frozenset[str]
    """The signs that may stand before the name in files that say it."""
    named_in_texts: bool
    """Whether one is a function or type that texts may name."""
    types_named_in_texts: bool
    """Whether one is a type that texts may name by its whole path."""
    implemented: Callable[[], frozenset[Bound]]
    """The members of interfaces that ask for a searched one: a use of them may reach it."""
    asks_for_it: Callable[[Entity], bool]
    """Whether a member of an interface may be what a searched member of an object implements."""
    read_from_value: Callable[[str, Facts, int], bool]
    """Whether all are types, and the name at a place is read from a value, which has none."""
    packages: Callable[[], frozenset[str]]
    """The outside packages that the searched classes build on: a value typed by one may be of such a class."""

    def may_be_in(self, path: str) -> bool:
        """Whether a file's name allows references to these, so that facts of other languages need not be unpacked."""
        language = languages().of(path)
        return language is None or language.group in self.groups

    @classmethod
    def of(cls, world: World, wanted: Sequence[Bound], resolver: Resolver) -> "_Asked":
        bounds, groups, members, shaped, loose = [], set(), set(), False, False
        for target in wanted:
            facts = world.facts(target.file)
            if facts is not None:
                bounds.append(target)
                groups.add(world.language(facts).group)
                if _is_member(world, resolver, facts, target):
                    members.add(target)
                    shaped = shaped or facts.scopes[target.scope].kind not in _DECLARED
                    in_object = facts.scopes[target.scope].kind not in _DECLARING
                    loose = loose or (in_object and world.language(facts).names.object_literals)
        plain = [bound for bound in bounds if bound not in members]
        # No scope binds the name of a macro.
        unbound = {
            bound for bound in plain if (facts := world.facts(bound.file)) and not facts.rows(bound.scope, bound.name)
        }
        by_file: dict[str, list[Bound]] = {}
        for bound in bounds:
            by_file.setdefault(bound.file, []).append(bound)
        return cls(
            bounds=tuple(bounds),
            by_file=by_file,
            among=frozenset(bounds),
            groups=frozenset(groups),
            member=bool(members),
            plain=any(bound.scope == 0 or bound in unbound for bound in plain),
            local=not members and all(bound.scope != 0 and bound not in unbound for bound in plain),
            shaped=shaped,
            embedded=any(
                bound.file.endswith(".go") and definition.kind in _EMBEDDABLE
                for bound in plain
                for _, definition in resolver.definitions(bound)
            ),
            signs=frozenset(
                sign for bound in bounds if (facts := world.facts(bound.file)) and (sign := _sign_before(world, facts))
            ),
            named_in_texts=any(
                LANGUAGES[facts.language].names.named_in_texts and definition.kind in _NAMED_IN_TEXTS
                for bound in bounds
                if (facts := world.facts(bound.file)) is not None
                for _, definition in resolver.definitions(bound)
            ),
            types_named_in_texts=any(
                LANGUAGES[facts.language].names.types_named_in_texts and definition.kind in _TYPES_NAMED_IN_TEXTS
                for bound in bounds
                if (facts := world.facts(bound.file)) is not None
                for _, definition in resolver.definitions(bound)
            ),
            implemented=cache(lambda: _implemented_members(resolver, members)),
            asks_for_it=lambda entity: (
                loose
                and isinstance(entity, Bound)
                and (there := world.facts(entity.file)) is not None
                and there.scopes[entity.scope].kind in _DECLARED
            ),
            read_from_value=(
                partial(is_read_from_value, world, resolver, types=bounds)
                if are_types(world, resolver, bounds)
                else lambda path, facts, offset: False
            ),
            packages=cache(lambda: frozenset().union(*(_packages(world, resolver, member) for member in members))),
        )


def _sign_before(world: World, facts: Facts) -> str:
    return world.language(facts).names.sign_before


def _is_member(world: World, resolver: Resolver, facts: Facts, target: Bound) -> bool:
    """Whether a name is reached through its owner: a class or an object, which may be one that a function returns."""
    kind = facts.scopes[target.scope].kind
    bound = bool(facts.rows(target.scope, target.name))
    if kind in world.language(facts).methods_in or kind in _OPEN:
        # A name bound in a type is a type parameter.
        return kind != "type" or not bound
    return not bound and any(definition.kind in _REACHED for _, definition in resolver.definitions(target))


def _implemented_members(resolver: Resolver, members: set[Bound]) -> frozenset[Bound]:
    known = [resolver.relatives(member) for member in members]
    return frozenset(bound for relatives in known if relatives is not None for bound in relatives.implemented)


def _packages(world: World, resolver: Resolver, member: Bound) -> frozenset[str]:
    facts = world.facts(member.file)
    index = facts.scopes[member.scope].definition if facts is not None else -1
    if facts is None or index < 0 or resolver.has_typed_members(facts):
        return frozenset()
    owner = facts.definitions[index]
    return resolver.packages_below(Bound(member.file, owner.scope, owner.name))


def _judge(
    resolver: Resolver, text: bytes, facts: Facts, path: str, offset: int, asked: _Asked, *, receivers: bool
) -> Reference | None:
    meaning = resolver.at(path, offset, asked.bounds[0].name)
    language = LANGUAGES[facts.language]
    tier = _tier(meaning, path, asked, implicit=not language.explicit_members)
    if meaning.how == "label" and not asked.shaped and _is_declared(resolver, facts, path, offset):
        return None
    if meaning.how == "name" and language.names.shorthand_properties:
        tier = _tier_in_object(resolver, text, facts, path, offset, asked, tier)
    implicit = tier == "UNKNOWN" and meaning.how == "name" and not asked.plain and not language.explicit_members
    if implicit and resolver.definition_at(path, facts, offset) is not None:
        # Another type defines this member; whether types share it is decided elsewhere.
        return None
    if tier is None and meaning.own is not None:
        tier = _tier_beside(language, resolver, text, facts, offset, asked, meaning.own)
    if tier is None:
        return None
    if meaning.how == "member" and not meaning.entities and asked.read_from_value(path, facts, offset):
        return None
    receiver = shape(text, offset) if receivers and meaning.how == "member" else ""
    role = _ROLES.get(meaning.how, "REFERENCE")
    likely = tier != "UNKNOWN" or asked.member or asked.embedded or meaning.how != "member"
    likely = likely or not language.explicit_members
    likely = likely or resolver.may_be_module(path, facts, offset)
    return Reference(
        path=path, offset=offset, tier=tier, role=role, receiver=receiver, side=meaning.side, likely=likely
    )


def _links(
    resolver: Resolver, text: bytes, facts: Facts, path: str, offsets: Sequence[int], asked: _Asked
) -> Iterator[Reference]:
    """Yield the places in comments that are links to what is searched for."""
    for offset in offsets:
        if facts.in_text(offset) and is_documentation_link(LANGUAGES[facts.language], text, offset):
            meaning = resolver.resolve_plain_name(path, facts, offset, asked.bounds[0].name)
            if any(isinstance(entity, Bound) and entity in asked.among for entity in (*meaning.entities, meaning.own)):
                tier: Tier = "STRONG" if meaning.certain else "ANCHORED"
                yield Reference(path=path, offset=offset, tier=tier, role="REFERENCE", receiver="")


def _tier_beside(
    language: Language, resolver: Resolver, text: bytes, facts: Facts, offset: int, asked: _Asked, own: Bound
) -> Tier | None:
    """Return the tier of a place that a binding in its own file explains, if that may still be the same symbol.

    A prototype and its definition are bound in two files, and a call may skip the variable of the same name.
    """
    if asked.local:
        return None
    outermost = language.linked and facts.scopes[own.scope].kind in ("file", "namespace")
    # Where members are never reached by their bare name, a top-level name is none of them.
    outermost = outermost and (asked.plain or not language.explicit_members)
    if outermost and all(bound.file != own.file and resolver.are_linked(bound, own) for bound in asked.bounds):
        return "ANCHORED"
    end = offset + len(own.name.encode())
    marks = _MARKS.search(text, max(0, offset - _NEAR), offset)
    if language.names.shorthand_fields and asked.member and is_short(text, marks.start() if marks else offset, end):
        # `P { count }` is both a field and a variable.
        return "UNKNOWN"
    if language.names.constant_patterns and own.scope != 0 and own.name[:1].isupper():
        # A pattern that only compares with a constant looks as if it binds that name.
        return "UNKNOWN"
    called = text[end : end + _NEAR].lstrip()[:1] == b"("
    if language.calls_apart and called and asked.member:
        functions = any(definition.kind in ("function", "method") for _, definition in resolver.definitions(own))
        return None if functions else "UNKNOWN"
    return None


def _is_declared(resolver: Resolver, facts: Facts, path: str, offset: int) -> bool:
    """Whether a class or type declares a member here, which is then its own."""
    defined = resolver.definition_at(path, facts, offset)
    return defined is not None and facts.scopes[defined.scope].kind in _DECLARING


def _tier_in_object(
    resolver: Resolver, text: bytes, facts: Facts, path: str, offset: int, asked: _Asked, tier: Tier | None
) -> Tier | None:
    """Adjust the tier where a plain name may be a member: a method of an object, or `{ name }`, which is both."""
    defined = resolver.definition_at(path, facts, offset)
    if defined is not None and offset not in _places(resolver, path, facts, defined):
        inside = facts.scopes[defined.scope].kind in _DECLARING
        return "UNKNOWN" if asked.member and not inside else None
    if tier is None and defined is not None and asked.plain and _augments(facts, defined):
        return "UNKNOWN"
    if tier is None and asked.member and is_short(text, offset, offset + len(asked.bounds[0].name.encode())):
        return "UNKNOWN"
    return tier


def _definition_places(resolver: Resolver, facts: Facts, of: Bound) -> Iterator[int]:
    """Yield the places in a file that make one of its bindings."""
    rows = facts.rows(of.scope, of.name)
    for row in rows:
        yield facts.bind_at(row)
    # If the name is bound, a definition that it alone does not reach is something else, such as an object's method.
    if not rows or facts.scopes[of.scope].kind in _DECLARING:
        for index in facts.definitions_in(of.scope, of.name):
            yield facts.definitions[index].name_at


def _augments(facts: Facts, definition: Definition) -> bool:
    """Whether a definition is in a `declare module "…"`, which adds to the declarations of another file."""
    of = facts.scopes[definition.scope].definition
    return of >= 0 and facts.definitions[of].kind == "module"


def _places(resolver: Resolver, path: str, facts: Facts, of: Definition) -> list[int]:
    return [facts.bind_at(row) for row in facts.rows(of.scope, of.name)]


def _tier(meaning: Meaning, path: str, asked: _Asked, *, implicit: bool) -> Tier | None:
    """Return how certain it is that a place refers to a searched binding; None if it certainly means something else.

    `implicit` means that the language reaches inherited and imported members by their bare names.
    """
    meant = [
        entity for entity in (*meaning.entities, meaning.own) if isinstance(entity, Bound) and entity in asked.among
    ]
    if meant and meaning.how == "overload":
        return "STRONG" if meaning.certain and len(meant) == len(meaning.entities) else "ANCHORED"
    if meant:
        if meaning.how == "name" and any(path == entity.file for entity in meant):
            return "PROVEN"
        return "STRONG" if meaning.certain else "ANCHORED"
    if meaning.how == "label" and not (meaning.certain and meaning.entities):
        return "UNKNOWN" if asked.member or asked.embedded else None
    if meaning.how == "member" and any(
        isinstance(entity, Outside) and package_of(entity.source) in asked.packages() for entity in meaning.entities
    ):
        return "ANCHORED"
    if meaning.how == "member" and asked.member and any(entity in asked.implemented() for entity in meaning.entities):
        return "ANCHORED"
    if meaning.how == "member" and any(map(asked.asks_for_it, meaning.entities)):
        return "ANCHORED"
    if meaning.entities or (meaning.own is not None and meaning.certain):
        return None
    if meaning.how == "member":
        return "ANCHORED" if asked.member else "UNKNOWN"
    # Nothing here binds the name, or the module of its import cannot be found.
    return "UNKNOWN" if asked.plain or (asked.member and implicit) else None
