"""The types of Java's expressions, as far as declarations say them."""

from codeplane.code.entity import Bound, Entity, Outside
from codeplane.code.languages.jvm.java_classes import FIELDS, JavaClasses, Node, Type, text
from codeplane.code.languages.jvm.java_library import ELEMENT, function_parameter, passes_items, result
from codeplane.code.languages.jvm.java_lookup import Found, JavaLookup, argument_count, plain_name, values_of
from codeplane.code.languages.member_resolver import CodeView
from codeplane.code.model import REASONS, Definition

_MAX_DEPTH = 40
_PARAM, _LOCAL = REASONS.index("PARAM"), REASONS.index("LOCAL_ASSIGN")
_BOOLEAN, _STRING = Type(Outside("boolean")), Type(Outside("String"))
_LITERALS = {
    "string_literal": _STRING,
    "character_literal": Type(Outside("char")),
    "true": _BOOLEAN,
    "false": _BOOLEAN,
    "instanceof_expression": _BOOLEAN,
    "binary_expression": Type(Outside("a result of operators")),
    "unary_expression": Type(Outside("a result of operators")),
    "update_expression": Type(Outside("a result of operators")),
}


class JavaTypes(JavaLookup):
    """Finds the types of expressions and declarations."""

    def __init__(self, view: CodeView, classes: JavaClasses) -> None:
        super().__init__(view, classes)
        self._declared: dict[tuple[str, int], Type | None] = {}
        self._depth = 0

    def of(self, path: str, node: Node | None) -> Type | None:
        """Return the type of an expression."""
        if node is None or self._depth > _MAX_DEPTH:
            return None
        self._depth += 1
        try:
            return self._of(path, node)
        finally:
            self._depth -= 1

    def _of(self, path: str, node: Node) -> Type | None:
        if node.type == "class_literal":
            return Type(Outside("Class"), (self._classes.read(path, node.named_children[0]),))
        if node.type in _LITERALS or node.type.endswith("_literal"):
            return _LITERALS.get(node.type, Type(Outside("a literal"))) if node.type != "null_literal" else None
        match node.type:
            case "parenthesized_expression":
                return self.of(path, node.named_children[0])
            case "identifier":
                found = self.variable(path, node.start_byte, text(node))
                return self.of_found(path, found, node.start_byte) if found is not None and found.certain else None
            case "this":
                around = self._classes.enclosing(path, node.start_byte)
                return self._of_this(around[0]) if around else None
            case "super":
                return self._of_super(path, node)
            case "field_access":
                return self._of_access(path, node)
            case "method_invocation":
                return self._of_call(path, node)
            case "object_creation_expression":
                return self._of_creation(path, node)
            case "cast_expression":
                return self._classes.read(path, node.child_by_field_name("type"))
            case "array_access":
                of = self.of(path, node.child_by_field_name("array"))
                return Type(of.of, of.args, of.dims - 1) if of is not None and of.dims else None
            case "array_creation_expression":
                dims = sum(
                    text(one).count("[") for one in node.children if one.type in ("dimensions", "dimensions_expr")
                )
                return self._classes.read(path, node.child_by_field_name("type"), dims=dims)
            case "assignment_expression":
                return self.of(path, node.child_by_field_name("left"))
            case "ternary_expression":
                return self._of_choice(path, node)
        return None

    def _of_this(self, of: Bound) -> Type:
        return Type(of, tuple(Type(one) for one in self._classes.parameters(of)))

    def _of_super(self, path: str, node: Node) -> Type | None:
        around = self._classes.enclosing(path, node.start_byte)
        if not around:
            return None
        return next(iter(self._classes.supers_of(self._of_this(around[0]))), None)

    def _of_choice(self, path: str, node: Node) -> Type | None:
        kinds = [node.child_by_field_name("consequence"), node.child_by_field_name("alternative")]
        real = [one for one in kinds if one is not None and one.type != "null_literal"]
        types = [self.of(path, one) for one in real]
        if not types or any(one is None for one in types):
            return None
        return types[0] if all(one == types[0] for one in types) else None

    def _of_access(self, path: str, node: Node) -> Type | None:
        field = node.child_by_field_name("field")
        if field is not None and field.type == "this":
            of = self.type_name(path, node.child_by_field_name("object"))
            return self._of_this(of) if isinstance(of, Bound) else None
        owner = self.receiver(path, node.child_by_field_name("object"))
        if owner is None:
            return None
        if owner.dims or isinstance(owner.of, Outside):
            return Type(Outside("of an outside type"))
        found = self.field(owner, text(field))
        return self.of_found(path, found, -1)

    def receiver(self, path: str, node: Node | None) -> Type | None:
        """Return the type whose members are reached through an expression or the name of a type."""
        if node is None:
            return None
        if node.type in ("identifier", "field_access"):
            of = self._value_or_type(path, node)
            return of
        if node.type in ("type_identifier", "scoped_type_identifier", "generic_type", "array_type"):
            return self._classes.read(path, node)
        return self.of(path, node)

    def _value_or_type(self, path: str, node: Node) -> Type | None:
        if node.type == "identifier":
            found = self.variable(path, node.start_byte, text(node))
            if found is not None:
                return self.of_found(path, found, node.start_byte) if found.certain or found.outside else None
        else:
            of = self._of_access(path, node)
            if of is not None:
                return of
        named = self.type_name(path, node)
        return Type(named) if named is not None else None

    def type_name(self, path: str, node: Node | None) -> Entity | None:
        """Return the type that an expression names, if it is a plain or dotted name."""
        if node is None:
            return None
        if node.type in ("identifier", "type_identifier"):
            if self.variable(path, node.start_byte, text(node)) is not None:
                return None
            found = self._classes.named(path, node.start_byte, text(node))
            return found[0] if len(found) == 1 and (isinstance(found[0], Bound) or _is_type_like(node)) else None
        if node.type != "field_access":
            read = self._classes.read(path, node)
            return read.of if read is not None and not read.dims else None
        dotted = "".join(text(node).split())
        outer = self.type_name(path, node.child_by_field_name("object"))
        if isinstance(outer, Bound):
            return self._classes.nested(outer, text(node.child_by_field_name("field")))
        if isinstance(outer, Outside):
            return outer
        whole = self._classes.qualified(dotted)
        if len(whole) == 1:
            return whole[0]
        last = dotted.rpartition(".")[2]
        first = dotted.partition(".")[0]
        return (
            Outside(dotted) if not whole and last[:1].isupper() and first.islower() and first.isidentifier() else None
        )

    def of_found(self, path: str, found: Found, offset: int) -> Type | None:
        """Return the type of a variable or field that was found."""
        if found.outside:
            return Type(Outside(found.outside))
        if len(found.bounds) != 1:
            return None
        declared = self.declared(found.bounds[0], offset if found.bounds[0].file == path else -1)
        return self._seen_from(found.owner, declared)

    def _seen_from(self, owner: Type | None, of: Type | None) -> Type | None:
        """Return the type of a member as a type has it, whose arguments stand for the variables of its class."""
        if owner is None or of is None or not owner.args or not isinstance(owner.of, Bound):
            return of
        return self._classes.put_in(of, dict(zip(self._classes.parameters(owner.of), owner.args, strict=False)))

    def declared(self, bound: Bound, offset: int = -1) -> Type | None:
        """Return the type that a variable or field is declared with; of several in a scope, the last above a place."""
        facts = self._view.facts(bound.file)
        if facts is None:
            return None
        places = [one.name_at for _, one in self._view.definitions(bound) if one.kind in FIELDS]
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
                return self._classes.read(path, written, dims=_dims(parent))
            case "catch_formal_parameter":
                listed = next((one for one in parent.named_children if one.type == "catch_type"), None)
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
                around = self._classes.enclosing(path, node.start_byte)
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
            return self._given_to(self._classes.read(path, around.parent.child_by_field_name("type")), at)
        call = around.parent if around.type == "argument_list" else None
        if call is None or call.type != "method_invocation":
            return None
        found = self.called(path, call)
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
            for _, one in self._view.definitions(bound):
                listed = self._parameters(bound.file, one) if one.kind == "method" else []
                if len(listed) == argument_count(around):
                    kinds.append(self._classes.read(bound.file, listed[position].child_by_field_name("type")))
        given = [self._given_to(self._seen_from(found.owner, one), at) for one in kinds]
        return given[0] if given and all(one == given[0] for one in given) else None

    def _given_to(self, of: Type | None, at: int) -> Type | None:
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
            one for one in facts.definitions if one.scope == body and one.kind == "method" and one.end == one.body
        ]
        listed = self._parameters(of.of.file, methods[0]) if len(methods) == 1 else []
        written = listed[at].child_by_field_name("type") if at < len(listed) else None
        return self._seen_from(of, self._classes.read(of.of.file, written))

    def _of_declarator(self, path: str, node: Node) -> Type | None:
        statement = node.parent
        if statement is None:
            return None
        if statement.type == "spread_parameter":
            listed = [one for one in statement.named_children if one.type not in ("modifiers", "variable_declarator")]
            return self._classes.read(path, listed[0], dims=1) if listed else None
        written = statement.child_by_field_name("type")
        if written is not None and text(written) == "var":
            return self.of(path, node.child_by_field_name("value"))
        return self._classes.read(path, written, dims=_dims(node))

    def element(self, of: Type | None) -> Type | None:
        """Return the type of what a loop over a value gives."""
        if of is None:
            return None
        if of.dims:
            return Type(of.of, of.args, of.dims - 1)
        for one in self._classes.ancestors(of):
            if isinstance(one.of, Outside):
                name = one.of.source.rpartition(".")[2]
                if name in ("MapEntries",) and len(one.args) == 2:
                    return Type(Outside("Entry"), one.args)
                at = ELEMENT.get(name, -1)
                if 0 <= at < len(one.args):
                    return one.args[at]
        return None

    def _of_creation(self, path: str, node: Node) -> Type | None:
        body = next((one for one in node.named_children if one.type == "class_body"), None)
        facts = self._view.facts(path)
        if body is not None and facts is not None:
            return Type(self._classes.of_scope(path, facts, facts.scope_at(body.start_byte)))
        written = node.child_by_field_name("type")
        first = node.named_children[0] if node.named_children else None
        if first is not None and written is not None and first != written and text(node).partition("new")[0].strip():
            outer = self.of(path, first)
            inner = self._classes.nested(outer.of, text(written)) if outer and isinstance(outer.of, Bound) else None
            return Type(inner) if inner is not None else None
        made = self._classes.read(path, written)
        if made is not None and not made.args and written is not None and written.type == "generic_type":
            return self._by_target(path, node, made)
        return made

    def _by_target(self, path: str, node: Node, made: Type) -> Type:
        """Return what `new Name<>()` makes: the arguments of the variable that it is assigned to, if they fit."""
        around = node.parent
        statement = around.parent if around is not None and around.type == "variable_declarator" else None
        written = statement.child_by_field_name("type") if statement is not None else None
        of = self._classes.read(path, written) if written is not None and text(written) != "var" else None
        return Type(made.of, of.args) if of is not None and not of.dims else made

    def called(self, path: str, node: Node) -> Found | None:
        """Return the method that a call means; None if the receiver is not known."""
        name, arguments = text(node.child_by_field_name("name")), node.child_by_field_name("arguments")
        target = node.child_by_field_name("object")
        if target is None:
            return self.bare_method(path, node.start_byte, name, arguments)
        if any(one.type == "super" for one in node.children) and target.type != "super":
            of = self.type_name(path, target)
            base = next(iter(self._classes.supers_of(self._of_this(of))), None) if isinstance(of, Bound) else None
            found = Type(of) if isinstance(of, Bound) and self._is_interface(of) else base
            return self._of_owner(path, found, name, arguments)
        return self._of_owner(path, self.receiver(path, target), name, arguments)

    def _is_interface(self, of: Bound) -> bool:
        node = self._classes.node(of)
        return node is not None and node.type == "interface_declaration"

    def _of_owner(self, path: str, owner: Type | None, name: str, arguments: Node | None) -> Found | None:
        if owner is None:
            return None
        if owner.dims:
            return Found((), True, owner, "an array")
        if isinstance(owner.of, Outside):
            return Found((), True, owner, owner.of.source)
        return self.method(path, owner, name, arguments)

    def _of_call(self, path: str, node: Node) -> Type | None:
        found = self.called(path, node)
        name = text(node.child_by_field_name("name"))
        if found is None:
            return None
        if not found.bounds:
            return self._of_outside(path, found, name, node.child_by_field_name("arguments"))
        results = []
        arguments = node.child_by_field_name("arguments")
        count = argument_count(arguments)
        for bound in found.bounds:
            for _, one in self._view.definitions(bound):
                if one.kind == "method" and self._takes(bound.file, one, count):
                    results.append(self._result(path, bound, one, arguments))
                elif one.kind == "field" and self._accessor(self._owner(bound), one.name):
                    results.append(self.declared(bound))
        results = [self._seen_from(found.owner, one) for one in results]
        return results[0] if results and all(one == results[0] for one in results) else None

    def _of_outside(self, path: str, found: Found, name: str, arguments: Node | None) -> Type | None:
        owner = found.owner
        if owner is None or not isinstance(owner.of, Outside):
            return None
        given = result(owner.of.source.rpartition(".")[2], name, len(owner.args))
        if given is not None and all(at < len(owner.args) for at in given[1]):
            if not given[0]:
                return owner.args[given[1][0]]
            return Type(Outside(given[0]), tuple(owner.args[at] for at in given[1]))
        # From types of the library alone its methods make nothing of the repository.
        values = [self.of(path, one) for one in values_of(arguments)]
        foreign = _is_foreign(owner) and all(_is_foreign(one) for one in values)
        return Type(Outside(f"a result of {name}")) if foreign else None

    def _result(self, path: str, bound: Bound, method: Definition, arguments: Node | None) -> Type | None:
        node = self._view.node(bound.file, method.name_at, method.name_at + len(method.name.encode()))
        made = node.parent if node is not None else None
        written = made.child_by_field_name("type") if made is not None else None
        of = self._classes.read(bound.file, written, dims=_dims(made) if made is not None else 0)
        own = made.child_by_field_name("type_parameters") if made is not None else None
        if of is None or own is None:
            return of
        given = self._inferred(path, bound, method, arguments, own)
        put = self._classes.put_in(of, given)
        return put

    def _inferred(
        self, path: str, bound: Bound, method: Definition, arguments: Node | None, own: Node
    ) -> dict[Bound, Type | None]:
        """Return what a call gives for the type variables of a method, from the types of its arguments."""
        facts = self._view.facts(bound.file)
        variables = {}
        for one in own.named_children:
            name = next((it for it in one.named_children if it.type == "type_identifier"), None)
            if name is not None and facts is not None:
                variables[text(name)] = Bound(bound.file, facts.scope_at(name.start_byte), text(name))
        found: dict[Bound, Type | None] = dict.fromkeys(variables.values())
        listed = self._parameters(bound.file, method)
        for parameter, value in zip(listed, values_of(arguments), strict=False):
            written = parameter.child_by_field_name("type")
            if written is None:
                continue
            if text(written) in variables:
                found[variables[text(written)]] = self.of(path, value)
            elif written.type == "generic_type" and text(written.named_children[0]) == "Class":
                inner = "".join(text(written.named_children[-1]).strip("<>").split())
                if inner in variables and value.type == "class_literal" and value.named_children:
                    found[variables[inner]] = self._classes.read(path, value.named_children[0])
        return found


def _is_foreign(of: Type | None) -> bool:
    """Whether a type is known, and nothing of the repository is in it."""
    return of is not None and isinstance(of.of, Outside) and all(_is_foreign(one) for one in of.args)


def _is_type_like(node: Node) -> bool:
    return text(node)[:1].isupper() or node.type == "type_identifier"


def _dims(node: Node) -> int:
    written = node.child_by_field_name("dimensions")
    return text(written).count("[") if written is not None else 0
