"""Rust's names, paths and members, resolved by modules and by the declared types of receivers."""

import re
from collections.abc import Callable, Iterable, Sequence

from codeplane.code.entity import Bound, Entity, Meaning, Outside
from codeplane.code.languages.member_resolver import CodeView, MemberResolver, Relatives
from codeplane.code.languages.rust.expansions import Expansions
from codeplane.code.languages.rust.format_strings import (
    FORMATTING,
    is_argument_name,
    macro_given,
    names_argument,
)
from codeplane.code.languages.rust.impls import Member, RustImpls, unique
from codeplane.code.languages.rust.member_types import outside_names
from codeplane.code.languages.rust.modules import RustModules
from codeplane.code.languages.rust.names import Found, Thing, as_entity
from codeplane.code.languages.rust.std import OF_WRAPPERS, Ty
from codeplane.code.languages.rust.syntax import Node, around, field, parameters, text_of, written_path
from codeplane.code.languages.rust.tokens import Tokens
from codeplane.code.languages.rust.types import RustTypes
from codeplane.code.languages.rust.uses import use_tree
from codeplane.code.model import Definition, Facts, Import

_PATH = re.compile(rb"(?:\w+::)*\Z")
_FAR = 200
_UNKNOWN = Meaning(entities=(), certain=False, how="name")
_ELSEWHERE = Meaning(entities=(Outside(""),), certain=True, how="member")
_SCOPED = frozenset({"scoped_identifier", "scoped_type_identifier"})
_VALUES = frozenset({"tuple_struct_pattern", "call_expression", "generic_function", "match_pattern"})
_DEFINING = frozenset({"type_parameter", "const_parameter", "enum_variant", "field_declaration", "associated_type"})
_NAMES = frozenset({"identifier", "type_identifier", "field_identifier", "shorthand_field_identifier"})


