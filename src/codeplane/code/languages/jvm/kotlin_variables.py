"""The types that Kotlin's variables, properties and parameters are declared with."""

from abc import abstractmethod
from collections.abc import Sequence

from codeplane.code.entity import Bound, Outside
from codeplane.code.languages.declared_type import Type, common_type, substitute
from codeplane.code.languages.jvm.java_classes import FIELDS, Node, text
from codeplane.code.languages.jvm.java_lookup import Found, plain_name
from codeplane.code.languages.jvm.kotlin_classes import KotlinClasses, child_of, is_kotlin
from codeplane.code.languages.jvm.kotlin_library import (
    ITEMS,
    MAPS,
)
from codeplane.code.languages.jvm.kotlin_lookup import KotlinLookup, values_of
from codeplane.code.languages.jvm.kotlin_syntax import (
    written_type,
)
from codeplane.code.languages.member_resolver import CodeView


class KotlinVariables(KotlinLookup):
    """Finds the types of declarations; subclasses find those of the expressions and lambdas that they need."""

    def __init__(self, view: CodeView, classes: KotlinClasses) -> None:
        super().__init__(view, classes)
        self._declared: dict[tuple[str, int], Type | None] = {}

    @abstractmethod
    def of_lambda_parameter(self, path: str, made: Node, at: int) -> Type | None:
        """Return the type of a lambda's parameter, by what takes the lambda."""

    @abstractmethod
    def of_lambda_result(self, path: str, values: Sequence[Node]) -> Type | None:
        """Return the type of what the lambda that is the first of some arguments returns."""

    def of_found(self, found: Found, offset: int = -1) -> Type | None:
        """Return the type of a variable, property or function that was found."""
        if found.outside and not found.bounds:
            return Type(Outside(found.outside))
        kinds = [self.as_member_of(found.owner, self.declared_type(bound, offset)) for bound in found.bounds]
        return common_type(kinds)

    def as_member_of(self, owner: Type | None, of: Type | None) -> Type | None:
        """Return the type of a member as a type has it, whose arguments stand for the variables of its class."""
        if owner is None or of is None or not owner.args or not isinstance(owner.of, Bound):
            return of
        return substitute(of, dict(zip(self._classes.parameters(owner.of), owner.args, strict=False)))

    def declared_type(self, bound: Bound, offset: int = -1) -> Type | None:
        """Return the type that a variable or property is declared with; of several, the last above a place."""
        facts = self._view.facts(bound.file)
        if facts is None:
            return None
        if not is_kotlin(bound.file):
            return self._of_java(bound)
        functions = {made.name_at for _, made in self._view.definitions(bound) if made.kind in ("function", "method")}
        places = [facts.bind_at(row) for row in facts.rows(bound.scope, bound.name)]
        # A property may share its name with functions.
        places = [at for at in places if at not in functions] or places
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
                written = written_type(parent)
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
        written = written_type(declared)
        if written is not None:
            return self._classes.read(path, written)
        around = declared.parent if declared is not None else None
        if declared is None or around is None:
            return None
        if around.type == "lambda_parameters":
            made = around.parent
            at = list(around.named_children).index(declared)
            return self.of_lambda_parameter(path, made, at) if made is not None else None
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
            return self.of_lambda_result(path, values_of(call)[-1:])
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
