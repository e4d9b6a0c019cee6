"""The variables and members of C# that a name means, by scopes, inheritance and extension methods."""

from abc import ABC, abstractmethod

from msgspec import Struct

from codeplane.code.entity import Bound, Outside
from codeplane.code.languages.declared_type import Type
from codeplane.code.languages.dotnet.classes import CSharpClasses, Node, text
from codeplane.code.languages.dotnet.library import (
    OBJECT_MEMBERS,
    is_enumerable,
    is_interface,
    is_of_query,
    may_have,
)
from codeplane.code.languages.member_resolver import CodeView
from codeplane.code.model import REASONS, Definition, Facts

_VARIABLES = frozenset({REASONS.index("PARAM"), REASONS.index("LOCAL_ASSIGN")})


class Found(Struct, frozen=True):
    """A member or variable: the bindings it may be, whether nothing else may, and what type has it."""

    bounds: tuple[Bound, ...] = ()
    certain: bool = False
    owner: Type | None = None
    outside: str = ""
    """The type from outside that has it, if none of the repository does."""


class CSharpLookup(ABC):
    """Finds variables and members; a subclass finds their types."""

    def __init__(self, view: CodeView, classes: CSharpClasses) -> None:
        self._view = view
        self._classes = classes

    @abstractmethod
    def of(self, path: str, node: Node | None) -> Type | None:
        """Return the type of an expression."""

    def resolve_bare_name(self, path: str, offset: int, name: str, arguments: Node | None = None) -> Found | None:
        """Return the variable, function or member that a bare name means; None if there is none."""
        facts = self._view.facts(path)
        scope, certain = facts.scope_at(offset) if facts is not None else 0, True
        while facts is not None and scope > 0:
            kind = facts.scopes[scope].kind
            if kind in ("class", "enum"):
                of = self._classes.of_scope(path, facts, scope)
                found = self.member(path, Type(of), name, arguments) if of.name else Found()
                if found.bounds:
                    return Found(found.bounds, certain and found.certain, found.owner)
                if certain and of.name and self._classes.nested_type(of, name):
                    return None
                certain = certain and not found.outside and self._classes.is_whole(Type(of))
            elif kind != "namespace" and self._is_variable(path, facts, scope, name):
                return Found((Bound(path, scope, name),), certain)
            scope = facts.scopes[scope].parent
        brought = self._static(facts, name) if facts is not None else None
        if brought is not None and brought.outside and certain and self._is_type(path, offset, name):
            # What `using static` might bring as well would be ambiguous.
            return None
        if brought is not None:
            return Found(brought.bounds, certain and brought.certain, brought.owner, brought.outside)
        return None if certain else Found((), False)

    def _is_type(self, path: str, offset: int, name: str) -> bool:
        """Whether a name is that of a type of the repository at a place."""
        return any(isinstance(entity, Bound) for entity in self._classes.resolve_type(path, offset, name))

    def _is_variable(self, path: str, facts: Facts, scope: int, name: str) -> bool:
        if any(facts.definitions[index].kind == "function" for index in facts.definitions_in(scope, name)):
            return True
        rows = (row for row in facts.rows(scope, name) if facts.bind_reason(row) in _VARIABLES)
        return any(not self._classes.is_parameter(path, facts.bind_at(row), name) for row in rows)

    def _static(self, facts: Facts, name: str) -> Found | None:
        """Return the member that `using static` brings."""
        unknown = ""
        for import_ in facts.imports:
            if import_.kind != "csharp_using_static":
                continue
            owners = self._classes.resolve_full_name(import_.source)
            unknown = unknown if owners else import_.source
            found = self._classes.declarations(owners[0], name) if owners and owners[0].name != name else []
            if found:
                return Found(tuple(dict.fromkeys(bound for bound, _ in found)), True, Type(owners[0]))
        return Found((), False, None, unknown) if unknown else None

    def member(self, path: str, of: Type, name: str, arguments: Node | None = None) -> Found:
        """Return the member of a type: several where their parameters do not tell them apart."""
        outside = ""
        having: list[tuple[Type, Bound, Definition]] = []
        for ancestor in self._classes.ancestors(of):
            if isinstance(ancestor.of, Outside):
                own = may_have(ancestor.of.source, name) and not is_interface(ancestor.of.source)
                outside = outside or (ancestor.of.source if own else "")
            elif isinstance(ancestor.of, Bound) and self._classes.is_class(ancestor.of):
                # Constructors have the name of their class, and are no members that are reached by it.
                having += (
                    (ancestor, bound, definition)
                    for bound, definition in self._classes.declarations(ancestor.of, name)
                    if definition.kind not in ("constructor", "method") or name != ancestor.of.name
                )
        if not having:
            return Found((), False, None, outside if self._classes.is_whole(of) else "")
        first = having[0]
        nearest = [candidate for candidate in having if candidate[0] == first[0]]
        if first[2].kind != "method" or len(nearest) == len(having):
            return Found(tuple(dict.fromkeys(bound for _, bound, _ in nearest)), True, first[0])
        return self._overload(having, arguments)

    def _overload(self, having: list[tuple[Type, Bound, Definition]], arguments: Node | None) -> Found:
        """Return the methods of several classes that a call may mean; the nearest that fits hides those it repeats."""
        fitting = [
            candidate
            for candidate in having
            if arguments is None or self._takes(candidate[1].file, candidate[2], arguments)
        ] or having
        shapes: dict[tuple[str, ...], tuple[Type, Bound, Definition]] = {}
        for candidate in fitting:
            shapes.setdefault(self.parameter_types(candidate[1].file, candidate[2]), candidate)
        bounds = tuple(dict.fromkeys(bound for _, bound, _ in shapes.values()))
        return Found(bounds, len(bounds) == 1 or arguments is None, fitting[0][0])

    def extension(self, path: str, of: Type | None, name: str) -> Found | None:
        """Return the extension method of a name that fits a receiver; None if the repository has none."""
        found: list[tuple[Bound, Definition]] = []
        for where, position in self._view.find_definitions(name)[0]:
            facts = self._view.facts(where) if where.endswith((".cs", ".csx")) else None
            if facts is None or position >= len(facts.definitions):
                continue
            definition = facts.definitions[position]
            if definition.kind == "method" and self.is_extension(where, definition):
                found.append((Bound(where, definition.scope, name), definition))
        if not found:
            return None
        bounds = tuple(dict.fromkeys(bound for bound, _ in found))
        wanted = [self._first_type(bound.file, method) for bound, method in found]
        certain = of is not None and len(bounds) == 1 and any(self._fits(of, type_, name) for type_ in wanted)
        return Found(bounds, certain, None)

    def _first_type(self, path: str, method: Definition) -> Type | None:
        first = self._parameters(path, method)[0]
        return self._classes.read(path, first.child_by_field_name("type"))

    def _fits(self, of: Type, wanted: Type | None, name: str) -> bool:
        if wanted is not None and simple_name(wanted) == "IEnumerable" and not wanted.dims and not is_of_query(name):
            # Arguments distinguish them from methods that queries have as well.
            return bool(of.dims) or (isinstance(of.of, Outside) and is_enumerable(simple_name(of)))
        if wanted is None or of.dims != wanted.dims:
            return False
        if isinstance(of.of, Outside) and isinstance(wanted.of, Outside):
            return simple_name(of) == simple_name(wanted)
        above = [ancestor.of for ancestor in self._classes.ancestors(of)]
        parts = self._classes.parts(wanted.of) if isinstance(wanted.of, Bound) else (wanted.of,)
        return any(entity in parts for entity in above)

    def _takes(self, path: str, method: Definition, arguments: Node) -> bool:
        listed, count = self._parameters(path, method), len(values_of(arguments))
        least = sum(all(mark.type != "=" for mark in entry.children) for entry in listed)
        # What an extension method extends may stand before it.
        most = count + self.is_extension(path, method)
        return (least <= most and count <= len(listed)) or self._has_rest(path, method)

    def is_extension(self, path: str, method: Definition) -> bool:
        """Whether a method extends the type of its first parameter."""
        first = self._parameters(path, method)[:1]
        return bool(first) and any(text(mark) == "this" for mark in first[0].children if mark.type == "modifier")

    def _has_rest(self, path: str, method: Definition) -> bool:
        listed = self._list(path, method)
        return listed is not None and any(child.type in ("params", "modifier") and text(child) == "params"
                                          for child in listed.children)  # fmt: skip

    def _list(self, path: str, method: Definition) -> Node | None:
        node = self._view.node(path, method.name_at, method.name_at + len(method.name.encode()))
        return node.parent.child_by_field_name("parameters") if node is not None and node.parent is not None else None

    def _parameters(self, path: str, method: Definition) -> list[Node]:
        listed = self._list(path, method)
        return [child for child in listed.named_children if child.type == "parameter"] if listed is not None else []

    def parameter_types(self, path: str, method: Definition) -> tuple[str, ...]:
        """Return the types of a method's parameters as they are written, for comparison."""
        return tuple(
            "".join(text(parameter.child_by_field_name("type")).split()) for parameter in self._parameters(path, method)
        )


def values_of(arguments: Node | None) -> list[Node]:
    """Return the arguments of a call."""
    return [child for child in arguments.named_children if child.type == "argument"] if arguments is not None else []


def simple_name(of: Type | None) -> str:
    """Return the name of a type without its namespace; empty if it is not known."""
    if of is None:
        return ""
    name = of.of.name if isinstance(of.of, Bound) else of.of.source if isinstance(of.of, Outside) else ""
    return name.rpartition(".")[2]


def is_of_object(name: str) -> bool:
    """Whether every object has a member of that name."""
    return name in OBJECT_MEMBERS