class RustMembers(MemberResolver):
    """Resolves every name of Rust that is not a keyword."""

    def __init__(self, view: CodeView, *, expanded: bool = False) -> None:
        super().__init__(view)
        self._impls = RustImpls(view)
        self._names = self._impls.names
        self._types = RustTypes(view, self._impls)
        self._tokens = Tokens(self._impls, self._types, self._candidates)
        # What is left in an expanded text are macros from outside.
        self._expansions = (
            None if expanded else Expansions(view, self._impls, lambda other: RustMembers(other, expanded=True))
        )

    def meaning(self, path: str, facts: Facts, offset: int, name: str) -> Meaning | None:
        """Return what the name at a place means; None if the general rules for names decide."""
        found = self._as_written(path, offset, name)
        if found is None or found.certain or self._expansions is None:
            return found
        # What a macro of the repository writes may bring what is missing.
        expanded = self._expansions.beside_calls(path, offset)
        return self._join_meanings(expanded) if expanded is not None and expanded.certain else found

    def module_files(self, path: str, definition: Definition) -> tuple[str, ...]:
        """Return the files of `mod name;`."""
        if definition.kind != "module" or definition.body_after >= 0:
            return ()
        declared = self._names.declared_modules(path, definition.name_at, definition.name)
        return tuple(module.path for module in declared if module.path != path)

    def _as_written(self, path: str, offset: int, name: str) -> Meaning | None:
        node = self._view.node(path, offset, offset + len(name.encode()))
        above = node.parent if node is not None else None
        if node is not None and node.type in ("string_content", "string_literal"):
            if self._view.text(path)[offset - 1 : offset] == b"{":
                return self._of_format(path, node, offset, name)
            return self._of_attribute(path, offset, name)
        if node is None or above is None or node.type not in _NAMES or node.start_byte != offset:
            return None
        if above.type == "token_tree":
            return self._of_token(path, node, name)
        if above.type in ("token_tree_pattern", "label"):
            # A word that a macro asks for, or the name of a loop.
            return _ELSEWHERE
        if node.type in ("field_identifier", "shorthand_field_identifier"):
            return self._of_field_name(path, node, above, name)
        if (use := next((outer for outer in around(node) if outer.type == "use_declaration"), None)) is not None:
            return self._of_use(path, use, node)
        if field(above, "name") == node and (above.type.endswith("_item") or above.type in _DEFINING):
            return self._itself(path, offset, name)
        if above.type == "macro_definition":
            return self._itself(path, offset, name)
        if above.type == "macro_invocation" or (above.type == "call_expression" and self._types.is_macro(path, node)):
            return _meaning_of(self._names.first(path, offset, name, "macro"))
        if above.type in _SCOPED and field(above, "name") == node:
            return self._of_path(path, above, name)
        if above.type == "assignment_expression" and is_argument_name(self._view.text(path), node):
            return _ELSEWHERE
        if above.type == "shorthand_field_initializer":
            return self._of_shorthand(path, node, above, name)
        return _meaning_of(self._names.first(path, offset, name, _space(node, above)))

    def resolve_import(self, path: str, facts: Facts, import_: Import) -> tuple[Entity, ...] | None:
        """Return what a `use` brings."""
        node = self._view.node(path, import_.imported_at, import_.imported_at + 1)
        use = next((above for above in around(node) if above.type == "use_declaration"), None) if node else None
        argument = field(use, "argument") if use is not None else None
        if node is None or use is None or argument is None:
            return None
        for found in use_tree(argument, ()):
            if found.local_at == import_.local_at or found.at == import_.imported_at:
                return tuple(map(as_entity, self._names.resolve_use(path, use, found.parts)))
        return None

    def relatives(self, member: Bound) -> Relatives:
        """Return the members that are renamed with one: of a trait and all its `impl` blocks, and `cfg` twins."""
        mine = next(
            (candidate for candidate in self._impls.find_members(member.name)[0] if candidate.bound == member), None
        )
        if mine is None:
            return Relatives()
        owner = mine.owner
        trait = owner.of if owner.is_trait else owner.trait
        if not owner.is_trait and owner.trait_name:
            if not isinstance(trait, Bound):
                return Relatives(outside=f"the trait {owner.trait_name}", fixed=isinstance(trait, Outside))
            if not any(
                candidate.owner.of == trait and candidate.owner.is_trait
                for candidate in self._impls.find_members(member.name)[0]
            ):
                return Relatives()
        if isinstance(trait, Bound):
            family = [
                candidate.bound
                for candidate in self._impls.find_members(member.name)[0]
                if (candidate.owner.is_trait and candidate.owner.of == trait) or candidate.owner.trait == trait
            ]
            unsure = [
                candidate.bound
                for candidate in self._impls.find_members(member.name)[0]
                if candidate.owner.trait is None and candidate.owner.trait_name == trait.name
            ]
            return Relatives(members=_bounds_without(family, member), possible=_bounds_without(unsure, member))
        twins = [
            candidate.bound
            for candidate in self._impls.find_members(member.name)[0]
            if candidate.owner.of is not None
            and candidate.owner.of == owner.of
            and not candidate.owner.trait_name
            and (candidate.kind == "field") == (mine.kind == "field")
        ]
        return Relatives(members=_bounds_without(twins, member))

    def may_reach(self, path: str, definition: Bound) -> bool:
        """Whether a file may use a definition: nothing but a program itself uses what it defines."""
        modules = self._view.modules(path)
        return not isinstance(modules, RustModules) or modules.may_reach(path, definition.file)

    def _of_token(self, path: str, node: Node, name: str) -> Meaning:
        """Return what a name among tokens means: in what the macros write, or as far as the tokens say."""
        behind = node.next_sibling
        if self._expansions is not None and (behind is None or behind.type != "!"):
            found = self._expansions.meaning(path, node.start_byte)
            if found is not None:
                return self._join_meanings(found)
        return self._tokens.meaning(path, node, name)

    def _join_meanings(self, found: Meaning) -> Meaning:
        """Return a meaning of several entities as certain only where these have to keep one name."""
        bounds = [entity for entity in found.entities if isinstance(entity, Bound)]
        whole = len(found.entities) <= 1 or (len(bounds) == len(found.entities) and self._is_one(bounds))
        return Meaning(entities=found.entities, certain=found.certain and whole, how=found.how)

    def _itself(self, path: str, offset: int, name: str) -> Meaning | None:
        bound = self._names.bound_at(path, offset, name)
        local = self._names.locals.find(path, offset, name, "") if bound is None else None
        found = bound or (local[0] if local is not None else None)
        return Meaning(entities=(found,), certain=True, how="name") if found is not None else None

    def _of_attribute(self, path: str, offset: int, name: str) -> Meaning:
        """Return what a name in a string means that is a path."""
        text = self._view.text(path)
        before = _PATH.search(text[max(0, offset - _FAR) : offset])
        names = before[0].decode("utf-8", "replace").split("::")[:-1] if before is not None else []
        things = self._names.path(path, offset, [*names, name], "").things
        if not things:
            return _ELSEWHERE
        return Meaning(entities=_entities(things), certain=len(things) == 1, how="member")

    def _of_format(self, path: str, node: Node, offset: int, name: str) -> Meaning:
        """Return what `{name}` in a string among a macro's arguments means: a variable, if the macro formats it."""
        literal = node if node.type == "string_literal" else node.parent
        macro = macro_given(self._view.text(path), literal) if literal is not None else None
        if literal is None or macro is None or names_argument(literal, name):
            return _ELSEWHERE
        found = self._names.first(path, offset, name, "value")
        if not found.things:
            return _UNKNOWN if found.doubt else _ELSEWHERE
        certain = len(found.things) == 1 and macro in FORMATTING
        how = "name" if certain else "member"
        return Meaning(entities=_entities(found.things), certain=certain, how=how, own=found.own)

    def _of_use(self, path: str, use: Node, node: Node) -> Meaning:
        argument = field(use, "argument")
        for found in use_tree(argument, ()) if argument is not None else ():
            if node.start_byte in (found.at, found.local_at):
                things = self._names.resolve_use(path, use, found.parts)
                bound = self._import_binding(path, found.local_at, found.local)
                return Meaning(entities=_entities(things), certain=len(things) == 1, how="import", own=bound)
        # A part of the path before the last.
        parts = _use_parts_to(node)
        things = self._names.resolve_use(path, use, parts, "type") if parts else ()
        return Meaning(entities=_entities(things), certain=len(things) == 1, how="import")

    def _import_binding(self, path: str, at: int, name: str) -> Bound | None:
        facts = self._view.facts(path)
        for scope, rows in facts.rows_by_scope(name).items() if facts is not None else ():
            assert facts is not None
            if any(facts.bind_at(row) == at for row in rows):
                return Bound(path, scope, name)
        return None

    def _of_path(self, path: str, node: Node, name: str) -> Meaning:
        """Return what the last name of a path so far means: `a::B` in `a::B::new`."""
        above = node.parent
        inner = above is not None and above.type in _SCOPED and field(above, "path") == node
        space = "type" if inner or node.type == "scoped_type_identifier" else "value"
        if above is not None and above.type == "macro_invocation":
            space = "macro"
        things = self._types.things(path, node, space) or self._types.things(path, node, "")
        before = field(node, "path")
        if things:
            outside = before is not None and all(isinstance(entity, Outside) for entity in _entities(things))
            given = self._given_to_outside(path, before, name) if outside and before is not None else ()
            if given:
                # A member of its own comes before that of a trait.
                return Meaning(entities=_bounds(given), certain=False, how="member")
            return Meaning(entities=_entities(things), certain=self._is_one(things), how="member")
        owner = self._types.read_type(path, before) if before is not None else None
        if owner is not None and owner.shape in ("outside", "list", "tuple", "iter", "pointer"):
            return self._of_outside(path, owner, name, None)
        listed, whole = self._impls.find_members(name)
        traits = any(entry.owner.is_trait or entry.owner.blanket for entry in listed)
        if owner is not None and owner.shape == "named" and whole and not traits:
            # What no block of the type has comes from a trait, which is not of the repository.
            return _ELSEWHERE
        if owner is None:
            return Meaning(entities=(), certain=False, how="member")
        return self._candidates(path, name, lambda candidate: candidate.kind != "field")

    def _is_one(self, things: Sequence[Thing]) -> bool:
        """Whether things are one symbol, or twins that share their name."""
        if len(things) == 1:
            return True
        first = things[0]
        if not isinstance(first, Bound):
            return False
        family = {first, *self.relatives(first).members}
        return all(thing in family for thing in things)

    def _of_field_name(self, path: str, node: Node, above: Node, name: str) -> Meaning | None:
        match above.type:
            case "field_expression":
                return self._behind_dot(path, above, name)
            case "field_declaration":
                return self._itself(path, node.start_byte, name) or _ELSEWHERE
            case "field_initializer":
                struct = next((ancestor for ancestor in around(above) if ancestor.type == "struct_expression"), None)
                return self._of_field(path, field(struct, "name") if struct is not None else None, name)
            case "field_pattern":
                struct = above.parent
                found = self._of_field(path, field(struct, "type") if struct is not None else None, name)
                if node.type != "shorthand_field_identifier":
                    return found
                return self._shorthand_meaning(path, node, name, found)
        return None

    def _of_shorthand(self, path: str, node: Node, above: Node, name: str) -> Meaning:
        struct = next((ancestor for ancestor in around(above) if ancestor.type == "struct_expression"), None)
        found = self._of_field(path, field(struct, "name") if struct is not None else None, name)
        return self._shorthand_meaning(path, node, name, found)

    def _shorthand_meaning(self, path: str, node: Node, name: str, found: Meaning) -> Meaning:
        """Return the variable and the field that a shorthand is."""
        variable = self._names.first(path, node.start_byte, name, "value")
        entities = tuple(dict.fromkeys((*_entities(variable.things), *found.entities)))
        certain = found.certain and len(variable.things) == 1
        return Meaning(entities=entities, certain=certain, how="name")

    def _of_field(self, path: str, written: Node | None, name: str) -> Meaning:
        """Return what the name of a field in a literal or pattern of a written type means."""
        parts = written_path(written) if written is not None else None
        of = self._types.read_type(path, written)
        if written is not None and parts is not None:
            things = self._types.things(path, written, "") or ()
            item = self._impls.item(things[0]) if len(things) == 1 and isinstance(things[0], Bound) else None
            if item is not None and item.type == "enum_variant":
                return _ELSEWHERE
        if of is not None and of.shape == "named" and isinstance(of.of, Bound):
            item = self._impls.item(of.of)
            fields = self._fields(of.of, name)
            if fields:
                return Meaning(entities=fields, certain=True, how="member")
            if item is not None and item.type != "enum_item":
                return _ELSEWHERE
        if of is not None and of.shape == "outside":
            return _ELSEWHERE
        return self._candidates(path, name, lambda candidate: candidate.kind == "field")

    def _fields(self, of: Thing | None, name: str) -> tuple[Bound, ...]:
        """Return the fields of a type under a name; twins for other systems have one each."""
        listed = self._impls.find_members(name)[0]
        return tuple(entry.bound for entry in listed if entry.kind == "field" and entry.owner.of == of)

    def _behind_dot(self, path: str, node: Node, name: str) -> Meaning:
        above = node.parent
        generic = above is not None and above.type == "generic_function"
        call = above.parent if above is not None and generic else above
        called = call is not None and call.type == "call_expression" and field(call, "function") in (node, above)
        of = self._types.of(path, field(node, "value"))
        if not called or call is None:
            return self._read(path, of, name)
        listed = field(call, "arguments")
        count = len([child for child in listed.named_children if not child.type.endswith("comment")]) if listed else 0
        return self._callee_meaning(path, of, name, count)

    def _read(self, path: str, of: Ty | None, name: str) -> Meaning:
        member = self._types.field_of(of, name)
        if member is not None:
            return Meaning(entities=self._fields(member.owner.of, name), certain=True, how="member")
        if of is not None and of.shape in ("outside", "list", "tuple", "iter", "fn", "pointer"):
            return _ELSEWHERE
        return self._candidates(path, name, lambda candidate: candidate.kind == "field")

    def _callee_meaning(self, path: str, of: Ty | None, name: str, count: int) -> Meaning:
        def fits(member: Member) -> bool:
            return member.takes_self and len(parameters(member.node)[1]) == count

        if of is None:
            return self._candidates(path, name, fits)
        if of.wrapped and name in OF_WRAPPERS:
            return self._candidates(path, name, fits)
        current: Ty | None = of
        for _ in range(8):
            if current is None:
                break
            found = [member for member in self._types.members(current, name) if member.takes_self]
            if found:
                return self._members_meaning(unique(found))
            if current.shape != "named":
                return (
                    self._of_outside(path, current, name, count)
                    if current.shape != "param"
                    else self._of_bound(path, current, name, fits)
                )
            inner = self._types.deref_type(current)
            if inner is None and any(member.owner.of == current.of for member in self._impls.find_members("deref")[0]):
                return self._candidates(path, name, fits)
            current = inner
        # The type is known and has no such method: it comes from a trait that is not of the repository.
        if (
            any(member.owner.blanket for member in self._impls.find_members(name)[0])
            or not self._impls.find_members(name)[1]
        ):
            return self._candidates(path, name, fits)
        declared = [member for member in self._impls.traits_declaring(name) if fits(member)]
        unsure = [
            member for member in declared if isinstance(member.owner.of, Bound) and self._may_have(member.owner.of)
        ]
        return Meaning(entities=_bounds(unsure), certain=False, how="member") if unsure else _ELSEWHERE

    def _is_for_others(self, trait: Bound) -> bool:
        """Whether a trait is implemented for types from outside, or may be."""
        outside = any(not isinstance(owner.of, Bound) for owner in self._impls.impls_of(trait))
        return outside or self._impls.is_implemented_unseen(trait)

    def _may_have(self, trait: Bound) -> bool:
        """Whether a trait may be implemented by what is not seen: for all types, or by a macro."""
        unseen = any(owner.blanket or owner.of is None for owner in self._impls.impls_of(trait))
        return unseen or self._impls.is_implemented_unseen(trait)

    def _of_bound(self, path: str, of: Ty, name: str, fits: Callable[[Member], bool]) -> Meaning:
        """Return what a method of a type parameter means that none of its traits here has."""
        declared = [member for member in self._impls.traits_declaring(name) if member.takes_self]
        blanket = [
            member for member in declared if isinstance(member.owner.of, Bound) and self._may_have(member.owner.of)
        ]
        if blanket:
            return Meaning(entities=_bounds(blanket), certain=False, how="member")
        if (of.traits and all(isinstance(trait, Outside) for trait in of.traits)) or not declared:
            return _ELSEWHERE
        return Meaning(entities=_bounds(declared), certain=False, how="member")

    def _of_outside(self, path: str, of: Ty, name: str, count: int | None) -> Meaning:
        """Return what a member of a type from outside means: that of a trait of the repository, or something else."""
        names = outside_names(of)
        found = [
            member
            for member in self._impls.find_members(name)[0]
            if (member.owner.trait_name or member.owner.is_trait)
            and (count is None or (member.takes_self and len(parameters(member.node)[1]) == count))
        ]
        exact = [member for member in found if member.owner.name in names and not isinstance(member.owner.of, Bound)]
        if exact:
            return self._members_meaning(unique(exact))
        traits = {member.owner.of if member.owner.is_trait else member.owner.trait for member in found}
        loose = [
            member
            for member in found
            if any(isinstance(trait, Bound) and self._is_for_others(trait) for trait in traits)
        ]
        return Meaning(entities=_bounds(loose), certain=False, how="member") if loose else _ELSEWHERE

    def _given_to_outside(self, path: str, written: Node, name: str) -> Sequence[Member]:
        """Return what traits of the repository give a type from outside, as it is written before `::`."""
        parts = written_path(written)
        owner = self._types.read_type(path, written)
        names = {text_of(parts[-1])} if parts else set[str]()
        names.update(outside_names(owner) if owner is not None and owner.shape == "outside" else ())
        return [
            member
            for member in self._impls.find_members(name)[0]
            if member.owner.trait_name
            and (member.owner.blanket or member.owner.name in names)
            and not isinstance(member.owner.of, Bound)
        ]

    def _members_meaning(self, members: Sequence[Member]) -> Meaning:
        bounds = _bounds(members)
        return Meaning(entities=bounds, certain=self._is_one(bounds), how="member")

    def _candidates(self, path: str, name: str, fits: Callable[[Member], bool]) -> Meaning:
        """Return the members of a name that an unknown receiver may have; none of them is certain."""
        listed, whole = self._impls.find_members(name)
        found = [entry for entry in listed if fits(entry) and self._impls.is_reachable(entry, path)]
        if not found and whole:
            return _ELSEWHERE
        return Meaning(entities=_bounds(found), certain=False, how="member")


