"""The declarations of C and C++ outside of functions and classes, and which of them are one symbol."""

import re
from collections.abc import Iterable, Iterator

import tree_sitter
from msgspec import Struct

from codeplane.code.entity import Bound
from codeplane.code.languages.c.includes import Includes
from codeplane.code.languages.member_resolver import CodeView
from codeplane.code.model import Definition, Facts

LANGUAGES = ("c", "cpp")
TYPES = frozenset({"class", "struct", "union", "enum", "type", "concept"})
_MEMBERS = frozenset({"field", "method"})
_LOCAL = frozenset({"function", "block", "lambda"})
_QUALIFIERS = re.compile(rb"((?:\w+\s*::\s*)+)\Z")
_HOLDING = frozenset({"declaration", "function_definition", "type_definition", "alias_declaration"})


class Declaration(Struct, frozen=True):
    """A declaration of a name in a namespace; `external` means that the linker joins it with others of its name."""

    bound: Bound
    space: str
    kind: str
    defines: bool
    external: bool


class Declarations:
    """Finds declarations by name, and groups those that have to keep one name."""

    def __init__(self, view: CodeView) -> None:
        self._view = view
        self._found: dict[str, tuple[tuple[Declaration, ...], bool]] = {}
        self._groups: dict[str, dict[Bound, tuple[Bound, ...]]] = {}

    def named(self, name: str) -> tuple[Declaration, ...]:
        """Return all declarations of a name."""
        return self._all(name)[0]

    def is_whole(self, name: str) -> bool:
        """Whether no declarations of a name were left out."""
        return self._all(name)[1]

    def visible(self, path: str, name: str) -> list[Declaration]:
        """Return the declarations of a name that a file has or includes."""
        found = self.named(name)
        reached = self._reached(path) if found else frozenset()
        return [one for one in found if one.bound.file in reached]

    def macros_over(self, path: str, bound: Bound) -> tuple[Bound, ...]:
        """Return the macros that a file sees under the name of a declaration that is none of them."""
        macros = [one.bound for one in self.visible(path, bound.name) if one.kind == "macro"]
        return tuple(macros) if macros and bound not in self.group(macros[0]) else ()

    def among_includers(self, path: str, name: str) -> list[Declaration]:
        """Return the declarations of a name that files which include this one have or include."""
        found = self.named(name)
        includes = self.includes(path) if found else None
        if includes is None:
            return []
        files = {one.bound.file for one in found}
        reached = {file for one in includes.includers(path) for file in includes.reached(one)[0] & files}
        return [one for one in found if one.bound.file in reached]

    def includes(self, path: str) -> Includes | None:
        """Return the include graph."""
        modules = self._view.modules(path)
        return modules if isinstance(modules, Includes) else None

    def group(self, bound: Bound) -> tuple[Bound, ...]:
        """Return the declarations that are one symbol with one, itself first."""
        groups = self._groups.get(bound.name)
        if groups is None:
            groups = self._groups[bound.name] = self._grouped(bound.name)
        return tuple(dict.fromkeys((bound, *groups.get(bound, ()))))

    def linked(self, bounds: Iterable[Bound]) -> tuple[Bound, ...]:
        """Return the declarations elsewhere that the linker may join with these: one side has no definition."""
        mine = [one for bound in bounds for one in self.named(bound.name) if one.bound == bound]
        own = {one.bound for one in mine}
        if not any(one.external for one in mine):
            return ()
        defined = any(one.defines and one.external for one in mine)
        found: list[Bound] = []
        for one in self.named(mine[0].bound.name):
            if one.bound in own or not one.external or one.space != mine[0].space:
                continue
            theirs = self.group(one.bound)
            there = any(other.defines for other in self.named(one.bound.name) if other.bound in theirs)
            if not (defined and there):
                found.append(one.bound)
        return tuple(found)

    def _grouped(self, name: str) -> dict[Bound, tuple[Bound, ...]]:
        found = self.named(name)
        groups = {one.bound: {one.bound} for one in found}
        if len(found) > 1:
            files = {one.bound.file for one in found}
            for path in self._view.holding(name):
                seen = self._reached(path) & files
                if not seen:
                    continue
                first: dict[str, Bound] = {}
                for one in found:
                    if one.bound.file in seen:
                        _join(groups, first.setdefault(one.space, one.bound), one.bound)
        return {bound: tuple(group) for bound, group in groups.items()}

    def _reached(self, path: str) -> frozenset[str]:
        includes = self.includes(path)
        return includes.reached(path)[0] if includes is not None else frozenset({path})

    def _all(self, name: str) -> tuple[tuple[Declaration, ...], bool]:
        found = self._found.get(name)
        if found is None:
            listed, whole = self._view.named(name)
            found = self._found[name] = (tuple(self._read(listed)), whole)
        return found

    def _read(self, listed: Iterable[tuple[str, int]]) -> Iterator[Declaration]:
        made: dict[Bound, Declaration] = {}
        for path, index in listed:
            facts = self._view.facts(path)
            if facts is None or facts.language not in LANGUAGES or index >= len(facts.definitions):
                continue
            one = facts.definitions[index]
            space = self.space(path, facts, one)
            if space is None:
                continue
            bound = Bound(path, one.scope, one.name)
            kind = "function" if one.kind == "method" else one.kind
            defines, external = self._linkage(path, one, kind)
            before = made.get(bound)
            made[bound] = Declaration(
                bound=bound,
                space=space,
                kind=kind,
                defines=defines or (before is not None and before.defines),
                external=external and (before is None or before.external),
            )
        yield from made.values()

    def space(self, path: str, facts: Facts, one: Definition) -> str | None:
        """Return the namespace a definition is in, its parts joined by dots; None for a local or a member."""
        if one.kind == "macro":
            return ""
        if one.kind in _MEMBERS:
            return self.receiver_space(path, facts, one) if one.kind == "method" else None
        return self.space_of(facts, one.scope, self._passes_classes(path, facts, one))

    def receiver_space(self, path: str, facts: Facts, one: Definition) -> str | None:
        """Return the namespace before the name of a function that is defined as `a::b::name`; None for a class."""
        around = facts.scopes[one.scope]
        if around.kind != "class" or around.definition >= 0:
            return None
        before = _QUALIFIERS.search(self._view.text(path), max(0, one.name_at - 200), one.name_at)
        parts = [part.decode().strip() for part in before[1].split(b"::")[:-1]] if before is not None else []
        if not parts or parts[-1] == one.name:
            return None
        named = ".".join(parts)
        outer = (self.space_of(facts, around.parent) or "").split(".")
        for count in range(len(outer), -1, -1):
            space = ".".join(filter(None, (*outer[:count], named)))
            if self._is_namespace(space, parts[-1]):
                return space
        return None

    def _is_namespace(self, space: str, last: str) -> bool:
        declared = (one for one in self.named(last) if one.kind == "namespace")
        known = (f"{one.space}.{one.bound.name.replace('::', '.')}".strip(".") for one in declared)
        return any(one == space or one.startswith(f"{space}.") for one in known)

    def space_of(self, facts: Facts, scope: int, passes_classes: bool = False) -> str | None:
        """Return the namespace of a scope; None inside of a function or a class."""
        parts: list[str] = []
        while scope > 0:
            around = facts.scopes[scope]
            if around.kind in _LOCAL or around.kind == "enum" or (around.kind == "class" and not passes_classes):
                return None
            if around.kind == "namespace" and around.definition >= 0:
                parts.append(facts.definitions[around.definition].name.replace("::", "."))
            scope = around.parent
        return ".".join(reversed(parts))

    def _passes_classes(self, path: str, facts: Facts, one: Definition) -> bool:
        """Whether a definition in a class belongs to what is around it: types and constants of C, friends of C++."""
        return facts.language == "c" or is_friend(self._view.text(path), one)

    def _linkage(self, path: str, one: Definition, kind: str) -> tuple[bool, bool]:
        """Return whether a declaration is a definition, and whether other files are linked with it."""
        if kind not in ("function", "prototype", "variable", "constant"):
            return True, False
        node = self._view.node(path, one.name_at, one.name_at + 1)
        around = node
        while around is not None and around.type not in _HOLDING:
            around = around.parent
        words = (
            {_text(child) for child in around.children if child.type == "storage_class_specifier"} if around else set()
        )
        external = "static" not in words and not _is_unnamed(around)
        return one.kind != "prototype" and "extern" not in words, external


def is_friend(text: bytes, one: Definition) -> bool:
    """Whether a declaration in a class only names a friend."""
    return text[max(0, one.start - 16) : one.start].rstrip().endswith(b"friend")


def _is_unnamed(node: tree_sitter.Node | None) -> bool:
    while node is not None:
        if node.type == "namespace_definition" and node.child_by_field_name("name") is None:
            return True
        node = node.parent
    return False


def _join(groups: dict[Bound, set[Bound]], one: Bound, other: Bound) -> None:
    mine, theirs = groups[one], groups[other]
    if mine is not theirs:
        mine |= theirs
        for bound in theirs:
            groups[bound] = mine


def _text(node: tree_sitter.Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
