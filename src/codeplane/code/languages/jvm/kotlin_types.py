"""The types of Kotlin's expressions and variables, as far as declarations say them."""

from collections.abc import Sequence

from codeplane.code.entity import Bound, Entity, Outside
from codeplane.code.languages.declared_type import Type, substitute
from codeplane.code.languages.depth_limit import DepthLimit
from codeplane.code.languages.jvm.java_classes import FIELDS, Node, text
from codeplane.code.languages.jvm.java_library import result as java_result
from codeplane.code.languages.jvm.java_lookup import Found, plain_name
from codeplane.code.languages.jvm.kotlin_classes import KotlinClasses, child_of, is_kotlin
from codeplane.code.languages.jvm.kotlin_library import (
    ENTRIES,
    EXTENSION,
    FUNCTION,
    GIVES_BACK,
    GIVES_RESULT,
    ITEMS,
    MAPS,
    PLAIN,
    WITH_RECEIVER,
    is_mapping,
    made_by,
    passes_items,
    result,
)
from codeplane.code.languages.jvm.kotlin_lookup import KotlinLookup, values_of
from codeplane.code.languages.member_resolver import CodeView
from codeplane.code.model import REASONS, Definition

_PARAM = REASONS.index("PARAM")
_STRING, _BOOLEAN = Type(Outside("String")), Type(Outside("Boolean"))
_VALUES = {
    "string_literal": _STRING,
    "boolean_literal": _BOOLEAN,
    "check_expression": _BOOLEAN,
    "comparison_expression": _BOOLEAN,
    "conjunction_expression": _BOOLEAN,
    "disjunction_expression": _BOOLEAN,
    "equality_expression": _BOOLEAN,
    "integer_literal": Type(Outside("Int")),
    "long_literal": Type(Outside("Long")),
    "real_literal": Type(Outside("Double")),
    "character_literal": Type(Outside("Char")),
}
NAMES = frozenset({"interpolated_identifier", "simple_identifier"})
_MAX_CHECKS = 4_000


