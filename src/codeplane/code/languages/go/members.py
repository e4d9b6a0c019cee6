"""Go's names: fields and methods by the declared type of what they are read from, others by scopes and packages."""

import tree_sitter

from codeplane.code.entity import Bound, Entity, Meaning, Outside
from codeplane.code.languages.go.expressions import Expressions
from codeplane.code.languages.go.method_sets import MethodSets
from codeplane.code.languages.go.type_members import Member, TypeMembers, receiver_type
from codeplane.code.languages.go.types import GoTypes, Type
from codeplane.code.languages.member_resolver import CodeView, MemberResolver, Relatives
from codeplane.code.model import Facts

_UNKNOWN = Meaning(entities=(), certain=False, how="member")
_DECLARES = frozenset({"field_declaration", "method_declaration", "method_elem"})
_NAMES = frozenset({"identifier", "type_identifier", "package_identifier"})
_STATEMENTS = frozenset({"short_var_declaration", "range_clause", "receive_statement", "var_spec", "const_spec"})


class GoMembers(MemberResolver):
    """Resolves names of Go."""

    def __init__(self, view: CodeView) -> None:
        super().__init__(view)
        self._types = GoTypes(view)
        self._members = TypeMembers(view, self._types)
        self._expressions = Expressions(view, self._types, self._members)
        self._method_sets = MethodSets(view, self._types, self._members, self._expressions)

    def meaning(self, path: str, facts: Facts, offset: int, name: str) -> Meaning | None:
        """Return what the name at a place means; None if the general rules for names decide."""
        node = self._view.node(path, offset, offset + len(name.encode()))
        parent = node.parent if node is not None else None
        if node is None or parent is None or parent.has_error:
            return None
        if node.type == "label_name" or parent.type == "package_clause":
            # Labels and packages are names of their own.
            return Meaning(entities=(Outside(node.type),), certain=True, how="name")
        if parent.type in _DECLARES and node.type == "field_identifier":
            bound = self._members.bound_at(path, node)
            return Meaning(entities=(bound,), certain=True, how="member") if bound is not None else None
        if parent.type == "selector_expression" and node.type == "field_identifier":
            return _meaning(self._expressions.select(path, parent))
        if parent.type == "qualified_type" and parent.child_by_field_name("name") == node:
            return _meaning(self._expressions.select(path, parent))
        keyed = parent.parent if parent.type == "literal_element" else None
        if keyed is not None and keyed.type == "keyed_element" and keyed.child_by_field_name("key") == parent:
            found = self._of_literal(path, keyed, name)
            if found is not None:
                return found
        return self._resolve_plain_name(path, node, name) if node.type in _NAMES else None

    def _resolve_plain_name(self, path: str, node: tree_sitter.Node, name: str) -> Meaning:
        meant = self._view.resolve_plain_name(path, node.start_byte, name)
        if meant.entities or meant.own is not None:
            return meant
        found = self._types.unbound(path, name)
        return Meaning(entities=(found,), certain=True, how="name") if found is not None else meant

    def _of_literal(self, path: str, keyed: tree_sitter.Node, name: str) -> Meaning | None:
        """Return what the key of a literal means: a field of a struct; in a map it is a name like any other."""
        value = keyed.parent
        of = self._expressions.literal_type(path, value) if value is not None else None
        under = self._types.underlying_type(of)
        if under is not None and under.node.type != "struct_type":
            return None
        entity = self._types.named_type(of)
        if isinstance(entity, Outside):
            return Meaning(entities=(entity,), certain=True, how="member")
        found = self._members.find(of, name) if of is not None else None
        return _meaning(found) if found is not None else Meaning(entities=(), certain=False, how="label")

    def other_at(self, path: str, offset: int, name: str, new: str) -> Bound | None:
        """Return the member that a new name would mean already at the place of a member's name."""
        node = self._view.node(path, offset, offset + len(name.encode()))
        parent = node.parent if node is not None else None
        of = self._owner_at(path, node, parent) if node is not None and parent is not None else None
        found = self._members.find(of, new) if of is not None else None
        return (
            next((entity for entity in found.entities if isinstance(entity, Bound)), None)
            if found is not None
            else None
        )

    def _owner_at(self, path: str, node: tree_sitter.Node, parent: tree_sitter.Node) -> Type | None:
        """Return the type that the member at a place is read from or declared in."""
        if parent.type == "selector_expression" and parent.child_by_field_name("field") == node:
            operand = parent.child_by_field_name("operand")
            owner = self._expressions.operand(path, operand) if operand is not None else None
            return owner if isinstance(owner, Type) else None
        if parent.type == "method_declaration":
            receiver = receiver_type(parent)
            return Type(path, receiver) if receiver is not None else None
        if parent.type in ("generic_type", "qualified_type"):
            return self._owner_at(path, parent, parent.parent) if parent.parent is not None else None
        if parent.type in ("field_declaration", "method_elem"):
            embeds = parent.child_by_field_name("name") is None
            around = parent.parent if node.type == "field_identifier" or embeds else None
            while around is not None and around.type not in ("struct_type", "interface_type"):
                around = around.parent
            spec = around.parent if around is not None else None
            name = spec.child_by_field_name("name") if spec is not None and spec.type == "type_spec" else None
            return Type(path, name or around) if around is not None else None
        return None

    def relatives(self, member: Bound) -> Relatives:
        """Return the members that are renamed with one: those that interfaces hold together."""
        return self._method_sets.relatives(member)

    def may_reach(self, path: str, definition: Bound) -> bool:
        """Whether a file may use a definition: not what another package has for itself, nor what programs have."""
        packages = self._types.packages(definition.file)
        return packages is None or packages.may_reach(path, definition.file, definition.name)

    def visibility_start(self, path: str, at: int, length: int) -> int:
        """Return where the name that is bound at a place begins to be known in its scope."""
        node = self._view.node(path, at, at + length)
        around = node.parent if node is not None else None
        if around is not None and around.type == "expression_list":
            around = around.parent
        if around is None or node is None:
            return 0
        if around.type in _STATEMENTS:
            return around.end_byte
        if around.type == "type_switch_statement":
            value = around.child_by_field_name("value")
            return value.end_byte if value is not None else node.end_byte
        if around.type in ("parameter_declaration", "variadic_parameter_declaration"):
            listed = around.parent
            function = listed.parent if listed is not None else None
            body = function.child_by_field_name("body") if function is not None else None
            # The types beside it may be of a package of that name.
            return body.start_byte if body is not None else 0
        return at if around.type in ("type_spec", "type_alias") else 0


def _meaning(member: Member | None) -> Meaning:
    if member is None or not member.entities:
        return _UNKNOWN
    entities: tuple[Entity, ...] = member.entities
    return Meaning(entities=entities, certain=member.certain, how="member")
