"""The types of Kotlin's expressions, as far as declarations say them."""

from codeplane.code.entity import Bound, Outside
from codeplane.code.languages.declared_type import Type, common_type, is_foreign
from codeplane.code.languages.jvm.java_classes import Node, text
from codeplane.code.languages.jvm.java_lookup import plain_name
from codeplane.code.languages.jvm.kotlin_classes import child_of
from codeplane.code.languages.jvm.kotlin_lambdas import KotlinLambdas
from codeplane.code.languages.jvm.kotlin_library import MAPS, property_of
from codeplane.code.languages.jvm.kotlin_syntax import call_of_lambda, callee_name, ends_in_jump, split

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


class KotlinTypes(KotlinLambdas):
    """Finds the types of expressions."""

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
                return self._of_access(path, node)
            case "call_expression":
                return self.of_call(path, node)
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
                return kinds[0] if kinds and all(is_foreign(type_) for type_ in kinds) else None
        return None

    def _of_access(self, path: str, node: Node) -> Type | None:
        found = self.resolve_access(path, node, None)
        if found is None or not (found.certain or found.outside):
            return None
        owner = found.owner
        if not found.bounds and owner is not None and isinstance(owner.of, Bound):
            return self.of_found(found) if not self._classes.holds_own_types(owner) else None
        if found.bounds or owner is None or not isinstance(owner.of, Outside):
            return self.of_found(found)
        held = property_of(plain_name(owner), len(owner.args), text(split(node)[1]))
        if held is not None:
            kind, places = held
            args = tuple(owner.args[at] for at in places)
            if kind == "Set" and len(args) > 1:
                return Type(Outside("Set"), (Type(Outside("Entry"), args),))
            return Type(Outside(kind), args) if kind else args[0]
        # What it gives may be made of its type arguments.
        return Type(Outside(f"a member of {plain_name(owner)}")) if is_foreign(owner) else None

    def _of_name(self, path: str, node: Node) -> Type | None:
        name = text(node)
        found = self.resolve_bare_name(path, node, name)
        if found is not None and (found.bounds or not found.certain):
            return self.of_found(found, node.start_byte) if found.certain else None
        if name == "it" and found is None:
            return self.of_it(path, node)
        named = self._classes.only(self._classes.resolve_type(path, node.start_byte, name))
        if isinstance(named, Bound) and self._classes.is_object(named):
            return Type(named)
        return Type(Outside(found.outside)) if found is not None and found.outside else None

    def _of_item(self, path: str, node: Node) -> Type | None:
        of = self.of(path, node.named_children[0])
        if of is not None and isinstance(of.of, Bound):
            found = self.member(of, "get")
            kinds = [
                self.result_of(bound, definition)
                for bound in found.bounds
                for _, definition in self._view.definitions(bound)
            ]
            return self.as_member_of(found.owner, kinds[0]) if len(kinds) == 1 else None
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
        real = [body for body in bodies if text(body).strip("{} \n") != "null" and not ends_in_jump(body)]
        types = [self.of(path, body) for body in real]
        return common_type(types)

    def _of_infix(self, path: str, node: Node) -> Type | None:
        if len(node.named_children) != 3:
            return None
        left, name, right = node.named_children
        if text(name) == "to" and not self.callables(self._classes.package(path), "to"):
            return Type(Outside("Pair"), (self.of(path, left), self.of(path, right)))
        of = self.of(path, left)
        found = self.of_owner(path, of, text(name), None) if of is not None else None
        return self.of_results(path, found, None) if found is not None and found.bounds else None