class KotlinTypes(KotlinLookup):
    """Finds the types of expressions and declarations."""

    def __init__(self, view: CodeView, classes: KotlinClasses) -> None:
        super().__init__(view, classes)
        self._declared: dict[tuple[str, int], Type | None] = {}
        self._depth = DepthLimit()

    def of(self, path: str, node: Node | None) -> Type | None:
        """Return the type of an expression."""
        return self._depth.read(self._of, path, node)

    def _of(self, path: str, node: Node) -> Type | None:
        if node.type in _VALUES:
            return _VALUES[node.type]
        match node.type:
            case "parenthesized_expression" | "value_argument" | "control_structure_body" | "statements":
                return self.of(path, node.named_children[-1]) if node.named_children else None
            case "simple_identifier" | "interpolated_identifier":
                return self._of_name(path, node)
            case "this_expression":
                return self.of_this(path, node)
            case "super_expression":
                return self._of_super(path, node)
            case "navigation_expression" | "directly_assignable_expression":
                found = self.accessed(path, node, None)
                return self.of_found(found) if found is not None and (found.certain or found.outside) else None
            case "call_expression":
                return self._of_call(path, node)
            case "as_expression":
                return self._classes.read(path, node.named_children[-1])
            case "postfix_expression":
                return self.of(path, node.named_children[0]) if text(node).endswith("!!") else None
            case "elvis_expression":
                return self.of(path, node.named_children[0])
            case "indexing_expression":
                return self._of_item(path, node)
            case "if_expression" | "when_expression" | "try_expression":
                return self._of_choice(path, node)
            case "object_literal":
                body = child_of(node, "class_body")
                of = self.class_of_body(path, body) if body is not None else None
                return Type(of) if of is not None else None
            case "infix_expression":
                return self._of_infix(path, node)
            case "prefix_expression" | "additive_expression" | "multiplicative_expression":
                kinds = [self.of(path, operand) for operand in node.named_children]
                if text(node).startswith("!"):
                    return _BOOLEAN
                return kinds[0] if kinds and all(_is_foreign(type_) for type_ in kinds) else None
        return None

    def _of_name(self, path: str, node: Node) -> Type | None:
        name = text(node)
        found = self.bare(path, node, name)
        if found is not None and (found.bounds or not found.certain):
            return self.of_found(found, node.start_byte) if found.certain else None
        if name == "it" and found is None:
            return self._of_it(path, node)
        named = self._classes.only(self._classes.named(path, node.start_byte, name))
        if isinstance(named, Bound) and self._classes.is_object(named):
            return Type(named)
        return Type(Outside(found.outside)) if found is not None and found.outside else None

    def of_found(self, found: Found, offset: int = -1) -> Type | None:
        """Return the type of a variable, property or function that was found."""
        if found.outside and not found.bounds:
            return Type(Outside(found.outside))
        kinds = [self._seen_from(found.owner, self.declared(bound, offset)) for bound in found.bounds]
        return _common(kinds)

    def _seen_from(self, owner: Type | None, of: Type | None) -> Type | None:
        if owner is None or of is None or not owner.args or not isinstance(owner.of, Bound):
            return of
        return substitute(of, dict(zip(self._classes.parameters(owner.of), owner.args, strict=False)))

    def declared(self, bound: Bound, offset: int = -1) -> Type | None:
        """Return the type that a variable or property is declared with; of several, the last above a place."""
        facts = self._view.facts(bound.file)
        if facts is None:
            return None
        if not is_kotlin(bound.file):
            return self._of_java(bound)
        places = [facts.bind_at(row) for row in facts.rows(bound.scope, bound.name)]
        above = [at for at in places if at <= offset] if offset >= 0 else places
        at = max(above or places, default=-1)
        key = (bound.file, at)
        if at >= 0 and key not in self._declared:
            self._declared[key] = None
            node = self._view.node(bound.file, at, at + len(bound.name.encode()))
            self._declared[key] = self._declaration(bound.file, node) if node is not None else None
        return self._declared.get(key)

    def _of_java(self, bound: Bound) -> Type | None:
        for _, definition in self._view.definitions(bound):
            if definition.kind in FIELDS:
                node = self._view.node(
                    bound.file, definition.name_at, definition.name_at + len(definition.name.encode())
                )
                made = node.parent.parent if node is not None and node.parent is not None else None
                return self._classes.read(bound.file, made.child_by_field_name("type")) if made is not None else None
        return None

    def _declaration(self, path: str, node: Node) -> Type | None:
        parent = node.parent
        match parent.type if parent is not None else "":
            case "parameter" | "class_parameter" | "catch_block":
                written = _written(parent)
                of = self._classes.read(path, written)
                before = parent.prev_named_sibling if parent is not None else None
                rest = before is not None and before.type == "parameter_modifiers" and "vararg" in text(before)
                return Type(Outside("Array"), (of,)) if rest else of
            case "variable_declaration":
                return self._variable(path, node, parent)
            case "enum_entry":
                body = parent.parent if parent is not None else None
                of_enum = self.class_of_body(path, body) if body is not None else None
                return Type(of_enum) if of_enum is not None else None
            case "object_declaration" | "companion_object":
                facts = self._view.facts(path)
                return Type(Bound(path, facts.scope_at(parent.start_byte), text(node))) if facts and parent else None
        return None

    def _variable(self, path: str, node: Node, declared: Node | None) -> Type | None:
        written = _written(declared)
        if written is not None:
            return self._classes.read(path, written)
        around = declared.parent if declared is not None else None
        if declared is None or around is None:
            return None
        if around.type == "lambda_parameters":
            made = around.parent
            at = list(around.named_children).index(declared)
            return self._given_to_lambda(path, made, at) if made is not None else None
        if around.type == "for_statement":
            following = [child for child in around.named_children if child.start_byte > declared.end_byte]
            return self.item(self.of(path, following[0])) if following else None
        if around.type in ("property_declaration", "when_subject"):
            return self._value(path, around)
        return None

    def _value(self, path: str, declaration: Node) -> Type | None:
        """Return the type of what a property is given: a value, a delegate, or the result of its getter."""
        delegate = child_of(declaration, "property_delegate")
        if delegate is not None:
            call = delegate.named_children[-1] if delegate.named_children else None
            if call is None or call.type != "call_expression" or text(call.named_children[0]) != "lazy":
                return None
            return self._of_lambda_result(path, values_of(call)[-1:])
        marks = [at for at, child in enumerate(declaration.children) if child.type == "="]
        if marks:
            return self.of(path, declaration.children[marks[0] + 1])
        getter = child_of(declaration, "getter")
        following = declaration.next_named_sibling
        getter = getter or (following if following is not None and following.type == "getter" else None)
        body = child_of(getter, "function_body")
        if body is None:
            return None
        return self.of(path, body.named_children[-1]) if text(body).startswith("=") else None

    def item(self, of: Type | None) -> Type | None:
        """Return the type of what a loop over a value gives."""
        for ancestor in self._classes.ancestors(of) if of is not None else ():
            name = plain_name(ancestor)
            if name in ITEMS and len(ancestor.args) == 1:
                return ancestor.args[0]
            if name in MAPS and len(ancestor.args) == 2:
                return Type(Outside("Entry"), ancestor.args)
            if name == "String":
                return Type(Outside("Char"))
        return None

    def _of_item(self, path: str, node: Node) -> Type | None:
        of = self.of(path, node.named_children[0])
        if of is not None and isinstance(of.of, Bound):
            found = self.member(of, "get")
            kinds = [
                self._result(bound, definition)
                for bound in found.bounds
                for _, definition in self._view.definitions(bound)
            ]
            return self._seen_from(found.owner, kinds[0]) if len(kinds) == 1 else None
        if of is not None and plain_name(of) in MAPS and len(of.args) == 2:
            return of.args[1]
        return self.item(of)

    def of_this(self, path: str, node: Node) -> Type | None:
        """Return what `this` is, with or without a label."""
        label = child_of(node, "type_identifier")
        if label is None:
            return next((receiver for receiver, _ in self.receivers(path, node)), None)
        around: Node | None = node.parent
        while around is not None:
            if around.type in ("class_body", "enum_class_body"):
                of = self.class_of_body(path, around)
                if of is not None and of.name == text(label):
                    return self.this(of)
            if around.type == "function_declaration" and text(child_of(around, "simple_identifier")) == text(label):
                return self._classes.read(path, around.child_by_field_name("receiver"))
            if around.type == "lambda_literal":
                call = call_of_lambda(around)
                if call is not None and callee_name(call) == text(label):
                    given = self.lambda_receiver(path, around)
                    return given[0] if given else None
            around = around.parent
        return None

    def _of_super(self, path: str, node: Node) -> Type | None:
        written = child_of(node, "user_type")
        if written is not None:
            return self._classes.read(path, written)
        label = text(child_of(node, "type_identifier"))
        around = node.parent
        while around is not None:
            of = self.class_of_body(path, around) if around.type in ("class_body", "enum_class_body") else None
            if of is not None and label in ("", of.name):
                supers = self._classes.supers_of(self.this(of))
                return supers[0] if len(supers) == 2 else None
            around = around.parent
        return None

    def _of_choice(self, path: str, node: Node) -> Type | None:
        bodies = [child for child in node.named_children if child.type in ("control_structure_body", "statements")]
        for entry in node.named_children if node.type == "when_expression" else ():
            bodies += [child for child in entry.named_children if child.type == "control_structure_body"]
        real = [body for body in bodies if text(body).strip("{} \n") != "null" and not _jumps(body)]
        types = [self.of(path, body) for body in real]
        return _common(types)

    def _of_infix(self, path: str, node: Node) -> Type | None:
        if len(node.named_children) != 3:
            return None
        left, name, right = node.named_children
        if text(name) == "to" and not self.callables(self._classes.package(path), "to"):
            return Type(Outside("Pair"), (self.of(path, left), self.of(path, right)))
        of = self.of(path, left)
        found = self.of_owner(path, of, text(name), None) if of is not None else None
        return self._of_results(path, found, None) if found is not None and found.bounds else None

    def receiver(self, path: str, node: Node | None) -> tuple[Type | None, bool]:
        """Return the type whose members are reached through an expression, and whether it is the name of a type."""
        if node is None:
            return None, False
        if node.type in NAMES or node.type == "type_identifier":
            found = self.bare(path, node, text(node))
            if found is not None and (found.bounds or not found.certain):
                return (self.of_found(found, node.start_byte) if found.certain else None), False
            if text(node) == "it" and found is None:
                return self._of_it(path, node), False
            named = self._classes.only(self._classes.named(path, node.start_byte, text(node)))
            if isinstance(named, Bound) or (named is not None and text(node)[:1].isupper()):
                return self._classes.followed(Type(named)), True
            return (Type(Outside(found.outside)) if found is not None and found.outside else None), False
        if node.type == "navigation_expression":
            of = self.type_name(path, node)
            if of is not None:
                return Type(of), True
        return self.of(path, node), False

    def type_name(self, path: str, node: Node) -> Entity | None:
        """Return the type that a dotted name means; None if it is a value or a package."""
        parts = _dotted(node)
        if not parts or (self.bare(path, parts[0], text(parts[0])) or Found((), True)).bounds:
            return None
        first = self._classes.only(self._classes.named(path, parts[0].start_byte, text(parts[0])))
        if isinstance(first, Bound):
            current: Bound | None = first
            for part in parts[1:]:
                if current is not None and text(part) == "Companion":
                    current = self._classes.companion(current)
                else:
                    current = self._classes.nested(current, text(part)) if current is not None else None
            return current
        whole = self._classes.qualified(".".join(text(part) for part in parts))
        if whole:
            return self._classes.only(whole)
        return Outside(text(node)) if text(parts[-1])[:1].isupper() and text(parts[0])[:1].islower() else None

    def accessed(self, path: str, node: Node, call: Node | None) -> Found | None:
        """Return the member that a dotted expression means; None if its receiver is not known."""
        before, name = split(node)
        if before is None or name is None:
            return None
        owner, is_type = self.receiver(path, before)
        if owner is None:
            return self._without_type(path, before, text(name), call)
        found = self.of_owner(path, owner, text(name), call, static=is_type and not _refers(name))
        if not found.bounds and before.type in NAMES:
            narrowed = self._narrowed(path, before, text(name), call)
            return narrowed if narrowed is not None else found
        return found

    def _without_type(self, path: str, before: Node, name: str, call: Node | None) -> Found | None:
        """Return a member of a receiver that only a check says the type of."""
        narrowed = self._narrowed(path, before, name, call) if before.type in NAMES else None
        if narrowed is not None:
            return narrowed
        extended = self.extension(path, None, name, call)
        return Found(extended.bounds, False) if extended is not None else None

    def _narrowed(self, path: str, node: Node, name: str, call: Node | None) -> Found | None:
        """Return the member of a type that a variable is checked to have in the function around."""
        around: Node | None = node
        while around is not None and around.type not in ("function_declaration", "class_body"):
            around = around.parent
        kinds = [self._classes.read(path, type_node) for type_node in _checked(around, text(node))]
        found = [self.of_owner(path, of, name, call) for of in kinds if of is not None and isinstance(of.of, Bound)]
        bounds = tuple(dict.fromkeys(bound for member in found for bound in member.bounds))
        owner = next((member.owner for member in found if member.bounds), None)
        return Found(bounds, len(bounds) == 1, owner) if bounds else None

    def of_owner(self, path: str, owner: Type, name: str, call: Node | None = None, *, static: bool = False) -> Found:
        """Return the member or extension of a type that a name means."""
        if isinstance(owner.of, Bound):
            if static and name == "Companion" and (held := self._classes.companion(owner.of)) is not None:
                return Found((), True, Type(held))
            found = self.member(owner, name, static=static and not self._classes.is_object(owner.of))
            fitting = self._fitting(found, call)
            if fitting.bounds:
                return fitting
        extended = self.extension(path, owner, name, call)
        if extended is not None:
            return extended
        if isinstance(owner.of, Outside):
            return Found((), True, owner, owner.of.source)
        # What no class of the repository has is an extension from outside, or a member of a base from there.
        return Found((), not self._is_unsure(owner), owner, "a member from outside")

    def _is_unsure(self, owner: Type) -> bool:
        return not self._classes.is_whole(owner)

    def called(self, path: str, call: Node) -> Found | None:
        """Return the function that a call means; None if its receiver is not known."""
        callee = call.named_children[0] if call.named_children else None
        if callee is None:
            return None
        if callee.type in NAMES:
            return self.bare(path, callee, text(callee), call)
        if callee.type == "navigation_expression":
            return self.accessed(path, callee, call)
        return None

    def made(self, path: str, call: Node) -> Entity | None:
        """Return the class that a call makes an instance of."""
        callee = call.named_children[0] if call.named_children else None
        if callee is None or callee.type not in (*NAMES, "navigation_expression"):
            return None
        if callee.type == "navigation_expression":
            return self.type_name(path, callee)
        first = self._classes.only(self._classes.named(path, callee.start_byte, text(callee)))
        return first if isinstance(first, Bound) or text(callee)[:1].isupper() else None

    def _of_call(self, path: str, call: Node) -> Type | None:
        found = self.called(path, call)
        if found is not None and found.bounds:
            return self._of_results(path, found, call) if found.certain else None
        made = self.made(path, call)
        if isinstance(made, Bound) or (made is not None and (found is None or not found.certain)):
            listed = child_of(child_of(call, "call_suffix"), "type_arguments")
            args = (
                tuple(self._classes.read(path, argument) for argument in listed.named_children)
                if listed is not None
                else ()
            )
            return self._classes.followed(Type(made, args)) if made is not None else None
        return self._of_outside(path, found, call)

    def _of_results(self, path: str, found: Found, call: Node | None) -> Type | None:
        kinds = []
        for bound in found.bounds:
            for _, definition in self._view.definitions(bound):
                if definition.kind not in ("function", "method"):
                    of = self.declared(bound)
                    called = plain_name(of) in (FUNCTION, EXTENSION) and of is not None and of.args
                    kinds.append(of.args[0] if called and of is not None else None)
                elif call is None or not is_kotlin(bound.file) or self.takes(bound.file, definition, call):
                    given = self._inferred(path, bound, definition, call)
                    kinds.append(self._seen_from(found.owner, substitute(self._result(bound, definition), given)))
        return _common(kinds)

    def _result(self, bound: Bound, definition: Definition) -> Type | None:
        key = (bound.file, definition.name_at)
        if key not in self._declared:
            self._declared[key] = None
            self._declared[key] = self._read_result(bound, definition)
        return self._declared[key]

    def _read_result(self, bound: Bound, definition: Definition) -> Type | None:
        made = self._classes.declaration(bound.file, definition)
        if made is None:
            return None
        if not is_kotlin(bound.file):
            return self._classes.read(bound.file, made.child_by_field_name("type"))
        listed = child_of(made, "function_value_parameters")
        following = listed.next_named_sibling if listed is not None else None
        if following is not None and following.type.endswith("_type"):
            return self._classes.read(bound.file, following)
        body = child_of(made, "function_body")
        if body is None or not text(body).startswith("="):
            return Type(Outside("Unit"))
        return self.of(bound.file, body.named_children[-1])

    def _inferred(self, path: str, bound: Bound, definition: Definition, call: Node | None) -> dict[Bound, Type | None]:
        """Return what a call gives for the type variables of a function."""
        made = self._classes.declaration(bound.file, definition) if is_kotlin(bound.file) else None
        own, facts = child_of(made, "type_parameters"), self._view.facts(bound.file)
        if own is None or facts is None or call is None:
            return {}
        names = [name for child in own.named_children if (name := child_of(child, "type_identifier")) is not None]
        found: dict[Bound, Type | None] = {
            Bound(bound.file, facts.scope_at(name.start_byte), text(name)): None for name in names
        }
        listed = child_of(child_of(call, "call_suffix"), "type_arguments")
        if listed is not None:
            return dict(zip(found, (self._classes.read(path, child) for child in listed.named_children), strict=False))
        for parameter, value in zip(self.parameters(bound.file, definition), values_of(call), strict=False):
            wanted = self._classes.read(bound.file, _written(parameter))
            if wanted is not None and value.type != "annotated_lambda":
                _unify(wanted, self.of(path, value), found)
        written = made.child_by_field_name("receiver") if made is not None else None
        before = split(call.named_children[0])[0]
        if written is not None and before is not None:
            wanted = self._classes.read(bound.file, written)
            if wanted is not None:
                _unify(wanted, self.of(path, before), found)
        return found

    def _of_outside(self, path: str, found: Found | None, call: Node) -> Type | None:
        name = callee_name(call)
        before = split(call.named_children[0])[0] if call.named_children else None
        if before is None:
            return self._of_plain_function(path, name, call, found)
        owner = found.owner if found is not None else None
        if owner is None:
            return None
        if name in GIVES_BACK:
            return owner
        values = values_of(call)
        if name in GIVES_RESULT:
            return self._of_lambda_result(path, values[-1:])
        simple = plain_name(owner)
        given = result(simple, len(owner.args), name)
        if given is not None:
            kind, at = given
            return Type(Outside(kind), (owner.args[at],)) if kind else owner.args[at]
        if simple in ITEMS and is_mapping(name):
            return Type(Outside("List"), (self._of_lambda_result(path, values[-1:]),))
        if simple in ENTRIES and len(owner.args) == 2:
            at = {"component1": 0, "component2": 1}.get(name, -1)
            return owner.args[at] if at >= 0 else None
        java = java_result(simple, name, len(owner.args))
        if java is not None and not java[0] and java[1][0] < len(owner.args):
            return owner.args[java[1][0]]
        kinds = [self.of(path, value) for value in values]
        foreign = _is_foreign(owner) and all(_is_foreign(type_) for type_ in kinds)
        return Type(Outside(f"a result of {name}")) if foreign else None

    def _of_plain_function(self, path: str, name: str, call: Node, found: Found | None) -> Type | None:
        values = values_of(call)
        if found is not None and not found.certain:
            return None
        if (name == "with" and len(values) == 2) or name == "run":
            return self._of_lambda_result(path, values[-1:])
        container = made_by(name)
        listed = child_of(child_of(call, "call_suffix"), "type_arguments")
        if container and listed is not None:
            return Type(
                Outside(container), tuple(self._classes.read(path, argument) for argument in listed.named_children)
            )
        if container in ("List", "Set", "Sequence", "Array"):
            kinds = [self.of(path, value) for value in values]
            same = kinds and all(type_ == kinds[0] for type_ in kinds)
            return Type(Outside(container), (kinds[0],) if same else ())
        if name in ("requireNotNull", "checkNotNull") and values:
            return self.of(path, values[0])
        return None

    def _of_lambda_result(self, path: str, values: Sequence[Node]) -> Type | None:
        made = _lambda_in(values[0]) if values else None
        body = child_of(made, "statements")
        return self.of(path, body.named_children[-1]) if body is not None and body.named_children else None

    def lambda_receiver(self, path: str, made: Node) -> tuple[Type | None, ...]:
        """Return the receiver of a lambda: nothing if it has none, None if that is not known."""
        call = call_of_lambda(made)
        if call is None:
            of = self._of_target(path, made)
            return (of.args[1],) if of is not None and plain_name(of) == EXTENSION else ()
        return self._depth.read(self._receiver_in_call, path, made) or ()

    def _receiver_in_call(self, path: str, made: Node) -> tuple[Type | None, ...]:
        call = call_of_lambda(made)
        assert call is not None
        name = callee_name(call)
        found = self.called(path, call)
        if found is not None and found.bounds:
            kinds = self._taken_by(path, found, call, made)
            if any(type_ is not None and plain_name(type_) == EXTENSION for type_ in kinds):
                receivers = [type_.args[1] for type_ in kinds if type_ is not None and plain_name(type_) == EXTENSION]
                same = len(receivers) == len(kinds) and all(receiver == receivers[0] for receiver in receivers)
                return (receivers[0] if same else None,)
            # A function of Java, or a class that is called, takes a lambda without a receiver.
            return () if all(type_ is not None for type_ in kinds) or not kinds else (None,)
        if name in PLAIN - WITH_RECEIVER:
            return ()
        target = self.made(path, call)
        if isinstance(target, Bound):
            return self._receiver_of_constructor(path, target, call, made)
        if name not in WITH_RECEIVER:
            return (None,)
        before = split(call.named_children[0])[0]
        if name == "with":
            values = values_of(call)
            return (self.of(path, values[0]),) if len(values) == 2 else (None,)
        return (self.receiver(path, before)[0],) if before is not None else ()

    def _receiver_of_constructor(self, path: str, of: Bound, call: Node, made: Node) -> tuple[Type | None, ...]:
        node = self._classes.node(of)
        listed = child_of(node, "primary_constructor")
        parameters = [child for child in (listed.named_children if listed else ()) if child.type == "class_parameter"]
        place = _place_of(call, made, len(parameters))
        wanted = self._classes.read(of.file, _written(parameters[place])) if 0 <= place < len(parameters) else None
        if wanted is None:
            return () if is_kotlin(of.file) and parameters else (None,)
        return (wanted.args[1],) if plain_name(wanted) == EXTENSION else ()

    def _taken_by(self, path: str, found: Found, call: Node, made: Node) -> list[Type | None]:
        """Return the types of the parameters that a lambda is given for."""
        kinds: list[Type | None] = []
        for bound in found.bounds:
            for _, definition in self._view.definitions(bound):
                if definition.kind not in ("function", "method"):
                    of = self.declared(bound)
                    if of is not None and plain_name(of) in (FUNCTION, EXTENSION):
                        given = of.args[1:] if plain_name(of) == FUNCTION else of.args[2:]
                        place = _place_of(call, made, len(given))
                        kinds.append(given[place] if 0 <= place < len(given) else None)
                    else:
                        kinds.append(None)
                    continue
                if not is_kotlin(bound.file) or not self.takes(bound.file, definition, call):
                    continue
                listed = self.parameters(bound.file, definition)
                place = _place_of(call, made, len(listed))
                wanted = self._classes.read(bound.file, _written(listed[place])) if 0 <= place < len(listed) else None
                given_types = self._inferred(path, bound, definition, call)
                kinds.append(self._seen_from(found.owner, substitute(wanted, given_types)))
        return kinds

    def _of_target(self, path: str, made: Node) -> Type | None:
        """Return the declared type of what a lambda is assigned to."""
        around = made.parent
        if around is None or around.type not in ("property_declaration", "function_value_parameters"):
            return None
        declared = child_of(around, "variable_declaration")
        if around.type == "function_value_parameters":
            declared = made.prev_named_sibling
        return self._classes.read(path, _written(declared)) if declared is not None else None

    def _of_it(self, path: str, node: Node) -> Type | None:
        around = node.parent
        while around is not None and (around.type != "lambda_literal" or child_of(around, "lambda_parameters")):
            around = around.parent
        return self._given_to_lambda(path, around, 0) if around is not None else None

    def _given_to_lambda(self, path: str, made: Node, at: int) -> Type | None:
        """Return the type of a lambda's parameter, by what takes the lambda."""
        call = call_of_lambda(made)
        if call is None:
            return _parameter_of(self._of_target(path, made), at)
        found = self.called(path, call)
        if found is not None and found.bounds:
            kinds = [_parameter_of(type_, at) for type_ in self._taken_by(path, found, call, made)]
            return kinds[0] if kinds and all(type_ == kinds[0] for type_ in kinds) else None
        name = callee_name(call)
        before = split(call.named_children[0])[0] if call.named_children else None
        owner = found.owner if found is not None else self.of(path, before)
        if before is None or owner is None:
            return None
        if name in ("let", "also", "takeIf", "takeUnless", "use") and at == 0:
            return owner
        if passes_items(name):
            last = {"fold": 1, "foldIndexed": 2, "forEachIndexed": 1, "mapIndexed": 1, "filterIndexed": 1}.get(name, 0)
            return self.item(owner) if at == last else None
        return None


