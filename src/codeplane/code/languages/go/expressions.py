"""The types of Go's expressions and variables, as far as declarations say them."""

from collections.abc import Sequence

from codeplane.code.entity import Bound, Module, Outside
from codeplane.code.languages.go.inference import infer
from codeplane.code.languages.go.type_members import Member, TypeMembers
from codeplane.code.languages.go.types import FUNCTIONS, MAX_DEPTH, GoTypes, Node, Type, first_child, results, text_of
from codeplane.code.languages.member_resolver import CodeView

_NAMES = frozenset({"identifier", "type_identifier", "package_identifier"})
_COMPARING = frozenset({"==", "!=", "<", "<=", ">", ">=", "&&", "||"})
_LIKE_FIRST = frozenset({"append", "min", "max"})


class Expressions:
    """Finds the types of expressions, and what a name behind a dot means."""

    def __init__(self, view: CodeView, types: GoTypes, members: TypeMembers) -> None:
        self._view = view
        self._types = types
        self._members = members
        self._declared: dict[Bound, Type | None] = {}
        self._depth = 0

    def of(self, path: str, node: Node | None, *, result: int = 0) -> Type | None:
        """Return the type of an expression, or of one of the several results of a call."""
        if node is None or self._depth > MAX_DEPTH:
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
                return self.of(path, first_child(node), result=result)
            case "identifier" | "type_identifier":
                return self._of_name(path, node)
            case "selector_expression" | "qualified_type":
                found = self.select(path, node)
                return found.type if found is not None else None
            case "unary_expression":
                given = self.of(path, operand)
                sign = node.child_by_field_name("operator")
                return self._types.element(given) if sign is not None and sign.type == "<-" else given
            case "binary_expression":
                sign, left = node.child_by_field_name("operator"), node.child_by_field_name("left")
                if sign is None or sign.type in _COMPARING:
                    return Type(path, node, outside="bool")
                return self.of(path, left) or self.of(path, node.child_by_field_name("right"))
            case "composite_literal" | "type_assertion_expression":
                written = node.child_by_field_name("type")
                return Type(path, written) if written is not None and result == 0 else None
            case "type_conversion_expression":
                return self._of_conversion(path, node, result)
            case "index_expression":
                return self._of_index(path, node) if result == 0 else None
            case "slice_expression":
                return self.of(path, operand)
            case "call_expression":
                return self._of_call(path, node, result)
            case "func_literal":
                return Type(path, node)
        plain = node.type.endswith("_literal") or node.type in ("iota", "true", "false")
        return Type(path, node, outside="constant") if plain else None

    def _of_name(self, path: str, node: Node) -> Type | None:
        meant = self._view.resolve_plain_name(path, node.start_byte, text_of(node))
        found = meant.entities[0] if meant.entities and meant.certain else None
        if not isinstance(found, Bound):
            return None
        if self._types.is_type(found):
            return Type(path, node)
        return self._narrow(found, node) if found.file == path else self.declared_type(found)

    def _narrow(self, bound: Bound, use: Node) -> Type | None:
        """Return the type of a variable at a place: in the case of a type switch it is what the case says."""
        at = self._binding_place(bound)
        node = self._view.node(bound.file, at, at + len(bound.name.encode())) if at >= 0 else None
        names = node.parent if node is not None else None
        switch = names.parent if names is not None and names.type == "expression_list" else None
        if switch is None or switch.type != "type_switch_statement":
            return self.declared_type(bound)
        around: Node | None = use
        while around is not None and (around.parent is None or around.parent.id != switch.id):
            around = around.parent
        types = around.children_by_field_name("type") if around is not None and around.type == "type_case" else []
        if len(types) == 1 and text_of(types[0]) != "nil":
            return Type(bound.file, types[0])
        return self.of(bound.file, switch.child_by_field_name("value"))

    def select(self, path: str, node: Node) -> Member | None:
        """Return what `a.b` means; None if that is not known."""
        operand = node.child_by_field_name("operand") or node.child_by_field_name("package")
        field = node.child_by_field_name("field") or node.child_by_field_name("name")
        if operand is None or field is None:
            return None
        owner = self.operand(path, operand)
        if owner is None and operand.type in _NAMES:
            # A package of another module, which may be used in a published version.
            meant = self._view.resolve_plain_name(path, operand.start_byte, text_of(operand)).entities
            given = [
                self._view.find_export(module.path, text_of(field)) for module in meant if isinstance(module, Module)
            ]
            return Member(tuple(entity for entities in given for entity in entities), certain=False) if given else None
        if isinstance(owner, Outside):
            return Member((owner,), Type(path, node, outside=owner.source))
        if isinstance(owner, Module):
            found = self._view.find_export(owner.path, text_of(field))
            first = found[0] if found else None
            if not isinstance(first, Bound):
                return None
            return Member(found, Type(path, node) if self._types.is_type(first) else self.declared_type(first))
        return self._members.find(owner, text_of(field)) if owner is not None else None

    def operand(self, path: str, node: Node) -> Module | Outside | Type | None:
        """Return what the members behind an expression belong to: a package, or a type."""
        if node.type == "parenthesized_expression" and (inner := first_child(node)) is not None:
            return self.operand(path, inner)
        if node.type in _NAMES:
            found = self._types.entity(path, node)
            if isinstance(found, Module | Outside):
                return found
        return self.of(path, node)

    def declared_type(self, bound: Bound) -> Type | None:
        """Return the type that a variable or field is declared with; for a function its declaration."""
        if bound not in self._declared:
            self._declared[bound] = None
            self._declared[bound] = self._declaration(bound)
        return self._declared[bound]

    def _binding_place(self, bound: Bound) -> int:
        facts = self._view.facts(bound.file)
        rows = facts.rows(bound.scope, bound.name) if facts is not None else ()
        places = [facts.bind_at(row) for row in rows] if facts is not None else []
        # A second `:=` in one scope leaves the type of the first.
        return min(places or [definition.name_at for _, definition in self._view.definitions(bound)], default=-1)

    def _declaration(self, bound: Bound) -> Type | None:
        at = self._binding_place(bound)
        node = self._view.node(bound.file, at, at + len(bound.name.encode())) if at >= 0 else None
        parent = node.parent if node is not None else None
        if node is None or parent is None:
            return None
        path, written = bound.file, parent.child_by_field_name("type")
        match parent.type:
            case "parameter_declaration" | "field_declaration":
                return Type(path, written) if written is not None else None
            case "variadic_parameter_declaration":
                return Type(path, written, items=True) if written is not None else None
            case "var_spec" | "const_spec":
                if written is not None:
                    return Type(path, written)
                names = parent.children_by_field_name("name")
                value = parent.child_by_field_name("value")
                if value is None and parent.type == "const_spec":
                    return self._of_repeated(path, parent, names, node)
                return self._type_of_assignment(path, names, value, node)
            case "function_declaration" | "method_declaration" | "method_elem":
                return Type(path, parent)
            case "expression_list":
                return self._by_statement(path, parent, node)
        return None

    def _of_repeated(self, path: str, spec: Node, names: Sequence[Node], node: Node) -> Type | None:
        """Return the type of a constant that repeats the expression above it."""
        before = spec.prev_named_sibling
        while before is not None:
            value, written = before.child_by_field_name("value"), before.child_by_field_name("type")
            if before.type == "const_spec" and value is not None:
                return (
                    Type(path, written) if written is not None else self._type_of_assignment(path, names, value, node)
                )
            before = before.prev_named_sibling
        return None

    def _by_statement(self, path: str, names: Node, node: Node) -> Type | None:
        statement = names.parent
        if statement is None:
            return None
        right = statement.child_by_field_name("right")
        match statement.type:
            case "short_var_declaration":
                return self._type_of_assignment(path, names.named_children, right, node)
            case "range_clause":
                return self._types.range_type(self.of(path, right), position_of(names.named_children, node))
            case "receive_statement":
                return self.of(path, right) if position_of(names.named_children, node) == 0 else None
        return None

    def _type_of_assignment(self, path: str, names: Sequence[Node], values: Node | None, node: Node) -> Type | None:
        given = values.named_children if values is not None else []
        position = position_of(names, node)
        if len(given) == len(names):
            return self.of(path, given[position])
        return self.of(path, given[0], result=position) if len(given) == 1 else None

    def _of_index(self, path: str, node: Node) -> Type | None:
        operand, index = node.child_by_field_name("operand"), node.child_by_field_name("index")
        of = self.of(path, operand)
        if of is not None and not of.items and not of.outside and of.node.type in FUNCTIONS and index is not None:
            return Type(of.path, of.node, given=infer(self._types, of, [Type(path, index)], []))
        return self._types.element(of)

    def _of_conversion(self, path: str, node: Node, result: int) -> Type | None:
        """Return the type of `name[x](y)`: a conversion, or a call that the grammar takes for one."""
        written = node.child_by_field_name("type")
        inner = written.child_by_field_name("type") if written is not None and written.type == "generic_type" else None
        if written is None or inner is None:
            return Type(path, written) if written is not None and result == 0 else None
        of = self.of(path, inner)
        if of is None or of.outside:
            return None
        if of.node.id == inner.id:
            return Type(path, written)
        if not of.items and of.node.type in FUNCTIONS:
            explicit = self._types.arguments(Type(path, written))
            argument = self.of(path, node.child_by_field_name("operand"))
            return self._result(Type(of.path, of.node, given=infer(self._types, of, explicit, [argument])), result)
        return self._result(self._types.underlying_type(self._types.element(of)), result)

    def _of_call(self, path: str, node: Node, result: int) -> Type | None:
        function, listed = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None:
            return None
        arguments = listed.named_children if listed is not None else []
        name = text_of(function) if self._is_builtin_called(path, function) else ""
        if name in ("new", "make"):
            return Type(path, arguments[0]) if arguments else None
        if name:
            return self.of(path, arguments[0]) if name in _LIKE_FIRST and arguments else None
        called = self.of(path, function)
        if called is None or called.items:
            return None
        if called.outside:
            foreign = all(self._is_foreign(path, argument) for argument in arguments)
            return self._from_outside(path, node, called, foreign=foreign)
        inner = function
        while inner.type == "parenthesized_expression" and (child := first_child(inner)) is not None:
            inner = child
        if called.path == path and called.node.id == inner.id and inner.type != "func_literal":
            # The name of a type: a conversion.
            return called
        if inner.type == "unary_expression":
            return Type(path, inner)
        if called.node.type not in FUNCTIONS:
            return self._result(self._types.underlying_type(called), result)
        if called.given or called.node.child_by_field_name("type_parameters") is None:
            return self._result(called, result)
        explicit = node.child_by_field_name("type_arguments")
        types = [Type(path, child) for child in explicit.named_children] if explicit is not None else []
        given = infer(self._types, called, types, [self.of(path, argument) for argument in arguments])
        return self._result(Type(called.path, called.node, given=given), result)

    def _from_outside(self, path: str, call: Node, called: Type, *, foreign: bool) -> Type | None:
        """Return what a call of something from outside gives, if that cannot be of a type of ours."""
        packages = self._types.packages(path)
        if packages is None or packages.may_give_ours(called.outside, path, foreign=foreign):
            return None
        function = call.child_by_field_name("function")
        # `lib.Make[Type]()` reads like an index.
        written = call.child_by_field_name("type_arguments") or (function and function.type == "index_expression")
        return Type(path, call, outside=called.outside) if not written else None

    def _is_foreign(self, path: str, argument: Node) -> bool:
        """Whether an argument has a type from outside."""
        return isinstance(self._types.named_type(self.of(path, argument)), Outside)

    def _is_builtin_called(self, path: str, function: Node) -> bool:
        if function.type != "identifier":
            return False
        meant = self._view.resolve_plain_name(path, function.start_byte, text_of(function))
        return meant.own is None and not meant.entities

    def _result(self, function: Type | None, position: int) -> Type | None:
        if function is None or function.node.type not in FUNCTIONS:
            return None
        given = results(function)
        return given[position] if position < len(given) else None

    def literal_type(self, path: str, value: Node) -> Type | None:
        """Return the type of a literal's braces; an inner literal may leave out its own."""
        around = value.parent
        if around is None:
            return None
        if around.type == "composite_literal":
            written = around.child_by_field_name("type")
            return Type(path, written) if written is not None else None
        keyed = around.parent
        if keyed is not None and keyed.type == "keyed_element" and keyed.parent is not None:
            outer = self.literal_type(path, keyed.parent)
            if keyed.child_by_field_name("key") == around:
                under = self._types.underlying_type(outer)
                return under.at(under.node.child_by_field_name("key")) if under is not None else None
            return self._types.element(outer)
        return self._types.element(self.literal_type(path, keyed)) if keyed is not None else None


def position_of(among: Sequence[Node], node: Node) -> int:
    """Return the position of a name in a list."""
    return next((index for index, sibling in enumerate(among) if sibling.start_byte == node.start_byte), 0)
