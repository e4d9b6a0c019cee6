"""What names mean in Java: types, members and variables, by packages, imports and declared types."""

import re
from collections.abc import Sequence

from codeplane.code.entity import Bound, Entity, Meaning, Outside, Side
from codeplane.code.languages.declared_type import Type
from codeplane.code.languages.jvm.java_classes import CLASS_NODES, JavaClasses, Node, text
from codeplane.code.languages.jvm.java_library import SWITCHED
from codeplane.code.languages.jvm.java_lookup import Found
from codeplane.code.languages.jvm.java_relatives import JavaRelatives
from codeplane.code.languages.jvm.java_types import JavaTypes
from codeplane.code.languages.member_resolver import CodeView, MemberResolver, Relatives
from codeplane.code.model import Facts, Import

_METHODS = frozenset({"annotation_type_element_declaration", "method_declaration"})
_CONSTRUCTORS = frozenset({"compact_constructor_declaration", "constructor_declaration"})
_LABELS = frozenset({"break_statement", "continue_statement", "labeled_statement"})
_ANNOTATIONS = frozenset({"annotation", "marker_annotation"})


class JavaMembers(MemberResolver):
    """Resolves every name of Java."""

    def __init__(self, view: CodeView, classes: JavaClasses) -> None:
        super().__init__(view)
        self._classes = classes
        self._types = JavaTypes(view, self._classes)
        self._relatives = JavaRelatives(view, self._classes, self._types)

    def meaning(self, path: str, facts: Facts, offset: int, name: str) -> Meaning | None:
        """Return what the name at a place means; None if the general rules for names decide."""
        if offset in facts.imported_at:
            return None
        node = self._view.node(path, offset, offset + len(name.encode()))
        parent = node.parent if node is not None else None
        if node is None or parent is None or node.type not in ("identifier", "type_identifier"):
            return None
        if node.type == "type_identifier":
            return self._of_type(path, node, parent)
        is_name = parent.child_by_field_name("name") == node
        if parent.type in CLASS_NODES or parent.type in _METHODS or parent.type == "enum_constant":
            return self._of_definition(path, facts, offset, name) if is_name else self._of_expression(path, node)
        if parent.type in _CONSTRUCTORS:
            around = self._classes.enclosing_classes(path, offset)
            return _meaning_of(around[:1], "type")
        if parent.type == "method_invocation" and is_name:
            return self._of_found(
                self._types.resolve_call(path, parent), "method", "member" if _target(parent) else "name"
            )
        if parent.type == "field_access" and parent.child_by_field_name("field") == node:
            return self._of_field(path, parent, name)
        if parent.type == "method_reference" and node == parent.named_children[-1] and len(parent.named_children) > 1:
            owner = self._types.receiver(path, parent.named_children[0])
            return self._of_found(self._by_reference(path, owner, name), "method", "member")
        if parent.type == "method_reference" and _makes(parent):
            return _meaning_of(list(self._classes.resolve_type(path, offset, name)), "type")
        if parent.type == "scoped_identifier":
            return self._of_scoped(path, node, parent)
        if parent.type in _ANNOTATIONS or parent.type == "record_pattern":
            return self._of_type(path, node, parent)
        if parent.type == "element_value_pair" and parent.child_by_field_name("key") == node:
            return self._of_element(path, parent, name)
        if parent.type in _LABELS or self._declares(parent, node):
            return self._of_definition(path, facts, offset, name)
        if parent.type == "switch_label":
            return self._of_case(path, node, parent, name)
        return self._of_expression(path, node)

    def other_at(self, path: str, offset: int, name: str, new: str) -> Bound | None:
        """Return what a new name would mean already at the place of a name without a receiver."""
        node = self._view.node(path, offset, offset + len(name.encode()))
        parent, facts = node.parent if node is not None else None, self._view.facts(path)
        if node is None or parent is None or facts is None or not self._view.files_with(new):
            return None
        if parent.type in CLASS_NODES and facts.scope_at(parent.start_byte) == 0:
            return self._hidden_type(path, new)
        now = self.meaning(path, facts, offset, name)
        mine = next((entity for entity in now.entities if isinstance(entity, Bound)), None) if now is not None else None
        if mine is None or now is None or now.how == "member" or parent.child_by_field_name("name") == node:
            return self._other_method(path, parent, new) if parent.type == "method_invocation" else None
        if now.side == "type":
            found = self._classes.resolve_type(path, offset, new) if self._names_type(facts, path, offset, new) else ()
            return next((entity if isinstance(entity, Bound) else Bound(path, 0, new) for entity in found), None)
        home = self._view.facts(mine.file)
        if home is None or home.scopes[mine.scope].kind != "class":
            return None
        seen = self._types.variable(path, offset, new)
        local = seen.bounds[0] if seen is not None and seen.bounds else None
        return local if local is not None and facts.scopes[local.scope].kind != "class" else None

    def _hidden_type(self, path: str, new: str) -> Bound | None:
        """Return a type from outside, such as `String`, that files of a package would no longer mean by its name."""
        word = re.compile(rb"\b%s\b" % re.escape(new.encode()))
        for other in self._view.files_with(new):
            facts = self._view.facts(other) if other.endswith(".java") else None
            if facts is None or facts.rows(0, new) or self._classes.package(other) != self._classes.package(path):
                continue
            for match in word.finditer(self._view.text(other)):
                node = self._view.node(other, match.start(), match.end())
                if node is not None and node.type == "type_identifier":
                    found = self._classes.resolve_type(other, match.start(), new)
                    return Bound(other, 0, new) if found and isinstance(found[0], Outside) else None
        return None

    def _names_type(self, facts: Facts, path: str, offset: int, new: str) -> bool:
        """Whether a name means a type at a place already: one of the repository, or one that is imported."""
        found = self._classes.resolve_type(path, offset, new)
        return any(isinstance(entity, Bound) for entity in found) or bool(facts.rows(0, new))

    def _other_method(self, path: str, call: Node, new: str) -> Bound | None:
        """Return the method of an inner class that a call without a receiver would mean under a new name."""
        if _target(call):
            return None
        arguments = call.child_by_field_name("arguments")
        now = self._types.bare_method(path, call.start_byte, text(call.child_by_field_name("name")), arguments)
        then = self._types.bare_method(path, call.start_byte, new, arguments)
        if now is None or then is None or not now.bounds or not then.bounds:
            return None
        return then.bounds[0] if then.bounds[0].scope != now.bounds[0].scope else None

    def relatives(self, member: Bound) -> Relatives:
        """Return the members that are renamed with one."""
        return self._relatives.of(member)

    def resolve_import(self, path: str, facts: Facts, import_: Import) -> tuple[Entity, ...]:
        """Return what an import brings."""
        return self._classes.resolve_import(import_) if import_.imported not in ("", "*") else ()

    def top_level(self, path: str, facts: Facts, name: str) -> tuple[Entity, ...]:
        """Return what a name that a file does not bind means by its package and its imports of everything."""
        found = self._classes.resolve_type(path, 0, name)
        return tuple(entity for entity in found if isinstance(entity, Bound))

    def _of_definition(self, path: str, facts: Facts, offset: int, name: str) -> Meaning | None:
        """Return what a declared name means: itself; local variables are left to the rules of scopes."""
        for index in facts.definitions_in(facts.scope_at(offset), name) or range(len(facts.definitions)):
            definition = facts.definitions[index]
            if definition.name_at == offset:
                return _meaning_of([Bound(path, definition.scope, definition.name)], _side(definition.kind))
        return None

    def _declares(self, parent: Node, node: Node) -> bool:
        if parent.type in ("type_pattern", "record_pattern_component"):
            return True
        if parent.type in ("inferred_parameters",):
            return True
        if parent.type == "lambda_expression":
            return parent.child_by_field_name("parameters") == node
        named = parent.type in (
            "variable_declarator", "formal_parameter", "catch_formal_parameter", "resource", "enhanced_for_statement",
            "instanceof_expression",
        )  # fmt: skip
        return named and parent.child_by_field_name("name") == node

    def _of_type(self, path: str, node: Node, parent: Node) -> Meaning | None:
        if parent.type == "type_parameter":
            return None
        if parent.type == "scoped_type_identifier" and node != parent.named_children[0]:
            found = self._classes.resolve_dotted_type(path, parent)
            return _meaning_of([found] if found is not None else [], "type", how="member")
        if parent.type == "method_reference" and node != parent.named_children[0]:
            return None
        named = self._classes.resolve_type(path, node.start_byte, text(node))
        made = parent.type == "object_creation_expression" and text(parent).partition("new")[0].strip()
        if made and parent.named_children[0] != node:
            # `outer.new Inner()`
            of = self._types.of(path, node.parent) if node.parent is not None else None
            return _meaning_of([of.of] if of is not None else [], "type", how="member")
        return _meaning_of(list(named), "type")

    def _of_scoped(self, path: str, node: Node, parent: Node) -> Meaning | None:
        """Return what a part of a dotted name means, in an import, an annotation or a module."""
        around = parent
        while around.parent is not None and around.parent.type == "scoped_identifier":
            around = around.parent
        holder = around.parent.type if around.parent is not None else ""
        if holder in _ANNOTATIONS:
            if parent.child_by_field_name("name") == node:
                found = self._classes.resolve_dotted_type(path, parent)
                return _meaning_of([found] if found is not None else [], "type", how="member")
            return _meaning_of(list(self._classes.resolve_type(path, node.start_byte, text(node))), "type")
        is_last = parent.child_by_field_name("name") == node
        dotted = "".join(text(parent if is_last else node).split())
        types = self._classes.resolve_full_name(dotted)
        return _meaning_of(list(types) or [Outside(dotted)], "type", how="member")

    def _of_field(self, path: str, access: Node, name: str) -> Meaning:
        owner = self._types.receiver(path, access.child_by_field_name("object"))
        if owner is None or (access.parent is not None and _makes(access.parent)):
            return self._of_dotted(path, access)
        if owner.dims:
            return self._of_found(Found((), True, owner, "an array"), "field", "member")
        if isinstance(owner.of, Outside):
            return self._of_found(Found((), True, owner, owner.of.source), "field", "member")
        found = self._types.field(owner, name)
        if found.bounds or not isinstance(owner.of, Bound):
            return self._of_found(found, "field", "member")
        nested = self._classes.nested_type(owner.of, name)
        if nested is not None:
            return _meaning_of([nested], "type", how="member")
        return self._of_found(found, "field", "member")

    def _of_dotted(self, path: str, access: Node) -> Meaning:
        """Return what a dotted name means that begins with a package."""
        named = self._types.type_name(path, access)
        if named is not None:
            return _meaning_of([named], "type", how="member")
        last = text(access.child_by_field_name("field"))
        return Meaning(entities=(), certain=False, how="member", side="" if last[:1].isupper() else "field")

    def _by_reference(self, path: str, owner: Type | None, name: str) -> Found | None:
        if owner is None:
            return None
        if owner.dims or isinstance(owner.of, Outside):
            return Found((), True, owner, "outside")
        return self._types.method(path, owner, name, None)

    def _of_element(self, path: str, pair: Node, name: str) -> Meaning:
        annotation = pair.parent.parent if pair.parent is not None else None
        written = annotation.child_by_field_name("name") if annotation is not None else None
        owner = self._classes.read(path, written)
        return self._of_found(self._by_reference(path, owner, name), "method", "member")

    def _of_case(self, path: str, node: Node, label: Node, name: str) -> Meaning | None:
        """Return what a label of a switch means: a constant of the enum that is switched on, or an expression."""
        switch: Node | None = label
        while switch is not None and switch.type not in ("switch_expression", "switch_statement"):
            switch = switch.parent
        condition = switch.child_by_field_name("condition") if switch is not None else None
        of = self._types.of(path, condition)
        if of is not None and isinstance(of.of, Bound):
            found = self._types.field(of, name)
            if found.bounds:
                return self._of_found(found, "field", "member")
        if of is not None and isinstance(of.of, Outside) and of.of.source.rpartition(".")[2] not in SWITCHED:
            # A constant of an enum from outside.
            return Meaning(entities=(of.of,), certain=True, how="member", side="field")
        plain = self._of_expression(path, node)
        if of is None and plain is not None:
            return Meaning(entities=plain.entities, certain=False, how="member", side="field")
        return plain

    def _of_expression(self, path: str, node: Node) -> Meaning | None:
        """Return what a bare name in an expression means: a variable, a type, or the first part of a package."""
        name = text(node)
        found = self._types.variable(path, node.start_byte, name)
        if found is not None:
            return self._of_found(found, "field", "name")
        named = self._classes.resolve_type(path, node.start_byte, name)
        if any(isinstance(entity, Bound) for entity in named):
            return _meaning_of(list(named), "type")
        parent = node.parent
        first = parent is not None and parent.type in ("field_access", "method_invocation", "method_reference")
        if first and (name[:1].isupper() or self._begins_package(node)):
            return _meaning_of([Outside(name)], "type")
        # A field that a type from outside may bring.
        return Meaning(entities=(), certain=False, how="name", side="" if name[:1].isupper() else "field")

    def _of_found(self, found: Found | None, side: Side, how: str) -> Meaning:
        if found is None:
            return Meaning(entities=(), certain=False, how=how, side=side)
        if not found.bounds:
            entities: tuple[Entity, ...] = (Outside(found.outside),) if found.outside and found.certain else ()
            return Meaning(entities=entities, certain=bool(entities), how=how, side=side)
        if any(self._types.is_component(bound) for bound in found.bounds):
            side = ""
        if len(found.bounds) > 1:
            return Meaning(entities=found.bounds, certain=found.certain, how="overload", side=side)
        return Meaning(entities=found.bounds, certain=found.certain, how=how, side=side)

    def _begins_package(self, node: Node) -> bool:
        around = node.parent
        return around is not None and around.type == "field_access" and node.type == "identifier"


def _meaning_of(entities: Sequence[Entity], side: Side, *, how: str = "name") -> Meaning:
    return Meaning(entities=tuple(entities), certain=len(entities) == 1, how=how, side=side)


def _side(kind: str) -> Side:
    return "method" if kind == "method" else "field" if kind in ("field", "enum_member") else "type"


def _makes(node: Node) -> bool:
    """Whether a node is `Type::new`, in which no variable of that name is meant."""
    return node.type == "method_reference" and any(child.type == "new" for child in node.children)


def _target(call: Node) -> bool:
    return call.child_by_field_name("object") is not None
