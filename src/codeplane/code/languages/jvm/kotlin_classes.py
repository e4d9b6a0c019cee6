"""The types of Kotlin, and those of Java beside them: packages, imports, nested types, companions and supertypes."""

from collections.abc import Sequence

from codeplane.code.entity import Bound, Entity, Outside
from codeplane.code.languages.declared_type import Type
from codeplane.code.languages.jvm.java_classes import TYPES, JavaClasses, Node, text
from codeplane.code.languages.jvm.java_processors import modifiers
from codeplane.code.languages.jvm.kotlin_library import EXTENSION, FUNCTION
from codeplane.code.model import REASONS, Definition, Facts, Import

_PARAM, _IMPORT = REASONS.index("PARAM"), REASONS.index("IMPORT_ALIAS")
_SPECIFIER = "delegation_specifier"
_DECLARATIONS = frozenset({"class_declaration", "companion_object", "object_declaration", "object_literal"})


def is_kotlin(path: str) -> bool:
    """Whether a file is one of Kotlin."""
    return path.endswith((".kt", ".kts"))


class KotlinClasses(JavaClasses):
    """Finds types of either language by the rules of the file that names them."""

    kinds = TYPES | {"type"}

    def resolve_type(self, path: str, offset: int, name: str) -> tuple[Entity, ...]:
        """Return what the name of a type means at a place; several where one is declared for several platforms."""
        facts = self._view.facts(path)
        if facts is None or not is_kotlin(path):
            return super().resolve_type(path, offset, name)
        scope = facts.scope_at(offset)
        while scope > 0:
            found = self._type_in(path, facts, scope, name)
            if found is not None:
                return (found,)
            scope = facts.scopes[scope].parent
        rows = facts.rows(0, name)
        for row in rows:
            if facts.bind_reason(row) == _IMPORT:
                brought = self.resolve_full_name(whole := _full_name(facts.imports[facts.bind_target(row)]))
                if brought or name[:1].isupper():
                    return brought or (Outside(whole),)
            elif facts.bind_reason(row) == _PARAM and self.is_variable_of_type(path, facts.bind_at(row), name):
                return (Bound(path, 0, name),)
        return self._beside(path, name) or self._by_star(facts, name) or (Outside(name),)

    def _beside(self, path: str, name: str) -> tuple[Bound, ...]:
        """Return the types of a file's package: of several, as programs beside each other have them, the file's own."""
        found = self.top_level(self.package(path), name)
        own = Bound(path, 0, name)
        if len(found) > 1 and own in found:
            return self.parts(own)
        # What is private is known in its file alone.
        return tuple(of for of in found if of == own or not self.is_private(of))

    def is_private(self, of: Bound) -> bool:
        """Whether a declaration outside of classes is its file's own."""
        return is_kotlin(of.file) and all(
            "private" in modifiers(self.declaration(of.file, definition))
            for _, definition in self._view.definitions(of)
        )

    def _type_in(self, path: str, facts: Facts, scope: int, name: str) -> Bound | None:
        here = Bound(path, scope, name)
        if any(facts.definitions[index].kind in self.kinds for index in facts.definitions_in(scope, name)):
            return here
        params = [row for row in facts.rows(scope, name) if facts.bind_reason(row) == _PARAM]
        if any(self.is_variable_of_type(path, facts.bind_at(row), name) for row in params):
            return here
        return (
            self.nested_type(self.of_scope(path, facts, scope), name) if facts.scopes[scope].kind == "class" else None
        )

    def is_alias(self, of: Entity) -> bool:
        """Whether a type is another name of a type."""
        return isinstance(of, Bound) and any(definition.kind == "type" for _, definition in self._view.definitions(of))

    def node(self, of: Bound) -> Node | None:
        """Return the syntax node that makes a class."""
        facts = self._view.facts(of.file)
        if not is_kotlin(of.file) or facts is None:
            return super().node(of)
        if of.name:
            for _, definition in self._view.definitions(of):
                if definition.kind in self.kinds:
                    name = self._view.node(of.file, definition.name_at, definition.name_at + len(of.name.encode()))
                    return name.parent if name is not None else None
            return None
        start = facts.scopes[of.scope].start
        inner = self._view.node(of.file, start, start + 1)
        while inner is not None and inner.type not in _DECLARATIONS:
            inner = inner.parent
        return inner

    def parameters(self, of: Bound) -> list[Bound]:
        """Return the type variables of a class."""
        if not is_kotlin(of.file):
            return super().parameters(of)
        node, body = self.node(of), self.body(of)
        listed = child_of(node, "type_parameters") if of.name else None
        names = [text(child_of(parameter, "type_identifier")) for parameter in children_of(listed, "type_parameter")]
        return [Bound(of.file, body, name) for name in names]

    def companion(self, of: Bound) -> Bound | None:
        """Return the companion of a class."""
        node, facts = self.node(of) if is_kotlin(of.file) and of.name else None, self._view.facts(of.file)
        body = child_of(node, "class_body", "enum_class_body")
        made = child_of(body, "companion_object")
        if made is None or facts is None:
            return None
        name = child_of(made, "type_identifier")
        if name is not None:
            return Bound(of.file, self.body(of), text(name))
        inner = child_of(made, "class_body")
        return Bound(of.file, facts.scope_at(inner.start_byte), "") if inner is not None else None

    def is_object(self, of: Bound) -> bool:
        """Whether a type is an object, whose name is a value."""
        node = self.node(of) if is_kotlin(of.file) else None
        return node is not None and node.type in ("companion_object", "object_declaration", "object_literal")

    def _read_supers(self, of: Bound) -> list[Type | None]:
        if not is_kotlin(of.file):
            return super()._read_supers(of)
        node = self.node(of)
        if node is None:
            return [None]
        if node.type == "type_alias":
            return [self.read(of.file, node.named_children[-1])]
        found: list[Type | None] = []
        for specifier in children_of(node, _SPECIFIER):
            written = child_of(specifier, "user_type", "constructor_invocation", "explicit_delegation", "function_type")
            if written is not None and written.type in ("constructor_invocation", "explicit_delegation"):
                written = child_of(written, "user_type")
            found.append(self.read(of.file, written))
        facts = self._view.facts(of.file)
        if facts is None or facts.errors or any(text(child).endswith("}") for child in children_of(node, _SPECIFIER)):
            # Members may be where the grammar does not see them.
            found.append(None)
        implied = "Enum" if any(child.type == "enum" for child in node.children) else "Any"
        return [*found, Type(Outside(implied))]

    def supers_of(self, of: Type) -> list[Type | None]:
        """Return what a type builds on, with its arguments put in."""
        if isinstance(of.of, Bound) and self.is_alias(of.of):
            return list(self.supers(of.of))
        return super().supers_of(of)

    def bounds(self, variable: Bound) -> tuple[Type | None, ...]:
        """Return the types that a type variable extends."""
        if not is_kotlin(variable.file):
            return super().bounds(variable)
        facts = self._view.facts(variable.file)
        rows = facts.rows(variable.scope, variable.name) if facts is not None else ()
        at = facts.bind_at(rows[0]) if facts is not None and rows else -1
        node = self._view.node(variable.file, at, at + len(variable.name.encode())) if at >= 0 else None
        written = child_of(node.parent, "user_type", "nullable_type") if node is not None else None
        return (self.read(variable.file, written) if written is not None else Type(Outside("Any")),)

    def read(self, path: str, node: Node | None, *, dims: int = 0) -> Type | None:
        """Return the type that a syntax node writes; None if it is not certain."""
        if not is_kotlin(path):
            return super().read(path, node, dims=dims)
        return self._depth.read(self._read_kotlin, path, node)

    def _read_kotlin(self, path: str, node: Node) -> Type | None:
        match node.type:
            case "nullable_type" | "parenthesized_type" | "type_projection" | "receiver_type" | "not_nullable_type":
                kinds = [
                    child for child in node.named_children if child.type.endswith("_type") or child.type == "user_type"
                ]
                return self.read(path, kinds[0]) if kinds else None
            case "function_type":
                receiver = child_of(node, "receiver_type")
                listed = child_of(node, "function_type_parameters")
                given = [
                    self.read(path, parameter) for parameter in (listed.named_children if listed is not None else [])
                ]
                made = self.read(path, node.named_children[-1])
                if receiver is None:
                    return Type(Outside(FUNCTION), (made, *given))
                return Type(Outside(EXTENSION), (made, self.read(path, receiver), *given))
            case "parameter":
                return self.read(path, node.named_children[-1])
            case "user_type":
                return self._read_user_type(path, node)
            case "type_identifier" | "simple_identifier":
                named = self.only(self.resolve_type(path, node.start_byte, text(node)))
                return self.resolve_alias(Type(named)) if named is not None else None
        return None

    def _read_user_type(self, path: str, node: Node) -> Type | None:
        names = children_of(node, "type_identifier")
        of = self.of_names(path, names, len(names))
        listed = children_of(node, "type_arguments")
        args = tuple(self.read(path, child) for child in listed[-1].named_children) if listed else ()
        return self.resolve_alias(Type(of, args)) if of is not None else None

    def resolve_alias(self, of: Type) -> Type | None:
        """Return what a type is when it is another name of one."""
        if not self.is_alias(of.of) or not isinstance(of.of, Bound):
            return of
        return next(iter(self.supers(of.of)), None)

    def of_names(self, path: str, names: list[Node], count: int) -> Entity | None:
        """Return what the first of some joined names mean together."""
        current = self.only(self.resolve_type(path, names[0].start_byte, text(names[0]))) if names else None
        if count > 1 and isinstance(current, Outside):
            whole = self.resolve_full_name(".".join(text(part) for part in names[:count]))
            return self.only(whole) if whole else Outside(text(names[count - 1]))
        for name in names[1:count]:
            if not isinstance(current, Bound):
                return current
            inner = self.nested_type(current, text(name))
            if inner is None and text(name) == "Companion":
                inner = self.companion(current)
            current = inner or Outside(text(name))
        return current

    def only(self, found: Sequence[Entity]) -> Entity | None:
        """Return the one type that a name means, or the first declaration of it; None if there are several."""
        first = found[0] if found else None
        if len(found) < 2 or not isinstance(first, Bound):
            return first
        return first if set(found) <= set(self.parts(first)) else None

    def parts(self, of: Bound) -> tuple[Bound, ...]:
        """Return the declarations of a type: several where it is expected here and made for platforms there."""
        if of.scope != 0 or not of.name or not self.is_for_platforms(of):
            return (of,)
        found = self.top_level(self.package(of.file), of.name)
        return tuple(part for part in found if part == of or self.is_for_platforms(part))

    def is_for_platforms(self, of: Bound) -> bool:
        """Whether a declaration is expected by common code, or made for a platform."""
        return is_kotlin(of.file) and any(
            modifiers(self.declaration(of.file, definition)) & {"expect", "actual"}
            for _, definition in self._view.definitions(of)
        )

    def declaration(self, path: str, definition: Definition) -> Node | None:
        """Return the syntax node that declares something."""
        node = self._view.node(path, definition.name_at, definition.name_at + len(definition.name.encode()))
        made = node.parent if node is not None else None
        return made.parent if made is not None and made.type == "variable_declaration" else made


def child_of(node: Node | None, *kinds: str) -> Node | None:
    """Return the first child of some kinds."""
    return next((child for child in node.named_children if child.type in kinds), None) if node is not None else None


def children_of(node: Node | None, kind: str) -> list[Node]:
    """Return the children of a kind."""
    return [child for child in node.named_children if child.type == kind] if node is not None else []


def _full_name(import_: Import) -> str:
    return f"{import_.source}.{import_.imported}"