def _space(node: Node, above: Node) -> str:
    if node.type == "type_identifier":
        return "type"
    if above.type in _SCOPED or above.type in ("scoped_use_list", "use_wildcard"):
        return "type"
    if above.type in ("attribute",):
        return "macro"
    if above.type == "generic_type":
        return "type"
    if above.type == "visibility_modifier":
        return "type"
    return "value"


def _meaning_of(found: Found) -> Meaning:
    entities = _entities(found.things)
    if not entities:
        return _UNKNOWN
    # Twins for other systems are all meant; what another crate may have instead is not.
    several = len(entities) > 1 and any(isinstance(entity, Outside) for entity in entities)
    return Meaning(entities=entities, certain=len(entities) == 1, how="member" if several else "name", own=found.own)


def _entities(things: Iterable[Thing]) -> tuple[Entity, ...]:
    return tuple(dict.fromkeys(map(as_entity, things)))


def _bounds(members: Iterable[Member]) -> tuple[Bound, ...]:
    return tuple(dict.fromkeys(member.bound for member in members))


def _bounds_without(bounds: Iterable[Bound], but: Bound) -> tuple[Bound, ...]:
    return tuple(bound for bound in dict.fromkeys(bounds) if bound != but)


def _use_parts_to(node: Node) -> tuple[str, ...]:
    """Return the path of a `use` up to a name inside of it."""
    parts: list[str] = [text_of(node)]
    below = node
    for ancestor in around(node):
        if ancestor.type == "use_declaration":
            break
        before = field(ancestor, "path") if ancestor.type in (*_SCOPED, "scoped_use_list") else None
        if before is not None and before != below:
            names = written_path(before)
            parts = [*(text_of(name) for name in names or ()), *parts]
        below = ancestor
    return tuple(parts)
