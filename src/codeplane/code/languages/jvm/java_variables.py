"""The types that Java's variables, fields and parameters are declared with."""

from abc import abstractmethod

from codeplane.code.entity import Bound, Outside
from codeplane.code.languages.declared_type import Type, substitute
from codeplane.code.languages.jvm.java_classes import FIELDS, JavaClasses, Node, text
from codeplane.code.languages.jvm.java_library import ELEMENT, function_parameter, passes_items
from codeplane.code.languages.jvm.java_lookup import Found, JavaLookup, argument_count, plain_name, values_of
from codeplane.code.languages.member_resolver import CodeView
from codeplane.code.model import REASONS

_PARAM, _LOCAL = REASONS.index("PARAM"), REASONS.index("LOCAL_ASSIGN")


class JavaVariables(JavaLookup):
    """Finds the types of declarations; a subclass finds those of the expressions that they need."""

    def __init__(self, view: CodeView, classes: JavaClasses) -> None:
        super().__init__(view, classes)
        self._declared: dict[tuple[str, int], Type | None] = {}

    @abstractmethod
    def resolve_call(self, path: str, node: Node) -> Found | None:
        """Return the method that a call means; None if the receiver is not known."""

    def of_found(self, path: str, found: Found, offset: int) -> Type | None:
        """Return the type of a variable or field that was found."""
        if found.outside:
            return Type(Outside(found.outside))
        if len(found.bounds) != 1:
            return None
        declared = self.declared_type(found.bounds[0], offset if found.bounds[0].file == path else -1)
        return self._as_member_of(found.owner, declared)

    def _as_member_of(self, owner: Type | None, of: Type | None) -> Type | None:
        """Return the type of a member as a type has it, whose arguments stand for the variables of its class."""
        if owner is None or of is None or not owner.args or not isinstance(owner.of, Bound):
            return of
        return substitute(of, dict(zip(self._classes.parameters(owner.of), owner.args, strict=False)))

    def declared_type(self, bound: Bound, offset: int = -1) -> Type | None:
        """Return the type that a variable or field is declared with; of several in a scope, the last above a place."""
        facts = self._view.facts(bound.file)
        if facts is None:
            return None
        places = [definition.name_at for _, definition in self._view.definitions(bound) if definition.kind in FIELDS]
        if not places:
            rows = facts.rows(bound.scope, bound.name)
            places = [facts.bind_at(row) for row in rows if facts.bind_reason(row) in (_PARAM, _LOCAL)]
        above = [at for at in places if at <= offset] if offset >= 0 else places
        if not above:
            return None
        at = max(above) if offset >= 0 else min(above)
        key = (bound.file, at)
        if key not in self._declared:
            self._declared[key] = None
            node = self._view.node(bound.file, at, at + len(bound.name.encode()))
            self._declared[key] = self._declaration(bound.file, node) if node is not None else None
        return self._declared[key]

    def _declaration(self, path: str, node: Node) -> Type | None:
        parent = node.parent
        if parent is None:
            return None
        written = parent.child_by_field_name("type")
        match parent.type:
            case "formal_parameter" | "resource" | "enhanced_for_statement":
                if written is not None and text(written) == "var":
                    value = self.of(path, parent.child_by_field_name("value"))
                    return self.element(value) if parent.type == "enhanced_for_statement" else value
                return self._classes.read(path, written, dims=dims_of(parent))
            case "catch_formal_parameter":
                listed = next((child for child in parent.named_children if child.type == "catch_type"), None)
                kinds = listed.named_children if listed is not None else []
                return self._classes.read(path, kinds[0]) if len(kinds) == 1 else None
            case "instanceof_expression":
                return self._classes.read(path, parent.child_by_field_name("right"))
            case "type_pattern" | "record_pattern_component":
                first = parent.named_children[0]
                return self._classes.read(path, first) if text(first) != "var" else None
            case "inferred_parameters" | "lambda_expression":
                return self._of_lambda(path, node, parent)
            case "enum_constant":
                around = self._classes.enclosing_classes(path, node.start_byte)
                return Type(around[0]) if around else None
            case "variable_declarator":
                return self._of_declarator(path, parent)
        return None

    def _of_lambda(self, path: str, node: Node, parent: Node) -> Type | None:
        """Return the type of a lambda's parameter, by what takes the lambda."""
        function = parent if parent.type == "lambda_expression" else parent.parent
        at = 0 if parent.type == "lambda_expression" else parent.named_children.index(node)
        around = function.parent if function is not None else None
        if function is None or around is None:
            return None
        if around.type == "variable_declarator" and around.parent is not None:
            return self._functional_parameter(self._classes.read(path, around.parent.child_by_field_name("type")), at)
        call = around.parent if around.type == "argument_list" else None
        if call is None or call.type != "method_invocation":
            return None
        found = self.resolve_call(path, call)
        if found is None:
            return None
        if not found.bounds:
            owner = found.owner
            simple = plain_name(owner)
            name = text(call.child_by_field_name("name"))
            if owner is None or not passes_items(simple, name, len(owner.args)):
                return None
            return owner.args[at] if len(owner.args) == 2 and at < 2 else owner.args[0]
        position = values_of(around).index(function)
        kinds = []
        for bound in found.bounds:
            for _, definition in self._view.definitions(bound):
                listed = self._parameters(bound.file, definition) if definition.kind == "method" else []
                if len(listed) == argument_count(around):
                    kinds.append(self._classes.read(bound.file, listed[position].child_by_field_name("type")))
        given = [self._functional_parameter(self._as_member_of(found.owner, type_), at) for type_ in kinds]
        return given[0] if given and all(type_ == given[0] for type_ in given) else None

    def _functional_parameter(self, of: Type | None, at: int) -> Type | None:
        """Return what a functional interface passes to its method as a parameter."""
        if of is None or of.dims:
            return None
        if isinstance(of.of, Outside):
            place = function_parameter(plain_name(of), at)
            return of.args[place] if 0 <= place < len(of.args) else None
        facts = self._view.facts(of.of.file) if isinstance(of.of, Bound) else None
        if facts is None or not isinstance(of.of, Bound):
            return None
        body = self._classes.body(of.of)
        methods = [
            definition
            for definition in facts.definitions
            if definition.scope == body and definition.kind == "method" and definition.end == definition.body
        ]
        listed = self._parameters(of.of.file, methods[0]) if len(methods) == 1 else []
        written = listed[at].child_by_field_name("type") if at < len(listed) else None
        return self._as_member_of(of, self._classes.read(of.of.file, written))

    def _of_declarator(self, path: str, node: Node) -> Type | None:
        statement = node.parent
        if statement is None:
            return None
        if statement.type == "spread_parameter":
            listed = [
                child for child in statement.named_children if child.type not in ("modifiers", "variable_declarator")
            ]
            return self._classes.read(path, listed[0], dims=1) if listed else None
        written = statement.child_by_field_name("type")
        if written is not None and text(written) == "var":
            return self.of(path, node.child_by_field_name("value"))
        return self._classes.read(path, written, dims=dims_of(node))

    def element(self, of: Type | None) -> Type | None:
        """Return the type of what a loop over a value gives."""
        if of is None:
            return None
        if of.dims:
            return Type(of.of, of.args, of.dims - 1)
        for ancestor in self._classes.ancestors(of):
            if isinstance(ancestor.of, Outside):
                name = ancestor.of.source.rpartition(".")[2]
                if name in ("MapEntries",) and len(ancestor.args) == 2:
                    return Type(Outside("Entry"), ancestor.args)
                at = ELEMENT.get(name, -1)
                if 0 <= at < len(ancestor.args):
                    return ancestor.args[at]
        return None


def dims_of(node: Node) -> int:
    """Return how many pairs of brackets stand behind a name."""
    written = node.child_by_field_name("dimensions")
    return text(written).count("[") if written is not None else 0
