"""C#'s types by their names: namespaces, usings, nested and partial types, and what they build on."""

from collections.abc import Iterator
from functools import partial

import tree_sitter

from codeplane.code.entity import Bound, Entity, Outside
from codeplane.code.languages.declared_type import Type, substitute
from codeplane.code.languages.depth_limit import DepthLimit
from codeplane.code.languages.member_resolver import CodeView
from codeplane.code.model import Definition, Facts, Import

Node = tree_sitter.Node
TYPES = frozenset({"class", "delegate", "enum", "interface", "record", "struct"})
CLASS_NODES = frozenset(
    {"class_declaration", "delegate_declaration", "enum_declaration", "interface_declaration", "record_declaration",
     "struct_declaration"}
)  # fmt: skip
_NO_MEMBERS = TYPES | {"constructor"}
_MAX_ANCESTORS = 200


class CSharpClasses:
    """Finds types and what they build on; a partial type is known by any of its parts."""

    def __init__(self, view: CodeView) -> None:
        self._view = view
        self._tops: dict[str, list[tuple[str, int, Bound]]] = {}
        self._supers: dict[Bound, tuple[Type | None, ...]] = {}
        self._parts: dict[Bound, tuple[Bound, ...]] = {}
        self._global: list[Import] | None = None
        self._depth = DepthLimit()

    def namespaces(self, path: str, offset: int) -> list[str]:
        """Return the namespaces around a place, the innermost first; the last is the global one."""
        facts = self._view.facts(path)
        names: list[str] = []
        scope = facts.scope_at(offset) if facts is not None else 0
        while facts is not None and scope > 0:
            index = facts.scopes[scope].definition
            if facts.scopes[scope].kind == "namespace" and index >= 0:
                names.insert(0, facts.definitions[index].name)
            scope = facts.scopes[scope].parent
        for index, definition in enumerate(facts.definitions) if facts is not None else ():
            # A namespace without braces holds the whole file.
            if (
                definition.kind == "namespace"
                and definition.scope == 0
                and facts is not None
                and index not in facts.body_of
            ):
                names.insert(0, definition.name)
                break
        whole = ".".join("".join(names_part.split()) for names_part in names).split(".") if names else []
        return [".".join(whole[:count]) for count in range(len(whole), 0, -1)] + [""]

    def tops(self, namespace: str, name: str, arity: int) -> tuple[Bound, ...]:
        """Return the parts of a type of a namespace; with an arity of -1 whatever type parameters it has."""
        if name not in self._tops:
            found = []
            for path, position in self._view.find_definitions(name)[0]:
                facts = self._view.facts(path)
                if facts is None or position >= len(facts.definitions) or not path.endswith((".cs", ".csx")):
                    continue
                definition = facts.definitions[position]
                if definition.kind in TYPES and facts.scopes[definition.scope].kind in ("file", "namespace"):
                    where = self.namespaces(path, definition.name_at)[0]
                    found.append((where, self._arity(path, definition), Bound(path, definition.scope, name)))
            self._tops[name] = found
        among = (bound for where, has, bound in self._tops[name] if where == namespace and arity in (has, -1))
        return tuple(dict.fromkeys(among))

    def parts(self, of: Bound) -> tuple[Bound, ...]:
        """Return all parts of a type, itself included."""
        if of not in self._parts:
            self._parts[of] = (of,)
            facts = self._view.facts(of.file)
            kind = facts.scopes[of.scope].kind if facts is not None else ""
            if facts is not None and kind in ("file", "namespace"):
                mine = [definition for _, definition in self._view.definitions(of) if definition.kind in TYPES]
                where = self.namespaces(of.file, mine[0].name_at)[0] if mine else ""
                found = [
                    part for definition in mine for part in self.tops(where, of.name, self._arity(of.file, definition))
                ]
                self._parts[of] = tuple(dict.fromkeys(found)) or (of,)
            elif facts is not None and kind == "class":
                outer = self.of_scope(of.file, facts, of.scope)
                found = [
                    Bound(bound.file, bound.scope, bound.name) for bound, _ in self.declarations(outer, of.name, TYPES)
                ]
                self._parts[of] = tuple(dict.fromkeys(found)) or (of,)
        return self._parts[of]

    def bodies(self, of: Bound) -> Iterator[tuple[str, Facts, int]]:
        """Yield the bodies of all parts of a type: the file, its facts and the scope."""
        for part in self.parts(of):
            facts = self._view.facts(part.file)
            for index, definition in self._view.definitions(part):
                if facts is not None and definition.kind in TYPES and index in facts.body_of:
                    yield part.file, facts, facts.body_of[index]

    def declarations(self, of: Bound, name: str, kinds: frozenset[str] | None = None) -> list[tuple[Bound, Definition]]:
        """Return what the parts of a type declare under a name; without kinds, its members that are no types."""
        found = []
        for path, facts, body in self.bodies(of):
            for index in facts.definitions_in(body, name):
                definition = facts.definitions[index]
                if definition.kind in kinds if kinds is not None else definition.kind not in _NO_MEMBERS:
                    found.append((Bound(path, body, name), definition))
        return found

    def of_scope(self, path: str, facts: Facts, scope: int) -> Bound:
        """Return the type whose body a scope is."""
        index = facts.scopes[scope].definition
        definition = facts.definitions[index] if index >= 0 else None
        return (
            Bound(path, definition.scope, definition.name)
            if definition is not None and definition.kind in TYPES
            else Bound(path, scope, "")
        )

    def enclosing_types(self, path: str, offset: int) -> list[Bound]:
        """Return the types around a place, the innermost first."""
        facts = self._view.facts(path)
        found = []
        scope = facts.scope_at(offset) if facts is not None else 0
        while facts is not None and scope > 0:
            if facts.scopes[scope].kind in ("class", "enum"):
                found.append(self.of_scope(path, facts, scope))
            scope = facts.scopes[scope].parent
        return found

    def is_class(self, bound: Bound) -> bool:
        """Whether a binding is a type and no type parameter."""
        return any(definition.kind in TYPES for _, definition in self._view.definitions(bound))

    def kind(self, of: Bound) -> str:
        """Return what kind of type it is."""
        return next((definition.kind for _, definition in self._view.definitions(of) if definition.kind in TYPES), "")

    def nested_type(self, of: Bound, name: str) -> tuple[Bound, ...]:
        """Return the type of a name inside a type or what it builds on."""
        for ancestor in self.ancestors(Type(of)):
            if isinstance(ancestor.of, Bound) and (found := self.declarations(ancestor.of, name, TYPES)):
                return tuple(dict.fromkeys(bound for bound, _ in found))
        return ()

    def resolve_type(self, path: str, offset: int, name: str, arity: int = 0) -> tuple[Entity, ...]:
        """Return what the name of a type means at a place: the parts of one type, or something from outside."""
        facts = self._view.facts(path)
        if facts is None:
            return ()
        scope = facts.scope_at(offset)
        while scope > 0 and facts.scopes[scope].kind not in ("file", "namespace"):
            if any(self.is_parameter(path, facts.bind_at(row), name) for row in facts.rows(scope, name)):
                return (Bound(path, scope, name),)
            if facts.scopes[scope].kind == "class" and (of := self.of_scope(path, facts, scope)).name:
                found: tuple[Entity, ...] = self.nested_type(of, name)
                if found:
                    return found
            scope = facts.scopes[scope].parent
        if (own := self._parameter_of_result(path, facts, offset, name)) is not None:
            return (own,)
        known = self._in_namespaces(path, facts, offset, name, arity)
        return known if known is not None else (Outside(name),)

    def _parameter_of_result(self, path: str, facts: Facts, offset: int, name: str) -> Bound | None:
        """Return the type parameter that the result of a method or delegate has, which stands before their scopes."""
        node = self._view.node(path, offset, offset + len(name.encode()))
        while node is not None and node.type not in _GENERIC_FUNCTIONS:
            node = node.parent
        listed = next((child for child in node.children if child.type == "type_parameter_list"), None) if node else None
        for parameter in listed.named_children if listed is not None else ():
            at = parameter.child_by_field_name("name")
            scope = facts.scope_at(at.start_byte) if at is not None and text(at) == name else -1
            while at is not None and scope >= 0:
                if any(facts.bind_at(row) == at.start_byte for row in facts.rows(scope, name)):
                    return Bound(path, scope, name)
                scope = facts.scopes[scope].parent
        return None

    def _in_namespaces(self, path: str, facts: Facts, offset: int, name: str, arity: int) -> tuple[Entity, ...] | None:
        """Return the type of a name that namespaces and usings give: None if there is none, empty for several."""
        for namespace in self.namespaces(path, offset):
            if here := self.tops(namespace, name, arity):
                return here
        aliased = [import_ for import_ in facts.imports if import_.alias == name]
        if aliased:
            return self.resolve_alias(path, aliased[0])
        brought: list[Bound] = []
        for using in [*facts.imports, *self._global_usings()]:
            if using.kind == "csharp_using":
                for outer in self.namespaces(path, offset):
                    # A using inside of a namespace may leave out its first parts.
                    brought += self.tops(f"{outer}.{using.source}".strip("."), name, arity)
            elif using.kind == "csharp_using_static":
                brought += (
                    part for of in self.resolve_full_name(using.source)[:1] for part in self.nested_type(of, name)
                )
        unique = dict.fromkeys(brought)
        kinds = {self.parts(bound) for bound in unique}
        return (tuple(unique) if len(kinds) == 1 else ()) if unique else None

    def _global_usings(self) -> list[Import]:
        if self._global is None:
            self._global = []
            for path in self._view.files_with("global"):
                facts = self._view.facts(path) if path.endswith(".cs") else None
                for import_ in facts.imports if facts is not None else ():
                    if self._view.text(path)[import_.at : import_.at + 12].startswith(b"global"):
                        self._global.append(import_)
        return self._global

    def resolve_full_name(self, name: str) -> tuple[Bound, ...]:
        """Return the parts of the type that a dotted name from the global namespace means."""
        name = "".join(name.split()).removeprefix("global::").partition("<")[0]
        before, _, last = name.rpartition(".")
        found = self.tops(before, last, -1)
        if found or not before:
            return found
        outer = self.resolve_full_name(before)
        return self.nested_type(outer[0], last) if outer else ()

    def resolve_alias(self, path: str, alias: Import) -> tuple[Entity, ...]:
        """Return the type that `using name = …` gives another name; empty if a type here may be meant."""
        if found := self.resolve_full_name(alias.source):
            return found
        facts = self._view.facts(path)
        name = "".join(alias.source.split()).removeprefix("global::").partition("<")[0]
        around = list(self.namespaces(path, alias.at))
        usings = [import_.source for import_ in facts.imports if import_.kind == "csharp_using"] if facts else []
        spaces = [*around, *(f"{outer}.{using}".strip(".") for outer in around for using in usings)]
        for space in spaces:
            if found := self.resolve_full_name(f"{space}.{name}".strip(".")):
                return found
        is_here = any(self._view.find_definitions(name.rpartition(".")[2])[0])
        return () if is_here else (Outside(name),)

    def is_parameter(self, path: str, at: int, name: str) -> bool:
        """Whether the binding at a place is a type parameter."""
        node = self._view.node(path, at, at + len(name.encode()))
        return node is not None and node.parent is not None and node.parent.type == "type_parameter"

    def _arity(self, path: str, definition: Definition) -> int:
        node = self._view.node(path, definition.name_at, definition.name_at + len(definition.name.encode()))
        return len(_parameters(node.parent if node is not None else None))

    def nodes(self, of: Bound) -> list[tuple[str, Node]]:
        """Return the syntax nodes that declare the parts of a type."""
        found = []
        for part in self.parts(of):
            for _, definition in self._view.definitions(part):
                name = self._view.node(part.file, definition.name_at, definition.name_at + len(part.name.encode()))
                if definition.kind in TYPES and name is not None and name.parent is not None:
                    found.append((part.file, name.parent))
        return found

    def parameters(self, of: Bound) -> list[list[Bound]]:
        """Return the type parameters of a type, each with its binding in every part."""
        listed: list[list[Bound]] = []
        bodies = list(self.bodies(of))
        for (path, node), (_, _, body) in zip(self.nodes(of), bodies, strict=False):
            for at, name in enumerate(_parameters(node)):
                if at == len(listed):
                    listed.append([])
                listed[at].append(Bound(path, body, name))
        return listed

    def supers(self, of: Bound) -> tuple[Type | None, ...]:
        """Return what a type builds on as its parts say; None for what is not known."""
        first = self.parts(of)[0]
        if first not in self._supers:
            self._supers[first] = ()
            found: list[Type | None] = []
            for path, node in self.nodes(of):
                listed = next((child for child in node.children if child.type == "base_list"), None)
                bases = listed.named_children if listed is not None else []
                found += [
                    self.read(path, _base(base)) for base in bases if base.type not in ("argument_list", "comment")
                ]
            implied = {"enum": "Enum", "struct": "ValueType", "delegate": "Delegate"}.get(self.kind(of), "Object")
            self._supers[first] = tuple(dict.fromkeys([*found, Type(Outside(implied))]))
        return self._supers[first]

    def supers_of(self, of: Type) -> list[Type | None]:
        """Return what a type builds on, with its arguments put in."""
        if not isinstance(of.of, Bound) or of.dims:
            return []
        if not self.is_class(of.of):
            return self.constraints(of.of)
        given = self.type_arguments(of)
        return [substitute(base, given) if base is not None else None for base in self.supers(of.of)]

    def constraints(self, parameter: Bound) -> list[Type | None]:
        """Return the types that a type parameter has to be, by the clauses of what declares it."""
        facts = self._view.facts(parameter.file)
        rows = facts.rows(parameter.scope, parameter.name) if facts is not None else ()
        at = facts.bind_at(rows[0]) if facts is not None and rows else -1
        node = self._view.node(parameter.file, at, at + len(parameter.name.encode())) if at >= 0 else None
        listed = node.parent.parent if node is not None and node.parent is not None else None
        holder = listed.parent if listed is not None and listed.type == "type_parameter_list" else None
        if holder is None:
            return [None]
        found: list[Type | None] = []
        for clause in holder.children:
            if clause.type == "type_parameter_constraints_clause" and text(clause.named_children[0]) == parameter.name:
                written = [child.child_by_field_name("type") for child in clause.named_children[1:]]
                found += [self.read(parameter.file, constraint) for constraint in written if constraint is not None]
        return [*found, Type(Outside("Object"))]

    def type_arguments(self, of: Type) -> dict[Bound, Type | None]:
        """Return what a type has for the type parameters of its class."""
        if not of.args or not isinstance(of.of, Bound):
            return {}
        pairs = zip(self.parameters(of.of), of.args, strict=False)
        return {bound: value for bounds, value in pairs for bound in bounds}

    def ancestors(self, of: Type) -> list[Type]:
        """Return a type and all that it builds on, the nearest first; what is not known is left out."""
        found: list[Type] = []
        seen, waiting = set[Entity](), [of]
        while waiting and len(found) < _MAX_ANCESTORS:
            ancestor = waiting.pop(0)
            key = self.parts(ancestor.of)[0] if isinstance(ancestor.of, Bound) else ancestor.of
            if key in seen:
                continue
            seen.add(key)
            found.append(ancestor)
            waiting += (above for above in self.supers_of(ancestor) if above is not None)
        return found

    def is_whole(self, of: Type) -> bool:
        """Whether everything that a type builds on is known by name."""
        return all(above is not None for ancestor in self.ancestors(of) for above in self.supers_of(ancestor))

    def read(self, path: str, node: Node | None, dims: int = 0) -> Type | None:
        """Return the type that a syntax node writes; None if it is not certain."""
        return self._depth.read(partial(self._read, dims=dims), path, node)

    def _read(self, path: str, node: Node, dims: int) -> Type | None:
        match node.type:
            case "identifier" | "generic_name" | "qualified_name" | "alias_qualified_name":
                found = self.resolve_type_node(path, node)
                if not found or text(node) == "dynamic":
                    return None
                return Type(found[0], tuple(self.read(path, argument) for argument in _arguments(node)), dims)
            case "predefined_type":
                return Type(Outside(text(node)), (), dims)
            case "nullable_type" | "ref_type" | "scoped_type":
                return self.read(path, node.child_by_field_name("type"), dims)
            case "array_type":
                return self.read(path, node.child_by_field_name("type"), dims + 1)
            case "tuple_type" | "pointer_type" | "function_pointer_type":
                return None
        return None

    def resolve_type_node(self, path: str, node: Node) -> tuple[Entity, ...]:
        """Return the parts of the type that a plain, generic or dotted name means."""
        if node.type in ("identifier", "generic_name"):
            name = text(node if node.type == "identifier" else node.named_children[0])
            return self.resolve_type(path, node.start_byte, name, len(_arguments(node)))
        if node.type not in ("qualified_name", "member_access_expression"):
            last = text(node).rpartition("::")[2]
            return self.tops("", last, 0) or (Outside(text(node)),)
        name_node = node.child_by_field_name("name")
        if name_node is None:
            return ()
        dotted = "".join(text(node).split()).partition("<")[0].removeprefix("global::")
        last = text(name_node if name_node.type == "identifier" else name_node.named_children[0])
        before = node.child_by_field_name("qualifier") or node.child_by_field_name("expression")
        if before is not None and before.type in (*_NAMES, "generic_name"):
            outer = self.resolve_type_node(path, before)
            if outer and isinstance(outer[0], Bound):
                return self.nested_type(outer[0], last) or (Outside(dotted),)
        prefix = dotted.rpartition(".")[0]
        for namespace in self.namespaces(path, node.start_byte):
            if found := self.tops(f"{namespace}.{prefix}".strip("."), last, len(_arguments(node))):
                return found
        return (Outside(dotted),)


_GENERIC_FUNCTIONS = frozenset({"method_declaration", "delegate_declaration", "local_function_statement"})
_NAMES = ("identifier", "qualified_name", "member_access_expression", "alias_qualified_name")


def text(node: Node | None) -> str:
    """Return the text of a node."""
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""


def _base(node: Node) -> Node:
    """Return the type of an entry of a list of bases, which may pass arguments to a constructor."""
    inner = node.child_by_field_name("type") if node.type == "primary_constructor_base_type" else None
    return inner or node


def _arguments(node: Node) -> list[Node]:
    """Return the type arguments of a written type."""
    last = node if node.type == "generic_name" else node.child_by_field_name("name")
    if last is None or last.type != "generic_name":
        return []
    listed = next((child for child in last.named_children if child.type == "type_argument_list"), None)
    return list(listed.named_children) if listed is not None else []


def _parameters(node: Node | None) -> list[str]:
    listed = next((child for child in node.children if child.type == "type_parameter_list"), None) if node else None
    found = [child for child in listed.named_children if child.type == "type_parameter"] if listed is not None else []
    return [text(parameter.child_by_field_name("name")) for parameter in found]
