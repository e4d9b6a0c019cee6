"""The declarations of C and C++ outside of functions and classes, and which of them are one symbol."""

import re
from collections.abc import Iterable, Iterator, Sequence

import tree_sitter
from msgspec import Struct

from codeplane.code.entity import Bound
from codeplane.code.languages.c.includes import Includes
from codeplane.code.languages.c.macro_namespaces import MacroNamespaces
from codeplane.code.languages.member_resolver import CodeView
from codeplane.code.model import Definition, Facts

LANGUAGES = ("c", "cpp")
TYPES = frozenset({"class", "struct", "union", "enum", "type", "concept"})
_MEMBERS = frozenset({"field", "method"})
_LOCAL = frozenset({"function", "block", "lambda"})
_QUALIFIERS = re.compile(rb"((?:\w+\s*::\s*)+)\Z")
_HOLDING = frozenset({"declaration", "function_definition", "type_definition", "alias_declaration"})

_ALIAS = re.compile(rb"\bnamespace\s+(\w+)\s*=\s*(?:::\s*)?([A-Za-z_][\w:]*)\s*;", re.ASCII)


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
        self._macro_namespaces = MacroNamespaces(view)
        self._found: dict[str, tuple[tuple[Declaration, ...], bool]] = {}
        self._groups: dict[str, dict[Bound, tuple[Bound, ...]]] = {}
        self._aliases: dict[str, dict[str, str]] = {}
        self._inline: dict[str, bool] = {}

    def find_all(self, name: str) -> tuple[Declaration, ...]:
        """Return all declarations of a name."""
        return self._all(name)[0]

    def is_whole(self, name: str) -> bool:
        """Whether no declarations of a name were left out."""
        return self._all(name)[1]

    def find_visible(self, path: str, name: str) -> list[Declaration]:
        """Return the declarations of a name that a file has or includes."""
        found = self.find_all(name)
        reached = self._reachable_files(path) if found else frozenset()
        return [declaration for declaration in found if declaration.bound.file in reached]

    def macros_over(self, path: str, bound: Bound) -> tuple[Bound, ...]:
        """Return the macros that a file sees under the name of a declaration that is none of them."""
        macros = [
            declaration.bound for declaration in self.find_visible(path, bound.name) if declaration.kind == "macro"
        ]
        return tuple(macros) if macros and bound not in self.group(macros[0]) else ()

    def among_includers(self, path: str, name: str) -> list[Declaration]:
        """Return the declarations of a name that files which include this one have or include."""
        found = self.find_all(name)
        includes = self.includes(path) if found else None
        if includes is None:
            return []
        files = {declaration.bound.file for declaration in found}
        reached = {
            file for includer in includes.includers(path) for file in includes.reachable_files(includer)[0] & files
        }
        return [declaration for declaration in found if declaration.bound.file in reached]

    def includes(self, path: str) -> Includes | None:
        """Return the include graph."""
        modules = self._view.modules(path)
        return modules if isinstance(modules, Includes) else None

    def group(self, bound: Bound) -> tuple[Bound, ...]:
        """Return the declarations that are one symbol with one, itself first."""
        groups = self._groups.get(bound.name)
        if groups is None:
            groups = self._groups[bound.name] = self._group_by_includer(bound.name)
        return tuple(dict.fromkeys((bound, *groups.get(bound, ()))))

    def linker_twins(self, bounds: Iterable[Bound]) -> tuple[Bound, ...]:
        """Return the declarations elsewhere that the linker may join with these: one side has no definition."""
        mine = [
            declaration for bound in bounds for declaration in self.find_all(bound.name) if declaration.bound == bound
        ]
        own = {declaration.bound for declaration in mine}
        if not any(declaration.external for declaration in mine):
            return ()
        defined = any(declaration.defines and declaration.external for declaration in mine)
        found: list[Bound] = []
        for declaration in self.find_all(mine[0].bound.name):
            if declaration.bound in own or not declaration.external or declaration.space != mine[0].space:
                continue
            theirs = self.group(declaration.bound)
            there = any(other.defines for other in self.find_all(declaration.bound.name) if other.bound in theirs)
            if not (defined and there):
                found.append(declaration.bound)
        return tuple(found)

    def is_stray(self, bound: Bound) -> bool:
        """Whether a type is specialized where no template of its namespace is seen, so that another's may be meant."""
        group = self.group(bound)
        return bool(self._definitions_of(group)) and all(
            is_specialization(self._view.text(path), definition) for path, definition in self._definitions_of(group)
        )

    def strays(self, group: Sequence[Bound]) -> tuple[Bound, ...]:
        """Return the types of which these may be specializations, or the other way round, whatever their namespaces."""
        named = dict.fromkeys(declaration.bound for declaration in self.find_all(group[0].name))
        is_stray = self.is_stray(group[0])
        return tuple(bound for bound in named if bound not in group and (is_stray or self.is_stray(bound)))

    def _definitions_of(self, group: Sequence[Bound]) -> list[tuple[str, Definition]]:
        found = ((bound.file, definition) for bound in group for _, definition in self._view.definitions(bound))
        return [(path, definition) for path, definition in found if definition.kind in TYPES]

    def _group_by_includer(self, name: str) -> dict[Bound, tuple[Bound, ...]]:
        found = self.find_all(name)
        groups = {declaration.bound: {declaration.bound} for declaration in found}
        if len(found) > 1:
            files = {declaration.bound.file for declaration in found}
            for path in self._view.files_with(name):
                seen = self._reachable_files(path) & files
                if not seen:
                    continue
                first: dict[str, Bound] = {}
                for declaration in found:
                    if declaration.bound.file in seen:
                        _join(groups, first.setdefault(declaration.space, declaration.bound), declaration.bound)
        return {bound: tuple(group) for bound, group in groups.items()}

    def _reachable_files(self, path: str) -> frozenset[str]:
        includes = self.includes(path)
        return includes.reachable_files(path)[0] if includes is not None else frozenset({path})

    def _all(self, name: str) -> tuple[tuple[Declaration, ...], bool]:
        found = self._found.get(name)
        if found is None:
            listed, whole = self._view.find_definitions(name)
            found = self._found[name] = (tuple(self._read(listed)), whole)
        return found

    def _read(self, listed: Iterable[tuple[str, int]]) -> Iterator[Declaration]:
        # Namespaces that macros open have one scope in the facts, so that a binding may be in two of them.
        made: dict[tuple[Bound, str], Declaration] = {}
        for path, index in listed:
            facts = self._view.facts(path)
            if facts is None or facts.language not in LANGUAGES or index >= len(facts.definitions):
                continue
            definition = facts.definitions[index]
            space = self.space(path, facts, definition)
            if space is None:
                continue
            bound = Bound(path, definition.scope, definition.name)
            kind = "function" if definition.kind == "method" else definition.kind
            defines, external = self._linkage(path, definition, kind)
            before = made.get((bound, space))
            made[bound, space] = Declaration(
                bound=bound,
                space=space,
                kind=kind,
                defines=defines or (before is not None and before.defines),
                external=external and (before is None or before.external),
            )
        yield from made.values()

    def space(self, path: str, facts: Facts, definition: Definition) -> str | None:
        """Return the namespace a definition is in, its parts joined by dots; None for a local or a member."""
        if definition.kind == "macro":
            return ""
        if definition.kind in _MEMBERS:
            return self.receiver_space(path, facts, definition) if definition.kind == "method" else None
        passes = self._passes_classes(path, facts, definition)
        return self.space_of(path, facts, definition.scope, definition.name_at, passes_classes=passes)

    def receiver_space(self, path: str, facts: Facts, definition: Definition) -> str | None:
        """Return the namespace before the name of a function that is defined as `a::b::name`; None for a class."""
        around = facts.scopes[definition.scope]
        if around.kind != "class" or around.definition >= 0:
            return None
        before = _QUALIFIERS.search(self._view.text(path), max(0, definition.name_at - 200), definition.name_at)
        parts = [part.decode().strip() for part in before[1].split(b"::")[:-1]] if before is not None else []
        if not parts or parts[-1] == definition.name:
            return None
        named = ".".join(parts)
        outer = (self.space_of(path, facts, around.parent, definition.name_at) or "").split(".")
        for count in range(len(outer), -1, -1):
            space = ".".join(filter(None, (*outer[:count], named)))
            if self._is_namespace(space, parts[-1]):
                return space
        return None

    def macro_namespaces(self, name: str) -> frozenset[str]:
        """Return the namespaces of this name that macros open."""
        return self._macro_namespaces.paths_to(name)

    def namespace_alias(self, path: str, name: str) -> str | None:
        """Return the namespace that a file gives another name, its parts joined by dots."""
        held = self._aliases.get(path)
        if held is None:
            found = _ALIAS.finditer(self._view.text(path))
            held = self._aliases[path] = {match[1].decode(): match[2].decode().replace("::", ".") for match in found}
        return held.get(name)

    def is_inline_namespace(self, name: str) -> bool:
        """Whether all namespaces of a name are inline."""
        held = self._inline.get(name)
        if held is None:
            declared = [declaration.bound for declaration in self.find_all(name) if declaration.kind == "namespace"]
            held = self._inline[name] = bool(declared) and all(
                self._view.text(bound.file).startswith(b"inline", definition.start)
                for bound in declared
                for _, definition in self._view.definitions(bound)
                if definition.kind == "namespace"
            )
        return held

    def _is_namespace(self, space: str, last: str) -> bool:
        if self.macro_namespaces(last):
            return True
        declared = (declaration for declaration in self.find_all(last) if declaration.kind == "namespace")
        known = (
            f"{declaration.space}.{declaration.bound.name.replace('::', '.')}".strip(".") for declaration in declared
        )
        return any(known_space == space or known_space.startswith(f"{space}.") for known_space in known)

    def space_of(
        self, path: str, facts: Facts, scope: int, at: int = -1, *, passes_classes: bool = False
    ) -> str | None:
        """Return the namespace of a scope, or of a place in it; None inside of a function or a class."""
        parts: list[str] = []
        opened = self._macro_namespaces.at(path, at if at >= 0 else facts.scopes[scope].start)
        while scope > 0:
            around = facts.scopes[scope]
            if around.kind in _LOCAL or around.kind == "enum" or (around.kind == "class" and not passes_classes):
                return None
            if around.kind == "namespace" and around.definition >= 0:
                namespace = facts.definitions[around.definition]
                # What an inline namespace has, the one around it has.
                if not self._view.text(path).startswith(b"inline", namespace.start):
                    parts.append(namespace.name.replace("::", "."))
            scope = around.parent
        return ".".join(filter(None, (opened, *reversed(parts))))

    def _passes_classes(self, path: str, facts: Facts, definition: Definition) -> bool:
        """Whether a definition in a class belongs to what is around it: types and constants of C, friends of C++."""
        return facts.language == "c" or is_friend(self._view.text(path), definition)

    def _linkage(self, path: str, definition: Definition, kind: str) -> tuple[bool, bool]:
        """Return whether a declaration is a definition, and whether other files are linked with it."""
        if kind not in ("function", "prototype", "variable", "constant"):
            return True, False
        node = self._view.node(path, definition.name_at, definition.name_at + 1)
        around = node
        while around is not None and around.type not in _HOLDING:
            around = around.parent
        words = (
            {_text(child) for child in around.children if child.type == "storage_class_specifier"} if around else set()
        )
        external = "static" not in words and not _is_unnamed(around)
        return definition.kind != "prototype" and "extern" not in words, external


def is_friend(text: bytes, definition: Definition) -> bool:
    """Whether a declaration in a class only names a friend."""
    return text[max(0, definition.start - 16) : definition.start].rstrip().endswith(b"friend")


def is_specialization(text: bytes, definition: Definition) -> bool:
    """Whether a type is defined for some arguments of its template."""
    end = definition.name_at + len(definition.name.encode())
    return text[end : end + 40].lstrip()[:1] == b"<"


def _is_unnamed(node: tree_sitter.Node | None) -> bool:
    while node is not None:
        if node.type == "namespace_definition" and node.child_by_field_name("name") is None:
            return True
        node = node.parent
    return False


def _join(groups: dict[Bound, set[Bound]], first: Bound, other: Bound) -> None:
    mine, theirs = groups[first], groups[other]
    if mine is not theirs:
        mine |= theirs
        for bound in theirs:
            groups[bound] = mine


def _text(node: tree_sitter.Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