def split(node: Node) -> tuple[Node | None, Node | None]:
    """Return the receiver and the name of a member, as far as a node has them."""
    if node.type not in ("directly_assignable_expression", "navigation_expression") or len(node.named_children) < 2:
        return None, None
    suffix = node.named_children[-1]
    name = child_of(suffix, "simple_identifier") if suffix.type == "navigation_suffix" else None
    return (node.named_children[-2], name) if len(node.named_children) == 2 else (None, name)


def callee_name(call: Node) -> str:
    """Return the name of what is called."""
    callee = call.named_children[0] if call.named_children else None
    if callee is None or callee.type in NAMES:
        return text(callee)
    return text(split(callee)[1])


def call_of_lambda(made: Node) -> Node | None:
    """Return the call that a lambda is an argument of."""
    around = made.parent
    while around is not None and around.type in ("annotated_lambda", "value_argument", "value_arguments", "label"):
        around = around.parent
    if around is None or around.type != "call_suffix":
        return None
    return around.parent


def _place_of(call: Node, made: Node, count: int) -> int:
    """Return which parameter a lambda is given for; the one behind a call is the last."""
    for at, value in enumerate(values_of(call)):
        if value.start_byte <= made.start_byte and made.end_byte <= value.end_byte:
            if value.type == "annotated_lambda":
                return count - 1
            return at if all(child.type != "=" for child in value.children) else -1
    return -1


