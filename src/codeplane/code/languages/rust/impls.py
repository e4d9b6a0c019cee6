"""The members of Rust's types and traits: fields, variants, and what `impl` blocks in any file give them."""

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from codeplane.code.entity import Bound, Outside
from codeplane.code.languages.member_resolver import CodeView
from codeplane.code.languages.rust.names import RustNames, Thing
from codeplane.code.languages.rust.syntax import (
    FUNCTIONS,
    Node,
    field,
    is_private,
    owner_node,
    parameters,
    root_of,
    text_of,
    type_parameters,
    written_path,
)
from codeplane.code.model import Definition

_TYPES = frozenset({"struct", "enum", "union", "trait"})
_MAX_SUPER = 20
_TOKENS = frozenset({"token_tree", "token_repetition"})
LIST = "[]"
"""How slices and arrays are named among types from outside."""


class Owner(Struct, frozen=True):
    """What a member belongs to: a type or trait of its own body, or the type and the trait of an `impl` block."""

    node: Node
    of: Thing | None
    name: str
    """The last name of the type, to compare types from outside by."""
    trait: Thing | None = None
    trait_name: str = ""
    blanket: bool = False
    """Whether the block is for all types that have a trait."""

    @property
    def is_trait(self) -> bool:
        """Whether it is the body of a trait."""
        return self.node.type == "trait_item"


class Member(Struct, frozen=True):
    """A member, its definition's node, and what it belongs to."""

    bound: Bound
    node: Node
    owner: Owner
    kind: str

    @property
    def takes_self(self) -> bool:
        """Whether it can be called behind a dot."""
        return self.node.type in FUNCTIONS and parameters(self.node)[0]


