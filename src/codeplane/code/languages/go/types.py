"""Go's types as they are written: what their names mean, what they stand for, and whether two are the same."""

from collections.abc import Iterator, Sequence

import tree_sitter
from msgspec import Struct

from codeplane.code.entity import Bound, Entity, Module, Outside
from codeplane.code.languages.go.keywords import GO_RESERVED
from codeplane.code.languages.go.packages import GoPackages
from codeplane.code.languages.member_resolver import CodeView

Node = tree_sitter.Node
MAX_DEPTH = 40
FUNCTIONS = frozenset({"function_declaration", "method_declaration", "method_elem", "func_literal", "function_type"})
_NAMES = frozenset({"type_identifier", "identifier", "package_identifier"})
_NAMED = _NAMES | {"qualified_type", "generic_type", "selector_expression", "index_expression"}
_AROUND = frozenset({"pointer_type", "parenthesized_type", "parenthesized_expression", "unary_expression", "type_elem"})
_TYPES = frozenset({"struct", "interface", "type"})
_ALIASES = {"byte": "uint8", "rune": "int32"}


class Type(Struct, frozen=True):
    """A type as it is written: its file and syntax node; `items` means a list of it, as a variadic parameter has.

    `given` says what type parameters stand for, with None for one that is not known. `outside` names the package of an
    expression whose type is not written here, but is certainly one of that package.
    """

    path: str
    node: Node
    items: bool = False
    given: tuple[tuple[str, "Type | None"], ...] = ()
    outside: str = ""

    def at(self, node: Node | None) -> "Type | None":
        """Return a part of it."""
        return Type(self.path, node, given=self.given) if node is not None else None


