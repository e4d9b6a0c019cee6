"""Which methods of Go interfaces hold together: whatever has the methods of an interface implements it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from codeplane.code.entity import Bound, Outside
from codeplane.code.languages.go.expressions import Expressions
from codeplane.code.languages.go.handovers import Handovers
from codeplane.code.languages.go.standard_interfaces import STANDARD_INTERFACES, may_have
from codeplane.code.languages.go.type_members import TypeMembers, fields, receiver_type
from codeplane.code.languages.go.types import GoTypes, Node, Type, all_of, parameters, results, text_of
from codeplane.code.languages.member_resolver import CodeView, Relatives

_MAX_EMBEDDING = 8
_FUNCTIONS = frozenset({"method_declaration", "method_elem"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Interface:
    """An interface: its methods by name, what it takes in from outside, and whether all of that is known."""

    methods: dict[str, Type]
    foreign: tuple[Type, ...]
    whole: bool


class MethodSets:
    """Finds the members that keep one name."""

    def __init__(self, view: CodeView, types: GoTypes, members: TypeMembers, expressions: Expressions) -> None:
        self._view = view
        self._types = types
        self._members = members
        self._handovers = Handovers(view, types, members, expressions)
        self._found: dict[Bound, Relatives] = {}

    def relatives(self, member: Bound) -> Relatives:
        """Return the members that are renamed with one."""
        if member not in self._found:
            self._found[member] = self._relatives(member)
        return self._found[member]

    def _relatives(self, member: Bound) -> Relatives:
        mine = next((definition for _, definition in self._view.definitions(member)), None)
        if mine is None or mine.kind != "method":
            return Relatives(members=tuple(self._other_twins(member)), outside=self._foreign_export(member))
        owners = list(self._owners(member.name))
        interfaces = [(bound, of) for bound, of in owners if of.node.type == "interface_type"]
        types = [of for _, of in owners]
        if interfaces:
            types += self._embedding_types(types)
        sure: dict[Bound, set[Bound]] = {}
        maybe: dict[Bound, set[Bound]] = {}
        implemented: set[Bound] = set()
        for own, interface in interfaces:
            for of in types:
                has = self._members.find(of, member.name)
                if has is None or not has.entities or own in has.entities:
                    continue
                answer = self._implements(of, interface)
                if member in has.entities and answer is not False:
                    implemented.add(own)
                for entity in has.entities if answer is not False else ():
                    if isinstance(entity, Bound):
                        edges = maybe if answer is None else sure
                        edges.setdefault(own, set()).add(entity)
                        edges.setdefault(entity, set()).add(own)
        for bound, of in owners:
            for twin in self._own_twins(of, bound):
                sure.setdefault(bound, set()).add(twin)
        members = _reachable_bounds(member, sure)
        possible = {relative for of in (member, *members) for relative in maybe.get(of, ())} - {member, *members}
        possible |= {relative for of in tuple(possible) for relative in _reachable_bounds(of, sure)} - {
            member,
            *members,
        }
        asked = [of for of in types if self._has_one(of, member.name, {member, *members})]
        return Relatives(
            members=tuple(sorted(members, key=_order)),
            possible=tuple(sorted(possible, key=_order)),
            implemented=tuple(sorted(implemented, key=_order)),
            outside=self._outside(member.name, asked, (member, *members)) if member.name[:1].isupper() else "",
        )

    def _other_twins(self, member: Bound) -> Iterator[Bound]:
        """Yield the definitions of the same name, or of the same field, for other systems."""
        facts = self._view.facts(member.file)
        of = facts.scopes[member.scope].definition if facts is not None else -1
        if facts is None or member.scope == 0 or of < 0:
            yield from (twin for twin in self._types.twins(member) if twin != member)
            return
        owner = facts.definitions[of]
        for twin in self._types.twins(Bound(member.file, owner.scope, owner.name)):
            literal = self._types.literal(twin)
            for name, _ in fields(literal[0]) if literal is not None and literal[0].node.type == "struct_type" else ():
                found = self._members.bound_at(twin.file, name) if text_of(name) == member.name else None
                if found is not None and found != member:
                    yield found

    def _foreign_export(self, member: Bound) -> str:
        """Return what reaches a function by its name from outside of Go's files."""
        text = self._view.text(member.file) if member.scope == 0 else b""
        name = re.escape(member.name.encode())
        found = re.search(rb"(?m)^//(export|go:linkname)[ \t]+(?:\S+[ \t]+)?" + name + rb"\b", text)
        return f"//{found[1].decode()}" if found is not None else ""

    def _own_twins(self, of: Type, bound: Bound) -> Iterator[Bound]:
        found = self._members.find(of, bound.name) if of.node.type != "interface_type" else None
        for entity in found.entities if found is not None and bound in found.entities else ():
            if isinstance(entity, Bound) and entity != bound:
                yield entity

    def _owners(self, name: str) -> Iterator[tuple[Bound, Type]]:
        """Yield every method of a name, with the type or the interface that has it."""
        for path, position in self._view.find_definitions(name)[0]:
            facts = self._view.facts(path) if path.endswith(".go") else None
            if facts is None or position >= len(facts.definitions) or facts.definitions[position].kind != "method":
                continue
            definition = facts.definitions[position]
            node = self._view.node(path, definition.name_at, definition.name_at + len(name.encode()))
            method = node.parent if node is not None else None
            of: Node | None = None
            if method is not None and method.type == "method_declaration":
                of = receiver_type(method)
            elif method is not None and method.type == "method_elem":
                of = method.parent
            if of is not None:
                yield Bound(path, definition.scope, name), Type(path, of)

    def _embedding_types(self, types: list[Type]) -> list[Type]:
        """Return the types that embed some types, and so have their methods."""
        found: dict[Bound, Type] = {}
        waiting = [entity for entity in (self._types.named_type(of) for of in types) if isinstance(entity, Bound)]
        waiting += [interface for of in types if (interface := self._interface_name(of)) is not None]
        seen: set[Bound] = set()
        for _ in range(_MAX_EMBEDDING):
            level, waiting = [bound for bound in dict.fromkeys(waiting) if bound not in seen], []
            seen.update(level)
            for of in level:
                for bound, written in self._embedders(of):
                    if bound not in found:
                        found[bound] = written
                        waiting.append(bound)
            if not waiting:
                break
        return list(found.values())

    def _interface_name(self, of: Type) -> Bound | None:
        spec = of.node.parent if of.node.type == "interface_type" else None
        name = spec.child_by_field_name("name") if spec is not None and spec.type == "type_spec" else None
        return self._members.bound_at(of.path, name) if name is not None else None

    def _embedders(self, of: Bound) -> Iterator[tuple[Bound, Type]]:
        for path in self._view.files_with(of.name):
            facts = self._view.facts(path) if path.endswith(".go") else None
            for definition in facts.definitions if facts is not None else ():
                if definition.kind not in ("struct", "interface"):
                    continue
                bound = Bound(path, definition.scope, definition.name)
                literal = self._types.literal(bound)
                for _, inner in self._members.embedded_types(literal[0]) if literal is not None else ():
                    if of.name in text_of(inner.node) and self._types.named_type(inner) == of:
                        node = self._view.node(
                            path, definition.name_at, definition.name_at + len(definition.name.encode())
                        )
                        if node is not None:
                            yield bound, Type(path, node)
                        break

    def _interface(self, of: Type, depth: int = 0) -> _Interface:
        methods = {text_of(name): found for name, node in fields(of) if (found := of.at(node)) is not None}
        foreign: list[Type] = []
        whole = depth < _MAX_EMBEDDING
        for _, inner in self._members.embedded_types(of):
            under = self._types.underlying_type(inner)
            if isinstance(self._types.named_type(inner), Outside):
                foreign.append(inner)
            elif under is None or under.node.type != "interface_type" or not whole:
                whole = False
            else:
                more = self._interface(under, depth + 1)
                methods |= more.methods
                foreign += more.foreign
                whole = whole and more.whole
        return _Interface(methods=methods, foreign=tuple(foreign), whole=whole)

    def _implements(self, of: Type, interface: Type) -> bool | None:
        """Whether a type has all methods of an interface, with their signatures; None if that is not known."""
        wanted = self._interface(interface)
        answers: list[bool | None] = [True if wanted.whole else None]
        for name, method in wanted.methods.items():
            has = self._members.find(of, name)
            if has is None:
                answers.append(None)
            elif not has.entities:
                return False
            elif isinstance(has.entities[0], Outside):
                # Given by what it embeds.
                continue
            elif has.type is None or has.type.node.type not in _FUNCTIONS:
                return False
            else:
                answers.append(self._types.same_signature(method, has.type))
        answers += [self._has_foreign(of, foreign) for foreign in wanted.foreign]
        return all_of(answers)

    def _has_foreign(self, of: Type, foreign: Type) -> bool | None:
        """Whether a type has the methods of an interface from outside; taken for granted if that one is not known."""
        listed = STANDARD_INTERFACES.get(self._types.full_name(foreign))
        return self._has_all(of, listed) if listed is not None else True

    def _has_all(self, of: Type, listed: frozenset[str]) -> bool:
        for entry in listed:
            name, takes, gives = entry.split("/")
            has = self._members.find(of, name)
            if has is None or (has.entities and isinstance(has.entities[0], Outside)):
                continue
            if has.type is None or has.type.node.type not in _FUNCTIONS:
                return False
            if len(parameters(has.type)) != int(takes) or len(results(has.type)) != int(gives):
                return False
        return True

    def _has_one(self, of: Type, name: str, among: set[Bound]) -> bool:
        has = self._members.find(of, name)
        return has is not None and any(entity in among for entity in has.entities)

    def _outside(self, name: str, types: list[Type], members: tuple[Bound, ...]) -> str:
        """Return which type that is not of the repository asks for a method."""
        vendored = next((member.file for member in members if "vendor/" in member.file), "")
        if vendored:
            return f"an interface of {vendored}"
        asking = [(len(listed), key) for key, listed in STANDARD_INTERFACES.items() if may_have(key, name)]
        for of in types:
            for _, key in sorted(asking, key=lambda pair: pair[0]):
                if of.node.type != "interface_type" and self._has_all(of, STANDARD_INTERFACES[key]):
                    return key
        hidden = next((found for of in types if (found := self._overrides(of, name))), "")
        return hidden or self._handovers.taker(name, types, set(members))

    def _overrides(self, of: Type, name: str) -> str:
        """Return the embedded type from outside that a method may hide the one of."""
        under = self._types.underlying_type(of)
        for _, inner in (
            self._members.embedded_types(under) if under is not None and under.node.type == "struct_type" else ()
        ):
            foreign = isinstance(self._types.named_type(inner), Outside)
            if foreign and may_have(self._types.full_name(inner), name):
                return text_of(inner.node)
        return ""


def _reachable_bounds(first: Bound, edges: dict[Bound, set[Bound]]) -> set[Bound]:
    found, waiting = {first}, [first]
    while waiting:
        more = edges.get(waiting.pop(), set()) - found
        found |= more
        waiting += more
    return found - {first}


def _order(bound: Bound) -> tuple[str, int]:
    return bound.file, bound.scope
