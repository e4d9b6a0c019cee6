"""Rust's types as they are written, and what the paths of types name."""

from collections.abc import Sequence

from codeplane.code.entity import Bound, Outside
from codeplane.code.languages.member_resolver import CodeView
from codeplane.code.languages.rust.impls import Member, RustImpls
from codeplane.code.languages.rust.names import Thing
from codeplane.code.languages.rust.std import WRAPPERS, Ty, iterator, outside, substitute_type, tuple_of
from codeplane.code.languages.rust.syntax import (
    Node,
    around,
    bounds_of,
    child_at,
    field,
    text_of,
    type_parameters,
    written_path,
)
from codeplane.code.languages.rust.uses import Mod

MAX_DEPTH = 40
_ITERATING = frozenset({"Iterator", "IntoIterator", "DoubleEndedIterator", "ExactSizeIterator"})
_ITEMS = frozenset({"struct_item", "enum_item", "union_item"})
_NO_TYPES = frozenset({"lifetime", "type_binding", "block", "integer_literal", "line_comment", "block_comment"})


class WrittenTypes:
    """Reads types, and finds what they and their paths name."""

    def __init__(self, view: CodeView, impls: RustImpls) -> None:
        self._view = view
        self._impls = impls
        self._names = impls.names
        self._depth = 0

    def read_type(self, path: str, node: Node | None) -> Ty | None:
        """Return a type as it is written."""
        if node is None or self._depth > MAX_DEPTH:
            return None
        self._depth += 1
        try:
            return self._read_type(path, node)
        finally:
            self._depth -= 1

    def _read_type(self, path: str, node: Node) -> Ty | None:
        match node.type:
            case "primitive_type":
                return outside(text_of(node))
            case "unit_type":
                return outside("()")
            case "reference_type":
                return self.read_type(path, field(node, "type"))
            case "pointer_type":
                return Ty("pointer", None, "", (self.read_type(path, field(node, "type")),))
            case "tuple_type":
                return tuple_of(*(self.read_type(path, child) for child in node.named_children))
            case "array_type" | "slice_type":
                inner = field(node, "element") or child_at(node, 0)
                return Ty("list", None, "", (self.read_type(path, inner),))
            case "function_type":
                return Ty("fn", None, "", (self.read_type(path, field(node, "return_type")),))
            case "dynamic_type" | "abstract_type":
                trait = field(node, "trait")
                return self._read_bounds(path, [trait] if trait is not None else [])
            case "bounded_type":
                return self._read_bounds(path, node.named_children)
            case "bracketed_type":
                return self.before(path, node)
            case "generic_type":
                return self._generic(path, node)
            case "type_identifier" | "scoped_type_identifier" | "identifier" | "scoped_identifier" | "self" | "super":
                return self._read_named_type(path, node, ())
        return None

    def _generic(self, path: str, node: Node) -> Ty | None:
        base, listed = field(node, "type"), field(node, "type_arguments")
        if base is None:
            return None
        written = [
            child for child in (listed.named_children if listed is not None else ()) if child.type not in _NO_TYPES
        ]
        return self._read_named_type(path, base, tuple(self.read_type(path, argument) for argument in written))

    def _read_named_type(self, path: str, node: Node, args: tuple[Ty | None, ...]) -> Ty | None:
        parts = written_path(node)
        if not parts:
            return None
        last = text_of(parts[-1])
        if last == "Self" and len(parts) == 1:
            return self.self_type(path, node)
        things = self.things(path, node, "type")
        if len(things) != 1:
            return None
        thing = things[0]
        if isinstance(thing, Outside):
            if last in WRAPPERS and args:
                inner = args[-1]
                return Ty(inner.shape, inner.of, inner.name, inner.args, inner.traits, True) if inner else None
            return Ty("outside", thing, last, args)
        if isinstance(thing, Mod):
            return None
        return self._of_type(thing, args)

    def _of_type(self, thing: Bound, args: tuple[Ty | None, ...]) -> Ty | None:
        item = self._impls.item(thing)
        if item is None:
            return self._parameter(thing)
        if item.type == "type_item":
            found = self.read_type(thing.file, field(item, "type"))
            given = dict(zip(self.parameters(thing.file, item), args, strict=False))
            return substitute_type(found, given)
        if item.type == "trait_item":
            return Ty("param", None, thing.name, traits=(thing,))
        if item.type == "enum_variant":
            return self.of_item(thing)
        return Ty("named", thing, thing.name, args) if item.type in _ITEMS else None

    def self_type(self, path: str, node: Node) -> Ty | None:
        """Return the type that `self` and `Self` are at a place."""
        for ancestor in around(node):
            if ancestor.type == "impl_item":
                return self.read_type(path, field(ancestor, "type"))
            if ancestor.type == "trait_item":
                owner = self._impls.owner(path, ancestor)
                return Ty("param", None, owner.name, traits=(owner.of,) if owner.of is not None else ())
            if ancestor.type in ("struct_item", "enum_item", "union_item"):
                owner = self._impls.owner(path, ancestor)
                return Ty("named", owner.of, owner.name)
        return None

    def things(self, path: str, node: Node, space: str) -> tuple[Thing, ...]:
        """Return what a path names, through types where it is read from one."""
        if node.type == "generic_function" and (function := field(node, "function")) is not None:
            node = function
        parts = written_path(node)
        if parts is not None and text_of(parts[0]) != "Self":
            names = [text_of(part) for part in parts]
            if node.type.startswith("scoped") and field(_outermost(node), "path") is None:
                names = ["", *names]
            if len(parts) == 1 or not self._is_parameter(path, parts[0]):
                return self._names.path(path, node.start_byte, names, space).things
        before, name = field(node, "path"), field(node, "name")
        if name is None:
            return ()
        owner = self.before(path, before) if before is not None else None
        return tuple(member.bound for member in self.members(owner, text_of(name))) if owner is not None else ()

    def before(self, path: str, node: Node) -> Ty | None:
        """Return the type before `::`, also of `<T as Trait>`."""
        if node.type == "bracketed_type":
            inner = child_at(node, 0)
            if inner is not None and inner.type == "qualified_type":
                found = self.read_type(path, field(inner, "type"))
                trait, _ = self._impls.named_type(path, field(inner, "alias"))
                if trait is None:
                    return None
                named = found is not None and found.shape == "named"
                return found if named and isinstance(trait, Bound) else Ty("param", None, "", traits=(trait,))
            return self.read_type(path, inner)
        return self.read_type(path, node)

    def _is_parameter(self, path: str, node: Node) -> bool:
        return self._names.locals.find(path, node.start_byte, text_of(node), "type") is not None

    def of_item(self, thing: Thing) -> Ty | None:
        """Return the type of the value that an item is: a constant, a function, a unit struct, a variant."""
        if isinstance(thing, Outside):
            return None
        item = self._impls.item(thing) if isinstance(thing, Bound) else None
        if item is None or not isinstance(thing, Bound):
            return None
        if item.type in ("const_item", "static_item"):
            return self.read_type(thing.file, field(item, "type"))
        if item.type == "struct_item":
            return Ty("named", thing, thing.name)
        if item.type == "enum_variant":
            owner = next((ancestor for ancestor in around(item) if ancestor.type == "enum_item"), None)
            found = self._impls.owner(thing.file, owner) if owner is not None else None
            return Ty("named", found.of, found.name) if found is not None else None
        return None

    def _parameter(self, bound: Bound) -> Ty | None:
        """Return a type parameter as the traits that it is bound by."""
        facts = self._view.facts(bound.file)
        for row in facts.rows(bound.scope, bound.name) if facts is not None else ():
            assert facts is not None
            node = self._view.node(bound.file, facts.bind_at(row), facts.bind_at(row) + len(bound.name.encode()))
            item = (
                next((ancestor for ancestor in around(node) if field(ancestor, "type_parameters")), None)
                if node
                else None
            )
            if item is None:
                return None
            nodes = bounds_of(item, bound.name)
            found = self._read_bounds(bound.file, nodes)
            for above in around(item):
                if above.type in ("impl_item", "trait_item"):
                    nodes = bounds_of(above, bound.name)
            if found is None:
                return Ty("param", bound, bound.name)
            return Ty(found.shape, bound if found.shape == "param" else None, bound.name, found.args, found.traits)
        return None

    def parameters(self, path: str, item: Node) -> list[Bound]:
        """Return the type parameters of an item."""
        found = []
        for node in type_parameters(item):
            local = self._names.locals.find(path, node.start_byte, text_of(node), "type")
            found += [local[0]] if local is not None else []
        return found

    def _read_bounds(self, path: str, nodes: Sequence[Node]) -> Ty | None:
        traits: list[Thing] = []
        for node in nodes:
            if node.type == "function_type":
                return Ty("fn", None, "", (self.read_type(path, field(node, "return_type")),))
            if node.type in ("dynamic_type", "abstract_type", "higher_ranked_trait_bound"):
                inner = field(node, "trait") or field(node, "type")
                return self._read_bounds(path, [inner] if inner is not None else [])
            thing, name = self._impls.named_type(path, node)
            if name in _ITERATING and not isinstance(thing, Bound):
                return iterator(self._binding(path, node, "Item"))
            if name == "Deref" and not isinstance(thing, Bound):
                return self._binding(path, node, "Target")
            if thing is not None:
                traits.append(thing)
            elif node.type not in ("lifetime", "removed_trait_bound"):
                return None
        return Ty("param", None, "", traits=tuple(traits))

    def _binding(self, path: str, node: Node, name: str) -> Ty | None:
        listed = field(node, "type_arguments")
        for child in listed.named_children if listed is not None else ():
            bound, written = field(child, "name"), field(child, "type")
            if child.type == "type_binding" and bound is not None and text_of(bound) == name:
                return self.read_type(path, written)
        return None

    def members(self, of: Ty, name: str) -> tuple[Member, ...]:
        """Return the members that a value of a type, or the type itself, has under a name."""
        found: list[Member] = []
        if of.shape == "named" and isinstance(of.of, Bound):
            return self._impls.members(of.of, name)
        for trait in of.traits:
            found += self._impls.members(trait, name) if isinstance(trait, Bound) else ()
        return tuple(found)


def _outermost(node: Node) -> Node:
    while (before := field(node, "path")) is not None and before.type.startswith("scoped"):
        node = before
    return node