class GoTypes:
    """Resolves what is written as a type."""

    def __init__(self, view: CodeView) -> None:
        self._view = view
        self._literals: dict[Bound, tuple[Type, bool] | None] = {}
        self._twins: dict[Bound, tuple[Bound, ...]] = {}
        self._named: dict[tuple[str, int], Entity | None] = {}
        self._unbound: dict[tuple[str, str], Entity | None] = {}

    def packages(self, path: str) -> GoPackages | None:
        """Return the packages of the repository."""
        modules = self._view.modules(path)
        return modules if isinstance(modules, GoPackages) else None

    def twins(self, bound: Bound) -> tuple[Bound, ...]:
        """Return the definitions of a name of a package: one, unless files for other systems define it again."""
        if bound.scope != 0 or bound.name in ("init", "_"):
            return (bound,)
        if bound not in self._twins:
            packages = self.packages(bound.file)
            beside = set(packages.beside(bound.file)) if packages is not None else set[str]()
            found = [bound]
            for path, position in self._view.find_definitions(bound.name)[0]:
                facts = self._view.facts(path) if path in beside else None
                if facts is not None and position < len(facts.definitions) and facts.definitions[position].scope == 0:
                    found.append(Bound(path, 0, bound.name))
            self._twins[bound] = tuple(dict.fromkeys(found))
        return self._twins[bound]

    def entity(self, path: str, node: Node) -> Entity | None:
        """Return what a name of a type or package means: a binding, a package, or something from outside."""
        if node.type in _NAMES:
            return self._of_name(path, node)
        if node.type in ("generic_type", "index_expression"):
            inner = node.child_by_field_name("type") or node.child_by_field_name("operand")
            return self.entity(path, inner) if inner is not None else None
        if node.type == "qualified_type":
            package, name = node.child_by_field_name("package"), node.child_by_field_name("name")
        elif node.type == "selector_expression":
            package, name = node.child_by_field_name("operand"), node.child_by_field_name("field")
        else:
            return None
        owner = self._of_name(path, package) if package is not None and package.type in _NAMES else None
        if isinstance(owner, Outside):
            return owner
        given = (
            self._view.find_export(owner.path, text_of(name)) if isinstance(owner, Module) and name is not None else ()
        )
        return given[0] if given else None

    def _of_name(self, path: str, node: Node) -> Entity | None:
        key = (path, node.start_byte)
        if key not in self._named:
            name = text_of(node)
            meant = self._view.resolve_plain_name(path, node.start_byte, name)
            if meant.entities:
                self._named[key] = meant.entities[0] if meant.certain else None
            else:
                self._named[key] = self.unbound(path, name) if meant.own is None else None
        return self._named[key]

    def unbound(self, path: str, name: str) -> Entity | None:
        """Return what a name is that nothing binds: predeclared, or a package with another name than its path."""
        key = (path, name)
        if key not in self._unbound:
            self._unbound[key] = self._find_unbound(path, name)
        return self._unbound[key]

    def _find_unbound(self, path: str, name: str) -> Entity | None:
        facts, packages = self._view.facts(path), self.packages(path)
        if facts is None or packages is None:
            return None
        unknown = False
        for import_ in facts.imports:
            places = packages.find(import_.source, path)
            if places and not import_.alias and import_.imported != "*" and packages.name(places[0]) == name:
                return Module(places[0]) if not packages.is_guess(import_.source, path) else None
            unknown = unknown or (not places and not packages.outside(import_.source))
        return Outside(name) if not unknown or name in GO_RESERVED.shadowed else None

    def is_type(self, bound: Bound) -> bool:
        """Whether a binding is a type of the repository."""
        return any(definition.kind in _TYPES for _, definition in self._view.definitions(bound))

    def literal(self, bound: Bound) -> tuple[Type, bool] | None:
        """Return what a type is declared to be, and whether its name is an alias."""
        if bound not in self._literals:
            self._literals[bound] = self._literal(bound)
        return self._literals[bound]

    def _literal(self, bound: Bound) -> tuple[Type, bool] | None:
        at = next(
            (definition.name_at for _, definition in self._view.definitions(bound) if definition.kind in _TYPES), -1
        )
        node = self._view.node(bound.file, at, at + len(bound.name.encode())) if at >= 0 else None
        spec = node.parent if node is not None else None
        written = spec.child_by_field_name("type") if spec is not None else None
        if spec is None or written is None:
            return None
        return Type(bound.file, written), spec.type == "type_alias"

    def head(self, of: Type | None) -> Type | None:
        """Return a type behind its pointers, with type parameters replaced by what they stand for."""
        for _ in range(MAX_DEPTH):
            if of is None or of.items or of.outside:
                return of if of is not None and of.outside else None
            node = of.node
            if node.type in _AROUND:
                of = of.at(first_child(node))
                continue
            if node.type not in _NAMES:
                return of
            given = dict(of.given)
            if (name := text_of(node)) in given:
                of = given[name]
                continue
            constraint = self._constraint(of.path, node)
            if constraint is None:
                return of
            of = constraint[0]
        return None

    def _constraint(self, path: str, node: Node) -> tuple[Type | None] | None:
        """Return what a type parameter has to be; None for a name that is no type parameter."""
        own = self._view.resolve_plain_name(path, node.start_byte, text_of(node)).own
        facts = self._view.facts(path) if own is not None and own.scope != 0 else None
        rows = facts.rows(own.scope, own.name) if facts is not None and own is not None else ()
        at = facts.bind_at(rows[0]) if facts is not None and rows else -1
        found = self._view.node(path, at, at + len(text_of(node).encode())) if at >= 0 else None
        parent = found.parent if found is not None else None
        if found is None or parent is None:
            return None
        if parent.type == "type_parameter_declaration":
            return (self._only(path, parent.child_by_field_name("type")),)
        arguments = parent.parent if parent.type == "type_elem" else None
        generic = arguments.parent if arguments is not None and arguments.type == "type_arguments" else None
        if arguments is None or generic is None:
            return None
        # The receiver of a method names the parameters of its type again.
        of = self.entity(path, generic)
        parameters = self.parameters_of(of) if isinstance(of, Bound) else ()
        position = [child.start_byte for child in arguments.named_children].index(parent.start_byte)
        return (parameters[position][1] if position < len(parameters) else None,)

    def _only(self, path: str, constraint: Node | None) -> Type | None:
        inner = constraint.named_children if constraint is not None else []
        return Type(path, inner[0]) if len(inner) == 1 else None

    def parameters_of(self, bound: Bound) -> tuple[tuple[str, Type | None], ...]:
        """Return the type parameters of a type, each with its constraint."""
        literal = self.literal(bound)
        spec = literal[0].node.parent if literal is not None else None
        return tuple(self.type_parameters(bound.file, spec)) if spec is not None else ()

    def type_parameters(self, path: str, declaration: Node) -> Iterator[tuple[str, Type | None]]:
        """Yield the type parameters of a declaration, each with its constraint."""
        listed = declaration.child_by_field_name("type_parameters")
        for child in listed.named_children if listed is not None else ():
            for name in child.children_by_field_name("name"):
                yield text_of(name), self._only(path, child.child_by_field_name("type"))

    def arguments(self, of: Type) -> list[Type | None]:
        """Return the type arguments that are written behind a name."""
        if of.node.type == "index_expression":
            return [of.at(of.node.child_by_field_name("index"))]
        listed = of.node.child_by_field_name("type_arguments") if of.node.type == "generic_type" else None
        return [of.at(child) for child in listed.named_children] if listed is not None else []

    def canonical(self, of: Type | None) -> Type | None:
        """Return the head of a type, through aliases."""
        for _ in range(MAX_DEPTH):
            found = self.head(of)
            if found is None or found.outside or found.node.type not in _NAMED:
                return found
            bound = self.entity(found.path, found.node)
            literal = self.literal(bound) if isinstance(bound, Bound) else None
            if not isinstance(bound, Bound) or literal is None or not literal[1]:
                return found
            of = Type(literal[0].path, literal[0].node, given=self.type_arguments(found, bound))
        return None

    def type_arguments(self, of: Type, bound: Bound) -> tuple[tuple[str, Type | None], ...]:
        """Return what the parameters of a generic type stand for where it is written."""
        arguments = self.arguments(of)
        names = [name for name, _ in self.parameters_of(bound)]
        return tuple((name, arguments[at] if at < len(arguments) else None) for at, name in enumerate(names))

    def named_type(self, of: Type | None) -> Entity | None:
        """Return the named type that a type is, behind its pointers and aliases."""
        found = self.canonical(of)
        if found is None or found.outside or found.node.type not in _NAMED:
            return Outside(found.outside) if found is not None and found.outside else None
        entity = self.entity(found.path, found.node)
        return entity if not isinstance(entity, Bound) or self.is_type(entity) else None

    def full_name(self, of: Type) -> str:
        """Return the name of a type from outside with its package."""
        found = self.named_type(of)
        name = text_of(of.node).rpartition(".")[2]
        return f"{found.source}.{name}" if isinstance(found, Outside) and found.source != name else name

    def underlying_type(self, of: Type | None) -> Type | None:
        """Return the type literal that a type stands for, through pointers and the names of types."""
        for _ in range(MAX_DEPTH):
            of = self.head(of)
            if of is None or of.outside or of.node.type not in _NAMED:
                return of if of is not None and not of.outside else None
            bound = self.entity(of.path, of.node)
            literal = self.literal(bound) if isinstance(bound, Bound) else None
            if literal is None or not isinstance(bound, Bound):
                return None
            of = Type(literal[0].path, literal[0].node, given=self.type_arguments(of, bound))
        return None

    def element(self, of: Type | None) -> Type | None:
        """Return the type of the items of a list, map or channel."""
        if of is not None and (of.items or of.outside):
            return Type(of.path, of.node, given=of.given, outside=of.outside)
        under = self.underlying_type(of)
        if under is None:
            return None
        return under.at(under.node.child_by_field_name("element") or under.node.child_by_field_name("value"))

    def range_type(self, of: Type | None, position: int) -> Type | None:
        """Return what ranging over a value gives first or second."""
        if of is not None and of.outside:
            return of
        under = self.underlying_type(of)
        if position == 1 and (under is None or under.node.type not in FUNCTIONS):
            return self.element(of)
        if under is None:
            return None
        if under.node.type == "channel_type":
            return self.element(of)
        if under.node.type in FUNCTIONS:
            # An iterator: the function that it is given says what there is.
            given = parameters(under)
            taken = self.underlying_type(given[0]) if given else None
            listed = parameters(taken) if taken is not None and taken.node.type in FUNCTIONS else []
            return listed[position] if position < len(listed) else None
        return under.at(under.node.child_by_field_name("key"))

    def are_identical(self, of: Type | None, other: Type | None, depth: int = 0) -> bool | None:
        """Whether two types are identical; None if that is not known."""
        if of is None or other is None or depth > MAX_DEPTH:
            return None
        if of.items or other.items:
            return (
                self.are_identical(self.element(of), self.element(other), depth + 1)
                if of.items == other.items
                else False
            )
        if (of.node.type == "pointer_type") != (other.node.type == "pointer_type"):
            return None if self._is_open(of) or self._is_open(other) else False
        first, second = self.canonical(of), self.canonical(other)
        if first is None or second is None or first.outside or second.outside:
            return None
        if first.node.type in _NAMED or second.node.type in _NAMED:
            return self._are_identical_named_types(first, second, depth)
        if first.node.type != second.node.type:
            return False
        if first.node.type == "function_type":
            return self.same_signature(first, second, depth + 1)
        if first.node.type in ("struct_type", "interface_type"):
            return True if text_of(first.node).split() == text_of(second.node).split() else None
        pairs = [
            self.are_identical(
                first.at(first.node.child_by_field_name(part)), second.at(second.node.child_by_field_name(part))
            )
            for part in ("key", "value", "element")
            if first.node.child_by_field_name(part) is not None
        ]
        return all_of(pairs)

    def _is_open(self, of: Type) -> bool:
        head = self.head(of)
        return head is None or (head.node.type in _NAMED and self.canonical(of) != head)

    def _are_identical_named_types(self, of: Type, other: Type, depth: int) -> bool | None:
        first, second = self._key(of), self._key(other)
        if first is None or second is None:
            return None
        if first != second:
            return False
        pairs = zip(self.arguments(of), self.arguments(other), strict=False)
        return all_of([self.are_identical(left, right, depth + 1) for left, right in pairs])

    def _key(self, of: Type) -> tuple[Entity, str] | None:
        """Return the key that identifies a named type."""
        if of.node.type == "interface_type" and not of.node.named_children:
            return Outside("any"), "any"
        if of.node.type not in _NAMED:
            return Outside(""), of.node.type
        found = self.entity(of.path, of.node)
        if isinstance(found, Bound):
            return min(self.twins(found), key=lambda twin: twin.file), ""
        name = text_of(of.node).rpartition(".")[2].partition("[")[0]
        return (found, _ALIASES.get(name, name)) if found is not None else None

    def same_signature(self, of: Type, other: Type, depth: int = 0) -> bool | None:
        """Whether two functions take and give the same types."""
        return all_of(
            [
                None
                if left is None and right is None
                else self.are_identical(left, right, depth)
                if left and right
                else False
                for listed in (parameters, results)
                for left, right in _pairs(listed(of), listed(other))
            ]
        )