def _lambda_in(value: Node) -> Node | None:
    return next((child for child in (value, *value.named_children) if child.type == "lambda_literal"), None)


def _parameter_of(of: Type | None, at: int) -> Type | None:
    if of is None or plain_name(of) not in (FUNCTION, EXTENSION):
        return None
    given = of.args[1:] if plain_name(of) == FUNCTION else of.args[2:]
    return given[at] if at < len(given) else None


def _written(node: Node | None) -> Node | None:
    """Return the type that stands behind a name and a colon."""
    for at, child in enumerate(node.children) if node is not None else ():
        if child.type == ":" and node is not None and at + 1 < len(node.children):
            return node.children[at + 1]
    return None


def _dotted(node: Node) -> list[Node]:
    """Return the names of a dotted name; none for other expressions."""
    before, name = split(node)
    if node.type in NAMES:
        return [node]
    listed = _dotted(before) if before is not None and name is not None else []
    return [*listed, name] if listed and name is not None else []


def _refers(name: Node) -> bool:
    """Whether a member is referred to by `::`, as `Type::member`."""
    before = name.prev_sibling
    return before is not None and before.type == "::"


def _jumps(body: Node) -> bool:
    last = body.named_children[-1] if body.named_children else None
    if last is not None and last.type == "statements":
        return _jumps(last)
    return last is not None and last.type == "jump_expression"


