"""The items of Rust's modules and blocks, and what their `use` declarations bring."""

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from codeplane.code.languages.rust.syntax import Node, field, text_of

_SPACES: Mapping[str, tuple[str, ...]] = {
    "function_item": ("value",),
    "function_signature_item": ("value",),
    "const_item": ("value",),
    "static_item": ("value",),
    "struct_item": ("type", "value"),
    "enum_item": ("type",),
    "union_item": ("type",),
    "trait_item": ("type",),
    "type_item": ("type",),
    "mod_item": ("type",),
    "macro_definition": ("macro",),
}
_MACRO_USE = re.compile(r"\bmacro_use\b")


class Mod(Struct, frozen=True, gc=False):
    """A module: a file, or the inline module of a file whose body starts at a place."""

    path: str
    at: int = 0


class Item(Struct, frozen=True, gc=False):
    """A definition in a module or block; `spaces` are the namespaces in which its name is known.

    `gives_macros` says of a module that its macros are known below it.
    """

    at: int
    kind: str
    spaces: tuple[str, ...]
    gives_macros: bool = False


class Use(Struct, frozen=True, gc=False):
    """A name that a `use` brings: the parts of its path, and what it is called here (`*` for everything)."""

    parts: tuple[str, ...]
    local: str
    at: int
    """Where the last part stands."""
    local_at: int


class Contents(Struct, frozen=True):
    """What a module or block defines and imports; `opaque` if a macro may define more."""

    items: Mapping[str, Sequence[Item]]
    uses: Mapping[str, Sequence[Use]]
    globs: Sequence[Use]
    opaque: bool


def contents_of(node: Node) -> Contents:
    """Return what a file, the body of an inline module or a block defines and imports."""
    items: dict[str, list[Item]] = {}
    uses: dict[str, list[Use]] = {}
    globs: list[Use] = []
    opaque = False
    for declaration in _declaration_nodes(node):
        name = field(declaration, "name")
        if declaration.type in _SPACES and name is not None:
            spaces = _SPACES[declaration.type]
            if declaration.type == "struct_item" and _has_fields(declaration):
                spaces = ("type",)
            gives = declaration.type == "mod_item" and _gives_macros(declaration)
            items.setdefault(text_of(name), []).append(Item(name.start_byte, declaration.type, spaces, gives))
        elif declaration.type == "use_declaration":
            argument = field(declaration, "argument")
            for use in use_tree(argument, ()) if argument is not None else ():
                if use.local == "*":
                    globs.append(use)
                else:
                    uses.setdefault(use.local, []).append(use)
        elif declaration.type == "extern_crate_declaration" and name is not None:
            alias = field(declaration, "alias") or name
            brought = Use(("", text_of(name)), text_of(alias), name.start_byte, alias.start_byte)
            uses.setdefault(brought.local, []).append(brought)
        elif declaration.type == "macro_invocation" and node.type != "block":
            opaque = True
    return Contents(items, uses, globs, opaque)


def _declaration_nodes(node: Node) -> Iterator[Node]:
    for child in node.named_children:
        if child.type == "foreign_mod_item":
            body = field(child, "body")
            yield from body.named_children if body is not None else ()
        elif child.type == "expression_statement" and child.named_child_count:
            inner = child.named_child(0)
            if inner is not None:
                yield inner
        else:
            yield child


def _gives_macros(module: Node) -> bool:
    """Whether `#[macro_use]` stands before a module."""
    before = module.prev_named_sibling
    while before is not None and (before.type == "attribute_item" or before.is_extra):
        if before.type == "attribute_item" and _MACRO_USE.search(text_of(before)):
            return True
        before = before.prev_named_sibling
    return False


def _has_fields(struct: Node) -> bool:
    body = field(struct, "body")
    return body is not None and body.type == "field_declaration_list"


def use_tree(node: Node, before: tuple[str, ...]) -> Iterator[Use]:
    """Yield the names that a tree of `use` brings."""
    match node.type:
        case "use_list":
            for child in node.named_children:
                yield from use_tree(child, before)
        case "scoped_use_list":
            path, listed = field(node, "path"), field(node, "list")
            inner = (*before, *use_parts(path)) if path is not None else (*before, "")
            if listed is not None:
                yield from use_tree(listed, inner)
        case "use_as_clause":
            path, alias = field(node, "path"), field(node, "alias")
            if path is not None and alias is not None:
                for use in use_tree(path, before):
                    yield Use(use.parts, text_of(alias), use.at, alias.start_byte)
        case "use_wildcard":
            path = node.named_child(0) if node.named_child_count else None
            yield Use((*before, *(use_parts(path) if path is not None else ())), "*", node.start_byte, node.start_byte)
        case "self" if before:
            yield Use(before, before[-1], node.start_byte, node.start_byte)
        case _:
            parts = use_parts(node)
            name = field(node, "name") or node
            if parts:
                yield Use((*before, *parts), parts[-1], name.start_byte, name.start_byte)


def use_parts(node: Node) -> tuple[str, ...]:
    """Return the parts of a path in a `use`; the first is empty for a path that begins with `::`."""
    if node.type in ("scoped_identifier", "scoped_type_identifier"):
        path, name = field(node, "path"), field(node, "name")
        last = (text_of(name),) if name is not None else ()
        return (*(use_parts(path) if path is not None else ("",)), *last)
    return (text_of(node),) if node.named_child_count == 0 else ()