def all_of(answers: Sequence[bool | None]) -> bool | None:
    """Whether all of several answers are yes; None if that is not known."""
    return False if False in answers else None if None in answers else True


def _pairs(types: list[Type], other: list[Type]) -> Iterator[tuple[Type | None, Type | None]]:
    longest = max(len(types), len(other))
    for at in range(longest):
        yield types[at] if at < len(types) else None, other[at] if at < len(other) else None


def parameters(function: Type) -> list[Type]:
    """Return the types that a function takes, each as often as it has names."""
    return _expand(function, function.node.child_by_field_name("parameters"))


def results(function: Type) -> list[Type]:
    """Return the types that a function gives."""
    node = function.node.child_by_field_name("result")
    if node is not None and node.type != "parameter_list":
        return [Type(function.path, node, given=function.given)]
    return _expand(function, node)


def _expand(function: Type, listed: Node | None) -> list[Type]:
    found: list[Type] = []
    for child in listed.named_children if listed is not None else ():
        written = child.child_by_field_name("type")
        if written is not None:
            items = child.type == "variadic_parameter_declaration"
            count = max(1, len(child.children_by_field_name("name")))
            found += [Type(function.path, written, items, function.given)] * count
    return found


def first_child(node: Node) -> Node | None:
    """Return the first named child of a node that is no comment."""
    return next((child for child in node.named_children if child.type != "comment"), None)


def text_of(node: Node | None) -> str:
    """Return the text of a node."""
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""
