"""The bodies of structs, unions and classes, their bases, and the members that these give."""

from collections.abc import Iterator
from typing import Protocol

import tree_sitter
from msgspec import Struct

from codeplane.code.entity import Bound
from codeplane.code.languages.c.declarations import LANGUAGES, is_friend
from codeplane.code.languages.c.types import Type
from codeplane.code.languages.member_resolver import CodeView
from codeplane.code.model import Definition, Facts

_CLASSES = frozenset({"class", "struct", "union"})
_MAX_BASES = 60
_MAX_DEPTH = 40


class Body(Struct, frozen=True):
    """The scope in which a struct, union or class has its members."""

    path: str
    scope: int


class Names(Protocol):
    """What classes ask about names."""

    def bounds(self, path: str, node: tree_sitter.Node) -> tuple[Bound, ...]:
        """Return what a name or a path of names means here; empty for what is not known."""

    def is_outside(self, path: str, node: tree_sitter.Node) -> bool:
        """Whether a name certainly is of something that is not in the repository."""

    def declared_type(self, bound: Bound) -> Type | None:
        """Return what a type stands for."""


class Classes:
    """Finds the members of types; several bodies of one type are its variants for other systems."""

    def __init__(self, view: CodeView, names: Names) -> None:
        self._view = view
        self._names = names
        self._bodies: dict[Bound, tuple[Body, ...]] = {}
        self._bases: dict[Body, tuple[tuple[Body, ...], str, bool]] = {}
        self._defined: dict[str, dict[Body, list[Bound]]] = {}
        self._derived: dict[Body, tuple[Body, ...]] = {}
        self._heads: dict[str, list[tuple[Body, bytes]]] = {}
        self._unnamed: dict[str, dict[int, list[int]]] = {}
        self._depth = 0

    def of_type(self, of: Type) -> tuple[Body, ...]:
        """Return the bodies of a type as it is written."""
        body = of.node.child_by_field_name("body") if of.node.type.endswith("_specifier") else None
        if body is not None:
            facts = self._view.facts(of.path)
            scope = facts.scope_at(body.start_byte) if facts is not None else 0
            return (Body(of.path, scope),) if scope > 0 else ()
        name = of.node.child_by_field_name("name") if of.node.type.endswith("_specifier") else of.node
        return self.of_bounds(self._names.bounds(of.path, name)) if name is not None else ()

    def of_bounds(self, bounds: tuple[Bound, ...]) -> tuple[Body, ...]:
        """Return the bodies of the declarations of one type."""
        return tuple(dict.fromkeys(body for bound in bounds for body in self.of_bound(bound)))

    def of_bound(self, bound: Bound) -> tuple[Body, ...]:
        """Return the bodies of a type, through typedefs."""
        found = self._bodies.get(bound)
        if found is None:
            self._bodies[bound] = ()
            found = self._bodies[bound] = tuple(dict.fromkeys(self._of_bound(bound)))
        return found

    def _of_bound(self, bound: Bound) -> Iterator[Body]:
        facts = self._view.facts(bound.file)
        for index, definition in self._view.definitions(bound):
            if facts is not None and definition.kind in _CLASSES and index in facts.body_of:
                yield Body(bound.file, facts.body_of[index])
            elif definition.kind == "type" and self._depth < _MAX_DEPTH:
                self._depth += 1
                meant = self._names.declared_type(bound)
                yield from self.of_type(meant) if meant is not None else ()
                self._depth -= 1

    def name_of(self, body: Body) -> Bound | None:
        """Return the class of a body; None for one without a name."""
        facts = self._view.facts(body.path)
        index = facts.scopes[body.scope].definition if facts is not None else -1
        if facts is None or index < 0:
            return None
        return Bound(body.path, facts.definitions[index].scope, facts.definitions[index].name)

    def find(self, bodies: tuple[Body, ...], name: str) -> tuple[tuple[Bound, ...], bool]:
        """Return the members under a name, and whether, if there are none, an outside base has it."""
        level, outside = list(bodies), True
        seen: set[Body] = set()
        while level and len(seen) < _MAX_BASES:
            found = [bound for body in level for bound in self.own_members(body, name)]
            if found:
                return tuple(dict.fromkeys(found)), False
            seen.update(level)
            deeper: list[Body] = []
            for body in level:
                bases, _, known = self.bases(body)
                outside = outside and known
                deeper += [base for base in bases if base not in seen]
            level = list(dict.fromkeys(deeper))
        return (), outside and bool(bodies)

    def own_members(self, body: Body, name: str) -> list[Bound]:
        """Return a member that a body declares, with its definitions outside of the class."""
        facts = self._view.facts(body.path)
        if facts is None:
            return []
        found: list[Bound] = []
        for scope in self._with_unnamed(body.path, facts, body.scope):
            there = [facts.definitions[index] for index in facts.definitions_in(scope, name)]
            if any(definition.kind != "macro" and not self._is_friend(body.path, definition) for definition in there):
                found.append(Bound(body.path, scope, name))
        if found and facts.language != "c":
            found += self._outside_definitions(name).get(body, [])
        return found

    def _with_unnamed(self, path: str, facts: Facts, scope: int) -> Iterator[int]:
        """Yield a body, and the bodies in it of structs and unions without a name, whose members are its own."""
        unnamed = self._unnamed.get(path)
        if unnamed is None:
            unnamed = self._unnamed[path] = {}
            text = self._view.text(path)
            for index, around in enumerate(facts.scopes):
                is_unnamed = around.kind == "class" and around.definition < 0
                if is_unnamed and text[around.end : around.end + 80].lstrip()[:1] == b";":
                    unnamed.setdefault(around.parent, []).append(index)
        yield scope
        for index in unnamed.get(scope, ()):
            yield from self._with_unnamed(path, facts, index)

    def _is_friend(self, path: str, definition: Definition) -> bool:
        return definition.kind == "prototype" and is_friend(self._view.text(path), definition)

    def _outside_definitions(self, name: str) -> dict[Body, list[Bound]]:
        """Return the definitions of methods of a name that stand outside of their classes, by class."""
        found = self._defined.get(name)
        if found is None:
            found = self._defined[name] = {}
            for path, index in self._view.find_definitions(name)[0]:
                facts = self._view.facts(path)
                if facts is None or facts.language not in LANGUAGES or index >= len(facts.definitions):
                    continue
                definition = facts.definitions[index]
                for body in self.of_receiver(path, facts, definition.scope):
                    found.setdefault(body, []).append(Bound(path, definition.scope, name))
        return found

    def of_receiver(self, path: str, facts: Facts, scope: int) -> tuple[Body, ...]:
        """Return the class of a method that is defined outside of it, by its scope."""
        around = facts.scopes[scope]
        if around.kind != "class" or around.definition >= 0:
            return ()
        at = self.method_at(facts, scope)
        node = self._view.node(path, at, at + 1) if at >= 0 else None
        while node is not None and node.type != "qualified_identifier":
            node = (
                node.parent
                if node.type in ("identifier", "field_identifier", "destructor_name", "~", "operator_name", "operator")
                else None
            )
        owner = node.child_by_field_name("scope") if node is not None else None
        if owner is not None and owner.type == "template_type":
            owner = owner.child_by_field_name("name")
        return self.of_bounds(self._names.bounds(path, owner)) if owner is not None else ()

    def method_at(self, facts: Facts, scope: int) -> int:
        """Return where the name of the method is that a scope of its own holds outside of its class; -1 without one."""
        return next(
            (
                definition.name_at
                for definition in facts.definitions
                if definition.scope == scope and definition.kind == "method"
            ),
            -1,
        )

    def bases(self, body: Body) -> tuple[tuple[Body, ...], str, bool]:
        """Return the bases of a class, the name of one that is not in the repository, and whether all are known."""
        found = self._bases.get(body)
        if found is None:
            self._bases[body] = ((), "", True)
            found = self._bases[body] = self._read_bases(body)
        return found

    def _read_bases(self, body: Body) -> tuple[tuple[Body, ...], str, bool]:
        facts = self._view.facts(body.path)
        if facts is None or facts.language == "c":
            return (), "", True
        start = facts.scopes[body.scope].start
        node = self._view.node(body.path, start, start + 1)
        while node is not None and node.type not in ("class_specifier", "struct_specifier", "union_specifier"):
            node = node.parent
        clause = next((child for child in node.children if child.type == "base_class_clause"), None) if node else None
        found: list[Body] = []
        outside, known = "", True
        for child in clause.named_children if clause is not None else ():
            if child.type in ("access_specifier", "virtual", "attribute_specifier", "comment"):
                continue
            bodies = self.of_bounds(self._names.bounds(body.path, child))
            found += bodies
            if not bodies:
                outside = outside or (child.text or b"").decode("utf-8", "replace")
                known = known and self._names.is_outside(body.path, child)
        return tuple(found), outside, known

    def family(self, body: Body) -> tuple[frozenset[Body], str]:
        """Return a class, its bases and all classes derived from these, and a base that is not in the repository."""
        outside, above, waiting = "", {body}, [body]
        while waiting and len(above) < _MAX_BASES:
            bases, missing, _ = self.bases(waiting.pop())
            outside = outside or missing
            new = [base for base in bases if base not in above]
            above.update(new)
            waiting += new
        found, waiting = set(above), list(above)
        while waiting and len(found) < 10 * _MAX_BASES:
            new = [subclass for subclass in self._derived_bodies(waiting.pop()) if subclass not in found]
            found.update(new)
            waiting += new
        return frozenset(found), outside

    def _derived_bodies(self, body: Body) -> tuple[Body, ...]:
        """Return the classes that name one among their bases."""
        found = self._derived.get(body)
        if found is None:
            of = self.name_of(body)
            named = of.name.encode() if of is not None else b""
            found = self._derived[body] = tuple(
                other
                for path in (self._view.files_with(of.name) if of is not None else ())
                for other, head in self._heads_with_bases(path)
                if named in head and body in self.bases(other)[0]
            )
        return found

    def _heads_with_bases(self, path: str) -> list[tuple[Body, bytes]]:
        """Return the classes of a file that have bases, with what stands before their bodies."""
        found = self._heads.get(path)
        if found is None:
            found = self._heads[path] = []
            facts = self._view.facts(path)
            text = self._view.text(path)
            for index, definition in enumerate(facts.definitions) if facts is not None else ():
                if facts is None or facts.language != "cpp":
                    break
                if definition.kind in _CLASSES and index in facts.body_of:
                    body = Body(path, facts.body_of[index])
                    head = text[definition.name_at : facts.scopes[body.scope].start]
                    if b":" in head:
                        found.append((body, head))
        return found