def _checked(around: Node | None, name: str) -> list[Node]:
    """Return the types that a function checks a variable for, or casts it to."""
    found: list[Node] = []
    waiting = [around] if around is not None else []
    for _ in range(_MAX_CHECKS):
        if not waiting:
            break
        node = waiting.pop()
        waiting += node.named_children
        if node.type in ("as_expression", "check_expression") and text(node.named_children[0]) == name:
            found += node.named_children[-1:]
        elif node.type == "when_expression" and _subject(node) == name:
            for entry in node.named_children:
                for condition in entry.named_children if entry.type == "when_entry" else ():
                    test = child_of(condition, "type_test")
                    found += test.named_children[-1:] if test is not None else []
    return [node for node in found if node.type.endswith("_type")]


def _subject(when: Node) -> str:
    subject = child_of(when, "when_subject")
    declared = child_of(subject, "variable_declaration")
    if declared is not None:
        return text(child_of(declared, "simple_identifier"))
    return text(subject.named_children[0]) if subject is not None and subject.named_children else ""


def _unify(wanted: Type, given: Type | None, found: dict[Bound, Type | None]) -> None:
    """Set the type variables in a wanted type to what stands for them in a given one."""
    if given is None:
        return
    if isinstance(wanted.of, Bound) and wanted.of in found:
        found[wanted.of] = given
        return
    if plain_name(wanted) == plain_name(given) or (plain_name(wanted) in ITEMS and plain_name(given) in ITEMS):
        for mine, other in zip(wanted.args, given.args, strict=False):
            if mine is not None:
                _unify(mine, other, found)


def _common(types: Sequence[Type | None]) -> Type | None:
    """Return the type that some types are, without arguments in which they differ."""
    first = types[0] if types else None
    if first is None or any(type_ is None or type_.of != first.of for type_ in types):
        return None
    return first if all(type_ == first for type_ in types) else Type(first.of)


def _is_foreign(of: Type | None) -> bool:
    return of is not None and isinstance(of.of, Outside) and all(_is_foreign(argument) for argument in of.args)
