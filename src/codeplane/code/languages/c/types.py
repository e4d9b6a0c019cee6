"""The types of expressions in C and C++, as far as declarations say them."""

from collections.abc import Sequence
from typing import Protocol

import tree_sitter
from msgspec import Struct

from codeplane.code.entity import Bound
from codeplane.code.languages.depth_limit import DepthLimit
from codeplane.code.languages.member_resolver import CodeView

Node = tree_sitter.Node
_DECLARATORS = frozenset(
    {"pointer_declarator", "array_declarator", "reference_declarator", "function_declarator",
     "parenthesized_declarator", "init_declarator", "attributed_declarator", "abstract_pointer_declarator",
     "abstract_array_declarator"}
)  # fmt: skip
_DECLARING = frozenset(
    {"declaration", "field_declaration", "parameter_declaration", "optional_parameter_declaration", "type_definition",
     "function_definition", "for_range_loop", "alias_declaration", "variadic_parameter_declaration",
     "condition_declaration", "friend_declaration", "template_declaration"}
)  # fmt: skip
_CASTS = frozenset({"static_cast", "dynamic_cast", "const_cast", "reinterpret_cast"})
_POINTERS = frozenset({"unique_ptr", "shared_ptr", "weak_ptr", "scoped_ptr", "optional", "intrusive_ptr"})
_LISTS = frozenset({"vector", "deque", "list", "array", "set", "multiset", "unordered_set", "span", "initializer_list",
                    "stack", "queue", "priority_queue", "forward_list"})  # fmt: skip
_MAPS = frozenset({"map", "unordered_map", "multimap", "unordered_multimap"})
_FUNCTIONS = frozenset({"function", "method", "prototype"})
_MAX_ALIASES = 8
_ELEMENTS = frozenset({"at", "front", "back", "top"})


class Type(Struct, frozen=True):
    """A type as it is written: its file, the node of its name or specifier, and how many pointers stand around it."""

    path: str
    node: Node
    pointers: int = 0

    def with_pointers(self, more: int) -> "Type":
        """Return the type with more or fewer pointers."""
        return Type(self.path, self.node, self.pointers + more)


class Names(Protocol):
    """What types ask about names."""

    def bounds(self, path: str, node: Node) -> tuple[Bound, ...]:
        """Return what a name or a path of names means here; empty for what is not known."""

    def owner(self, path: str, offset: int) -> Type | None:
        """Return the type of `this` at a place."""

    def member(self, of: Type, name: str, arrow: bool) -> tuple[Bound, ...]:
        """Return the members of a type under a name."""

    def is_type(self, bound: Bound) -> bool:
        """Whether a binding is a type."""


