"""Small questions about the nodes of Rust's syntax tree."""

from collections.abc import Iterator

import tree_sitter

Node = tree_sitter.Node
FUNCTIONS = frozenset({"function_item", "function_signature_item"})
# What contains members; a function in between makes a definition its own.
OWNERS = frozenset({"impl_item", "trait_item", "struct_item", "enum_item", "union_item"})
_PATHS = frozenset({"scoped_identifier", "scoped_type_identifier"})


def text_of(node: Node) -> str:
    """Return the text of a node."""
    return (node.text or b"").decode("utf-8", "replace")


def around(node: Node) -> Iterator[Node]:
    """Yield what a node is inside of, the innermost first."""
    above = node.parent
    while above is not None:
        yield above
        above = above.parent


def root_of(node: Node) -> Node:
    """Return the root of the tree of a node."""
    while node.parent is not None:
        node = node.parent
    return node


def field(node: Node, name: str) -> Node | None:
    """Return the child of a node in a field."""
    return node.child_by_field_name(name)


def child_at(node: Node, position: int) -> Node | None:
    """Return a named child of a node by its position, comments left out; -1 is the last."""
    found = [child for child in node.named_children if not child.is_extra]
    return found[position] if -len(found) <= position < len(found) else None


def is_module(node: Node) -> bool:
    """Whether a node holds the items of a module: a file, or the body of an inline module."""
    if node.type == "source_file":
        return True
    return node.type == "declaration_list" and node.parent is not None and node.parent.type == "mod_item"


def module_node(node: Node) -> Node:
    """Return the file or the body of the inline module around a node."""
    return next((ancestor for ancestor in around(node) if is_module(ancestor)), root_of(node))


def owner_node(node: Node) -> Node | None:
    """Return the type, trait or `impl` block that the name of a definition is a member of."""
    inside = node.parent
    for ancestor in around(node):
        if ancestor.type in OWNERS:
            return ancestor if ancestor != inside else None
        if is_module(ancestor) or ancestor.type == "block":
            return None
    return None


def written_path(node: Node) -> list[Node] | None:
    """Return the names of a path (`a::B::new`), or None if it begins with something that is no name.

    A path that begins with `::` has its first name twice, so that it has no path before it.
    """
    if node.type in _PATHS:
        before, name = field(node, "path"), field(node, "name")
        if name is None:
            return None
        if before is None:
            return [name]
        first = written_path(before)
        return [*first, name] if first is not None else None
    if node.type == "generic_type" or node.type == "generic_function":
        inner = field(node, "type") or field(node, "function")
        return written_path(inner) if inner is not None else None
    if node.type.endswith("identifier") or node.type in ("self", "super", "crate", "metavariable", "primitive_type"):
        return [node]
    return None


def parameters(function: Node) -> tuple[bool, list[Node]]:
    """Return whether a function takes `self`, and its other parameters."""
    listed = field(function, "parameters")
    found = listed.named_children if listed is not None else []
    others = [parameter for parameter in found if parameter.type in ("parameter", "variadic_parameter")]
    takes_self = any(parameter.type == "self_parameter" for parameter in found)
    if not takes_self and others:
        # `self: Box<Self>`.
        pattern = field(others[0], "pattern")
        if pattern is not None and pattern.type == "self":
            return True, others[1:]
    return takes_self, others


def type_parameters(item: Node) -> list[Node]:
    """Return the names of the type parameters of an item, in order."""
    listed = field(item, "type_parameters")
    found = []
    for child in listed.named_children if listed is not None else ():
        name = (
            field(child, "name")
            if child.type == "type_parameter"
            else child
            if child.type == "type_identifier"
            else None
        )
        if name is not None:
            found.append(name)
    return found


def bounds_of(item: Node, parameter: str) -> list[Node]:
    """Return the bounds of a type parameter of an item: those beside it, and those behind `where`."""
    listed, found = field(item, "type_parameters"), []
    for child in listed.named_children if listed is not None else ():
        name = field(child, "name")
        bounds = field(child, "bounds")
        if name is not None and bounds is not None and text_of(name) == parameter:
            found += bounds.named_children
    where = next((child for child in item.named_children if child.type == "where_clause"), None)
    for child in where.named_children if where is not None else ():
        left, bounds = field(child, "left"), field(child, "bounds")
        if left is not None and bounds is not None and text_of(left) == parameter:
            found += bounds.named_children
    return found


def is_private(item: Node) -> bool:
    """Whether an item has no `pub`."""
    return not any(child.type == "visibility_modifier" for child in item.children)
