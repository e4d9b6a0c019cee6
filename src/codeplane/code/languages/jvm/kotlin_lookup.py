"""The variables, functions and members of Kotlin that a name means, by scopes, receivers, packages and imports."""

from abc import ABC, abstractmethod
from collections.abc import Iterator

from codeplane.code.entity import Bound, Outside
from codeplane.code.languages.declared_type import Type
from codeplane.code.languages.jvm.java_classes import Node, may_have, text
from codeplane.code.languages.jvm.java_lookup import Found, plain_name
from codeplane.code.languages.jvm.java_processors import modifiers
from codeplane.code.languages.jvm.kotlin_classes import KotlinClasses, child_of, children_of, is_kotlin
from codeplane.code.languages.jvm.kotlin_library import ANY_MEMBERS, MEMBERS, is_subtype
from codeplane.code.languages.member_resolver import CodeView
from codeplane.code.model import REASONS, Definition, Facts

_PARAM, _LOCAL = REASONS.index("PARAM"), REASONS.index("LOCAL_ASSIGN")
_TOP_LEVEL = frozenset({"constant", "function", "variable"})
_CALLABLE = frozenset({"constant", "enum_member", "field", "function", "method", "object", "variable"})
_FUNCTIONS = frozenset({"function", "method"})
_BODIES = frozenset({"class_body", "enum_class_body"})
_HEADS = frozenset({"delegation_specifier", "primary_constructor"})
_INSIDE = frozenset({"function_declaration", "getter", "secondary_constructor", "setter"})