class Types:
    """Finds the types of expressions and declarations."""

    def __init__(self, view: CodeView, names: Names) -> None:
        self._view = view
        self._names = names
        self._declared: dict[Bound, Type | None] = {}
        self._depth = DepthLimit()

    def of(self, path: str, node: Node | None) -> Type | None:
        """Return the type of an expression."""
        return self._depth.read(self._of, path, node)

    def _of(self, path: str, node: Node) -> Type | None:
        match node.type:
            case "parenthesized_expression":
                return self.of(path, node.named_child(0))
            case "identifier" | "qualified_identifier":
                return self._of_names(self._names.bounds(path, node))
            case "this":
                return self._names.owner(path, node.start_byte)
            case "field_expression":
                return self._of_names(self._members(path, node))
            case "pointer_expression":
                found = self.of(path, node.child_by_field_name("argument"))
                sign = node.child_by_field_name("operator")
                if found is None or sign is None:
                    return None
                if sign.type == "*":
                    return self._pointee(found)
                return found.with_pointers(1)
            case "subscript_expression":
                return self.element(self.of(path, node.child_by_field_name("argument")))
            case "cast_expression" | "compound_literal_expression":
                return read_type_descriptor(path, node.child_by_field_name("type"))
            case "new_expression":
                written = node.child_by_field_name("type")
                return Type(path, written, 1) if written is not None else None
            case "conditional_expression":
                return self.of(path, node.child_by_field_name("consequence"))
            case "assignment_expression" | "update_expression":
                return self.of(path, node.child_by_field_name("left") or node.child_by_field_name("argument"))
            case "comma_expression":
                return self.of(path, node.child_by_field_name("right"))
            case "binary_expression":
                left = self.of(path, node.child_by_field_name("left"))
                sign = node.child_by_field_name("operator")
                return (
                    left if left is not None and left.pointers > 0 and sign is not None and sign.type in "+-" else None
                )
            case "call_expression":
                return self._of_call(path, node)
        return None

    def _of_names(self, bounds: Sequence[Bound]) -> Type | None:
        found: Type | None = None
        for bound in bounds:
            if self._names.is_type(bound):
                return None
            found = found or self.declared_type(bound)
        return found

    def _members(self, path: str, node: Node) -> tuple[Bound, ...]:
        of, field = self.of(path, node.child_by_field_name("argument")), node.child_by_field_name("field")
        if of is None or field is None:
            return ()
        return self._names.member(of, _text(field), is_arrow(node))

    def _of_call(self, path: str, node: Node) -> Type | None:
        function = node.child_by_field_name("function")
        if function is None:
            return None
        if function.type == "template_function":
            name, given = function.child_by_field_name("name"), function.child_by_field_name("arguments")
            if name is not None and given is not None and (_text(name) in _CASTS or _text(name).startswith("make_")):
                made = read_type_descriptor(path, given.named_child(0))
                return made if made is None or _text(name) in _CASTS else None
        if function.type == "qualified_identifier" and (made := self._smart_pointer_type(path, function)) is not None:
            return made
        if function.type == "field_expression":
            of, field = self.of(path, function.child_by_field_name("argument")), function.child_by_field_name("field")
            inner = (
                self._of_library(of, _text(field), is_arrow(function)) if of is not None and field is not None else None
            )
            if inner is not None:
                return inner
            bounds = self._members(path, function)
        else:
            bounds = self._names.bounds(path, function)
        if any(self._names.is_type(bound) for bound in bounds):
            return Type(path, function)
        found = self._of_names(bounds)
        if found is None or any(self._is_function(bound) for bound in bounds):
            return found
        # What is called is a value: a pointer to a function, or an object with an operator.
        operators = self._names.member(found, "operator()", arrow=False) if found.pointers == 0 else ()
        return self._of_names(operators) if operators else found if not is_standard(found) else None

    def _is_function(self, bound: Bound) -> bool:
        return any(definition.kind in _FUNCTIONS for _, definition in self._view.definitions(bound))

    def _smart_pointer_type(self, path: str, function: Node) -> Type | None:
        """Return what `std::make_unique<T>(…)` makes, as the pointer to it."""
        name = function.child_by_field_name("name")
        if name is None or name.type != "template_function":
            return None
        called, given = name.child_by_field_name("name"), name.child_by_field_name("arguments")
        if called is None or given is None or _text(called) not in ("make_unique", "make_shared"):
            return None
        made = read_type_descriptor(path, given.named_child(0))
        return made.with_pointers(1) if made is not None else None

    def _of_library(self, of: Type, name: str, arrow: bool) -> Type | None:
        template, given = arguments(of)
        if arrow or not given:
            return None
        if template in _POINTERS and name in ("get", "release"):
            return _read_pointers(of.path, given[0], 1)
        if template in _POINTERS and name == "value":
            return read_type_descriptor(of.path, given[0])
        if name in _ELEMENTS and (template in _LISTS or template in _MAPS):
            return self.element(of)
        return None

    def resolve_alias(self, of: Type) -> Type:
        """Return what a name that stands for another type means, with its pointers."""
        for _ in range(_MAX_ALIASES):
            if of.node.type not in ("type_identifier", "qualified_identifier") or arguments(of)[1]:
                break
            bounds = self._names.bounds(of.path, of.node)
            kinds = {definition.kind for bound in bounds for _, definition in self._view.definitions(bound)}
            meant = self.declared_type(bounds[0]) if kinds == {"type"} else None
            if meant is None or meant.node == of.node:
                break
            of = meant.with_pointers(of.pointers)
        return of

    def _pointee(self, of: Type) -> Type | None:
        of = self.resolve_alias(of)
        if of.pointers == 0:
            template, given = arguments(of)
            return read_type_descriptor(of.path, given[0]) if template in _POINTERS and given else None
        return of.with_pointers(-1)

    def pointee(self, of: Type) -> Type:
        """Return what `->` reads from: the thing behind a library's pointer."""
        of = self.resolve_alias(of)
        template, given = arguments(of)
        inner = (
            read_type_descriptor(of.path, given[0]) if of.pointers == 0 and template in _POINTERS and given else None
        )
        return inner or of

    def element(self, of: Type | None) -> Type | None:
        """Return the type of the items of an array or of a library's container."""
        if of is None:
            return None
        of = self.resolve_alias(of)
        if of.pointers:
            return of.with_pointers(-1)
        template, given = arguments(of)
        if template in _LISTS and given:
            return read_type_descriptor(of.path, given[0])
        if template in _MAPS and len(given) > 1:
            return read_type_descriptor(of.path, given[1])
        # A typedef may hide an array or pointer; a class of the repository has an operator of its own.
        return of if of.node.type == "type_identifier" else None

    def declared_type(self, bound: Bound) -> Type | None:
        """Return the type that a binding is declared with: of a function its result, of a type what it stands for."""
        if bound not in self._declared:
            self._declared[bound] = None
            facts = self._view.facts(bound.file)
            rows = facts.rows(bound.scope, bound.name) if facts is not None else ()
            places = [facts.bind_at(row) for row in rows] if facts is not None else []
            places += [definition.name_at for _, definition in self._view.definitions(bound)]
            for at in dict.fromkeys(places):
                node = self._view.node(bound.file, at, at + 1)
                found = self._by_declarator(bound.file, node) if node is not None else None
                if found is not None:
                    self._declared[bound] = found
                    break
        return self._declared[bound]

    def _by_declarator(self, path: str, node: Node) -> Type | None:
        pointers, value, called = 0, None, False
        around = node.parent
        if around is not None and around.type == "qualified_identifier":
            around = around.parent
        while around is not None and around.type in _DECLARATORS:
            if around.type in ("pointer_declarator", "array_declarator"):
                pointers += 1
            elif around.type == "function_declarator":
                pointers, called = 0, True
                trailing = next((child for child in around.children if child.type == "trailing_return_type"), None)
                if trailing is not None:
                    return read_type_descriptor(path, trailing.named_child(0))
            elif around.type == "init_declarator":
                value = around.child_by_field_name("value")
            around = around.parent
        if around is None or around.type not in _DECLARING:
            return None
        written = around.child_by_field_name("type")
        if written is None:
            return None
        if around.type == "for_range_loop" and written.type == "placeholder_type_specifier":
            return self.element(self.of(path, around.child_by_field_name("right")))
        if written.type == "placeholder_type_specifier":
            found = self.of(path, value) if value is not None and not called else None
            # `auto*` and `auto` are given the same pointer.
            return found
        if written.type == "type_descriptor":
            return read_type_descriptor(path, written)
        if written.type == "macro_type_specifier":
            inner = read_type_descriptor(path, written.child_by_field_name("type"))
            return inner.with_pointers(pointers) if inner is not None else None
        return Type(path, written, pointers)


