"""The types of Go's expressions, as far as declarations say them."""

from collections.abc import Callable, Sequence

import tree_sitter
from msgspec import Struct

from codeplane.code.entity import Bound, Entity, Module, Outside
from codeplane.code.languages.member_resolver import CodeView

Node = tree_sitter.Node
_MAX_DEPTH = 40
_FUNCTIONS = frozenset({"function_declaration", "method_declaration", "method_elem", "func_literal", "function_type"})
_NAMED = frozenset({"type_identifier", "qualified_type", "generic_type", "identifier", "selector_expression"})


class Type(Struct, frozen=True):
    """A type as it is written: its file and syntax node; `items` means a list of it, as a variadic parameter has."""

    path: str
    node: Node
    items: bool = False


class GoTypes:
    """Finds the types of expressions and declarations; `member` resolves a field or method of a type."""

    def __init__(self, view: CodeView, member: Callable[[Entity, str], Bound | None]) -> None:
        self._view = view
        self._member = member
        self._declared: dict[Bound, Type | None] = {}
        self._depth = 0

    def of(self, path: str, node: Node | None, *, result: int = 0) -> Type | None:
        """Return the type of an expression, or of one of the several results of a call."""
        if node is None or self._depth > _MAX_DEPTH:
            return None
        self._depth += 1
        try:
            return self._of(path, node, result)
        finally:
            self._depth -= 1

    def _of(self, path: str, node: Node, result: int) -> Type | None:
        operand = node.child_by_field_name("operand")
        match node.type:
            case "parenthesized_expression":
                return self.of(path, node.named_child(0), result=result)
            case "identifier" | "selector_expression" | "field_identifier":
                return self._of_name(path, node)
            case "unary_expression":
                found = self.of(path, operand)
                sign = node.child_by_field_name("operator")
                return self.element(found) if sign is not None and sign.type == "<-" else found
            case "composite_literal" | "type_assertion_expression" | "type_conversion_expression":
                written = node.child_by_field_name("type")
                return Type(path, written) if written is not None and result == 0 else None
            case "index_expression":
                return self.element(self.of(path, operand)) if result == 0 else None
            case "slice_expression":
                return self.of(path, operand)
            case "call_expression":
                return self._of_call(path, node, result)
            case "func_literal":
                return Type(path, node)
        return None

    def _of_name(self, path: str, node: Node) -> Type | None:
        found = self.entity(path, node)
        return self.declared(found) if isinstance(found, Bound) else None

    def entity(self, path: str, node: Node) -> Entity | None:
        """Return what an expression or type names: a binding, a package, or something from outside."""
        match node.type:
            case "parenthesized_expression":
                inner = node.named_child(0)
                return self.entity(path, inner) if inner is not None else None
            case "unary_expression" | "pointer_type" | "generic_type":
                inner = node.child_by_field_name("operand") or node.child_by_field_name("type") or node.named_child(0)
                return self.entity(path, inner) if inner is not None else None
            case "identifier" | "type_identifier" | "package_identifier":
                meant = self._view.plain(path, node.start_byte, _text(node))
                return meant.entities[0] if len(meant.entities) == 1 and meant.certain else None
            case "qualified_type":
                package, name = node.child_by_field_name("package"), node.child_by_field_name("name")
                return self._of_package(path, package, name)
            case "selector_expression":
                operand, field = node.child_by_field_name("operand"), node.child_by_field_name("field")
                if operand is None or field is None:
                    return None
                owner = self.owner(path, operand)
                if isinstance(owner, Module):
                    return self._of_package(path, operand, field)
                if isinstance(owner, Outside):
                    return owner
                return self._member(owner, _text(field)) if owner is not None else None
        return None

    def owner(self, path: str, operand: Node) -> Entity | None:
        """Return what the members behind an expression belong to: a package, or the named type of a value."""
        found = self.entity(path, operand) if operand.type in _NAMED or operand.type.endswith("expression") else None
        if isinstance(found, Module | Outside) or (isinstance(found, Bound) and self.is_type(found)):
            return found
        return self.named(self.of(path, operand))

    def _of_package(self, path: str, package: Node | None, name: Node | None) -> Entity | None:
        owner = self.entity(path, package) if package is not None else None
        if isinstance(owner, Outside) or name is None:
            return owner
        found = self._view.exported(owner.path, _text(name)) if isinstance(owner, Module) else ()
        return found[0] if len(found) == 1 else None

    def is_type(self, bound: Bound) -> bool:
        """Whether a binding is a type of the repository."""
        return any(one.kind in ("struct", "interface", "type") for _, one in self._view.definitions(bound))

    def named(self, of: Type | None) -> Entity | None:
        """Return the named type that a type is, behind its pointers."""
        if of is None or of.items:
            return None
        node = of.node
        while node.type in ("pointer_type", "parenthesized_type"):
            inner = node.named_child(0)
            if inner is None:
                return None
            node = inner
        if node.type in ("struct_type", "interface_type", "map_type", "slice_type", "array_type", "channel_type"):
            return None
        found = self.entity(of.path, node)
        if found is None and node.type == "type_identifier" and _is_predeclared(self._view, of.path, node):
            return Outside(_text(node))
        return found if not isinstance(found, Bound) or self.is_type(found) else None

    def element(self, of: Type | None) -> Type | None:
        """Return the type of the items of a list, map or channel."""
        if of is None:
            return None
        if of.items:
            return Type(of.path, of.node)
        under = self.underlying(of)
        if under is None or under.node.type not in ("slice_type", "array_type", "map_type", "channel_type"):
            return None
        node = under.node.child_by_field_name("element") or under.node.child_by_field_name("value")
        return Type(under.path, node) if node is not None else None

    def underlying(self, of: Type | None) -> Type | None:
        """Return the type literal that a type stands for, through pointers and the names of types."""
        for _ in range(_MAX_DEPTH):
            if of is None or of.items:
                return None
            node = of.node
            if node.type in ("pointer_type", "parenthesized_type"):
                inner = node.named_child(0)
                of = Type(of.path, inner) if inner is not None else None
                continue
            if node.type not in _NAMED:
                return of
            found = self.entity(of.path, node)
            of = self.declared(found) if isinstance(found, Bound) and self.is_type(found) else None
        return None

    def declared(self, bound: Bound) -> Type | None:
        """Return the type that a binding is declared with; for a type, what it is declared to be."""
        if bound not in self._declared:
            self._declared[bound] = None
            self._declared[bound] = self._declaration(bound)
        return self._declared[bound]

    def _declaration(self, bound: Bound) -> Type | None:
        facts = self._view.facts(bound.file)
        if facts is None:
            return None
        rows = facts.rows(bound.scope, bound.name)
        places = [facts.bind_at(row) for row in rows] or [one.name_at for _, one in self._view.definitions(bound)]
        # A second `:=` in one scope keeps the type of the first.
        at = min(places, default=-1)
        node = self._view.node(bound.file, at, at + len(bound.name.encode())) if at >= 0 else None
        return self._by_parent(bound.file, node) if node is not None else None

    def _by_parent(self, path: str, node: Node) -> Type | None:
        parent = node.parent
        if parent is None:
            return None
        written = parent.child_by_field_name("type")
        match parent.type:
            case "parameter_declaration" | "field_declaration" | "type_spec" | "type_alias":
                return Type(path, written) if written is not None else None
            case "variadic_parameter_declaration":
                return Type(path, written, items=True) if written is not None else None
            case "var_spec" | "const_spec":
                if written is not None:
                    return Type(path, written)
                names = parent.children_by_field_name("name")
                return self._assigned(path, names, parent.child_by_field_name("value"), node)
            case "function_declaration" | "method_declaration" | "method_elem":
                return Type(path, parent)
            case "expression_list":
                return self._by_statement(path, parent, node)
        return None

    def _by_statement(self, path: str, names: Node, node: Node) -> Type | None:
        statement = names.parent
        if statement is None:
            return None
        match statement.type:
            case "short_var_declaration":
                return self._assigned(path, names.named_children, statement.child_by_field_name("right"), node)
            case "range_clause":
                over = self.of(path, statement.child_by_field_name("right"))
                if _position(names.named_children, node) == 1:
                    return self.element(over)
                under = self.underlying(over)
                keyed = under.node.child_by_field_name("key") if under is not None else None
                if under is not None and under.node.type == "channel_type":
                    return self.element(over)
                return Type(under.path, keyed) if under is not None and keyed is not None else None
        return None

    def _assigned(self, path: str, names: Sequence[Node], values: Node | None, node: Node) -> Type | None:
        given = values.named_children if values is not None else []
        position = _position(names, node)
        if len(given) == len(names):
            return self.of(path, given[position])
        return self.of(path, given[0], result=position) if len(given) == 1 else None

    def _of_call(self, path: str, node: Node, result: int) -> Type | None:
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None:
            return None
        if function.type == "identifier" and _text(function) in ("new", "make") and arguments is not None:
            made = arguments.named_child(0)
            meant = self._view.plain(path, function.start_byte, _text(function))
            return Type(path, made) if made is not None and meant.own is None and not meant.entities else None
        found = self.entity(path, function)
        if isinstance(found, Bound) and self.is_type(found):
            # A conversion.
            return Type(path, function)
        called = self.declared(found) if isinstance(found, Bound) else self.of(path, function)
        if called is None or called.items:
            return None
        if called.node.type not in _FUNCTIONS:
            called = self.underlying(called)
        if called is None or called.node.type not in _FUNCTIONS:
            return None
        if called.node.child_by_field_name("type_parameters") is not None:
            # What a generic function gives depends on what it is called with.
            return None
        return _result(called, result)


def _result(function: Type, position: int) -> Type | None:
    node = function.node.child_by_field_name("result")
    if node is None:
        return None
    if node.type != "parameter_list":
        return Type(function.path, node) if position == 0 else None
    types: list[Node] = []
    for one in node.named_children:
        written = one.child_by_field_name("type")
        if written is not None:
            types += [written] * max(1, len(one.children_by_field_name("name")))
    return Type(function.path, types[position]) if position < len(types) else None


def _is_predeclared(view: CodeView, path: str, node: Node) -> bool:
    meant = view.plain(path, node.start_byte, _text(node))
    return meant.own is None and not meant.entities


def _position(among: Sequence[Node], node: Node) -> int:
    return next((index for index, one in enumerate(among) if one.start_byte == node.start_byte), 0)


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
