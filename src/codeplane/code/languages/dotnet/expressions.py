"""The types of C#'s expressions and variables, as far as declarations say them."""

from codeplane.code.entity import Bound, Entity, Outside
from codeplane.code.languages.declared_type import Type, is_foreign, substitute
from codeplane.code.languages.depth_limit import DepthLimit
from codeplane.code.languages.dotnet.classes import CSharpClasses, Node, text
from codeplane.code.languages.dotnet.generics import CSharpGenerics
from codeplane.code.languages.dotnet.library import item, passes_items, result
from codeplane.code.languages.dotnet.lookup import Found, is_of_object, simple_name, values_of
from codeplane.code.languages.member_resolver import CodeView
from codeplane.code.model import Definition

_STRING, _BOOLEAN = Type(Outside("string")), Type(Outside("bool"))
_VALUES = {
    "string_literal": _STRING,
    "verbatim_string_literal": _STRING,
    "raw_string_literal": _STRING,
    "interpolated_string_expression": _STRING,
    "boolean_literal": _BOOLEAN,
    "is_expression": _BOOLEAN,
    "is_pattern_expression": _BOOLEAN,
    "character_literal": Type(Outside("char")),
    "integer_literal": Type(Outside("int")),
    "real_literal": Type(Outside("double")),
    "typeof_expression": Type(Outside("Type")),
    "sizeof_expression": Type(Outside("int")),
}
_LAMBDAS = frozenset({"lambda_expression", "anonymous_method_expression"})
_ACCESSES = frozenset({"member_access_expression", "member_binding_expression"})


