"""Members of structs and classes of C and C++: by what they are read from, and where they are declared."""

from collections.abc import Iterator
from typing import Protocol

import tree_sitter

from codeplane.code.entity import Bound, Meaning, Outside
from codeplane.code.languages.c.classes import Body, Classes
from codeplane.code.languages.c.declarations import Declarations
from codeplane.code.languages.c.places import in_error
from codeplane.code.languages.c.types import Type, Types, is_arrow, is_standard
from codeplane.code.languages.member_resolver import CodeView
from codeplane.code.model import Facts

Node = tree_sitter.Node
UNKNOWN_MEMBER = Meaning(entities=(), certain=False, how="member")
OF_OUTSIDE = Meaning(entities=(Outside("type"),), certain=True, how="member")


class Names(Protocol):
    """What members ask about names."""

    def is_outside(self, path: str, node: Node) -> bool:
        """Whether a name certainly is of something that is not in the repository."""


class Members:
    """Finds members, and the classes that have them."""

    def __init__(
        self, view: CodeView, names: Names, declarations: Declarations, types: Types, classes: Classes
    ) -> None:
        self._view = view
        self._names = names
        self._declarations = declarations
        self._types = types
        self._classes = classes
        self._fixtures: dict[tuple[str, int], tuple[Body, ...]] = {}

    def owner(self, path: str, offset: int) -> Type | None:
        """Return the type of `this` at a place, written where its class is."""
        facts = self._view.facts(path)
        scope = facts.scope_at(offset) if facts is not None else -1
        while facts is not None and scope > 0:
            if facts.scopes[scope].kind == "class":
                for body in self.bodies_around(path, facts, scope):
                    there = self._view.facts(body.path)
                    at = there.scopes[body.scope].start if there is not None else 0
                    node = self._view.node(body.path, at, at + 1)
                    while node is not None and not node.type.endswith("_specifier"):
                        node = node.parent
                    return Type(body.path, node, 1) if node is not None else None
            scope = facts.scopes[scope].parent
        return None

    def of_type(self, of: Type, name: str, arrow: bool) -> tuple[Bound, ...]:
        """Return the members of a type under a name."""
        bodies = self._classes.of_type(self._types.pointee(of) if arrow else of)
        if arrow and bodies and of.pointers == 0:
            bodies = self._behind_operator(bodies)
        return self._classes.find(bodies, name)[0]

    def of_receiver(self, path: str, access: Node, name: str) -> Meaning:
        """Return what a name means that is read from an expression."""
        of = self._types.of(path, access.child_by_field_name("argument"))
        if of is None:
            return UNKNOWN_MEMBER
        arrow = is_arrow(access)
        read = self._types.pointee(of) if arrow else of
        bodies = self._classes.of_type(read)
        if arrow and bodies and read.pointers == 0 and read == of:
            bodies = self._behind_operator(bodies)
        if not bodies and (self._is_foreign(read) or (not arrow and is_standard(self._types.resolve_alias(read)))):
            return OF_OUTSIDE
        found = self.of_bodies(bodies, name)
        return found if not in_error(access) or not found.entities else as_uncertain(found)

    def of_bodies(self, bodies: tuple[Body, ...], name: str) -> Meaning:
        """Return what a name means that is read from a class."""
        found, outside = self._classes.find(bodies, name)
        if not found:
            has_outside = any(self._classes.family(body)[1] for body in bodies)
            return OF_OUTSIDE if outside and has_outside else UNKNOWN_MEMBER
        return Meaning(entities=self.with_owners(found), certain=True, how="member")

    def with_owners(self, found: tuple[Bound, ...]) -> tuple[Bound, ...]:
        """Return members, or for constructors of a base all that has the name of their class."""
        for bound in found:
            of = self._classes.name_of(Body(bound.file, bound.scope))
            if of is not None and of.name == bound.name:
                return self.with_constructors(of)
        return found

    def with_constructors(self, *of: Bound) -> tuple[Bound, ...]:
        """Return a class with its other declarations and its constructors, which have its name."""
        bounds = dict.fromkeys(other for class_bound in of for other in self._declarations.group(class_bound))
        for bound in list(bounds):
            for body in self._classes.of_bound(bound):
                if self._classes.name_of(body) in bounds:
                    bounds.update(dict.fromkeys(self._classes.own_members(body, bound.name)))
        return tuple(bounds)

    def bodies_around(self, path: str, facts: Facts, scope: int) -> tuple[Body, ...]:
        """Return the class that a scope is the body of, or whose method it is; a body without a name is its owner's."""
        around = facts.scopes[scope]
        if around.kind != "class":
            return ()
        if around.definition >= 0:
            return (Body(path, scope),)
        return self._classes.of_receiver(path, facts, scope) or (Body(path, scope),)

    def fixtures(self, path: str, facts: Facts, scope: int) -> tuple[Body, ...]:
        """Return the classes that the arguments of a macro name which stands for the head of a function."""
        key = (path, scope)
        if key not in self._fixtures:
            self._fixtures[key] = ()
            index = facts.scopes[scope].definition
            definition = facts.definitions[index] if index >= 0 else None
            if definition is not None and definition.kind == "function" and definition.start == definition.name_at:
                self._fixtures[key] = tuple(self._named_by_macro(path, definition.name_at))
        return self._fixtures[key]

    def _named_by_macro(self, path: str, at: int) -> Iterator[Body]:
        node = self._view.node(path, at, at + 1)
        head = node.parent if node is not None else None
        listed = head.child_by_field_name("parameters") if head is not None else None
        for child in listed.named_children if listed is not None else ():
            written = child.child_by_field_name("type") if child.type == "parameter_declaration" else None
            if written is not None and child.child_by_field_name("declarator") is None:
                yield from self._classes.of_type(Type(path, written))

    def _behind_operator(self, bodies: tuple[Body, ...]) -> tuple[Body, ...]:
        """Return what `->` of a class gives, if it has one."""
        own, _ = self._classes.find(bodies, "operator->")
        given = next((found for bound in own if (found := self._types.declared_type(bound)) is not None), None)
        return bodies if not own else self._classes.of_type(given) if given is not None else ()

    def _is_foreign(self, of: Type) -> bool:
        """Whether a type certainly has no members of this repository."""
        if of.node.type in ("primitive_type", "sized_type_specifier"):
            return True
        name = of.node.child_by_field_name("name") if of.node.type.endswith("_specifier") else of.node
        if name is None or not self._names.is_outside(of.path, name):
            return False
        # A library's template may give back what it is given.
        return b"<" not in (of.node.text or b"")


def as_uncertain(found: Meaning) -> Meaning:
    """Return a meaning that is not certain."""
    return Meaning(entities=found.entities, certain=False, how=found.how, own=found.own)
