"""Go's fields and methods, found by the declared type of what they are read from."""

import tree_sitter

from codeplane.code.entity import Bound, Entity, Meaning, Module, Outside
from codeplane.code.languages.go.types import GoTypes, Type
from codeplane.code.languages.member_resolver import CodeView, MemberResolver, Relatives
from codeplane.code.model import Definition, Facts

_UNKNOWN = Meaning(entities=(), certain=False, how="member")
_MAX_EMBEDDED = 8


class GoMembers(MemberResolver):
    """Resolves members of Go's types, embedded ones included."""

    def __init__(self, view: CodeView) -> None:
        super().__init__(view)
        self._types = GoTypes(view, self._member_of)
        self._members: dict[tuple[Bound, str], tuple[Bound | None, bool]] = {}

    def meaning(self, path: str, facts: Facts, offset: int, name: str) -> Meaning | None:
        """Return what the name at a place means; None if the general rules for names decide."""
        node = self._view.node(path, offset, offset + len(name.encode()))
        parent = node.parent if node is not None else None
        if node is None or parent is None:
            return None
        if node.type == "field_identifier" and parent.type == "selector_expression":
            operand = parent.child_by_field_name("operand")
            owner = self._types.owner(path, operand) if operand is not None else None
            return None if isinstance(owner, Module) else self._read_from(owner, name)
        keyed = parent.parent if parent.type == "literal_element" else None
        if keyed is not None and keyed.type == "keyed_element" and keyed.child_by_field_name("key") == parent:
            return self._of_literal(path, keyed, name)
        return None

    def _of_literal(self, path: str, keyed: tree_sitter.Node, name: str) -> Meaning | None:
        """Return what the key of a literal means: a field of a struct; in a map it is a name like any other."""
        value = keyed.parent
        of = self._value_type(path, value) if value is not None else None
        under = self._types.underlying(of)
        if under is not None and under.node.type != "struct_type":
            return None
        found = self._read_from(self._types.named(of), name)
        return found if found.entities else Meaning(entities=(), certain=False, how="label")

    def relatives(self, member: Bound) -> Relatives:
        """Return the members that are renamed with one: those of interfaces that its type may implement."""
        facts = self._view.facts(member.file)
        mine = next((one for _, one in self._view.definitions(member)), None)
        if facts is None or mine is None or mine.kind != "method":
            return Relatives()
        promised = _is_promised(facts, mine)
        possible: list[Bound] = []
        for path, position in self._view.named(member.name)[0]:
            there = self._view.facts(path)
            one = there.definitions[position] if there is not None and position < len(there.definitions) else None
            if there is None or one is None or one.kind != "method" or not path.endswith(".go"):
                continue
            if promised or _is_promised(there, one):
                possible.append(Bound(path, one.scope, one.name))
        return Relatives(possible=tuple(one for one in dict.fromkeys(possible) if one != member))

    def _read_from(self, owner: Entity | None, name: str) -> Meaning:
        if isinstance(owner, Outside):
            return Meaning(entities=(owner,), certain=True, how="member")
        found, whole = self._find(owner, name) if isinstance(owner, Bound) else (None, False)
        return Meaning(entities=(found,), certain=whole, how="member") if found is not None else _UNKNOWN

    def _member_of(self, owner: Entity, name: str) -> Bound | None:
        return self._find(owner, name)[0] if isinstance(owner, Bound) else None

    def _find(self, of: Bound, name: str) -> tuple[Bound | None, bool]:
        """Return the member of a type, and whether no other one can come before it."""
        key = (of, name)
        if key not in self._members:
            self._members[key] = (None, False)
            self._members[key] = self._search(of, name)
        return self._members[key]

    def _search(self, of: Bound, name: str) -> tuple[Bound | None, bool]:
        level, whole = [of], True
        seen: set[Bound] = set()
        for _ in range(_MAX_EMBEDDED):
            found = [own for one in level for own in self._own(one, name)]
            if found:
                return (found[0], whole) if len(dict.fromkeys(found)) == 1 else (None, False)
            seen.update(level)
            deeper: list[Bound] = []
            for one in level:
                for embedded in self._embedded(one):
                    if isinstance(embedded, Bound):
                        deeper += [embedded] if embedded not in seen else []
                    else:
                        whole = False
            if not deeper:
                break
            level = list(dict.fromkeys(deeper))
        return None, False

    def _own(self, of: Bound, name: str) -> list[Bound]:
        """Return the field or method that a type itself has under a name."""
        facts = self._view.facts(of.file)
        if facts is None:
            return []
        bodies = [facts.body_of.get(index, -1) for index, _ in self._view.definitions(of)]
        found = [Bound(of.file, body, name) for body in bodies if body >= 0 and facts.defining(body, name)]
        modules = self._view.modules(of.file)
        beside = set(modules.beside(of.file)) if modules is not None else set()
        for path, position in self._view.named(name)[0]:
            there = self._view.facts(path) if path in beside else None
            if there is None or position >= len(there.definitions):
                continue
            one = there.definitions[position]
            if one.kind == "method" and one.inside == of.name and there.scopes[one.scope].definition < 0:
                found.append(Bound(path, one.scope, name))
        return found

    def _embedded(self, of: Bound) -> list[Entity | None]:
        """Return the types whose members a type has as its own; None stands for one that is not known."""
        literal = self._types.declared(of)
        if literal is None:
            return [None]
        node = literal.node
        if node.type not in ("struct_type", "interface_type"):
            # An alias is the other type; a type made of another one has its fields, not its methods.
            return [self._types.named(literal)]
        fields = node.named_child(0) if node.type == "struct_type" else node
        found: list[Entity | None] = []
        for one in fields.named_children if fields is not None else ():
            written: tree_sitter.Node | None = None
            if one.type == "field_declaration" and one.child_by_field_name("name") is None:
                written = one.child_by_field_name("type")
            elif one.type == "type_elem":
                written = one.named_child(0)
            if written is not None:
                found.append(self._types.named(Type(literal.path, written)))
        return found

    def _value_type(self, path: str, value: tree_sitter.Node) -> Type | None:
        """Return the type of a literal's value; an inner literal may leave out its own."""
        around = value.parent
        if around is None:
            return None
        if around.type == "composite_literal":
            written = around.child_by_field_name("type")
            return Type(path, written) if written is not None else None
        outer = around.parent
        if outer is not None and outer.type == "keyed_element":
            outer = outer.parent
        return self._types.element(self._value_type(path, outer)) if outer is not None else None


def _is_promised(facts: Facts, method: Definition) -> bool:
    """Whether a method is declared in an interface."""
    return method.container >= 0 and facts.definitions[method.container].kind == "interface"