class CSharpExpressions(CSharpGenerics):
    """Finds the types of expressions and declarations."""

    def __init__(self, view: CodeView, classes: CSharpClasses) -> None:
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
            case "parenthesized_expression" | "checked_expression" | "postfix_unary_expression" | "argument":
                return self.of(path, node.named_children[-1]) if node.named_children else None
            case "identifier":
                found = self.resolve_bare_name(path, node.start_byte, text(node))
                return self.of_found(found) if found is not None and found.certain else None
            case "this":
                around = self._classes.enclosing_types(path, node.start_byte)
                return self.this(around[0]) if around else None
            case "base":
                around = self._classes.enclosing_types(path, node.start_byte)
                supers = self._classes.supers_of(self.this(around[0])) if around else []
                return supers[0] if supers else None
            case "member_access_expression" | "conditional_access_expression":
                return self._of_access(path, node)
            case "invocation_expression":
                return self._of_call(path, node)
            case "object_creation_expression" | "cast_expression" | "default_expression" | "array_creation_expression":
                return self._classes.read(path, node.child_by_field_name("type"))
            case "implicit_object_creation_expression":
                return self._by_target(path, node)
            case "as_expression":
                return self._classes.read(path, node.child_by_field_name("right"))
            case "element_access_expression":
                return self._of_element(self.of(path, node.child_by_field_name("expression")))
            case "assignment_expression":
                return self.of(path, node.child_by_field_name("left"))
            case "conditional_expression":
                return self._of_choice(path, node)
            case "await_expression":
                return self._await_result(self.of(path, node.named_children[-1]))
            case "binary_expression":
                operator = text(node.child_by_field_name("operator"))
                kinds = [self.of(path, node.child_by_field_name(side)) for side in ("left", "right")]
                if operator == "??":
                    return kinds[0]
                if operator in ("==", "!=", "<", ">", "<=", ">=", "&&", "||"):
                    return _BOOLEAN
                return Type(Outside("a result of operators")) if all(is_foreign(type_) for type_ in kinds) else None
        return None

    def this(self, of: Bound) -> Type:
        """Return a class as it is inside of itself."""
        return Type(of, tuple(Type(parameter[0]) for parameter in self._classes.parameters(of)))

    def _by_target(self, path: str, node: Node) -> Type | None:
        around = node.parent.parent if node.parent is not None and node.parent.type == "variable_declarator" else None
        return self._classes.read(path, around.child_by_field_name("type")) if around is not None else None

    def _of_choice(self, path: str, node: Node) -> Type | None:
        kinds = [node.child_by_field_name("consequence"), node.child_by_field_name("alternative")]
        types = [self.of(path, branch) for branch in kinds if branch is not None and branch.type != "null_literal"]
        return types[0] if types and all(type_ == types[0] for type_ in types) else None

    def _await_result(self, of: Type | None) -> Type | None:
        if simple_name(of) in ("Task", "ValueTask") and of is not None:
            return of.args[0] if of.args else Type(Outside("void"))
        return None

    def _of_element(self, of: Type | None) -> Type | None:
        if of is None:
            return None
        if of.dims:
            return Type(of.of, of.args, of.dims - 1)
        for ancestor in self._classes.ancestors(of):
            if isinstance(ancestor.of, Outside):
                at = item(simple_name(ancestor), len(ancestor.args))
                if at != -1:
                    return ancestor.args[1 if at == -2 else at]
        return Type(Outside("char")) if simple_name(of) == "string" else None

    def element(self, of: Type | None) -> Type | None:
        """Return the type of what a loop over a value gives."""
        if of is None:
            return None
        if of.dims:
            return Type(of.of, of.args, of.dims - 1)
        for ancestor in self._classes.ancestors(of):
            at = item(simple_name(ancestor), len(ancestor.args)) if isinstance(ancestor.of, Outside) else -1
            if at != -1:
                return Type(Outside("KeyValuePair"), ancestor.args) if at == -2 else ancestor.args[at]
        return Type(Outside("char")) if simple_name(of) == "string" else None

    def receiver_node(self, node: Node) -> Node | None:
        """Return the expression before a member's name, in whatever way it is reached."""
        if node.type == "member_access_expression":
            return node.child_by_field_name("expression")
        around = node.parent
        while around is not None and around.type != "conditional_access_expression":
            around = around.parent
        return around.child_by_field_name("condition") if around is not None else None

    def receiver(self, path: str, node: Node | None) -> Type | None:
        """Return the type whose members are reached through an expression or the name of a type."""
        if node is None:
            return None
        if node.type in ("predefined_type", "generic_name", "alias_qualified_name", "qualified_name"):
            return self._classes.read(path, node)
        if node.type == "identifier":
            found = self.resolve_bare_name(path, node.start_byte, text(node))
            if found is not None:
                return self.of_found(found) if found.certain else None
            named = self.type_name(path, node)
            return Type(named[0]) if named else None
        of = self.of(path, node)
        if node.type == "member_access_expression" and (of is None or isinstance(of.of, Outside)):
            # A namespace that is named from the one around it reads like a type from outside.
            named = self.type_name(path, node)
            if named and (of is None or isinstance(named[0], Bound)):
                return Type(named[0])
        return of

    def type_name(self, path: str, node: Node) -> tuple[Entity, ...]:
        """Return the type that a plain or dotted name of an expression means; empty if it is a value."""
        if node.type == "identifier":
            if self.resolve_bare_name(path, node.start_byte, text(node)) is not None:
                return ()
            found = self._classes.resolve_type(path, node.start_byte, text(node))
            return found if found and (isinstance(found[0], Bound) or text(node)[:1].isupper()) else ()
        if node.type != "member_access_expression":
            return ()
        first = node
        while (
            first.type == "member_access_expression" and (inner := first.child_by_field_name("expression")) is not None
        ):
            first = inner
        if first.type not in ("identifier", "alias_qualified_name", "generic_name", "predefined_type"):
            return ()
        if first.type == "identifier" and self.resolve_bare_name(path, first.start_byte, text(first)) is not None:
            return ()
        found = self._classes.resolve_type_node(path, node)
        return found

    def resolve_access(self, path: str, node: Node, arguments: Node | None = None) -> Found | None:
        """Return the member that an access means; None if its receiver is not known."""
        name = member_name(node.child_by_field_name("name"))
        before = self.receiver_node(node)
        owner = self.receiver(path, before)
        if owner is None:
            return None
        if not owner.dims and isinstance(owner.of, Bound):
            found = self.member(path, owner, name, arguments)
            if found.bounds:
                return found
            if is_of_object(name):
                return Found((), True, owner, "object")
            return self.extension(path, owner, name) or Found((), bool(found.outside), owner, found.outside)
        extended = self.extension(path, owner, name)
        if extended is not None:
            return extended
        source = owner.of.source if isinstance(owner.of, Outside) else ""
        return Found((), True, owner, "an array" if owner.dims else source)

    def _of_access(self, path: str, node: Node) -> Type | None:
        if node.type == "conditional_access_expression":
            last = node.named_children[-1] if node.named_children else None
            return (
                self.of(path, last)
                if last is not None and last.type != "member_binding_expression"
                else (self._member_type(path, last) if last is not None else None)
            )
        return self._member_type(path, node)

    def _member_type(self, path: str, node: Node) -> Type | None:
        found = self.resolve_access(path, node)
        if found is None:
            return None
        if found.bounds:
            return self.of_found(found) if found.certain else None
        return self._from_outside(found, member_name(node.child_by_field_name("name")))

    def _from_outside(self, found: Found, name: str) -> Type | None:
        owner = found.owner
        if owner is None or owner.dims:
            return Type(Outside("a member of an array")) if owner is not None and is_foreign(owner) else None
        given = result(simple_name(owner), name, len(owner.args))
        if given is not None:
            return (
                owner.args[given[1][0]]
                if not given[0]
                else Type(Outside(given[0]), tuple(owner.args[at] for at in given[1]))
            )
        return Type(Outside(f"a member of {simple_name(owner)}")) if is_foreign(owner) else None

    def resolve_call(self, path: str, node: Node) -> Found | None:
        """Return the method that a call means; None if the receiver is not known."""
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None:
            return None
        if function.type in ("identifier", "generic_name"):
            return self.resolve_bare_name(path, function.start_byte, member_name(function), arguments)
        if function.type == "conditional_access_expression":
            function = function.named_children[-1]
        if function.type in ("member_access_expression", "member_binding_expression"):
            return self.resolve_access(path, function, arguments)
        return None

    def _of_call(self, path: str, node: Node) -> Type | None:
        found = self.resolve_call(path, node)
        function = node.child_by_field_name("function")
        if function is not None and function.type in ("invocation_expression", "element_access_expression"):
            return self.delegate_result(self.of(path, function))
        if found is None or function is None:
            return None
        if found.bounds and found.certain and not any(self._is_callable(bound) for bound in found.bounds):
            return self.delegate_result(self.of_found(found))
        if not found.bounds:
            if not found.outside or not found.certain:
                return None
            last = function.named_children[-1] if function.type == "conditional_access_expression" else function
            of = self._from_outside(found, member_name(last.child_by_field_name("name") or last))
            values = [self.of(path, argument) for argument in values_of(node.child_by_field_name("arguments"))]
            known = of is not None and isinstance(of.of, Outside) and of.of.source.startswith("a member")
            return of if not known or all(is_foreign(value) for value in values) else None
        results = []
        arguments = node.child_by_field_name("arguments")
        for bound in found.bounds:
            for _, definition in self._view.definitions(bound):
                if definition.kind not in ("method", "function"):
                    return None
                if arguments is None or self._takes(bound.file, definition, arguments):
                    given = self._result(path, node, bound.file, definition)
                    results.append(self._as_member_of(found.owner, given))
        return results[0] if results and all(type_ == results[0] for type_ in results) else None

    def _is_extended(self, path: str, call: Node, file: str, method: Definition) -> bool:
        """Whether what an extension method extends stands before it."""
        function = call.child_by_field_name("function")
        if function is not None and function.type == "conditional_access_expression":
            function = function.named_children[-1]
        before = self.receiver_node(function) if function is not None and function.type in _ACCESSES else None
        return before is not None and self.is_extension(file, method) and not self.type_name(path, before)

    def _is_callable(self, bound: Bound) -> bool:
        return any(definition.kind in ("method", "function") for _, definition in self._view.definitions(bound))

    def _result(self, path: str, call: Node, file: str, method: Definition) -> Type | None:
        node = self._view.node(file, method.name_at, method.name_at + len(method.name.encode()))
        made = node.parent if node is not None else None
        if made is None:
            return None
        of = self._classes.read(file, made.child_by_field_name("returns") or made.child_by_field_name("type"))
        if of is None or not self._is_generic(file, made, of):
            return of
        of = substitute(of, self._inferred(path, call, file, method))
        return None if of is None or self._is_generic(file, made, of) else of

    def _inferred(self, path: str, call: Node, file: str, method: Definition) -> dict[Bound, Type | None]:
        """Return what a call has for the type parameters of a method, by its receiver and arguments but lambdas."""
        function = call.child_by_field_name("function")
        values = values_of(call.child_by_field_name("arguments"))
        if function is None or any(value.child_by_field_name("name") is not None for value in values):
            return {}
        access = function.named_children[-1] if function.type == "conditional_access_expression" else function
        given = [None if value.named_children[-1].type in _LAMBDAS else self.of(path, value) for value in values]
        if self._is_extended(path, call, file, method):
            given = [self.receiver(path, self.receiver_node(access)), *given]
        name = access.child_by_field_name("name") or access
        return self.infer_type_parameters(path, name, file, method, given)

    def _is_generic(self, path: str, method: Node, of: Type) -> bool:
        """Whether a type has a type parameter of a method in it, which its call decides."""
        own = isinstance(of.of, Bound) and not self._classes.is_class(of.of)
        facts = self._view.facts(path)
        inside = own and isinstance(of.of, Bound) and facts is not None and facts.scopes[of.of.scope].kind == "function"
        return inside or any(argument is not None and self._is_generic(path, method, argument) for argument in of.args)

    def of_found(self, found: Found) -> Type | None:
        """Return the type of a variable or member that was found."""
        kinds = [self._as_member_of(found.owner, self.declared_type(bound)) for bound in found.bounds]
        return kinds[0] if kinds and all(type_ == kinds[0] for type_ in kinds) else None

    def _as_member_of(self, owner: Type | None, of: Type | None) -> Type | None:
        return substitute(of, self._classes.type_arguments(owner)) if owner is not None else of

    def declared_type(self, bound: Bound) -> Type | None:
        """Return the type that a variable, field or property is declared with."""
        facts = self._view.facts(bound.file)
        places = [definition.name_at for _, definition in self._view.definitions(bound)]
        if facts is None:
            return None
        places = places or [facts.bind_at(row) for row in facts.rows(bound.scope, bound.name)]
        if not places:
            return None
        found = []
        for at in places:
            key = (bound.file, at)
            if key not in self._declared:
                self._declared[key] = None
                node = self._view.node(bound.file, at, at + len(bound.name.encode()))
                self._declared[key] = self._declaration(bound.file, node) if node is not None else None
            found.append(self._declared[key])
        return found[0] if all(type_ == found[0] for type_ in found) else None

    def _declaration(self, path: str, node: Node) -> Type | None:
        parent = node.parent
        if node.type == "implicit_parameter" or (parent is not None and parent.type == "implicit_parameter"):
            return self._of_lambda(path, node if node.type == "implicit_parameter" else parent, 0)
        if parent is None:
            return None
        written = parent.child_by_field_name("type")
        match parent.type:
            case "variable_declarator":
                statement = parent.parent
                written = statement.child_by_field_name("type") if statement is not None else None
                if written is not None and written.type == "implicit_type":
                    last = parent.named_children[-1]
                    return self.of(path, last) if last != node else None
                return self._classes.read(path, written)
            case "foreach_statement":
                if written is not None and written.type == "implicit_type":
                    return self.element(self.of(path, parent.child_by_field_name("right")))
                return self._classes.read(path, written)
            case "parameter" if written is None:
                listed = parent.parent
                at = listed.named_children.index(parent) if listed is not None else 0
                return self._of_lambda(path, listed, at)
            case "enum_member_declaration":
                around = self._classes.enclosing_types(path, node.start_byte)
                return Type(around[0]) if around else None
            case "parameter_list":
                return self._classes.read(path, written)
            case "declaration_expression" if written is not None and written.type == "implicit_type":
                return None
            case "method_declaration" | "local_function_statement" | "delegate_declaration":
                return None
        return self._classes.read(path, written)

    def _of_lambda(self, path: str, parameters: Node | None, at: int) -> Type | None:
        """Return the type of a lambda's parameter, by what takes the lambda."""
        function = parameters.parent if parameters is not None else None
        around = function.parent if function is not None else None
        if function is None or around is None:
            return None
        if around.type == "variable_declarator" and around.parent is not None:
            return self.delegate_parameter(self._classes.read(path, around.parent.child_by_field_name("type")), at)
        if (given_back := self.returned_type(path, function)) is not None:
            return self.delegate_parameter(given_back, at)
        listed = around.parent if around.type == "argument" else None
        call = listed.parent if listed is not None else None
        if listed is None or call is None or call.type != "invocation_expression":
            return None
        target = call.child_by_field_name("function")
        if target is not None and target.type == "member_access_expression":
            owner = self.receiver(path, target.child_by_field_name("expression"))
            name = member_name(target.child_by_field_name("name"))
            for ancestor in self._classes.ancestors(owner) if owner is not None and not owner.dims else ():
                if isinstance(ancestor.of, Outside) and passes_items(simple_name(ancestor), name, len(ancestor.args)):
                    return ancestor.args[0]
            if owner is not None and owner.dims and passes_items("List", name, 1):
                return Type(owner.of, owner.args, owner.dims - 1)
        found = self.resolve_call(path, call)
        position = values_of(listed).index(around)
        kinds = []
        for bound in found.bounds if found is not None else ():
            for _, method in self._view.definitions(bound):
                taken = self._parameters(bound.file, method) if method.kind in ("method", "function") else []
                if found is not None and found.owner is None and self._is_extended(path, call, bound.file, method):
                    taken = taken[1:]
                if position < len(taken):
                    written = self._classes.read(bound.file, taken[position].child_by_field_name("type"))
                    written = substitute(written, self._inferred(path, call, bound.file, method))
                    kinds.append(self._as_member_of(found.owner if found is not None else None, written))
        given = [self.delegate_parameter(type_, at) for type_ in kinds]
        return given[0] if given and all(type_ == given[0] for type_ in given) else None


def member_name(node: Node | None) -> str:
    """Return the name of a member without its type arguments."""
    if node is not None and node.type == "generic_name":
        return text(node.named_children[0])
    return text(node)
