"""The types of Java's expressions, as far as declarations say them."""

from codeplane.code.entity import Bound, Entity, Outside
from codeplane.code.languages.declared_type import Type, is_foreign, substitute
from codeplane.code.languages.depth_limit import DepthLimit
from codeplane.code.languages.jvm.java_classes import JavaClasses, Node, is_file_class, text
from codeplane.code.languages.jvm.java_library import result
from codeplane.code.languages.jvm.java_lookup import Found, argument_count, values_of
from codeplane.code.languages.jvm.java_variables import JavaVariables, dims_of
from codeplane.code.languages.member_resolver import CodeView
from codeplane.code.model import Definition

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


class JavaTypes(JavaVariables):
    """Finds the types of expressions."""

    def __init__(self, view: CodeView, classes: JavaClasses) -> None:
        super().__init__(view, classes)
        self._depth = DepthLimit()

    def of(self, path: str, node: Node | None) -> Type | None:
        """Return the type of an expression."""
        return self._depth.read(self._of, path, node)

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
                around = self._classes.enclosing_classes(path, node.start_byte)
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
                    text(child).count("[") for child in node.children if child.type in ("dimensions", "dimensions_expr")
                )
                return self._classes.read(path, node.child_by_field_name("type"), dims=dims)
            case "assignment_expression":
                return self.of(path, node.child_by_field_name("left"))
            case "ternary_expression":
                return self._of_choice(path, node)
        return None

    def _of_this(self, of: Bound) -> Type:
        return Type(of, tuple(Type(parameter) for parameter in self._classes.parameters(of)))

    def _of_super(self, path: str, node: Node) -> Type | None:
        around = self._classes.enclosing_classes(path, node.start_byte)
        if not around:
            return None
        return next(iter(self._classes.supers_of(self._of_this(around[0]))), None)

    def _of_choice(self, path: str, node: Node) -> Type | None:
        kinds = [node.child_by_field_name("consequence"), node.child_by_field_name("alternative")]
        real = [branch for branch in kinds if branch is not None and branch.type != "null_literal"]
        types = [self.of(path, branch) for branch in real]
        if not types or any(type_ is None for type_ in types):
            return None
        return types[0] if all(type_ == types[0] for type_ in types) else None

    def _of_access(self, path: str, node: Node) -> Type | None:
        field = node.child_by_field_name("field")
        if field is not None and field.type == "this":
            of = self.type_name(path, node.child_by_field_name("object"))
            return self._of_this(of) if isinstance(of, Bound) else None
        owner = self.receiver(path, node.child_by_field_name("object"))
        if owner is None:
            return None
        if owner.dims:
            return Type(Outside("of an array"))
        found = self.field(owner, text(field)) if isinstance(owner.of, Bound) else None
        if (found is None or found.outside) and self._classes.holds_own_types(owner):
            return None
        if found is None:
            return Type(Outside("of an outside type"))
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
            found = self._classes.resolve_type(path, node.start_byte, text(node))
            if is_file_class(text(node)) and not isinstance(found[0] if found else None, Bound):
                return None
            return found[0] if len(found) == 1 and (isinstance(found[0], Bound) or _is_type_like(node)) else None
        if node.type != "field_access":
            read = self._classes.read(path, node)
            return read.of if read is not None and not read.dims else None
        dotted = "".join(text(node).split())
        outer = self.type_name(path, node.child_by_field_name("object"))
        if isinstance(outer, Bound):
            return self._classes.nested_type(outer, text(node.child_by_field_name("field")))
        if isinstance(outer, Outside):
            return outer
        whole = self._classes.resolve_full_name(dotted)
        if len(whole) == 1:
            return whole[0]
        last = dotted.rpartition(".")[2]
        first = dotted.partition(".")[0]
        return (
            Outside(dotted) if not whole and last[:1].isupper() and first.islower() and first.isidentifier() else None
        )

    def _of_creation(self, path: str, node: Node) -> Type | None:
        body = next((child for child in node.named_children if child.type == "class_body"), None)
        facts = self._view.facts(path)
        if body is not None and facts is not None:
            return Type(self._classes.of_scope(path, facts, facts.scope_at(body.start_byte)))
        written = node.child_by_field_name("type")
        first = node.named_children[0] if node.named_children else None
        if first is not None and written is not None and first != written and text(node).partition("new")[0].strip():
            outer = self.of(path, first)
            inner = (
                self._classes.nested_type(outer.of, text(written)) if outer and isinstance(outer.of, Bound) else None
            )
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

    def resolve_call(self, path: str, node: Node) -> Found | None:
        """Return the method that a call means; None if the receiver is not known."""
        name, arguments = text(node.child_by_field_name("name")), node.child_by_field_name("arguments")
        target = node.child_by_field_name("object")
        if target is None:
            return self.bare_method(path, node.start_byte, name, arguments)
        if any(child.type == "super" for child in node.children) and target.type != "super":
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
        found = self.resolve_call(path, node)
        name = text(node.child_by_field_name("name"))
        if found is None:
            return None
        if not found.bounds:
            return self._of_outside(path, found, name, node.child_by_field_name("arguments"))
        results = []
        arguments = node.child_by_field_name("arguments")
        count = argument_count(arguments)
        for bound in found.bounds:
            for _, definition in self._view.definitions(bound):
                if definition.kind == "method" and self._takes(bound.file, definition, count):
                    results.append(self._result(path, bound, definition, arguments))
                elif definition.kind == "field" and self._accessor(self._owner(bound), definition.name):
                    results.append(self.declared_type(bound))
        results = [self._as_member_of(found.owner, type_) for type_ in results]
        return results[0] if results and all(type_ == results[0] for type_ in results) else None

    def _of_outside(self, path: str, found: Found, name: str, arguments: Node | None) -> Type | None:
        owner = found.owner
        if owner is None and found.outside and found.certain:
            # A static method that is imported from outside.
            owner = Type(Outside(found.outside))
        if owner is None or not isinstance(owner.of, Outside):
            return None
        given = result(owner.of.source.rpartition(".")[2], name, len(owner.args))
        if given is not None and all(at < len(owner.args) for at in given[1]):
            if not given[0]:
                return owner.args[given[1][0]]
            return Type(Outside(given[0]), tuple(owner.args[at] for at in given[1]))
        # From types of the library alone its methods make nothing of the repository.
        values = [self.of(path, argument) for argument in values_of(arguments)]
        foreign = is_foreign(owner) and all(is_foreign(value) for value in values)
        return Type(Outside(f"a result of {name}")) if foreign else None

    def _result(self, path: str, bound: Bound, method: Definition, arguments: Node | None) -> Type | None:
        node = self._view.node(bound.file, method.name_at, method.name_at + len(method.name.encode()))
        made = node.parent if node is not None else None
        written = made.child_by_field_name("type") if made is not None else None
        of = self._classes.read(bound.file, written, dims=dims_of(made) if made is not None else 0)
        own = made.child_by_field_name("type_parameters") if made is not None else None
        if of is None or own is None:
            return of
        given = self._infer_arguments(path, bound, method, arguments, own)
        return substitute(of, given)

    def _infer_arguments(
        self, path: str, bound: Bound, method: Definition, arguments: Node | None, own: Node
    ) -> dict[Bound, Type | None]:
        """Return what a call gives for the type variables of a method, from the types of its arguments."""
        facts = self._view.facts(bound.file)
        variables = {}
        for child in own.named_children:
            name = next((part for part in child.named_children if part.type == "type_identifier"), None)
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


def _is_type_like(node: Node) -> bool:
    return text(node)[:1].isupper() or node.type == "type_identifier"