class KotlinLookup(ABC):
    """Finds variables, functions and members; a subclass finds the types of expressions."""

    def __init__(self, view: CodeView, classes: KotlinClasses) -> None:
        self._view = view
        self._classes = classes
        self._tops: dict[str, list[tuple[str, Bound]]] = {}
        self._overloads: dict[Bound, tuple[Bound, ...]] = {}
        self._extending: dict[str, tuple[Bound, ...]] = {}

    @abstractmethod
    def of(self, path: str, node: Node | None) -> Type | None:
        """Return the type of an expression."""

    @abstractmethod
    def lambda_receiver(self, path: str, made: Node) -> tuple[Type | None, ...]:
        """Return the receiver of a lambda: nothing if it has none, None if that is not known."""

    def receivers(self, path: str, node: Node) -> Iterator[tuple[Type | None, bool]]:
        """Yield what a bare name may be a member of, the innermost first, and whether it is there without a value."""
        static, around, inner = False, node.parent, node
        while around is not None:
            if around.type == "lambda_literal":
                yield from ((receiver, False) for receiver in self.lambda_receiver(path, around))
            elif around.type in ("anonymous_function", "function_declaration"):
                written = around.child_by_field_name("receiver")
                if written is not None and inner != written:
                    yield self._classes.read(path, written), False
            elif around.type in ("getter", "setter", "property_declaration"):
                written = receiver_of_property(around)
                if written is not None and inner != written:
                    yield self._classes.read(path, written), False
            elif around.type == "class_declaration" and inner.type in _HEADS:
                # The head of a class sees its companion, and no members.
                of = self.class_of_body(path, inner)
                if of is not None:
                    yield self.this(of), True
            elif around.type in _BODIES and around.parent is not None:
                of = self.class_of_body(path, around)
                if of is not None:
                    yield self.this(of), static
                static = static or not _is_inner(around.parent)
            inner, around = around, around.parent

    def class_of_body(self, path: str, body: Node) -> Bound | None:
        """Return the class that a body belongs to; that of an entry is its enum."""
        facts = self._view.facts(path)
        scope = facts.scope_at(body.start_byte) if facts is not None else 0
        if facts is None or facts.scopes[scope].kind != "class":
            return None
        return self._classes.of_scope(path, facts, scope)

    def this(self, of: Bound) -> Type:
        """Return a class as it is inside of itself."""
        return Type(of, tuple(Type(parameter) for parameter in self._classes.parameters(of)))

    def resolve_bare_name(self, path: str, node: Node, name: str, call: Node | None = None) -> Found | None:
        """Return the variable, function or member that a bare name means; None if the repository has none there."""
        facts = self._view.facts(path)
        if facts is None:
            return None
        local = self._local(path, facts, node, name)
        if local is not None:
            return Found((local,), True)
        certain = True
        for receiver, static in self.receivers(path, node):
            if receiver is None:
                certain = False
                continue
            found = self.member(receiver, name, static=static)
            fitting = self._applicable_functions(found, call)
            if fitting.bounds:
                return Found(fitting.bounds, certain and fitting.certain, fitting.owner)
            if found.outside and isinstance(receiver.of, Outside) and name in MEMBERS.get(plain_name(receiver), ()):
                return Found((), certain, None, found.outside)
            certain = certain and not found.outside
        top = self.top(path, facts, name)
        if top is None:
            return None if certain else Found()
        top = self._applicable_functions(top, call)
        return Found(top.bounds, certain and top.certain, top.owner, top.outside)

    def _local(self, path: str, facts: Facts, node: Node, name: str) -> Bound | None:
        offset = node.start_byte
        scope = facts.scope_at(offset)
        while scope > 0:
            for row in facts.rows(scope, name):
                at, reason = facts.bind_at(row), facts.bind_reason(row)
                if facts.scopes[scope].kind == "class":
                    is_seen = reason == _PARAM and self._sees_parameter(path, at, node)
                elif reason == _PARAM:
                    is_seen = not self._classes.is_variable_of_type(path, at, name)
                else:
                    is_seen = self._is_declared_by(path, at, offset, name)
                if is_seen:
                    return Bound(path, scope, name)
            scope = facts.scopes[scope].parent
        return None

    def _is_declared_by(self, path: str, at: int, offset: int, name: str) -> bool:
        """Whether a local name is known at a place: not above its declaration, nor in the value it is given."""
        if at >= offset:
            return at == offset
        node = self._view.node(path, at, at + len(name.encode()))
        while node is not None and node.type not in ("property_declaration", "for_statement", "when_subject"):
            if node.type in ("function_declaration", "class_declaration", "object_declaration"):
                return True
            node = node.parent
        return node is None or node.type == "for_statement" or offset >= node.end_byte

    def _sees_parameter(self, path: str, at: int, node: Node) -> bool:
        """Whether a parameter of a class that is no property is known at a place: not inside of its functions."""
        made = self._view.node(path, at, at + 1)
        while made is not None and made.type != "class_declaration":
            if made.type == "type_parameter":
                return False
            made = made.parent
        around: Node | None = node
        while around is not None and around != made:
            if around.type in _INSIDE:
                return False
            around = around.parent
        return True

    def member(self, of: Type, name: str, *, static: bool = False) -> Found:
        """Return the members of a type under a name, those of the nearest ancestor that has any."""
        if isinstance(of.of, Outside):
            return Found((), False, None, of.of.source if may_have_kotlin(of.of.source, name) else "")
        outside = ""
        for ancestor in self._classes.ancestors(of):
            if isinstance(ancestor.of, Outside):
                outside = outside or (ancestor.of.source if may_have_kotlin(ancestor.of.source, name) else "")
                continue
            if not isinstance(ancestor.of, Bound) or not self._classes.is_class(ancestor.of):
                continue
            held = self._classes.companion(ancestor.of)
            here = ancestor.of if not static or self._has_values(ancestor.of, name) else None
            for owner in (here, held):
                if owner is not None and any(
                    definition.kind in _CALLABLE for definition in self._classes.declarations(owner, name)
                ):
                    bound = Bound(owner.file, self._classes.body(owner), name)
                    return Found((bound,), True, ancestor if owner == ancestor.of else Type(owner))
            if held is not None and len(self._classes.supers(held)) > 1:
                found = self.member(Type(held), name)
                if found.bounds:
                    return found
        whole = self._classes.is_whole(of)
        return Found((), False, None, outside or ("" if whole else "a base that is not known"))

    def _has_values(self, of: Bound, name: str) -> bool:
        """Whether a type has a member without a value: an object's, an entry of an enum, or one of Java."""
        if not is_kotlin(of.file) or self._classes.is_object(of):
            return True
        return any(definition.kind in ("enum_member", "object") for definition in self._classes.declarations(of, name))

    def _applicable_functions(self, found: Found, call: Node | None) -> Found:
        """Return what was found without the functions that do not take the arguments of a call."""
        if call is None or not found.bounds:
            return found
        bounds = tuple(bound for bound in found.bounds if self._may_call(bound, call))
        certain = found.certain or (bool(bounds) and self.is_one(bounds))
        return Found(bounds, certain, found.owner, found.outside if not bounds else "")

    def _may_call(self, bound: Bound, call: Node) -> bool:
        listed = [definition for _, definition in self._view.definitions(bound)]
        functions = [definition for definition in listed if definition.kind in _FUNCTIONS]
        if len(functions) < len(listed) or not is_kotlin(bound.file) or not listed:
            return True
        return any(self.takes(bound.file, function, call) for function in functions)

    def takes(self, path: str, function: Definition, call: Node) -> bool:
        """Whether a function can be called with as many arguments."""
        listed = self.parameters(path, function)
        count = len(values_of(call))
        least = sum(not has_default(parameter) and not is_rest(parameter) for parameter in listed)
        if modifiers(self._classes.declaration(path, function)) & {"override", "actual"}:
            # It has the defaults of what it overrides, and may not repeat them.
            least = 0
        return least <= count and (count <= len(listed) or any(is_rest(parameter) for parameter in listed))

    def parameters(self, path: str, function: Definition) -> list[Node]:
        """Return the parameters of a function."""
        made = self._classes.declaration(path, function)
        return children_of(child_of(made, "function_value_parameters"), "parameter")

    def top(self, path: str, facts: Facts, name: str, *, extensions: bool = False) -> Found | None:
        """Return the functions and variables outside of classes that a name means, by imports and packages."""
        package = self._classes.package(path)
        for import_ in facts.imports:
            if import_.local != name or import_.imported == "*":
                continue
            found = self.find_in_source(import_.source, import_.imported)
            if found:
                return Found(found, self.is_one(found))
            if not self._classes.resolve_full_name(f"{import_.source}.{import_.imported}"):
                return Found((), True, None, import_.source)
        beside = self.callables(package, name)
        if len(beside) > 1:
            beside = self._known_in(path, beside)
        if beside:
            return Found(beside, self.is_one(beside))
        stars: list[Bound] = []
        for import_ in facts.imports:
            stars += self.find_in_source(import_.source, name) if import_.imported == "*" else ()
        return Found(tuple(dict.fromkeys(stars)), self.is_one(tuple(dict.fromkeys(stars)))) if stars else None

    def _known_in(self, path: str, declared: tuple[Bound, ...]) -> tuple[Bound, ...]:
        """Return the declarations of a package that a file sees: nothing private, or of a program beside its own."""
        mine = next((bound for bound in declared if bound.file == path), None)
        found = []
        for bound in declared:
            is_hidden = self._classes.is_private(bound) or (mine is not None and self._are_apart(mine, bound))
            if bound == mine or not is_hidden:
                found.append(bound)
        return tuple(found)

    def find_in_source(self, source: str, name: str) -> tuple[Bound, ...]:
        """Return what a package or a type gives under a name: functions, variables, members without a value."""
        found = list(self.callables(source, name))
        for owner in self._classes.resolve_full_name(source):
            member = self.member(Type(owner), name, static=True)
            found += member.bounds
        return tuple(dict.fromkeys(found))

    def callables(self, package: str, name: str) -> tuple[Bound, ...]:
        """Return the functions and variables of a package under a name."""
        if name not in self._tops:
            found = []
            for path, position in self._view.find_definitions(name)[0]:
                facts = self._view.facts(path) if is_kotlin(path) else None
                if facts is None or position >= len(facts.definitions):
                    continue
                definition = facts.definitions[position]
                if definition.scope == 0 and definition.kind in _TOP_LEVEL:
                    found.append((self._classes.package(path), Bound(path, 0, name)))
            self._tops[name] = found
        return tuple(dict.fromkeys(bound for where, bound in self._tops[name] if where == package))

    def is_one(self, bounds: tuple[Bound, ...]) -> bool:
        """Whether some declarations are one symbol: one, one that platforms make, or overloads of one package."""
        if len(bounds) == 1 or all(self._classes.is_for_platforms(bound) for bound in bounds):
            return True
        return bool(bounds) and set(bounds) <= {bounds[0], *self.overloads(bounds[0])}

    def overloads(self, of: Bound) -> tuple[Bound, ...]:
        """Return the functions of a package, in other files than one, that a call may mean as well as that one.

        Like those of one file they are told apart by the types of arguments alone: they have the same receiver, or
        one that extends it.
        """
        if of not in self._overloads:
            package = self._classes.package(of.file)
            rest = [bound for bound in self.callables(package, of.name) if not self._classes.is_private(bound)]
            found, waiting = [of], [of] if of in rest else []
            while waiting:
                current = waiting.pop()
                near = [bound for bound in rest if bound not in found and self._overlap(current, bound)]
                found += near
                waiting += near
            self._overloads[of] = tuple(found[1:])
        return self._overloads[of]

    def _overlap(self, one: Bound, other: Bound) -> bool:
        """Whether functions of two files may be meant by the same call."""
        if self._are_apart(one, other):
            return False
        mine, others = self._receivers_of(one), self._receivers_of(other)
        return any(self._may_be_one(receiver, another) for receiver in mine for another in others)

    def _may_be_one(self, one: Type | None, other: Type | None) -> bool:
        """Whether a value may be of two types of receivers; None is no receiver."""
        if one is None or other is None:
            return one is other
        return self._is_above(one, other) or self._is_above(other, one)

    def _are_apart(self, one: Bound, other: Bound) -> bool:
        """Whether functions are of programs that are not compiled together, since both take the same."""
        if self._classes.is_for_platforms(one) or self._classes.is_for_platforms(other):
            return False
        return not self._signatures(one).isdisjoint(self._signatures(other))

    def _signatures(self, of: Bound) -> set[tuple[str, ...]]:
        """Return the receivers and the types of parameters, as they are written, that a name has in a file."""
        found = set()
        for _, definition in self._view.definitions(of):
            made = self._classes.declaration(of.file, definition)
            written = made.child_by_field_name("receiver") if made is not None else None
            kinds = [parameter.named_children[-1] for parameter in self.parameters(of.file, definition)]
            callable_ = "function" if definition.kind in _FUNCTIONS else "value"
            found.add((callable_, text(written), *("".join(text(kind).split()) for kind in kinds)))
        return found

    def _receivers_of(self, of: Bound) -> list[Type | None]:
        """Return the receivers of a file's functions of one name, None for one without; nothing if one is not known."""
        found: list[Type | None] = []
        for _, definition in self._view.definitions(of):
            made = self._classes.declaration(of.file, definition)
            if definition.kind not in _FUNCTIONS or made is None:
                return []
            written = made.child_by_field_name("receiver")
            read = self._classes.read(of.file, written) if written is not None else None
            if written is not None and (read is None or not self._is_class(read)):
                return []
            found.append(read)
        return found

    def _is_class(self, of: Type) -> bool:
        return isinstance(of.of, Outside) or (isinstance(of.of, Bound) and self._classes.is_class(of.of))

    def _is_above(self, of: Type, below: Type) -> bool:
        """Whether a type is another, or certainly one that it extends."""
        above = self._classes.ancestors(below)
        if isinstance(of.of, Bound):
            parts = self._classes.parts(of.of)
            return any(ancestor.of in parts for ancestor in above)
        names = [plain_name(ancestor) for ancestor in above if isinstance(ancestor.of, Outside)]
        return plain_name(of) != "Any" and any(is_subtype(name, plain_name(of)) for name in names)

    def extension(self, path: str, of: Type | None, name: str, call: Node | None) -> Found | None:
        """Return the extension of a name that fits a receiver; None if none is known at the place."""
        facts = self._view.facts(path)
        if facts is None:
            return None
        top = self.top(path, facts, name)
        members = self._member_extensions(name)
        bounds = [*(top.bounds if top is not None else ()), *members]
        doubtful = False
        fitting: list[Bound] = []
        for bound in bounds:
            fits = [
                self._extends(bound, definition, of)
                for _, definition in self._view.definitions(bound)
                if call is None or definition.kind not in _FUNCTIONS or self.takes(bound.file, definition, call)
            ]
            if any(fit is not False for fit in fits):
                fitting.append(bound)
                is_near = bound not in members or (call is not None and self._is_in(path, facts, call, bound))
                doubtful = doubtful or True not in fits or not is_near
        if not fitting:
            return None
        found = tuple(fitting)
        return Found(found, not doubtful and self.is_one(found))

    def _member_extensions(self, name: str) -> tuple[Bound, ...]:
        """Return the extensions of a name that classes declare, which are known wherever an instance is `this`."""
        if name not in self._extending:
            found = []
            for path, position in self._view.find_definitions(name)[0]:
                facts = self._view.facts(path) if is_kotlin(path) else None
                definition = facts.definitions[position] if facts and position < len(facts.definitions) else None
                if facts is None or definition is None or facts.scopes[definition.scope].kind != "class":
                    continue
                made = self._classes.declaration(path, definition)
                if made is not None and made.child_by_field_name("receiver") is not None:
                    found.append(Bound(path, definition.scope, name))
            self._extending[name] = tuple(dict.fromkeys(found))
        return self._extending[name]

    def _is_in(self, path: str, facts: Facts, call: Node, member: Bound) -> bool:
        """Whether a call stands in the class of a member."""
        scope = facts.scope_at(call.start_byte) if member.file == path else -1
        while scope >= 0 and scope != member.scope:
            scope = facts.scopes[scope].parent
        return scope == member.scope

    def _extends(self, bound: Bound, definition: Definition, of: Type | None) -> bool | None:
        """Whether a declaration is an extension of a type; None if that is not known."""
        made = self._classes.declaration(bound.file, definition) if is_kotlin(bound.file) else None
        written = made.child_by_field_name("receiver") if made is not None else None
        if written is None:
            return False
        wanted = self._classes.read(bound.file, written)
        if of is None or wanted is None:
            return None
        if isinstance(wanted.of, Bound) and not self._classes.is_class(wanted.of):
            # A type variable takes what its bounds take.
            wanted = next(iter(self._classes.bounds(wanted.of)), None)
            if wanted is None:
                return None
        above = self._classes.ancestors(of)
        if isinstance(wanted.of, Bound):
            parts = self._classes.parts(wanted.of)
            if any(ancestor.of in parts for ancestor in above):
                return True
            known = self._classes.is_whole(of) and not any(isinstance(ancestor.of, Outside) for ancestor in above[:1])
            return False if known or plain_name(of) in ("Any", "String") else None
        answers = [
            is_subtype(plain_name(ancestor), plain_name(wanted))
            for ancestor in above
            if isinstance(ancestor.of, Outside)
        ]
        if True in answers:
            return True
        return None if None in answers else False


