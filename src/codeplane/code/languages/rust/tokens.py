"""Names in the arguments of macros, in `macro_rules!` and in attributes, which the grammar reads as mere tokens."""

from collections.abc import Callable

from codeplane.code.entity import Entity, Meaning
from codeplane.code.languages.rust.impls import Member, RustImpls
from codeplane.code.languages.rust.names import as_entity
from codeplane.code.languages.rust.std import Ty
from codeplane.code.languages.rust.syntax import Node, text_of
from codeplane.code.languages.rust.types import RustTypes

_NAMES = frozenset({"identifier", "type_identifier", "self", "super", "crate", "metavariable", "primitive_type"})
# What stands before a name that a macro may define, or behind one that it may take as a word.
_DEFINES = frozenset({"fn", "struct", "enum", "mod", "trait", "type", "const", "static", "ref", "union", "let"})
_WORDS = frozenset({":", "=", "=>"})
_UNKNOWN = Meaning(entities=(), certain=False, how="member")


class Tokens:
    """Resolves names among tokens; what a macro makes of them is not known, so that little is certain."""

    def __init__(
        self,
        impls: RustImpls,
        types: RustTypes,
        candidates: Callable[[str, str, Callable[[Member], bool]], Meaning],
    ) -> None:
        self._impls = impls
        self._names = impls.names
        self._types = types
        self._candidates = candidates

    def meaning(self, path: str, node: Node, name: str) -> Meaning:
        """Return what a name among tokens means."""
        before = node.prev_sibling
        if before is not None and before.type == ".":
            return self._member(path, node, name)
        if before is not None and before.type == "::":
            return self._path(path, node, name)
        behind = node.next_sibling
        defines = before is not None and (before.type in _DEFINES or text_of(before) in _DEFINES)
        word = defines or (behind is not None and behind.type in _WORDS)
        if behind is not None and behind.type == "!":
            space = "macro"
        else:
            space = "type" if behind is not None and behind.type == "::" else ""
        found = self._names.first(path, node.start_byte, name, space)
        entities = tuple(dict.fromkeys(as_entity(thing) for thing in found.things))
        if not entities or word:
            # A macro may take the word as the name of a member.
            members = tuple(member.bound for member in self._impls.find_members(name)[0])
            return Meaning(entities=tuple(dict.fromkeys((*entities, *members))), certain=False, how="member")
        return Meaning(entities=entities, certain=len(entities) == 1, how="name", own=found.own)

    def _path(self, path: str, node: Node, name: str) -> Meaning:
        parts = [name]
        token: Node | None = node
        while token is not None and token.prev_sibling is not None and token.prev_sibling.type == "::":
            token = token.prev_sibling.prev_sibling
            if token is None or token.type not in _NAMES:
                return _UNKNOWN
            parts.insert(0, text_of(token))
        start = token.start_byte if token is not None else node.start_byte
        if parts[0] == "Self" or (parts[0].startswith("$") and parts[0] != "$crate"):
            of = self._types.self_type(path, node) if parts[0] == "Self" and len(parts) == 2 else None
            found: tuple[Entity, ...] = ()
            if of is not None:
                found = tuple(member.bound for member in self._types.members(of, name))
        else:
            things = self._names.path(path, start, parts, "").things
            found = tuple(dict.fromkeys(as_entity(thing) for thing in things))
        if found:
            return Meaning(entities=found, certain=len(found) == 1, how="member")
        return _UNKNOWN

    def _member(self, path: str, node: Node, name: str) -> Meaning:
        behind = node.next_sibling
        called = behind is not None and behind.type == "token_tree" and text_of(behind).startswith("(")

        def fits(member: Member) -> bool:
            return member.takes_self if called else member.kind == "field"

        of = self._receiver(path, node)
        if of is not None and of.shape == "named":
            if called:
                found, _ = self._types.method(of, name)
            else:
                found = self._types.field_of(of, name)
            if found is not None:
                return Meaning(entities=(found.bound,), certain=False, how="member")
        return self._candidates(path, name, fits)

    def _receiver(self, path: str, node: Node) -> Ty | None:
        """Return the type of a chain of fields before a name."""
        chain: list[Node] = []
        token: Node | None = node
        while token is not None and token.prev_sibling is not None and token.prev_sibling.type == ".":
            token = token.prev_sibling.prev_sibling
            if token is None or token.type not in ("identifier", "self"):
                return None
            chain.insert(0, token)
        if not chain:
            return None
        of = self._types.of(path, chain[0])
        for step in chain[1:]:
            of = self._types.field_type(of, text_of(step))
        return of