class RustImpls:
    """Finds members by type and name."""

    def __init__(self, view: CodeView) -> None:
        self._view = view
        self.names = RustNames(view, self.associated_items)
        self._named: dict[str, tuple[Sequence[Member], bool]] = {}
        self._owners: dict[tuple[str, int], Owner] = {}
        self._blocks: dict[str, list[Owner]] = {}
        self._implementing: dict[Bound, list[Owner]] = {}
        self._unseen: dict[Bound, bool] = {}
        self._members: dict[tuple[Bound, str], tuple[Member, ...]] = {}

    def find_members(self, name: str) -> tuple[Sequence[Member], bool]:
        """Return all members of a name in the repository, and whether these are all."""
        held = self._named.get(name)
        if held is None:
            listed, whole = self._view.find_definitions(name)
            found = []
            for path, position in listed:
                facts = self._view.facts(path) if path.endswith(".rs") else None
                if facts is not None and position < len(facts.definitions):
                    member = self.member_of(path, facts.definitions[position])
                    found += [member] if member is not None else []
            held = self._named[name] = (found, whole)
        return held

    def member_of(self, path: str, definition: Definition) -> Member | None:
        """Return a definition as a member; None if it is none."""
        node = self._view.node(path, definition.name_at, definition.name_at + len(definition.name.encode()))
        owner = owner_node(node) if node is not None else None
        item = node.parent if node is not None else None
        if owner is None or item is None:
            return None
        return Member(Bound(path, definition.scope, definition.name), item, self.owner(path, owner), definition.kind)

    def owner(self, path: str, node: Node) -> Owner:
        """Return what the members of a node belong to."""
        key = (path, node.start_byte)
        held = self._owners.get(key)
        if held is None:
            held = self._owners[key] = self._owner(path, node)
        return held

    def _owner(self, path: str, node: Node) -> Owner:
        if node.type != "impl_item":
            name = field(node, "name")
            bound = self.names.bound_at(path, name.start_byte, text_of(name)) if name is not None else None
            return Owner(node, bound, text_of(name) if name is not None else "")
        written, trait = field(node, "type"), field(node, "trait")
        of, name_of = self.named_type(path, written)
        promised, promised_name = self.named_type(path, trait)
        blanket = name_of in {text_of(parameter) for parameter in type_parameters(node)}
        return Owner(node, None if blanket else of, name_of, promised, promised_name, blanket)

    def named_type(self, path: str, node: Node | None) -> tuple[Thing | None, str]:
        """Return what a written type names behind references and arguments, and its last name."""
        while node is not None and node.type in ("reference_type", "generic_type", "dynamic_type", "abstract_type"):
            node = field(node, "type") or field(node, "trait")
        if node is None:
            return None, ""
        if node.type == "primitive_type":
            return Outside(text_of(node)), text_of(node)
        if node.type in ("slice_type", "array_type"):
            return Outside(LIST), LIST
        parts = written_path(node)
        if not parts:
            return None, ""
        names = [text_of(part) for part in parts]
        found = self.names.path(path, node.start_byte, names, "type").things
        thing = self.behind_alias(found[0]) if len(found) == 1 else None
        return thing, names[-1]

    def behind_alias(self, thing: Thing) -> Thing | None:
        """Return the type that an alias stands for; of anything else itself."""
        for _ in range(_MAX_SUPER):
            if not isinstance(thing, Bound):
                return thing
            item = self.item(thing)
            if item is None or item.type != "type_item":
                return thing
            found, _ = self.named_type(thing.file, field(item, "type"))
            if found is None:
                return None
            thing = found
        return None

    def item(self, bound: Bound) -> Node | None:
        """Return the node of the first definition of a binding."""
        for _, definition in self._view.definitions(bound):
            node = self._view.node(bound.file, definition.name_at, definition.name_at + len(definition.name.encode()))
            return node.parent if node is not None else None
        return None

    def kinds(self, bound: Bound) -> set[str]:
        """Return the kinds of the definitions of a binding."""
        return {definition.kind for _, definition in self._view.definitions(bound)}

    def associated_items(self, of: Bound, name: str) -> tuple[Thing, ...]:
        """Return what `Type::name` means: a variant, or what an `impl` block or trait gives."""
        thing = self.behind_alias(of)
        if isinstance(thing, Outside):
            return (thing,)
        if not isinstance(thing, Bound):
            return ()
        return tuple(dict.fromkeys(member.bound for member in self.members(thing, name) if member.kind != "field"))

    def members(self, of: Bound, name: str) -> tuple[Member, ...]:
        """Return the members that a type has under a name, its own before those of traits."""
        key = (of, name)
        held = self._members.get(key)
        if held is None:
            self._members[key] = ()
            held = self._members[key] = tuple(self._search(of, name))
        return held

    def _search(self, of: Bound, name: str) -> list[Member]:
        found = [member for member in self.find_members(name)[0] if member.owner.of == of]
        own = [member for member in found if member.owner.trait is None and not member.owner.trait_name]
        if own:
            return own
        if found:
            return found
        declared = [member for member in self.find_members(name)[0] if member.owner.is_trait]
        if "trait" in self.kinds(of):
            above = set(self.supertraits(of))
            return [member for member in declared if member.owner.of in above]
        return [member for member in declared if isinstance(member.owner.of, Bound) and self._has(of, member.owner.of)]

    def _has(self, of: Bound, trait: Bound) -> bool:
        return any(owner.of == of or owner.blanket for owner in self.impls_of(trait))

    def supertraits(self, trait: Bound) -> list[Bound]:
        """Return the traits that a trait builds on, directly or not."""
        found: list[Bound] = []
        waiting = [trait]
        while waiting and len(found) < _MAX_SUPER:
            current = waiting.pop()
            item = self.item(current)
            bounds = field(item, "bounds") if item is not None else None
            for node in bounds.named_children if bounds is not None else ():
                thing, _ = self.named_type(current.file, node)
                if isinstance(thing, Bound) and thing not in (trait, *found):
                    found.append(thing)
                    waiting.append(thing)
        return found

    def impls_of(self, trait: Bound) -> list[Owner]:
        """Return the `impl` blocks of a trait."""
        held = self._implementing.get(trait)
        if held is None:
            held = self._implementing[trait] = []
            for path in self._view.files_with(trait.name):
                if path.endswith(".rs"):
                    held += [block for block in self.blocks(path) if block.trait == trait]
        return held

    def is_implemented_unseen(self, trait: Bound) -> bool:
        """Whether the tokens of a macro, or a derive, may implement a trait for types that are not known."""
        held = self._unseen.get(trait)
        if held is None:
            held = self._unseen[trait] = any(
                path.endswith(".rs") and self._writes_impl(path, trait.name)
                for path in self._view.files_with(trait.name)
            )
        return held

    def _writes_impl(self, path: str, name: str) -> bool:
        """Whether a file says `impl … Name for` among the tokens of a macro, or derives it."""
        word = re.escape(name.encode())
        pattern = rb"(?<![\w$])(%s)(?:\s*<[^;{}]*>)?\s+for\b|\bderive\([^)]*(?<![\w:])(%s)\b" % (word, word)
        for match in re.finditer(pattern, self._view.text(path)):
            at = match.start(1) if match[1] is not None else match.start(2)
            node = self._view.node(path, at, at + len(name.encode()))
            if node is not None and node.parent is not None and node.parent.type in _TOKENS:
                return True
        return False

    def blocks(self, path: str) -> list[Owner]:
        """Return all `impl` blocks of a file."""
        held = self._blocks.get(path)
        if held is None:
            node = self._view.node(path, 0, 0)
            nodes = list(_impl_items(root_of(node))) if node is not None else []
            held = self._blocks[path] = [self.owner(path, block) for block in nodes]
        return held

    def outside_members(self, type_name: str, name: str) -> list[Member]:
        """Return the members that traits of the repository give to a type from outside."""
        return [
            member
            for member in self.find_members(name)[0]
            if member.owner.blanket or (not isinstance(member.owner.of, Bound) and member.owner.name == type_name)
        ]

    def traits_declaring(self, name: str) -> list[Member]:
        """Return the members of that name in the bodies of traits."""
        return [member for member in self.find_members(name)[0] if member.owner.is_trait]

    def is_reachable(self, member: Member, path: str) -> bool:
        """Whether a file may reach a member: what is private is seen in its own module and below."""
        inside = member.owner.trait is not None or member.owner.trait_name or member.owner.is_trait
        if inside or member.kind == "enum_member" or not is_private(member.node) or path == member.bound.file:
            return True
        modules = self._view.modules(path)
        reach = getattr(modules, "reach", None)
        return reach is None or path.startswith(reach(member.bound.file))


def _impl_items(node: Node) -> Iterator[Node]:
    for child in node.named_children:
        if child.type == "impl_item":
            yield child
        if child.type in ("mod_item", "function_item", "impl_item"):
            body = field(child, "body")
            if body is not None:
                yield from _impl_items(body)


def unique(members: Iterable[Member]) -> list[Member]:
    """Return members, each once."""
    return list({member.bound: member for member in members}.values())
