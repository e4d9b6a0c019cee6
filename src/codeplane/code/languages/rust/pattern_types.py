"""The types of Rust's variables, by the patterns that bind them."""

from abc import ABC, abstractmethod

from codeplane.code.entity import Bound
from codeplane.code.languages.rust.impls import RustImpls
from codeplane.code.languages.rust.locals import binder_of
from codeplane.code.languages.rust.member_types import MemberTypes
from codeplane.code.languages.rust.std import Ty, given_to_closure, item_of, iterator, substitute_type
from codeplane.code.languages.rust.syntax import (
    FUNCTIONS,
    Node,
    around,
    bounds_of,
    child_at,
    field,
    parameters,
    text_of,
)

_AROUND_FUNCTIONS = frozenset({"reference_type", "dynamic_type", "abstract_type", "generic_type"})


class ExpressionTypes(MemberTypes, ABC):
    """What patterns ask about expressions."""

    @abstractmethod
    def of(self, path: str, node: Node | None) -> Ty | None:
        """Return the type of an expression."""


class PatternTypes:
    """Finds the types of names in patterns and of the parameters of closures."""

    def __init__(self, types: ExpressionTypes, impls: RustImpls) -> None:
        self._types = types
        self._impls = impls

    def of(self, path: str, node: Node) -> Ty | None:
        """Return the type of what a pattern, or a name in one, is matched with."""
        above = node.parent
        if above is None:
            return None
        match above.type:
            case "tuple_pattern" | "slice_pattern":
                of = self.of(path, above)
                if above.type == "slice_pattern":
                    return item_of(of)
                position = _position(above, node)
                return of.args[position] if of is not None and position < len(of.args) else None
            case "tuple_struct_pattern":
                return self._in_variant(path, above, node)
            case "field_pattern":
                struct = above.parent
                name = field(above, "name")
                written = field(struct, "type") if struct is not None else None
                return (
                    self._types.field_type(self._types.read_type(path, written), text_of(name))
                    if name is not None
                    else None
                )
        binder = binder_of(node)
        if binder is None:
            return None
        if above == binder or above.type in ("closure_parameters", "match_pattern"):
            return self._bound_by(path, binder, node)
        return self.of(path, above)

    def _in_variant(self, path: str, pattern: Node, node: Node) -> Ty | None:
        written = field(pattern, "type")
        position = _position(pattern, node) - 1
        of = self.of(path, pattern)
        name = text_of(written).rpartition("::")[2] if written is not None else ""
        if of is not None and name in ("Some", "Ok", "Err") and of.name in ("Option", "Result"):
            wanted = 1 if name == "Err" else 0
            return of.args[wanted] if wanted < len(of.args) else None
        things = self._types.things(path, written, "value") if written is not None else ()
        item = self._impls.item(things[0]) if len(things) == 1 and isinstance(things[0], Bound) else None
        if item is None or not isinstance(things[0], Bound):
            return None
        found = self._types.unnamed_field_type(things[0].file, item, position)
        enum = next((ancestor for ancestor in around(item) if ancestor.type == "enum_item"), item)
        owner = item if item.type == "struct_item" else enum
        given = (
            dict(zip(self._types.parameters(things[0].file, owner), of.args, strict=False)) if of is not None else {}
        )
        return substitute_type(found, given)

    def _bound_by(self, path: str, binder: Node, node: Node) -> Ty | None:
        match binder.type:
            case "parameter":
                return self._types.read_type(path, field(binder, "type"))
            case "let_declaration":
                written = field(binder, "type")
                return (
                    self._types.read_type(path, written)
                    if written is not None
                    else self._types.of(path, field(binder, "value"))
                )
            case "let_condition":
                return self._types.of(path, field(binder, "value"))
            case "match_arm":
                match = next((ancestor for ancestor in around(binder) if ancestor.type == "match_expression"), None)
                return self._types.of(path, field(match, "value")) if match is not None else None
            case "for_expression":
                over = self._types.of(path, field(binder, "value"))
                if over is not None and over.shape == "named":
                    return self._types.of_impl(over, "Item", "Iterator") or self._types.of_impl(
                        over, "Item", "IntoIterator"
                    )
                return item_of(over)
            case "closure_expression":
                listed = field(binder, "parameters")
                among = listed.named_children if listed is not None else []
                at = node.start_byte
                position = next(
                    (index for index, parameter in enumerate(among) if parameter.start_byte <= at < parameter.end_byte),
                    0,
                )
                return self._closure_parameter(path, binder, position)
        return None

    def _closure_parameter(self, path: str, closure: Node, position: int) -> Ty | None:
        """Return what a closure is called with, by the function that it is given to."""
        arguments = closure.parent
        call = arguments.parent if arguments is not None and arguments.type == "arguments" else None
        function = field(call, "function") if call is not None else None
        if arguments is None or call is None or function is None:
            return None
        given = next((index for index, child in enumerate(arguments.named_children) if child == closure), 0)
        if function.type == "generic_function":
            function = field(function, "function") or function
        if function.type == "field_expression":
            of, name = self._types.of(path, field(function, "value")), field(function, "field")
            if of is None or name is None:
                return None
            member = self._types.method(of, text_of(name))[0]
            if member is None:
                if of.shape == "named":
                    yielded = self._types.of_impl(of, "Item", "Iterator")
                    of = iterator(yielded) if yielded is not None else self._types.deref_type(of) or of
                return given_to_closure(of, text_of(name), position)
            return self._function_type_parameter(member.bound.file, member.node, given, position)
        things = self._types.things(path, function, "value")
        item = self._impls.item(things[0]) if len(things) == 1 and isinstance(things[0], Bound) else None
        if item is None or item.type not in FUNCTIONS or not isinstance(things[0], Bound):
            return None
        return self._function_type_parameter(things[0].file, item, given, position)

    def _function_type_parameter(self, path: str, function: Node, given: int, position: int) -> Ty | None:
        """Return the type of a parameter of the function type that a parameter is declared with."""
        listed = parameters(function)[1]
        written = field(listed[given], "type") if given < len(listed) else None
        while written is not None and written.type in _AROUND_FUNCTIONS:
            inner = field(written, "type_arguments") if written.type == "generic_type" else None
            written = child_at(inner, 0) if inner is not None else field(written, "type") or field(written, "trait")
        if written is not None and written.type == "type_identifier":
            bounds = bounds_of(function, text_of(written))
            written = next((bound for bound in bounds if bound.type == "function_type"), None)
        takes = field(written, "parameters") if written is not None and written.type == "function_type" else None
        nodes = takes.named_children if takes is not None else []
        found = self._types.read_type(path, nodes[position]) if position < len(nodes) else None
        own = dict.fromkeys(self._types.parameters(path, function))
        return substitute_type(found, own)


def _position(among: Node, node: Node) -> int:
    return next((index for index, child in enumerate(among.named_children) if child.start_byte == node.start_byte), 0)
