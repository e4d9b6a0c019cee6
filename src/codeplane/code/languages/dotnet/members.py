"""What names mean in C#: types, members and variables, by namespaces, usings and declared types."""

from collections.abc import Sequence

from msgspec import structs

from codeplane.code.entity import Bound, Entity, Meaning, Outside, Side
from codeplane.code.languages.declared_type import Type
from codeplane.code.languages.dotnet.classes import CLASS_NODES, CSharpClasses, Node, text
from codeplane.code.languages.dotnet.expressions import CSharpExpressions
from codeplane.code.languages.dotnet.lookup import Found
from codeplane.code.languages.dotnet.relatives import CSharpRelatives
from codeplane.code.languages.member_resolver import CodeView, MemberResolver, Relatives
from codeplane.code.model import Facts, Import

_DECLARED = frozenset(
    {"enum_member_declaration", "event_declaration", "method_declaration", "property_declaration"}
)  # fmt: skip
_LOCALS = frozenset(
    {"catch_declaration", "declaration_expression", "declaration_pattern", "from_clause", "implicit_parameter",
     "let_clause", "parameter", "parameter_list", "recursive_pattern", "tuple_element", "type_parameter", "var_pattern"}
)  # fmt: skip
_ACCESS = frozenset({"member_access_expression", "member_binding_expression"})
# Nodes below which a plain name is a type.
_TYPE_PARENTS = frozenset(
    {"array_type", "base_list", "catch_declaration", "explicit_interface_specifier", "nullable_type", "pointer_type",
     "primary_constructor_base_type", "ref_type", "type_argument_list", "type_parameter_constraint",
     "typeof_expression"}
)  # fmt: skip
_TYPE_FIELDS = ("type", "returns")


