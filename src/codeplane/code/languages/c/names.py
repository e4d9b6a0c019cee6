"""What names mean in C and C++: by scopes, includes, namespaces, and the declared types of receivers."""

import re
from collections.abc import Sequence

import tree_sitter

from codeplane.code.entity import Bound, Meaning, Outside
from codeplane.code.languages.c.classes import Body, Classes
from codeplane.code.languages.c.declarations import TYPES, Declaration, Declarations
from codeplane.code.languages.c.initializers import Initializers
from codeplane.code.languages.c.macros import Macros
from codeplane.code.languages.c.places import in_error, names_constructor, qualifiers_of
from codeplane.code.languages.c.types import Type, Types, described, is_arrow
from codeplane.code.languages.member_resolver import CodeView, MemberResolver, Relatives
from codeplane.code.model import REASONS, Facts

Node = tree_sitter.Node
_IMPORT, _PARAM = REASONS.index("IMPORT_ALIAS"), REASONS.index("PARAM")
_LEAVES = frozenset({"identifier", "field_identifier", "type_identifier", "namespace_identifier"})
_UNKNOWN = Meaning(entities=(), certain=False, how="name")
_UNKNOWN_MEMBER = Meaning(entities=(), certain=False, how="member")
_ELSEWHERE = Meaning(entities=(Outside("header"),), certain=True, how="name")
_OF_OUTSIDE = Meaning(entities=(Outside("type"),), certain=True, how="member")
_LOCAL = frozenset({"function", "block", "lambda", "template"})
_QUALIFIED = re.compile(rb"(?:\w+\s*::\s*)+\Z")
_MAX_DEPTH = 60


