"""The variables, fields and methods of Java that a name means, by scopes and inheritance."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from msgspec import Struct

from codeplane.code.entity import Bound, Outside
from codeplane.code.languages.declared_type import Type
from codeplane.code.languages.jvm.java_classes import FIELDS, JavaClasses, Node, is_of_object, may_have, text
from codeplane.code.languages.member_resolver import CodeView
from codeplane.code.model import REASONS, Definition, Facts, Import

_PARAM, _LOCAL = REASONS.index("PARAM"), REASONS.index("LOCAL_ASSIGN")

_ABOVE_STRING = frozenset({"CharSequence", "Comparable", "Constable", "Object", "Serializable", "String"})
_ABOVE_CLASS = frozenset(
    {"AnnotatedElement", "Class", "Constable", "GenericDeclaration", "Object", "OfField", "Serializable", "Type",
     "TypeDescriptor"}
)  # fmt: skip
_OTHERS = frozenset(
    {"Class", "List", "Map", "Set", "boolean", "byte", "char", "double", "float", "int", "long", "short"}
)


class Found(Struct, frozen=True):
    """A member: the bindings it may be (the nearest first), whether nothing else may, and what type has it."""

    bounds: tuple[Bound, ...] = ()
    certain: bool = False
    owner: Type | None = None
    outside: str = ""
    """The type from outside that has it, if none of the repository does."""


class _Method(Struct, frozen=True):
    owner: Type
    bound: Bound
    definition: Definition


class JavaLookup(ABC):
    """Finds variables and members; a subclass finds their types."""

    def __init__(self, view: CodeView, classes: JavaClasses) -> None:
        self._view = view
        self._classes = classes

    @abstractmethod
    def of(self, path: str, node: Node | None) -> Type | None:
        """Return the type of an expression."""

    def variable(self, path: str, offset: int, name: str) -> Found | None:
        """Return the variable or field that a bare name means; None if there is none."""
        facts = self._view.facts(path)
        scope, certain = facts.scope_at(offset) if facts is not None else 0, True
        while facts is not None and scope > 0:
            if facts.scopes[scope].kind == "class":
                of = self._classes.of_scope(path, facts, scope)
                found = self.field(Type(of), name)
                if found.bounds:
                    return Found(found.bounds, certain and found.certain, found.owner)
                certain = certain and self._is_known(Type(of))
            elif any(self._is_visible(path, facts, row, offset, name) for row in facts.rows(scope, name)):
                return Found((Bound(path, scope, name),), certain)
            scope = facts.scopes[scope].parent
        brought = self._static(facts, name, FIELDS) if facts is not None else None
        if facts is not None and brought is not None and brought.outside and not self._is_imported(facts, name):
            types = self._classes.resolve_type(path, offset, name)
            if any(isinstance(entity, Bound) for entity in types):
                # What `import static Outside.*` brings has capitals alone, or is no type's name.
                return Found((), False) if name.isupper() else None
        return brought

    def _is_imported(self, facts: Facts, name: str) -> bool:
        return any("static" in import_.kind and import_.local == name for import_ in facts.imports)

    def _is_visible(self, path: str, facts: Facts, row: int, offset: int, name: str) -> bool:
        """Whether a binding in a block is a variable that is declared above a place."""
        reason, at = facts.bind_reason(row), facts.bind_at(row)
        if reason == _LOCAL:
            return at <= offset
        return reason == _PARAM and not self._classes.is_variable_of_type(path, at, name)

    def _is_known(self, of: Type) -> bool:
        """Whether no type from outside may bring fields that are not known."""
        above = self._classes.ancestors(of)
        bases = [ancestor for ancestor in above if isinstance(ancestor.of, Outside)]
        return self._classes.is_whole(of) and not any(may_have(_source(base), "") for base in bases)

    def bare_method(self, path: str, offset: int, name: str, arguments: Node | None) -> Found | None:
        """Return the method that a call without a receiver means."""
        certain = True
        for of in self._classes.enclosing_classes(path, offset):
            found = self.method(path, Type(of), name, arguments)
            if found.bounds:
                return Found(found.bounds, certain and found.certain, found.owner)
            if is_of_object(name):
                return Found((), True, None, "Object")
            certain = certain and not found.outside and self._classes.is_whole(Type(of))
        facts = self._view.facts(path)
        brought = self._static(facts, name, frozenset({"method"})) if facts is not None else None
        if brought is not None:
            return Found(brought.bounds, certain and brought.certain, brought.owner, brought.outside)
        return None if certain else Found((), False, None)

    def _static(self, facts: Facts, name: str, kinds: frozenset[str]) -> Found | None:
        """Return the member of a name that `import static` brings."""
        listed: list[Import] = [import_ for import_ in facts.imports if "static" in import_.kind]
        for entry in listed:
            if entry.local == name:
                meant = self._classes.resolve_import(entry)
                bounds = tuple(entity for entity in meant if isinstance(entity, Bound) and self._is_a(entity, kinds))
                if bounds:
                    return Found(bounds, len(bounds) == 1, Type(self._owner(bounds[0])))
                if any(isinstance(entity, Outside) for entity in meant):
                    return Found((), True, None, entry.source)
        found: list[Bound] = []
        unknown = ""
        for entry in listed:
            if entry.imported != "*":
                continue
            owners = self._classes.resolve_full_name(entry.source)
            unknown = unknown if owners else entry.source
            for owner in owners:
                member = self.member(Type(owner), name, kinds)
                found += member.bounds[:1]
        if found:
            return Found(tuple(dict.fromkeys(found)), len(set(found)) == 1, Type(self._owner(found[0])))
        return Found((), True, None, unknown) if unknown else None

    def _is_a(self, bound: Bound, kinds: frozenset[str]) -> bool:
        return any(definition.kind in kinds for _, definition in self._view.definitions(bound))

    def _owner(self, member: Bound) -> Bound:
        facts = self._view.facts(member.file)
        assert facts is not None
        return self._classes.of_scope(member.file, facts, member.scope)

    def field(self, of: Type, name: str) -> Found:
        """Return the field of a type."""
        return self.member(of, name, FIELDS)

    def member(self, of: Type, name: str, kinds: frozenset[str]) -> Found:
        """Return the nearest member of a type among some kinds."""
        outside = ""
        for ancestor in self._classes.ancestors(of):
            if isinstance(ancestor.of, Outside):
                outside = outside or (ancestor.of.source if may_have(ancestor.of.source, name) else "")
            elif isinstance(ancestor.of, Bound) and any(
                definition.kind in kinds for definition in self._classes.declarations(ancestor.of, name)
            ):
                return Found((Bound(ancestor.of.file, self._classes.body(ancestor.of), name),), True, ancestor)
        return Found((), False, None, outside)

    def method(self, path: str, of: Type, name: str, arguments: Node | None) -> Found:
        """Return the method of a type that a call means: several if their parameters do not tell them apart."""
        outside = ""
        having: list[_Method] = []
        for ancestor in self._classes.ancestors(of):
            if isinstance(ancestor.of, Outside):
                outside = outside or (ancestor.of.source if may_have(ancestor.of.source, name) else "")
            elif isinstance(ancestor.of, Bound):
                there = [
                    definition
                    for definition in self._classes.declarations(ancestor.of, name)
                    if definition.kind == "method"
                ]
                there = there or self._accessor(ancestor.of, name)
                bound = Bound(ancestor.of.file, self._classes.body(ancestor.of), name)
                having += (_Method(ancestor, bound, definition) for definition in there)
        if not having:
            return Found((), False, None, outside)
        bounds = tuple(dict.fromkeys(candidate.bound for candidate in having))
        if len(bounds) == 1:
            return Found(bounds, True, having[0].owner)
        fitting = self._applicable_methods(path, having, arguments)
        if not fitting:
            return Found(bounds, False, having[0].owner)
        return Found(tuple(dict.fromkeys(candidate.bound for candidate in fitting)), True, fitting[0].owner)

    def _applicable_methods(self, path: str, having: "list[_Method]", arguments: Node | None) -> "list[_Method]":
        """Return the methods that a call may mean, without those that a nearer type overrides."""
        found: dict[tuple[str, ...], _Method] = {}
        values = [self.of(path, argument) for argument in values_of(arguments)]
        for overload in having:
            if arguments is None or self._takes(overload.bound.file, overload.definition, len(values)):
                found.setdefault(self.parameter_types(overload.bound.file, overload.definition), overload)
        if arguments is None or len(found) < 2:
            return list(found.values())
        able = {kinds: method for kinds, method in found.items() if self._accepts(method, values)} or found
        names = [plain_name(value) for value in values]
        for kinds, overload in able.items():
            others = [other for other in able if able[other].bound != overload.bound]
            if all(_is_nearer(kinds, other, names) for other in others):
                return [overload]
        return list(able.values())

    def _accepts(self, method: "_Method", values: "Sequence[Type | None]") -> bool:
        """Whether no argument is of a class of the repository that a parameter does not take, or the other way."""
        for parameter, value in zip(self._parameters(method.bound.file, method.definition), values, strict=False):
            written = parameter.child_by_field_name("type")
            wanted = self._classes.read(method.bound.file, written)
            if parameter.type != "formal_parameter" or wanted is None or value is None or wanted.dims or value.dims:
                continue
            if isinstance(wanted.of, Bound) and self._classes.is_class(wanted.of):
                above = {ancestor.of for ancestor in self._classes.ancestors(value)}
                if wanted.of not in above and self._classes.is_whole(value):
                    return False
            elif isinstance(wanted.of, Outside) and (
                _differ(plain_name(wanted), value) or self._is_plain(wanted, value)
            ):
                return False
        return True

    def _is_plain(self, wanted: Type, value: Type) -> bool:
        """Whether a class of the repository builds on nothing from outside, and so is no other type from there."""
        if not isinstance(value.of, Bound) or not self._classes.is_class(value.of) or plain_name(wanted) == "Object":
            return False
        above = {
            plain_name(ancestor) for ancestor in self._classes.ancestors(value) if isinstance(ancestor.of, Outside)
        }
        return above <= {"Object"} and self._classes.is_whole(value)

    def _accessor(self, of: Bound, name: str) -> list[Definition]:
        """Return the component of a record, which is read by a method of its name."""
        facts, body = self._view.facts(of.file), self._classes.body(of)
        index = facts.scopes[body].definition if facts is not None and body >= 0 else -1
        head = facts.definitions[index] if facts is not None and index >= 0 else None
        if head is None or head.kind != "record":
            return []
        return [
            field
            for field in self._classes.declarations(of, name)
            if field.kind == "field" and field.name_at < head.body
        ]

    def is_component(self, member: Bound) -> bool:
        """Whether a member is a component of a record, or the method that reads it."""
        return self._view.facts(member.file) is not None and bool(self._accessor(self._owner(member), member.name))

    def _takes(self, path: str, method: Definition, count: int) -> bool:
        listed = self._parameters(path, method)
        if any(entry.type == "spread_parameter" for entry in listed):
            return count >= len(listed) - 1
        return count == len(listed)

    def _parameters(self, path: str, method: Definition) -> list[Node]:
        node = self._view.node(path, method.name_at, method.name_at + len(method.name.encode()))
        listed = node.parent.child_by_field_name("parameters") if node is not None and node.parent is not None else None
        found = listed.named_children if listed is not None else []
        return [parameter for parameter in found if parameter.type in ("formal_parameter", "spread_parameter")]

    def parameter_types(self, path: str, method: Definition) -> tuple[str, ...]:
        """Return the types of a method's parameters by their last names, without arguments, for comparison."""
        found = []
        for parameter in self._parameters(path, method):
            written = parameter.child_by_field_name("type")
            if written is None:
                written = next(
                    (
                        child
                        for child in parameter.named_children
                        if "type" in child.type or child.type == "type_identifier"
                    ),
                    None,
                )
            found.append(_simple_type_name(text(written)) + "[]" * (parameter.type == "spread_parameter"))
        return tuple(found)


