"""Java's types by their names: packages, imports, nested types, and what they extend."""

import re
from functools import partial

import tree_sitter

from codeplane.code.entity import Bound, Entity, Outside
from codeplane.code.languages.declared_type import Type, is_foreign, substitute
from codeplane.code.languages.depth_limit import DepthLimit
from codeplane.code.languages.jvm.java_library import METHODS, OBJECT_METHODS
from codeplane.code.languages.member_resolver import CodeView
from codeplane.code.model import REASONS, Definition, Facts, Import

Node = tree_sitter.Node
TYPES = frozenset({"annotation", "class", "enum", "interface", "object", "record"})
FIELDS = frozenset({"enum_member", "field"})
CLASS_NODES = frozenset(
    {"annotation_type_declaration", "class_declaration", "enum_declaration", "interface_declaration",
     "record_declaration"}
)  # fmt: skip
_PARAM, _IMPORT = REASONS.index("PARAM"), REASONS.index("IMPORT_ALIAS")
_PACKAGE = re.compile(rb"^[ \t]*package[ \t]+([\w\x80-\xff.]+)", re.MULTILINE)
_MAX_ANCESTORS = 200
_MAX_DEPTH = 60


class JavaClasses:
    """Finds types and what they build on."""

    kinds = TYPES
    """The kinds of definitions that the name of a type may mean."""

    def __init__(self, view: CodeView) -> None:
        self._view = view
        self._packages: dict[str, str] = {}
        self._tops: dict[str, list[tuple[str, Bound]]] = {}
        self._supers: dict[Bound, tuple[Type | None, ...]] = {}
        self._depth = DepthLimit(_MAX_DEPTH)

    def package(self, path: str) -> str:
        """Return the package that a file says it is in."""
        if path not in self._packages:
            named = _PACKAGE.search(self._view.text(path))
            self._packages[path] = named[1].decode("utf-8", "replace") if named is not None else ""
        return self._packages[path]

    def top_level(self, package: str, name: str) -> tuple[Bound, ...]:
        """Return the types of a package under a name, in whatever folders its files are."""
        if name not in self._tops:
            found = []
            for path, position in self._view.find_definitions(name)[0]:
                facts = self._view.facts(path)
                if facts is None or position >= len(facts.definitions) or not path.endswith((".java", ".kt")):
                    continue
                definition = facts.definitions[position]
                if definition.scope == 0 and definition.kind in self.kinds:
                    found.append((self.package(path), Bound(path, 0, name)))
            self._tops[name] = found
        return tuple(bound for where, bound in self._tops[name] if where == package)

    def resolve_full_name(self, name: str) -> tuple[Bound, ...]:
        """Return the types that a dotted name means."""
        before, _, last = name.rpartition(".")
        found = self.top_level(before, last)
        if found or not before:
            return found
        return tuple(
            nested for outer in self.resolve_full_name(before) if (nested := self.nested_type(outer, last)) is not None
        )

    def nested_type(self, of: Bound, name: str) -> Bound | None:
        """Return the type of a name inside a type or what it builds on."""
        for ancestor in self.ancestors(Type(of)):
            if isinstance(ancestor.of, Bound) and any(
                definition.kind in TYPES for definition in self.declarations(ancestor.of, name)
            ):
                return Bound(ancestor.of.file, self.body(ancestor.of), name)
        return None

    def resolve_import(self, import_: Import) -> tuple[Entity, ...]:
        """Return what an import of one name brings."""
        whole = f"{import_.source}.{import_.imported}"
        if "static" not in import_.kind:
            return self.resolve_full_name(whole) or (Outside(whole),)
        owners = self.resolve_full_name(import_.source)
        if not owners:
            return (Outside(whole),) if not is_file_class(import_.source) else ()
        found: list[Bound] = []
        for owner in owners:
            for above in self.ancestors(Type(owner)):
                if isinstance(above.of, Bound) and self.declarations(above.of, import_.imported):
                    found.append(Bound(above.of.file, self.body(above.of), import_.imported))
                    break
        return tuple(dict.fromkeys(found))

    def resolve_type(self, path: str, offset: int, name: str) -> tuple[Entity, ...]:
        """Return what the name of a type means at a place: one entity where it is certain."""
        facts = self._view.facts(path)
        if facts is None:
            return ()
        scope = facts.scope_at(offset)
        while scope > 0:
            found = self._resolve_type_in(path, facts, scope, offset, name)
            if found is not None:
                return (found,)
            scope = facts.scopes[scope].parent
        rows = facts.rows(0, name)
        brought = [facts.imports[facts.bind_target(row)] for row in rows if facts.bind_reason(row) == _IMPORT]
        for import_ in brought:
            if "static" not in import_.kind:
                return self.resolve_import(import_)
        if any(facts.definitions[index].kind in TYPES for index in facts.definitions_in(0, name)):
            return (Bound(path, 0, name),)
        for import_ in brought:
            types = [
                entity for entity in self.resolve_import(import_) if isinstance(entity, Bound) and self.is_class(entity)
            ]
            if types:
                return tuple(types)
        beside = self.top_level(self.package(path), name)
        return beside or self._by_star(facts, name) or (Outside(name),)

    def _resolve_type_in(self, path: str, facts: Facts, scope: int, offset: int, name: str) -> Bound | None:
        rows = facts.rows(scope, name)
        here = Bound(path, scope, name)
        if facts.scopes[scope].kind == "class":
            if any(self.is_variable_of_type(path, facts.bind_at(row), name) for row in rows if _is_param(facts, row)):
                return here
            of = self.of_scope(path, facts, scope)
            index = facts.scopes[scope].definition
            # What a class builds on is named outside of its body.
            if index >= 0 and offset < facts.definitions[index].body and facts.definitions[index].kind in TYPES:
                return None
            return self.nested_type(of, name)
        if any(facts.definitions[index].kind in TYPES for index in facts.definitions_in(scope, name)):
            return here
        params = (row for row in rows if _is_param(facts, row))
        return here if any(self.is_variable_of_type(path, facts.bind_at(row), name) for row in params) else None

    def _by_star(self, facts: Facts, name: str) -> tuple[Entity, ...]:
        found: list[Entity] = []
        for import_ in facts.imports:
            if import_.imported == "*":
                found += self.top_level(import_.source, name) if "static" not in import_.kind else ()
                found += (
                    nested
                    for of in self.resolve_full_name(import_.source)
                    if (nested := self.nested_type(of, name)) is not None
                )
        return tuple(dict.fromkeys(found))

    def is_variable_of_type(self, path: str, at: int, name: str) -> bool:
        """Whether the binding at a place is a type parameter."""
        node = self._view.node(path, at, at + len(name.encode()))
        return node is not None and node.parent is not None and node.parent.type == "type_parameter"

    def is_class(self, bound: Bound) -> bool:
        """Whether a binding is a class, with or without a name."""
        return not bound.name or any(definition.kind in TYPES for _, definition in self._view.definitions(bound))

    def of_scope(self, path: str, facts: Facts, scope: int) -> Bound:
        """Return the class whose body a scope is."""
        index = facts.scopes[scope].definition
        definition = facts.definitions[index] if index >= 0 else None
        return (
            Bound(path, definition.scope, definition.name)
            if definition is not None and definition.kind in TYPES
            else Bound(path, scope, "")
        )

    def enclosing_classes(self, path: str, offset: int) -> list[Bound]:
        """Return the classes around a place, the innermost first; those whose head it is in are left out."""
        facts = self._view.facts(path)
        found = []
        scope = facts.scope_at(offset) if facts is not None else 0
        while facts is not None and scope > 0:
            if facts.scopes[scope].kind == "class":
                index = facts.scopes[scope].definition
                definition = facts.definitions[index] if index >= 0 else None
                if definition is None or definition.kind not in TYPES or offset >= definition.body:
                    found.append(self.of_scope(path, facts, scope))
            scope = facts.scopes[scope].parent
        return found

    def body(self, of: Bound) -> int:
        """Return the scope of a class's body, or -1."""
        if not of.name:
            return of.scope
        facts = self._view.facts(of.file)
        for index, definition in self._view.definitions(of) if facts is not None else ():
            if definition.kind in TYPES and facts is not None:
                return facts.body_of.get(index, -1)
        return -1

    def declarations(self, of: Bound, name: str) -> list[Definition]:
        """Return what a class itself declares under a name."""
        facts, body = self._view.facts(of.file), self.body(of)
        return (
            [facts.definitions[index] for index in facts.definitions_in(body, name)]
            if facts is not None and body >= 0
            else []
        )

    def node(self, of: Bound) -> Node | None:
        """Return the syntax node that makes a class."""
        facts = self._view.facts(of.file)
        if facts is None:
            return None
        if not of.name:
            start = facts.scopes[of.scope].start
            inner = self._view.node(of.file, start, start + 1)
            while inner is not None and inner.type not in ("object_creation_expression", "enum_constant"):
                inner = inner.parent
            return inner
        for _, definition in self._view.definitions(of):
            if definition.kind in TYPES:
                name = self._view.node(of.file, definition.name_at, definition.name_at + len(of.name.encode()))
                return name.parent if name is not None else None
        return None

    def parameters(self, of: Bound) -> list[Bound]:
        """Return the type variables of a class."""
        node, body = self.node(of), self.body(of)
        listed = node.child_by_field_name("type_parameters") if node is not None and of.name else None
        return [Bound(of.file, body, name) for name in _type_parameters(listed)]

    def supers(self, of: Bound) -> tuple[Type | None, ...]:
        """Return what a class extends and implements as it is written; None for what is not known."""
        if of not in self._supers:
            self._supers[of] = ()
            self._supers[of] = tuple(self._read_supers(of))
        return self._supers[of]

    def _read_supers(self, of: Bound) -> list[Type | None]:
        node, facts = self.node(of), self._view.facts(of.file)
        if node is None or facts is None:
            return [None]
        if node.type == "enum_constant":
            outer = facts.scopes[of.scope].parent
            return [Type(self.of_scope(of.file, facts, outer))]
        if node.type == "object_creation_expression":
            made = self.read(of.file, node.child_by_field_name("type"))
            return [made]
        written = []
        for child in node.children:
            if child.type in ("superclass", "super_interfaces", "extends_interfaces"):
                for part in child.named_children:
                    written += part.named_children if part.type == "type_list" else [part]
        found: list[Type | None] = [self.read(of.file, base) for base in written]
        implied = {"enum_declaration": "Enum", "record_declaration": "Record"}.get(node.type, "Object")
        return [*found, Type(Outside(implied))]

    def supers_of(self, of: Type) -> list[Type | None]:
        """Return what a type builds on, with its arguments put in."""
        if not isinstance(of.of, Bound) or of.dims:
            return []
        if not self.is_class(of.of):
            return list(self.bounds(of.of))
        given = dict(zip(self.parameters(of.of), of.args, strict=False)) if of.args else {}
        return [substitute(base, given) if base is not None else None for base in self.supers(of.of)]

    def bounds(self, variable: Bound) -> tuple[Type | None, ...]:
        """Return the types that a type variable extends."""
        facts = self._view.facts(variable.file)
        rows = facts.rows(variable.scope, variable.name) if facts is not None else ()
        at = facts.bind_at(rows[0]) if facts is not None and rows else -1
        node = self._view.node(variable.file, at, at + len(variable.name.encode())) if at >= 0 else None
        parent = node.parent if node is not None else None
        bound = next((child for child in parent.named_children if child.type == "type_bound"), None) if parent else None
        if bound is None:
            return (Type(Outside("Object")),)
        return tuple(self.read(variable.file, child) for child in bound.named_children)

    def ancestors(self, of: Type) -> list[Type]:
        """Return a type and all that it builds on, the nearest first; what is not known is left out."""
        found: list[Type] = []
        seen, waiting = set[Entity](), [of]
        while waiting and len(found) < _MAX_ANCESTORS:
            ancestor = waiting.pop(0)
            if ancestor.of in seen:
                continue
            seen.add(ancestor.of)
            found.append(ancestor)
            waiting += (above for above in self.supers_of(ancestor) if above is not None)
        return found

    def holds_own_types(self, of: Type) -> bool:
        """Whether members from outside may give what is of the repository, as their type is made of it."""
        return any(isinstance(above.of, Outside) and not is_foreign(above) for above in self.ancestors(of))

    def is_whole(self, of: Type) -> bool:
        """Whether everything that a type builds on is known by name."""
        return all(above is not None for ancestor in self.ancestors(of) for above in self.supers_of(ancestor))

    def read(self, path: str, node: Node | None, *, dims: int = 0) -> Type | None:
        """Return the type that a syntax node writes; None if it is not certain."""
        return self._depth.read(partial(self._read, dims=dims), path, node)

    def _read(self, path: str, node: Node, dims: int) -> Type | None:
        match node.type:
            case "type_identifier" | "identifier":
                found = self.resolve_type(path, node.start_byte, text(node))
                return Type(found[0], (), dims) if len(found) == 1 else None
            case "scoped_type_identifier" | "scoped_identifier":
                entity = self.resolve_dotted_type(path, node)
                return Type(entity, (), dims) if entity is not None else None
            case "generic_type":
                of = self.read(path, node.named_children[0], dims=dims)
                listed = next((child for child in node.named_children if child.type == "type_arguments"), None)
                args = tuple(self.read(path, child) for child in listed.named_children) if listed is not None else ()
                return Type(of.of, args, dims) if of is not None else None
            case "array_type":
                written = node.child_by_field_name("dimensions")
                more = text(written).count("[") if written is not None else 1
                return self.read(path, node.child_by_field_name("element"), dims=dims + more)
            case "annotated_type":
                return self.read(path, node.named_children[-1], dims=dims)
            case "wildcard":
                inner = [
                    child for child in node.named_children if "annotation" not in child.type and child.type != "super"
                ]
                lower = any(child.type == "super" for child in node.children)
                return self.read(path, inner[-1]) if inner and not lower else None
            case "void_type" | "integral_type" | "floating_point_type" | "boolean_type":
                return Type(Outside(text(node)), (), dims)
        return None

    def resolve_dotted_type(self, path: str, node: Node) -> Entity | None:
        """Return the type that a dotted name means."""
        first, last = node.named_children[0], node.named_children[-1]
        if first.type in ("type_identifier", "identifier"):
            outer = self.resolve_type(path, first.start_byte, text(first))
            outer = outer if not outer or isinstance(outer[0], Bound) else ()
        elif first.type in ("scoped_type_identifier", "scoped_identifier"):
            inner = self.resolve_dotted_type(path, first)
            outer = (inner,) if isinstance(inner, Bound) else ()
        else:
            of = self.read(path, first)
            outer = (of.of,) if of is not None and isinstance(of.of, Bound) else ()
        if len(outer) == 1 and isinstance(outer[0], Bound):
            return self.nested_type(outer[0], text(last)) or Outside(text(node))
        found = self.resolve_full_name("".join(text(node).split()))
        if len(found) > 1:
            return None
        return found[0] if found else Outside(text(last))


def may_have(outside: str, name: str) -> bool:
    """Whether a type from outside may have a method of a name."""
    known = METHODS.get(outside.rpartition(".")[2])
    return known is None or name in known


def is_file_class(name: str) -> bool:
    """Whether a class may be the one that Kotlin makes for the functions of a file."""
    return name.endswith("Kt")


def is_of_object(name: str) -> bool:
    """Whether every object has a method of that name."""
    return name in OBJECT_METHODS


def text(node: Node | None) -> str:
    """Return the text of a node."""
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""


def _is_param(facts: Facts, row: int) -> bool:
    return facts.bind_reason(row) == _PARAM


def _type_parameters(listed: Node | None) -> list[str]:
    found = [child for child in listed.named_children if child.type == "type_parameter"] if listed is not None else []
    return [
        text(next((child for child in parameter.named_children if child.type == "type_identifier"), None))
        for parameter in found
    ]