class CSharpMembers(MemberResolver):
    """Resolves every name of C#."""

    def __init__(self, view: CodeView) -> None:
        super().__init__(view)
        self._classes = CSharpClasses(view)
        self._types = CSharpExpressions(view, self._classes)
        self._relatives = CSharpRelatives(view, self._classes)

    def meaning(self, path: str, facts: Facts, offset: int, name: str) -> Meaning | None:
        """Return what the name at a place means; None if the general rules for names decide."""
        node = self._view.node(path, offset, offset + len(name.encode()))
        parent = node.parent if node is not None else None
        if node is None or parent is None or node.type != "identifier":
            return None
        is_name = parent.child_by_field_name("name") == node
        if parent.type in CLASS_NODES and is_name:
            return _meaning_of(self._classes.parts(Bound(path, facts.scope_at(parent.start_byte), name)), "type")
        if parent.type in ("constructor_declaration", "destructor_declaration"):
            around = self._classes.enclosing_types(path, offset)
            return _meaning_of(self._classes.parts(around[0]) if around else (), "type")
        if parent.type in _DECLARED and is_name:
            return self._of_definition(path, facts, offset, name)
        if parent.type == "variable_declarator" and is_name:
            return self._of_definition(path, facts, offset, name)
        if parent.type in _LOCALS and is_name:
            return self._of_definition(path, facts, offset, name)
        if parent.type in ("goto_statement", "labeled_statement", "local_function_statement", "implicit_parameter"):
            return None
        if parent.type == "foreach_statement" and parent.child_by_field_name("left") == node:
            return None
        found = self._of_use(path, node, parent)
        alias = next((import_ for import_ in facts.imports if import_.alias == name), None)
        if found is None or alias is None or found.how == "member":
            return found
        meant = self._classes.resolve_alias(path, alias)
        if found.entities not in (meant, (Outside(name),), ()):
            # Something nearer has the name.
            return found
        return structs.replace(found, entities=meant, certain=bool(meant), own=Bound(path, alias.scope, name))

    def _of_use(self, path: str, node: Node, parent: Node) -> Meaning | None:
        whole, around = node, parent
        if parent.type == "generic_name":
            whole = parent
            if parent.parent is None:
                return None
            around = parent.parent
        if around.type == "argument" and around.child_by_field_name("name") == node:
            return self._of_label(path, around, text(node))
        if around.type == "attribute_argument" and around.child_by_field_name("name") == node:
            return Meaning(entities=(), certain=False, how="member")
        if around.type == "attribute":
            return self._of_attribute(path, node)
        if around.type in ("qualified_name", "alias_qualified_name"):
            return self._of_qualified(path, whole, around)
        if around.type == "using_directive":
            found = self._classes.resolve_full_name(text(whole)) if around.child_by_field_name("name") != node else ()
            return _meaning_of(found or (Outside(text(node)),), "type", how="import")
        if around.type in _ACCESS and around.child_by_field_name("name") == whole:
            return self._of_access(path, around)
        if around.type == "subpattern" and around.named_children[0] == whole:
            return Meaning(entities=(), certain=False, how="member", side="field")
        if around.type == "with_initializer" and around.named_children[0] == whole:
            made = around.parent.named_children[0] if around.parent is not None else None
            return self._of_member(path, self._types.of(path, made), text(node))
        if around.type == "assignment_expression" and self._is_initializer(around, whole):
            return self._of_initializer(path, around, text(node))
        if around.type == "anonymous_object_creation_expression" and self._names_value(around, whole):
            return Meaning(entities=(Outside("a type without a name"),), certain=True, how="member")
        if self._is_type(around, whole):
            return _meaning_of(self._classes.resolve_type_node(path, whole), "type")
        if around.type == "invocation_expression" and around.child_by_field_name("function") == whole:
            if text(node) == "nameof":
                return None
            return self._of_bare(
                path, node, self._types.resolve_call(path, around), around.child_by_field_name("arguments")
            )
        return self._of_bare(path, node, self._types.resolve_bare_name(path, node.start_byte, text(node)), None)

    def other_at(self, path: str, offset: int, name: str, new: str) -> Bound | None:
        """Return what a new name would mean already at the place of a name without a receiver."""
        facts = self._view.facts(path)
        now = self.meaning(path, facts, offset, name) if facts is not None and self._view.files_with(new) else None
        mine = next((entity for entity in now.entities if isinstance(entity, Bound)), None) if now is not None else None
        node = self._view.node(path, offset, offset + len(name.encode()))
        parent = node.parent if node is not None else None
        if mine is None or now is None or now.how == "member" or facts is None or parent is None:
            return None
        if parent.child_by_field_name("name") == node or parent.type == "qualified_name":
            return None
        if now.side == "type":
            found = self._classes.resolve_type(path, offset, new)
            return next((entity for entity in found if isinstance(entity, Bound)), None)
        seen = self._types.resolve_bare_name(path, offset, new)
        other = seen.bounds[0] if seen is not None and seen.bounds else None
        return other if other is not None and self._is_local(other) else None

    def relatives(self, member: Bound) -> Relatives:
        """Return the members that are renamed with one."""
        return self._relatives.of(member)

    def resolve_import(self, path: str, facts: Facts, import_: Import) -> tuple[Entity, ...]:
        """Return what an import brings: a using of a namespace brings no name of its own."""
        meant = self._classes.resolve_alias(path, import_) if import_.alias else ()
        return tuple(entity for entity in meant if isinstance(entity, Bound))

    def top_level(self, path: str, facts: Facts, name: str) -> tuple[Entity, ...]:
        """Return what a name that a file does not bind means by its namespaces and usings."""
        return tuple(entity for entity in self._classes.resolve_type(path, 0, name) if isinstance(entity, Bound))

    def _of_definition(self, path: str, facts: Facts, offset: int, name: str) -> Meaning | None:
        """Return what a declared name means: itself; local variables are left to the rules of scopes."""
        for definition in facts.definitions:
            if definition.name_at == offset:
                return _meaning_of((Bound(path, definition.scope, definition.name),), "field")
        return None

    def _of_label(self, path: str, argument: Node, name: str) -> Meaning:
        """Return the parameters that an argument may be named by."""
        listed = argument.parent
        call = listed.parent if listed is not None else None
        if call is not None and call.type == "object_creation_expression":
            return self._of_constructor_label(path, call, name)
        found = (
            self._types.resolve_call(path, call) if call is not None and call.type == "invocation_expression" else None
        )
        bounds = []
        for bound in found.bounds if found is not None else ():
            facts = self._view.facts(bound.file)
            for index, _ in self._view.definitions(bound):
                body = facts.body_of.get(index, -1) if facts is not None else -1
                if facts is not None and body >= 0 and facts.rows(body, name):
                    bounds.append(Bound(bound.file, body, name))
        certain = found is not None and found.certain and bool(bounds)
        return Meaning(entities=tuple(bounds), certain=certain, how="label")

    def _of_constructor_label(self, path: str, creation: Node, name: str) -> Meaning:
        """Return the parameters of constructors that an argument of `new Type(…)` may be named by."""
        written = creation.child_by_field_name("type")
        types = self._classes.resolve_type_node(path, written) if written is not None else ()
        bounds = []
        for of in types[:1]:
            for body_path, facts, body in self._classes.bodies(of) if isinstance(of, Bound) else ():
                for index in facts.definitions_in(body, of.name) if isinstance(of, Bound) else ():
                    scope = facts.body_of.get(index, -1)
                    if scope >= 0 and facts.rows(scope, name):
                        bounds.append(Bound(body_path, scope, name))
        return Meaning(entities=tuple(bounds), certain=bool(bounds), how="label")

    def _of_attribute(self, path: str, node: Node) -> Meaning:
        name = text(node)
        found = self._classes.resolve_type(path, node.start_byte, name)
        if not isinstance(found[0] if found else None, Bound):
            found = self._classes.resolve_type(path, node.start_byte, f"{name}Attribute")
        return _meaning_of(found, "type")

    def _of_qualified(self, path: str, node: Node, around: Node) -> Meaning:
        outer = around
        while outer.parent is not None and outer.parent.type in ("qualified_name", "generic_name"):
            outer = outer.parent
        holder = outer.parent
        if holder is not None and holder.type in ("namespace_declaration", "file_scoped_namespace_declaration"):
            return _meaning_of((Outside("a namespace"),), "type")
        is_last = around.child_by_field_name("name") == node
        if holder is not None and holder.type == "using_directive":
            found: Sequence[Entity] = self._classes.resolve_full_name(text(around if is_last else node))
            return _meaning_of(found or (Outside(text(around)),), "type", how="member")
        if not is_last:
            found = self._classes.resolve_type_node(path, node)
            return _meaning_of(found if found and isinstance(found[0], Bound) else (Outside("a namespace"),), "type")
        return _meaning_of(self._classes.resolve_type_node(path, around), "type", how="member")

    def _of_access(self, path: str, access: Node) -> Meaning:
        around = access.parent
        while around is not None and around.type == "conditional_access_expression":
            around = around.parent
        call = around if around is not None and around.type == "invocation_expression" else None
        arguments = call.child_by_field_name("arguments") if call is not None else None
        inside = call is not None and arguments is not None and access.end_byte <= arguments.start_byte
        found = self._types.resolve_access(path, access, arguments if inside else None)
        # A namespace of the repository reads like a type that is not here.
        known = found is not None and found.certain and not isinstance(found.owner and found.owner.of, Outside)
        if found is None or not (found.bounds or known):
            named = self._types.type_name(path, access) if access.type == "member_access_expression" else ()
            if named and isinstance(named[0], Bound):
                return _meaning_of(named, "type", how="member")
        if (
            found is None
            and access.type == "member_access_expression"
            and (before := access.child_by_field_name("expression")) is not None
            and self._is_namespace(path, before)
        ):
            return _meaning_of(self._types.type_name(path, access) or (Outside(text(access)),), "type", how="member")
        if found is not None and found.bounds == () and isinstance(found.owner and found.owner.of, Bound):
            assert found.owner is not None and isinstance(found.owner.of, Bound)
            nested = self._classes.nested_type(
                found.owner.of, text(access.child_by_field_name("name")).partition("<")[0]
            )
            if nested:
                return _meaning_of(nested, "type", how="member")
        return self._of_found(found, "member")

    def _is_namespace(self, path: str, node: Node) -> bool:
        """Whether the expression before a member is the name of a namespace."""
        if node.type not in ("identifier", "member_access_expression"):
            return False
        named = self._types.type_name(path, node)
        return bool(named) and isinstance(named[0], Outside)

    def _of_member(self, path: str, of: Type | None, name: str) -> Meaning:
        owner = of
        if owner is None:
            return Meaning(entities=(), certain=False, how="member", side="field")
        if isinstance(owner.of, Outside) or owner.dims:
            return Meaning(entities=(Outside("of an outside type"),), certain=True, how="member", side="field")
        return self._of_found(self._types.member(path, owner, name), "member")

    def _is_initializer(self, assignment: Node, node: Node) -> bool:
        inside = assignment.parent is not None and assignment.parent.type == "initializer_expression"
        return inside and assignment.child_by_field_name("left") == node

    def _of_initializer(self, path: str, assignment: Node, name: str) -> Meaning:
        around = assignment.parent.parent if assignment.parent is not None else None
        if around is not None and around.type == "assignment_expression":
            # `new Dog { Tail = { Length = 1 } }`
            return Meaning(entities=(), certain=False, how="member", side="field")
        return self._of_member(path, self._types.of(path, around), name)

    def _names_value(self, made: Node, node: Node) -> bool:
        following = node.next_sibling
        return following is not None and following.type == "="

    def _is_type(self, around: Node, node: Node) -> bool:
        if around.type in _TYPE_PARENTS:
            return around.type != "catch_declaration" or around.child_by_field_name("type") == node
        if around.type in ("as_expression", "is_expression"):
            return around.child_by_field_name("right") == node
        if around.type == "type_parameter_constraints_clause":
            return False
        return any(around.child_by_field_name(field) == node for field in _TYPE_FIELDS)

    def _of_bare(self, path: str, node: Node, found: Found | None, arguments: Node | None) -> Meaning | None:
        name = text(node)
        if found is not None:
            local = len(found.bounds) == 1 and self._is_local(found.bounds[0])
            return None if local else self._of_found(found, "name")
        if name == "value" and self._in_accessor(node):
            return Meaning(entities=(Outside("the value of a setter"),), certain=True, how="name")
        named = self._classes.resolve_type(path, node.start_byte, name, 0)
        if named and isinstance(named[0], Bound):
            return _meaning_of(named, "type")
        if node.parent is not None and node.parent.type == "generic_name":
            return _meaning_of(self._classes.resolve_type_node(path, node.parent), "type")
        parent = node.parent
        first = parent is not None and parent.type == "member_access_expression" and not arguments
        if first and name[:1].isupper():
            return _meaning_of((Outside(name),), "type")
        return Meaning(entities=(), certain=False, how="name")

    def _is_local(self, bound: Bound) -> bool:
        facts = self._view.facts(bound.file)
        return facts is not None and facts.scopes[bound.scope].kind not in ("class", "enum", "namespace", "file")

    def _in_accessor(self, node: Node) -> bool:
        around: Node | None = node
        while around is not None and around.type != "accessor_declaration":
            around = around.parent
        return around is not None and text(around.child_by_field_name("name")) in ("add", "init", "remove", "set")

    def _of_found(self, found: Found | None, how: str) -> Meaning:
        if found is None:
            return Meaning(entities=(), certain=False, how=how)
        if not found.bounds:
            entities: tuple[Entity, ...] = (Outside(found.outside),) if found.outside and found.certain else ()
            return Meaning(entities=entities, certain=bool(entities), how=how, side="field")
        if len(found.bounds) > 1:
            return Meaning(entities=found.bounds, certain=found.certain, how="overload", side="field")
        return Meaning(entities=found.bounds, certain=found.certain, how=how, side="field")


def _meaning_of(entities: Sequence[Entity], side: Side, *, how: str = "name") -> Meaning:
    return Meaning(entities=tuple(entities), certain=bool(entities), how=how, side=side)
