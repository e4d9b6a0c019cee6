"""The fields and methods of Go's types, embedded ones included."""

from collections.abc import Iterator

from msgspec import Struct

from codeplane.code.entity import Bound, Entity, Outside
from codeplane.code.languages.go.standard_interfaces import may_have
from codeplane.code.languages.go.types import GoTypes, Node, Type, first_child, text_of
from codeplane.code.languages.member_resolver import CodeView

_MAX_EMBEDDED = 8


class Member(Struct, frozen=True):
    """What a type has under a name: several entities if files for other systems define it again, none if nothing.

    `type` is that of a field, or the declaration of a method.
    """

    entities: tuple[Entity, ...]
    type: Type | None = None
    certain: bool = True


class TypeMembers:
    """Finds members by name."""

    def __init__(self, view: CodeView, types: GoTypes) -> None:
        self._view = view
        self._types = types
        self._found: dict[tuple[Type | Bound, str], Member | None] = {}
        self._at: dict[str, dict[int, Bound]] = {}

    def find(self, of: Type, name: str) -> Member | None:
        """Return the member of a type; None if that is not known."""
        key = (self._plain_type(of) or of, name)
        if key not in self._found:
            self._found[key] = None
            self._found[key] = self._search(of, name)
        return self._found[key]

    def _plain_type(self, of: Type) -> Bound | None:
        """Return the type that one is by its name alone, which then has the same members wherever it is written."""
        head = self._types.canonical(of)
        if head is None or head.given or head.node.type == "generic_type":
            return None
        entity = self._types.named_type(head)
        return entity if isinstance(entity, Bound) else None

    def _search(self, of: Type, name: str) -> Member | None:
        level: list[Type] = [of]
        seen: set[tuple[str, int]] = set()
        foreign: list[Outside] = []
        unknown, plain = False, True
        for _ in range(_MAX_EMBEDDED):
            found: list[Member] = []
            deeper: list[Type] = []
            here: list[Outside] = []
            unread = False
            for type_ in level:
                head = self._types.canonical(type_)
                entity = self._types.named_type(head)
                if isinstance(entity, Outside) and head is not None:
                    here += [entity] if may_have(self._types.full_name(head), name) else []
                    plain = plain and not self._types.arguments(head)
                    continue
                under = self._types.underlying_type(head)
                if head is None or (under is None and not isinstance(entity, Bound)):
                    unread = True
                    continue
                place = (head.path, head.node.id) if not isinstance(entity, Bound) else (entity.file, entity.scope)
                mark = (f"{place[0]}:{entity.name if isinstance(entity, Bound) else ''}", place[1])
                if mark in seen:
                    continue
                seen.add(mark)
                own = self._own_member(head, entity, under, name)
                found += [own] if own is not None else []
                deeper += [inner for _, inner in self.embedded_types(under)] if under is not None else []
                unread = unread or under is None
            if found:
                same = len({member.entities for member in found}) == 1
                # What is from outside and nearer may have the name as well.
                certain = found[0].certain and not foreign and not unknown
                return Member(found[0].entities, found[0].type, certain) if same else None
            foreign += here
            unknown = unknown or unread
            if not deeper:
                break
            level = deeper
        if unknown:
            return None
        if not foreign:
            return Member(())
        # What a generic type from outside holds may be a type of ours.
        head = self._types.canonical(of)
        plain = plain and head is not None and not self._types.arguments(head)
        return Member((foreign[0],), Type(of.path, of.node, outside=foreign[0].source) if plain else None)

    def _own_member(self, head: Type, entity: Entity | None, under: Type | None, name: str) -> Member | None:
        """Return what a type itself has under a name."""
        found: list[Member] = []
        for twin in self._types.twins(entity) if isinstance(entity, Bound) else ():
            found += self._methods(head, twin, name)
            literal = self._types.literal(twin)
            if twin != entity and literal is not None:
                other = self._in_literal(self._types.underlying_type(literal[0]), name)
                found += [other] if other is not None else []
        inner = self._in_literal(under, name)
        found = [inner, *found] if inner is not None else found
        if not found:
            return None
        entities = tuple(dict.fromkeys(entity for member in found for entity in member.entities))
        return Member(entities, found[0].type, all(member.certain for member in found))

    def _methods(self, head: Type, of: Bound, name: str) -> Iterator[Member]:
        packages = self._types.packages(of.file) if of.scope == 0 else None
        beside = set(packages.beside(of.file)) if packages is not None else set[str]()
        for path, position in self._view.find_definitions(name)[0]:
            facts = self._view.facts(path) if path in beside else None
            if facts is None or position >= len(facts.definitions) or facts.definitions[position].kind != "method":
                continue
            definition = facts.definitions[position]
            node = self._view.node(path, definition.name_at, definition.name_at + len(name.encode()))
            method = node.parent if node is not None else None
            if method is None or method.type != "method_declaration" or definition.inside in ("", None):
                continue
            receiver = receiver_type(method)
            if receiver is None or (
                definition.inside != of.name and self._types.named_type(Type(path, receiver)) != of
            ):
                continue
            given = self._receiver_given(Type(path, receiver), head)
            yield Member((Bound(path, definition.scope, name),), Type(path, method, given=given))

    def _receiver_given(self, receiver: Type, head: Type) -> tuple[tuple[str, Type | None], ...]:
        """Return what the type parameters that a receiver names stand for, by the type that it is called on."""
        inner = receiver.at(first_child(receiver.node)) if receiver.node.type == "pointer_type" else receiver
        names = self._types.arguments(inner) if inner is not None else []
        arguments = self._types.arguments(head)
        found = enumerate(text_of(argument.node) for argument in names if argument is not None)
        return tuple((name, arguments[at] if at < len(arguments) else None) for at, name in found)

    def _in_literal(self, under: Type | None, name: str) -> Member | None:
        if under is None or under.node.type not in ("struct_type", "interface_type"):
            return None
        for named, written in fields(under):
            if text_of(named) == name:
                bound = self.bound_at(under.path, named)
                kind = under.at(written)
                return Member((bound,), kind) if bound is not None else None
        for shown, inner in self.embedded_types(under):
            if shown == name and under.node.type == "struct_type":
                entity = self._types.entity(inner.path, inner.node)
                twins = self._types.twins(entity) if isinstance(entity, Bound) else (entity,)
                entities = tuple(twin for twin in twins if twin is not None)
                return Member(entities, inner, bool(entities))
        return None

    def embedded_types(self, literal: Type) -> Iterator[tuple[str, Type]]:
        """Yield what a struct or an interface embeds, each with the name of its field."""
        if literal.node.type == "interface_type":
            for child in literal.node.named_children:
                inner = child.named_children if child.type == "type_elem" else []
                if len(inner) == 1 and inner[0].type != "negated_type":
                    yield "", Type(literal.path, inner[0], given=literal.given)
            return
        listed = first_child(literal.node) if literal.node.type == "struct_type" else None
        for child in listed.named_children if listed is not None else ():
            written = child.child_by_field_name("type") if child.child_by_field_name("name") is None else None
            if child.type == "field_declaration" and written is not None:
                name = text_of(written).partition("[")[0].rpartition(".")[2].lstrip("*")
                yield name, Type(literal.path, written, given=literal.given)

    def bound_at(self, path: str, name: Node) -> Bound | None:
        """Return the binding of a definition by the place of its name."""
        if path not in self._at:
            facts = self._view.facts(path)
            listed = facts.definitions if facts is not None else ()
            self._at[path] = {entry.name_at: Bound(path, entry.scope, entry.name) for entry in listed}
        return self._at[path].get(name.start_byte)


def fields(literal: Type) -> Iterator[tuple[Node, Node]]:
    """Yield the names that a struct or an interface declares, each with the type of the field or the method."""
    if literal.node.type == "interface_type":
        for child in literal.node.named_children:
            name = child.child_by_field_name("name") if child.type == "method_elem" else None
            if name is not None:
                yield name, child
        return
    listed = first_child(literal.node)
    for child in listed.named_children if listed is not None else ():
        written = child.child_by_field_name("type")
        for name in child.children_by_field_name("name") if written is not None else ():
            assert written is not None
            yield name, written


def receiver_type(method: Node) -> Node | None:
    """Return the type that a method is declared for."""
    listed = method.child_by_field_name("receiver")
    first = first_child(listed) if listed is not None else None
    return first.child_by_field_name("type") if first is not None else None