def read_type_descriptor(path: str, node: Node | None) -> Type | None:
    """Return the type that a type descriptor, with its pointers, writes."""
    if node is None:
        return None
    if node.type != "type_descriptor":
        return Type(path, node)
    written, pointers = node.child_by_field_name("type"), 0
    inner = node.child_by_field_name("declarator")
    while inner is not None:
        pointers += inner.type in ("abstract_pointer_declarator", "abstract_array_declarator")
        inner = inner.child_by_field_name("declarator")
    return Type(path, written, pointers) if written is not None else None


def _read_pointers(path: str, node: Node, more: int) -> Type | None:
    found = read_type_descriptor(path, node)
    return found.with_pointers(more) if found is not None else None


def arguments(of: Type) -> tuple[str, list[Node]]:
    """Return the name of a template type, without its namespace, and what it is given."""
    node = of.node
    while node.type == "qualified_identifier":
        inner = node.child_by_field_name("name")
        if inner is None:
            return "", []
        node = inner
    if node.type not in ("template_type", "template_function"):
        return "", []
    name, given = node.child_by_field_name("name"), node.child_by_field_name("arguments")
    return (_text(name), list(given.named_children)) if name is not None and given is not None else ("", [])


def is_standard(of: Type) -> bool:
    """Whether a type is a template of the standard library, which has its members from no argument."""
    return of.pointers == 0 and (of.node.text or b"").startswith((b"std::", b"::std::")) and bool(arguments(of)[1])


def is_arrow(field_expression: Node) -> bool:
    """Whether a member is read by `->`."""
    sign = field_expression.child_by_field_name("operator")
    return sign is not None and sign.type == "->"


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