def may_have_kotlin(outside: str, name: str) -> bool:
    """Whether a type from outside may have a member of a name."""
    simple = outside.rpartition(".")[2]
    known = MEMBERS.get(simple)
    return name in ANY_MEMBERS or (name in known if known is not None else may_have(simple, name))


def receiver_of_property(node: Node) -> Node | None:
    """Return the receiver that a property, or that of an accessor, is declared with."""
    if node.type != "property_declaration":
        before = node.prev_named_sibling
        while before is not None and before.type in ("getter", "setter", "line_comment", "multiline_comment"):
            before = before.prev_named_sibling
        around = node.parent
        node = around if around is not None and around.type == "property_declaration" else before or node
    return node.child_by_field_name("receiver") if node.type == "property_declaration" else None


def values_of(call: Node) -> list[Node]:
    """Return the arguments of a call, with the lambda behind it."""
    suffix = child_of(call, "call_suffix")
    listed = child_of(suffix, "value_arguments") if suffix is not None else child_of(call, "value_arguments")
    trailing = child_of(suffix, "annotated_lambda")
    return [*children_of(listed, "value_argument"), *([trailing] if trailing is not None else [])]


def has_default(parameter: Node) -> bool:
    """Whether a parameter may be left out."""
    following = parameter.next_sibling
    return following is not None and following.type == "="


def is_rest(parameter: Node) -> bool:
    """Whether a parameter takes any number of arguments."""
    before = parameter.prev_named_sibling
    return before is not None and before.type == "parameter_modifiers" and "vararg" in text(before).split()


def _is_inner(node: Node) -> bool:
    """Whether a class has the values of the class around it."""
    if node.type in ("object_literal", "enum_entry"):
        return True
    return node.type == "class_declaration" and "inner" in modifiers(node)