def argument_count(arguments: Node | None) -> int:
    """Return how many arguments a call has."""
    return len(values_of(arguments))


def values_of(arguments: Node | None) -> list[Node]:
    """Return the arguments of a call."""
    children: Sequence[Node] = arguments.named_children if arguments is not None else ()
    return [child for child in children if not child.type.endswith("comment")]


def plain_name(of: Type | None) -> str:
    """Return the name of a type for comparison with written ones; empty if it is not known."""
    if of is None:
        return ""
    name = of.of.name if isinstance(of.of, Bound) else of.of.source if isinstance(of.of, Outside) else ""
    return name.rpartition(".")[2] + "[]" * of.dims


def _differ(wanted: str, value: Type) -> bool:
    """Whether a text or class is passed where none may be, or something else where only a text may be."""
    if plain_name(value) == "String":
        return wanted not in _ABOVE_STRING
    if plain_name(value) == "Class":
        return wanted not in _ABOVE_CLASS
    return wanted == "String" and (isinstance(value.of, Bound) or plain_name(value) in _OTHERS)


def _is_nearer(kinds: tuple[str, ...], others: tuple[str, ...], values: Sequence[str]) -> bool:
    """Whether parameters fit the arguments at least as exactly as others at every place."""
    if not len(kinds) == len(others) == len(values):
        return False
    return all(mine in (value, other) for mine, other, value in zip(kinds, others, values, strict=True))


def _source(of: Type) -> str:
    return of.of.source if isinstance(of.of, Outside) else ""


def _simple_type_name(written: str) -> str:
    """Return the last name of a written type, without arguments and spaces: `a.List<B>[]` is `List[]`."""
    out, depth = "", 0
    for sign in written:
        depth += (sign == "<") - (sign == ">")
        out += sign if depth == 0 and sign not in "> \n\t" else ""
    head, bracket, rest = out.partition("[")
    return head.rpartition(".")[2] + bracket + rest