class CNames(MemberResolver):
    """Resolves all names of C and C++ but those of locals, which the scopes of their file decide."""

    def __init__(self, view: CodeView) -> None:
        super().__init__(view)
        self._declarations = Declarations(view)
        self._types = Types(view, self)
        self._classes = Classes(view, self)
        self._initializers = Initializers(self, self._types)
        self._macros = Macros(view, self._types)
        self._depth = 0
        self._held: dict[tuple[str, int, str], Meaning | None] = {}

    def meaning(self, path: str, facts: Facts, offset: int, name: str) -> Meaning | None:
        """Return what the name at a place means; None if the scopes of its file decide."""
        key = (path, offset, name)
        if key in self._held:
            return self._held[key]
        if self._depth > _MAX_DEPTH:
            return _UNKNOWN
        self._depth += 1
        try:
            found = self._meaning(path, facts, offset, name)
        finally:
            self._depth -= 1
        if not self._depth:
            self._held[key] = found
        return found

    def _meaning(self, path: str, facts: Facts, offset: int, name: str) -> Meaning | None:
        node = self._view.node(path, offset, offset + 1)
        if node is None or node.type not in _LEAVES or node.start_byte != offset:
            return self._in_text(path, facts, offset, name)
        parent = node.parent
        while parent is not None and parent.type in ("template_method", "dependent_name"):
            parent = parent.parent
        if parent is None or node.type == "statement_identifier":
            return None
        if parent.type == "field_expression" and node.type != "identifier":
            return self._of_receiver(path, parent, name)
        if parent.type == "field_designator":
            of = self._initializers.type_of(path, parent)
            found = self._read_from(self._classes.of_type(of), name) if of is not None else _UNKNOWN_MEMBER
            return found if found.entities else Meaning(entities=(), certain=False, how="label")
        if parent.type == "offsetof_expression" and node.type == "field_identifier":
            of = described(path, parent.child_by_field_name("type"))
            return self._read_from(self._classes.of_type(of), name) if of is not None else _UNKNOWN_MEMBER
        if parent.type == "field_initializer":
            initialized = self._lookup(path, facts, offset, name, certain=not in_error(node))
            return initialized if initialized is not None and initialized.entities else _UNKNOWN_MEMBER
        declared = self._declared_here(path, facts, offset, name)
        if declared is not None:
            return declared
        if (
            parent.type == "destructor_name"
            and parent.parent is not None
            and parent.parent.type == "qualified_identifier"
        ):
            owner = parent.parent.child_by_field_name("scope")
            return self._of_bounds(self.bounds(path, owner)) if owner is not None else _UNKNOWN
        qualifiers = qualifiers_of(node)
        if qualifiers is not None:
            return self._qualified(path, facts, node, qualifiers, name)
        return self._lookup(path, facts, offset, name, certain=not in_error(node))

    def _declared_here(self, path: str, facts: Facts, offset: int, name: str) -> Meaning | None:
        """Return the symbol of which this is a declaration: a member of a class, or a top-level name."""
        for index in facts.named(name):
            one = facts.definitions[index]
            if one.name_at != offset:
                continue
            scope = facts.scopes[one.scope]
            if scope.kind == "class" and one.kind != "macro" and self._declarations.space(path, facts, one) is None:
                bodies = self._bodies_around(path, facts, one.scope)
                of = next((bound for body in bodies if (bound := self._classes.name_of(body)) is not None), None)
                if of is not None and of.name == name and one.kind not in ("field", "type"):
                    # A constructor has the name of its class.
                    return self._of_bounds(self._with_constructors(of))
                found = self._classes.find(bodies, name)[0] if bodies else ()
                return self._of_bounds(tuple(dict.fromkeys((Bound(path, one.scope, name), *found))), how="member")
            if self._declarations.space(path, facts, one) is not None:
                return self._of_group(Bound(path, one.scope, name))
            return None
        return None

    def relatives(self, member: Bound) -> Relatives:
        """Return what is renamed with a symbol: its other declarations, and what overrides it."""
        facts = self._view.facts(member.file)
        if facts is None:
            return Relatives()
        mine = [one for _, one in self._view.definitions(member)]
        if any(self._declarations.space(member.file, facts, one) is not None for one in mine):
            group = self._declarations.group(member)
            more = (
                [other for bound in group for other in self._with_constructors(bound)] if facts.language != "c" else []
            )
            members = tuple(one for one in dict.fromkeys((*group, *more)) if one != member)
            possible = tuple(one for one in self._declarations.linked(group) if one != member)
            return Relatives(members=members, possible=possible)
        if facts.scopes[member.scope].kind != "class" or not mine:
            return Relatives()
        return self._relatives_of_member(member, facts, mine[0].kind)

    def pasted(self, name: str, places: Sequence[tuple[str, int]]) -> tuple[str, int] | None:
        """Return where a macro makes a name from parts, or other names from one that is used at these places."""
        return self._macros.pasted(name, places)

    def _relatives_of_member(self, member: Bound, facts: Facts, kind: str) -> Relatives:
        bodies = self._bodies_around(member.file, facts, member.scope)
        names = [bound for body in bodies if (bound := self._classes.name_of(body)) is not None]
        if any(one.name == member.name for one in names):
            found = dict.fromkeys(bound for one in names for bound in self._with_constructors(one))
            return Relatives(members=tuple(one for one in found if one != member))
        outside, everything = "", dict[Bound, None]()
        for body in bodies:
            family, missing = self._classes.family(body)
            for one in sorted(family, key=lambda one: (one.path, one.scope)):
                everything.update(dict.fromkeys(self._classes.own(one, member.name)))
            if missing and kind in ("method", "function", "prototype") and self._may_override(body, member.name):
                outside = missing
        members = tuple(one for one in everything if one != member)
        return Relatives(members=members, outside=outside)

    def _may_override(self, body: Body, name: str) -> bool:
        """Whether a method may override one of a base; where a class marks what does, the others do not."""
        facts = self._view.facts(body.path)
        if facts is None:
            return True
        text, scope = self._view.text(body.path), facts.scopes[body.scope]
        heads = [
            text[facts.definitions[index].start : facts.definitions[index].end].partition(b"{")[0]
            for index in facts.defining(body.scope, name)
        ]
        if any(re.search(rb"\b(?:virtual|override|final)\b", head) for head in heads):
            return True
        if any(head.lstrip().startswith(b"static") for head in heads):
            return False
        return re.search(rb"\boverride\b", text[scope.start : scope.end]) is None

    # What types and classes ask.

    def bounds(self, path: str, node: Node) -> tuple[Bound, ...]:
        """Return what a name or a path of names means here; empty for what is not known."""
        while node.type in (
            "qualified_identifier",
            "template_type",
            "template_function",
            "dependent_type",
            "dependent_name",
        ):
            inner = node.child_by_field_name("name") or node.named_child(0)
            if inner is None:
                return ()
            node = inner
        facts = self._view.facts(path)
        if facts is None or node.type not in _LEAVES:
            return ()
        name = _text(node)
        found = self.meaning(path, facts, node.start_byte, name)
        if found is None:
            found = self._view.plain(path, node.start_byte, name)
        return tuple(one for one in found.entities if isinstance(one, Bound))

    def is_outside(self, path: str, node: Node) -> bool:
        """Whether a name certainly is of something that is not in the repository."""
        while node.type in ("qualified_identifier", "template_type", "dependent_type"):
            inner = node.child_by_field_name("name") or node.named_child(0)
            if inner is None:
                return False
            node = inner
        facts = self._view.facts(path)
        found = self.meaning(path, facts, node.start_byte, _text(node)) if facts is not None else None
        return found is not None and any(isinstance(one, Outside) for one in found.entities)

    def declared(self, bound: Bound) -> Type | None:
        """Return what a type stands for."""
        return self._types.declared(bound)

    def owner(self, path: str, offset: int) -> Type | None:
        """Return the type of `this` at a place, written where its class is."""
        facts = self._view.facts(path)
        scope = facts.scope_at(offset) if facts is not None else -1
        while facts is not None and scope > 0:
            if facts.scopes[scope].kind == "class":
                for body in self._bodies_around(path, facts, scope):
                    there = self._view.facts(body.path)
                    at = there.scopes[body.scope].start if there is not None else 0
                    node = self._view.node(body.path, at, at + 1)
                    while node is not None and not node.type.endswith("_specifier"):
                        node = node.parent
                    return Type(body.path, node, 1) if node is not None else None
            scope = facts.scopes[scope].parent
        return None

    def member(self, of: Type, name: str, arrow: bool) -> tuple[Bound, ...]:
        """Return the members of a type under a name."""
        bodies = self._classes.of_type(self._types.pointee(of) if arrow else of)
        if arrow and bodies and of.pointers == 0:
            bodies = self._behind_operator(bodies)
        return self._classes.find(bodies, name)[0]

    def is_type(self, bound: Bound) -> bool:
        """Whether a binding is a type."""
        return any(one.kind in TYPES for _, one in self._view.definitions(bound))

    def _behind_operator(self, bodies: tuple[Body, ...]) -> tuple[Body, ...]:
        """Return what `->` of a class gives, if it has one."""
        own, _ = self._classes.find(bodies, "operator->")
        given = next((found for bound in own if (found := self._types.declared(bound)) is not None), None)
        return bodies if not own else self._classes.of_type(given) if given is not None else ()

    # Places.

    def _of_receiver(self, path: str, access: Node, name: str) -> Meaning:
        of = self._types.of(path, access.child_by_field_name("argument"))
        if of is None:
            return _UNKNOWN_MEMBER
        arrow = is_arrow(access)
        read = self._types.pointee(of) if arrow else of
        bodies = self._classes.of_type(read)
        if arrow and bodies and read.pointers == 0 and read == of:
            bodies = self._behind_operator(bodies)
        if not bodies and self._is_foreign(read):
            return _OF_OUTSIDE
        found = self._read_from(bodies, name)
        return found if not in_error(access) or not found.entities else _doubted(found)

    def _is_foreign(self, of: Type) -> bool:
        """Whether a type certainly has no members of this repository."""
        if of.node.type in ("primitive_type", "sized_type_specifier"):
            return True
        name = of.node.child_by_field_name("name") if of.node.type.endswith("_specifier") else of.node
        if name is None or not self.is_outside(of.path, name):
            return False
        # A library's template may give back what it is given.
        return b"<" not in (of.node.text or b"")

    def _read_from(self, bodies: tuple[Body, ...], name: str) -> Meaning:
        found, outside = self._classes.find(bodies, name)
        if not found:
            return _OF_OUTSIDE if outside and self._has_outside(bodies) else _UNKNOWN_MEMBER
        return Meaning(entities=self._with_owners(found), certain=True, how="member")

    def _with_owners(self, found: tuple[Bound, ...]) -> tuple[Bound, ...]:
        """Return members, or for constructors of a base all that has the name of their class."""
        for bound in found:
            of = self._classes.name_of(Body(bound.file, bound.scope))
            if of is not None and of.name == bound.name:
                return self._with_constructors(of)
        return found

    def _has_outside(self, bodies: tuple[Body, ...]) -> bool:
        return any(self._classes.family(body)[1] for body in bodies)

    def _qualified(self, path: str, facts: Facts, node: Node, qualifiers: list[Node], name: str) -> Meaning:
        if not qualifiers:
            return self._in_space(path, "", name) or self._unseen(path, facts, node.start_byte, name)
        last = qualifiers[-1]
        if last.type in ("template_type", "dependent_type"):
            last = last.child_by_field_name("name") or last
        owners = self.bounds(path, last)
        bodies = self._classes.of_bounds(owners)
        if bodies:
            if any(one.name == name for one in owners) and names_constructor(node):
                return self._of_bounds(self._with_constructors(*owners))
            found = self._read_from(bodies, name)
            return Meaning(entities=found.entities, certain=found.certain, how="member")
        if enums := [scope for one in owners for scope in self._enum_scopes(one)]:
            found_in = [
                one for one in enums if (there := self._view.facts(one.file)) and there.defining(one.scope, name)
            ]
            return self._of_bounds(tuple(Bound(one.file, one.scope, name) for one in found_in), how="member")
        space = self._space(path, facts, qualifiers)
        if space is not None:
            return self._in_space(path, space, name) or _UNKNOWN_MEMBER
        first = qualifiers[0]
        if first.type in _LEAVES and not owners and self._is_unheard(path, facts, first):
            return _OF_OUTSIDE
        return _UNKNOWN_MEMBER

    def _enum_scopes(self, bound: Bound) -> list[Bound]:
        """Return the scopes that hold the names of an enumeration: its own, or the one around it."""
        facts = self._view.facts(bound.file)
        found: list[Bound] = []
        for index, one in self._view.definitions(bound):
            if one.kind == "enum" and facts is not None:
                found.append(Bound(bound.file, facts.body_of.get(index, one.scope), bound.name))
        return found

    def _is_unheard(self, path: str, facts: Facts, node: Node) -> bool:
        """Whether nothing in the repository declares the first name of a path."""
        name = _text(node)
        meant = self._view.plain(path, node.start_byte, name)
        return meant.own is None and not self._declarations.named(name) and not self._view.named(name)[0]

    def _space(self, path: str, facts: Facts, qualifiers: list[Node]) -> str | None:
        """Return the namespace that a path names, looked for from the inside out."""
        parts = ".".join(_text(one) for one in qualifiers)
        first, _, _ = parts.partition(".")
        reached = {one.space for one in self._declarations.named(first) if one.kind == "namespace"}
        known = {f"{space}.{first}".strip(".") for space in reached}
        known |= set(self._written_spaces(first))
        around = self._spaces_around(facts, qualifiers[0].start_byte)
        for space in around:
            if f"{space}.{first}".strip(".") in known:
                return f"{space}.{parts}".strip(".")
        return None

    def _written_spaces(self, first: str) -> list[str]:
        """Return the namespaces written as `namespace a::b` whose first part is a name."""
        return [first] if any("::" in one.bound.name for one in self._declarations.named(first)) else []

    def _spaces_around(self, facts: Facts, offset: int) -> list[str]:
        scope, found = facts.scope_at(offset), []
        while scope > 0:
            if facts.scopes[scope].kind == "namespace":
                space = self._declarations.space_of(facts, scope)
                parts = space.split(".") if space else []
                found += [".".join(parts[:count]) for count in range(len(parts), 0, -1)]
            scope = facts.scopes[scope].parent
        return list(dict.fromkeys([*found, ""]))

    def _lookup(self, path: str, facts: Facts, offset: int, name: str, *, certain: bool) -> Meaning | None:
        scope = facts.scope_at(offset)
        while scope >= 0:
            around = facts.scopes[scope]
            rows = facts.rows(scope, name)
            if rows and (brought := self._brought(path, facts, rows)) is not None:
                return brought
            if around.kind in _LOCAL and rows:
                first = min(facts.bind_at(row) for row in rows)
                is_macro = any(facts.definitions[one].kind == "macro" for one in facts.defining(scope, name))
                if is_macro:
                    return self._of_group(Bound(path, scope, name))
                if offset >= first or any(facts.bind_reason(row) == _PARAM for row in rows):
                    return None
            elif around.kind == "class" and facts.language != "c":
                is_before = around.definition < 0 and offset <= self._classes.method_at(facts, scope)
                bodies = self._bodies_around(path, facts, scope) if not is_before else ()
                names = [bound for body in bodies if (bound := self._classes.name_of(body)) is not None]
                own = [one for one in names if one.name == name]
                if own:
                    return self._of_bounds(self._with_constructors(*own))
                found = self._with_owners(self._classes.find(bodies, name)[0])
                if found:
                    return Meaning(entities=found, certain=certain, how="name")
            elif around.kind == "enum" and rows:
                return Meaning(entities=(Bound(path, scope, name),), certain=certain, how="name")
            elif around.kind == "namespace" or scope == 0:
                space = self._declarations.space_of(facts, scope) or ""
                spaces = [space, *self._used_spaces(path, facts, scope)]
                parts = space.split(".") if space else []
                spaces += [".".join(parts[:count]) for count in range(len(parts) - 1, 0, -1)]
                for one in dict.fromkeys(spaces):
                    if (found_there := self._in_space(path, one, name)) is not None:
                        return found_there if certain else _doubted(found_there)
            scope = around.parent
        return self._unseen(path, facts, offset, name)

    def _brought(self, path: str, facts: Facts, rows: Sequence[int]) -> Meaning | None:
        """Return what `using a::name` brings."""
        for row in rows:
            if facts.bind_reason(row) == _IMPORT:
                one = facts.imports[facts.bind_target(row)]
                node = self._view.node(path, one.imported_at, one.imported_at + 1)
                qualifiers = qualifiers_of(node) if node is not None else None
                if node is not None and qualifiers:
                    return self._qualified(path, facts, node, qualifiers, one.imported)
        return None

    def _used_spaces(self, path: str, facts: Facts, scope: int) -> list[str]:
        """Return the namespaces that `using namespace` opens in a scope."""
        found = []
        for one in facts.imports:
            if one.kind == "cpp_using_namespace" and one.scope == scope:
                found.append(one.source.replace("::", ".").strip("."))
        return found

    def _in_space(self, path: str, space: str, name: str) -> Meaning | None:
        """Return what a namespace has under a name, as far as a file sees it."""
        seen = [one for one in self._declarations.visible(path, name) if one.space == space]
        if not seen:
            seen = [one for one in self._declarations.among_includers(path, name) if one.space == space]
        return self._of_declarations(seen) if seen else None

    def _of_declarations(self, seen: list[Declaration]) -> Meaning:
        bounds = dict.fromkeys(other for one in seen for other in self._declarations.group(one.bound))
        more = [other for bound in bounds if self.is_type(bound) for other in self._with_constructors(bound)]
        return self._of_bounds(tuple(dict.fromkeys((*bounds, *more))))

    def _of_group(self, bound: Bound) -> Meaning:
        group = self._declarations.group(bound)
        more = [other for one in group if self.is_type(one) for other in self._with_constructors(one)]
        return self._of_bounds(tuple(dict.fromkeys((*group, *more))))

    def _of_bounds(self, bounds: tuple[Bound, ...], how: str = "name") -> Meaning:
        if not bounds:
            return _UNKNOWN
        # Where the linker may join another file's declaration, that is proposed.
        own = bounds[0] if how == "name" and self._declarations.linked(bounds) else None
        return Meaning(entities=bounds, certain=True, how=how, own=own)

    def _with_constructors(self, *of: Bound) -> tuple[Bound, ...]:
        """Return a class with its other declarations and its constructors, which have its name."""
        bounds = dict.fromkeys(other for one in of for other in self._declarations.group(one))
        for one in list(bounds):
            for body in self._classes.of_bound(one):
                if self._classes.name_of(body) in bounds:
                    bounds.update(dict.fromkeys(self._classes.own(body, one.name)))
        return tuple(bounds)

    def _bodies_around(self, path: str, facts: Facts, scope: int) -> tuple[Body, ...]:
        """Return the class that a scope is the body of, or whose method it is; a body without a name is its owner's."""
        around = facts.scopes[scope]
        if around.kind != "class":
            return ()
        if around.definition >= 0:
            return (Body(path, scope),)
        return self._classes.of_receiver(path, facts, scope) or (Body(path, scope),)

    def _unseen(self, path: str, facts: Facts, offset: int, name: str) -> Meaning:
        """Return what a name may mean of which a file sees no declaration."""
        if not self._declarations.named(name) and not self._declarations.is_whole(name):
            return _UNKNOWN
        includes = self._declarations.includes(path)
        if includes is None or not includes.reached(path)[1] or facts.errors:
            return _UNKNOWN
        text = self._view.text(path)
        called = text[offset + len(name.encode()) :][:40].lstrip()[:1] == b"("
        if called or facts.language != "c":
            # C may call what nothing declares; in C++ arguments and bases bring names.
            return _UNKNOWN
        return _ELSEWHERE

    def _in_text(self, path: str, facts: Facts, offset: int, name: str) -> Meaning | None:
        """Return what a name means where there is no syntax: in the text of a macro, or in what was not parsed."""
        text = self._view.text(path)
        before = text[max(0, offset - 80) : offset].rstrip(b" \t")
        after = text[offset + len(name.encode()) :][:8].lstrip(b" \t")
        if before.endswith((b"->", b".")) and not before.endswith(b"..."):
            types = self._macros.receiver_types(path, facts, offset)
            found_in = [self._read_from(self._classes.of_type(of), name) for of in types]
            entities = tuple(dict.fromkeys(one for found in found_in for one in found.entities))
            certain = bool(found_in) and all(found.certain for found in found_in)
            return Meaning(entities=entities, certain=certain, how="member") if entities else _UNKNOWN_MEMBER
        if before.endswith(b"#") and not before.endswith(b"##") and text[:offset].rpartition(b"\n")[2].strip() == b"#":
            # The name of a directive.
            return _ELSEWHERE
        if before.endswith(b"#") or after.startswith(b"##"):
            return _UNKNOWN
        if _QUALIFIED.search(before):
            return _UNKNOWN_MEMBER
        found = self._lookup(path, facts, offset, name, certain=True)
        if found is None or found.entities:
            return found
        groups = {frozenset(self._declarations.group(one.bound)) for one in self._declarations.named(name)}
        if len(groups) == 1 and self._declarations.is_whole(name):
            return self._of_bounds(tuple(next(iter(groups))))
        return found


def _doubted(found: Meaning) -> Meaning:
    return Meaning(entities=found.entities, certain=False, how=found.how, own=found.own)


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
