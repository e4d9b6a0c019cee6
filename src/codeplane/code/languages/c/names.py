"""What names mean in C and C++: by scopes, includes, namespaces, and the declared types of receivers."""

import re
from collections.abc import Sequence

import tree_sitter

from codeplane.code.entity import Bound, Entity, Meaning, Outside
from codeplane.code.languages.c.clashes import Clashes
from codeplane.code.languages.c.classes import Body, Classes
from codeplane.code.languages.c.declarations import TYPES, Declaration, Declarations
from codeplane.code.languages.c.initializers import Initializers
from codeplane.code.languages.c.macros import Macros
from codeplane.code.languages.c.members import OF_OUTSIDE, UNKNOWN_MEMBER, Members, as_uncertain
from codeplane.code.languages.c.namespaces import Namespaces
from codeplane.code.languages.c.places import heads_body, in_error, is_broken_path, names_constructor, qualifiers_of
from codeplane.code.languages.c.relatives import CRelatives
from codeplane.code.languages.c.types import Type, Types, read_type_descriptor
from codeplane.code.languages.member_resolver import CodeView, MemberResolver, Relatives
from codeplane.code.model import REASONS, Facts, Import

Node = tree_sitter.Node
_IMPORT, _PARAM = REASONS.index("IMPORT_ALIAS"), REASONS.index("PARAM")
_LEAVES = frozenset({"identifier", "field_identifier", "type_identifier", "namespace_identifier"})
_UNKNOWN = Meaning(entities=(), certain=False, how="name")
_ELSEWHERE = Meaning(entities=(Outside("header"),), certain=True, how="name")
_LOCAL = frozenset({"function", "block", "lambda", "template"})
_HEADS = frozenset({"class_specifier", "struct_specifier", "union_specifier"})
# Macros of googletest and Google Benchmark: what follows is a method of a class that derives from the first argument.
_METHOD_MACROS = frozenset(
    {"TEST_F", "TEST_P", "TYPED_TEST", "TYPED_TEST_P", "BENCHMARK_F", "BENCHMARK_DEFINE_F", "BENCHMARK_TEMPLATE_F"}
)
_QUALIFIED = re.compile(rb"(?:\w+\s*::\s*)+\Z")
_CONDITION = re.compile(rb"[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif|include|pragma|error|line|undef)\b")
_COMMENT = re.compile(rb"(?:[^\"'\n]|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*')*?//")
_PATH_PARTS = _LEAVES | {"template_type", "template_argument_list", "type_descriptor", "qualified_identifier"}
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
        self._members = Members(view, self, self._declarations, self._types, self._classes)
        self._namespaces = Namespaces(self._declarations)
        self._relatives = CRelatives(view, self._declarations, self._classes, self._members)
        self._clashes = Clashes(view, self, self._declarations)
        self._bringing: set[tuple[str, int]] = set()
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
        if self._is_condition(path, offset) and all(
            declaration.kind != "macro" for declaration in self._declarations.find_all(name)
        ):
            # The preprocessor knows macros alone.
            return _ELSEWHERE
        node = self._view.node(path, offset, offset + 1)
        if node is not None and heads_body(node) and self._macros.is_word(path, offset):
            return _ELSEWHERE
        if node is None or node.type not in _LEAVES or node.start_byte != offset:
            return self._in_text(path, facts, offset, name)
        parent = node.parent
        while parent is not None and parent.type in ("template_method", "dependent_name"):
            parent = parent.parent
        if parent is None or node.type == "statement_identifier":
            return None
        if parent.type == "field_expression" and node.type != "identifier":
            return self._members.of_receiver(path, parent, name)
        if parent.type == "field_designator":
            of = self._initializers.type_of(path, parent)
            found = self._members.of_bodies(self._classes.of_type(of), name) if of is not None else UNKNOWN_MEMBER
            return found if found.entities else Meaning(entities=(), certain=False, how="label")
        if parent.type == "offsetof_expression" and node.type == "field_identifier":
            of = read_type_descriptor(path, parent.child_by_field_name("type"))
            return self._members.of_bodies(self._classes.of_type(of), name) if of is not None else UNKNOWN_MEMBER
        if parent.type == "field_initializer":
            initialized = self._lookup(path, facts, offset, name, certain=not in_error(node))
            return initialized if initialized is not None and initialized.entities else UNKNOWN_MEMBER
        declared = self._declaration_meaning(path, facts, offset, name) or self._forward(path, facts, node, name)
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
            return self._resolve_qualified_name(path, facts, node, qualifiers, name)
        return self._lookup(path, facts, offset, name, certain=not in_error(node))

    def _is_condition(self, path: str, offset: int) -> bool:
        """Whether a place is in a line that the preprocessor reads for itself."""
        text = self._view.text(path)
        return _CONDITION.match(text, text.rfind(b"\n", 0, offset) + 1, offset) is not None

    def _declaration_meaning(self, path: str, facts: Facts, offset: int, name: str) -> Meaning | None:
        """Return the symbol of which this is a declaration: a member of a class, or a top-level name."""
        for index in facts.indexes_of(name):
            definition = facts.definitions[index]
            if definition.name_at != offset:
                continue
            if macros := self._declarations.macros_over(path, Bound(path, definition.scope, name)):
                # What looks like a declaration may be a use of the macro.
                return Meaning(entities=(Bound(path, definition.scope, name), *macros), certain=False, how="member")
            scope = facts.scopes[definition.scope]
            if (
                scope.kind == "class"
                and definition.kind != "macro"
                and self._declarations.space(path, facts, definition) is None
            ):
                bodies = self._members.bodies_around(path, facts, definition.scope)
                of = next((bound for body in bodies if (bound := self._classes.name_of(body)) is not None), None)
                if of is not None and of.name == name and definition.kind not in ("field", "type"):
                    # A constructor has the name of its class.
                    return self._of_bounds(self._members.with_constructors(of))
                own = Bound(path, definition.scope, name)
                if scope.definition < 0 and (namesakes := self._members_by_owner_name(path, offset, name, bodies)):
                    return Meaning(entities=(own, *namesakes), certain=False, how="member")
                found = self._classes.find(bodies, name)[0] if bodies else ()
                return self._of_bounds(tuple(dict.fromkeys((own, *found))), how="member")
            if self._declarations.space(path, facts, definition) is not None:
                own = Bound(path, definition.scope, name)
                if self._declarations.is_stray(own):
                    named = (declaration.bound for declaration in self._declarations.find_all(name))
                    return Meaning(entities=tuple(dict.fromkeys((own, *named))), certain=False, how="name")
                return self._of_group(own)
            return None
        return None

    def _members_by_owner_name(self, path: str, offset: int, name: str, bodies: Sequence[Body]) -> tuple[Bound, ...]:
        """Return the members of which `Class::name` may be the definition where nothing says which class is meant."""
        if any(self._classes.name_of(body) is not None for body in bodies):
            return ()
        path_before = _QUALIFIED.search(self._view.text(path), max(0, offset - 200), offset)
        owner = path_before[0].split(b"::")[-2].strip().decode() if path_before is not None else ""
        declared = tuple(declaration.bound for declaration in self._declarations.find_all(owner)) if owner else ()
        return self._classes.find(self._classes.of_bounds(declared), name)[0]

    def _forward(self, path: str, facts: Facts, node: Node, name: str) -> Meaning | None:
        """Return the type of which `class name;` is a declaration, whether or not the file sees another."""
        head = node.parent
        if head is None or head.type not in _HEADS or head.child_by_field_name("body") is not None:
            return None
        if head.next_sibling is None or head.next_sibling.type != ";":
            return None
        space = self._declarations.space_of(path, facts, facts.scope_at(node.start_byte), node.start_byte)
        same = [declaration for declaration in self._declarations.find_all(name) if declaration.space == space]
        types = [declaration for declaration in same if declaration.kind in TYPES]
        return self._of_declarations(types) if types and len(types) == len(same) else None

    def resolve_import(self, path: str, facts: Facts, import_: Import) -> tuple[Entity, ...] | None:
        """Return what `using a::name` brings; None for other imports."""
        found = self._brought(path, facts, import_) if import_.kind == "cpp_using" else None
        return found.entities if found is not None else None

    def relatives(self, member: Bound) -> Relatives:
        """Return what is renamed with a symbol: its other declarations, and what overrides it."""
        return self._relatives.of(member)

    def other_at(self, path: str, offset: int, name: str, new: str) -> Bound | None:
        """Return what a new name means already at the place of a name, or what the linker would take for it."""
        if not self._clashes.is_possible(path, new):
            return None
        facts = self._view.facts(path)
        found = self.meaning(path, facts, offset, name) if facts is not None else None
        meant = [entity for entity in found.entities if isinstance(entity, Bound)] if found is not None else []
        return self._clashes.at(path, meant, new)

    def pasting_macro(self, name: str, places: Sequence[tuple[str, int]]) -> tuple[str, int] | None:
        """Return where a macro makes a name from parts, or other names from one that is used at these places."""
        return self._macros.pasting_macro(name, places)

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
            found = self._view.resolve_plain_name(path, node.start_byte, name)
        return tuple(entity for entity in found.entities if isinstance(entity, Bound))

    def is_outside(self, path: str, node: Node) -> bool:
        """Whether a name certainly is of something that is not in the repository."""
        while node.type in ("qualified_identifier", "template_type", "dependent_type"):
            inner = node.child_by_field_name("name") or node.named_child(0)
            if inner is None:
                return False
            node = inner
        facts = self._view.facts(path)
        found = self.meaning(path, facts, node.start_byte, _text(node)) if facts is not None else None
        return found is not None and any(isinstance(entity, Outside) for entity in found.entities)

    def declared_type(self, bound: Bound) -> Type | None:
        """Return what a type stands for."""
        return self._types.declared_type(bound)

    def owner(self, path: str, offset: int) -> Type | None:
        """Return the type of `this` at a place, written where its class is."""
        return self._members.owner(path, offset)

    def member(self, of: Type, name: str, arrow: bool) -> tuple[Bound, ...]:
        """Return the members of a type under a name."""
        return self._members.of_type(of, name, arrow)

    def is_type(self, bound: Bound) -> bool:
        """Whether a binding is a type."""
        return any(definition.kind in TYPES for _, definition in self._view.definitions(bound))

    # Places.

    def _resolve_qualified_name(
        self, path: str, facts: Facts, node: Node, qualifiers: list[Node], name: str
    ) -> Meaning:
        if is_broken_path(node):
            # What stands before it may be a type, and not the owner of the name.
            return UNKNOWN_MEMBER
        if not qualifiers:
            return self._in_space(path, "", name) or self._undeclared_meaning(path, facts, node.start_byte, name)
        last = qualifiers[-1]
        if last.type in ("template_type", "dependent_type"):
            last = last.child_by_field_name("name") or last
        owners = self.bounds(path, last)
        bodies = self._classes.of_bounds(owners)
        if bodies:
            if any(owner.name == name for owner in owners) and names_constructor(node):
                return self._of_bounds(self._members.with_constructors(*owners))
            found = self._members.of_bodies(bodies, name)
            return Meaning(entities=found.entities, certain=found.certain, how="member")
        if enums := [scope for owner in owners for scope in self._enum_scopes(owner)]:
            found_in = [
                enum
                for enum in enums
                if (there := self._view.facts(enum.file)) and there.definitions_in(enum.scope, name)
            ]
            return self._of_bounds(tuple(Bound(enum.file, enum.scope, name) for enum in found_in), how="member")
        space = self._namespaces.resolve_namespace(
            path, facts, qualifiers, self._spaces_of_method(path, facts, node.start_byte)
        )
        if space is not None:
            found_there = self._in_space(path, space, name)
            return found_there or (OF_OUTSIDE if self._is_library(space, qualifiers, name) else UNKNOWN_MEMBER)
        first = qualifiers[0]
        if first.type in _LEAVES and not owners and self._is_unheard(path, facts, first):
            return OF_OUTSIDE
        return UNKNOWN_MEMBER

    def _is_library(self, space: str, qualifiers: list[Node], name: str) -> bool:
        """Whether a name is of the standard library, which programs may specialize and not add to."""
        if space.partition(".")[0] != "std":
            return False
        inner = qualifiers[1] if len(qualifiers) > 1 else None
        if inner is not None and inner.type in ("template_type", "dependent_type"):
            inner = inner.child_by_field_name("name") or inner
        declared = self._declarations.find_all(_text(inner) if inner is not None else name)
        return all(declaration.space != "std" for declaration in declared)

    def _enum_scopes(self, bound: Bound) -> list[Bound]:
        """Return the scopes that hold the names of an enumeration: its own, or the one around it."""
        facts = self._view.facts(bound.file)
        found: list[Bound] = []
        for index, definition in self._view.definitions(bound):
            if definition.kind == "enum" and facts is not None:
                found.append(Bound(bound.file, facts.body_of.get(index, definition.scope), bound.name))
        return found

    def _is_unheard(self, path: str, facts: Facts, node: Node) -> bool:
        """Whether nothing in the repository declares the first name of a path."""
        name = _text(node)
        meant = self._view.resolve_plain_name(path, node.start_byte, name)
        if self._declarations.macro_namespaces(name):
            return False
        return meant.own is None and not self._declarations.find_all(name) and not self._view.find_definitions(name)[0]

    def _lookup(self, path: str, facts: Facts, offset: int, name: str, *, certain: bool) -> Meaning | None:
        return self._around(path, facts, facts.scope_at(offset), offset, name, certain=certain)

    def _around(self, path: str, facts: Facts, scope: int, offset: int, name: str, *, certain: bool) -> Meaning | None:
        """Return what a name means at a place, looked for from a scope outwards."""
        while scope >= 0:
            around = facts.scopes[scope]
            rows = facts.rows(scope, name)
            if rows and (brought := self._resolve_using(path, facts, rows)) is not None:
                return brought
            if around.kind in _LOCAL and rows:
                first = min(facts.bind_at(row) for row in rows)
                is_macro = any(facts.definitions[index].kind == "macro" for index in facts.definitions_in(scope, name))
                if is_macro:
                    return self._of_group(Bound(path, scope, name))
                if offset >= first or any(facts.bind_reason(row) == _PARAM for row in rows):
                    return None
            elif around.kind == "function" and (bodies := self._members.fixtures(path, facts, scope)):
                if found := self._classes.find(bodies, name)[0]:
                    return self._in_fixture(path, facts, scope, offset, name, found, certain=certain)
            elif around.kind == "class" and facts.language != "c":
                is_before = around.definition < 0 and offset <= self._classes.method_at(facts, scope)
                bodies = self._members.bodies_around(path, facts, scope) if not is_before else ()
                names = [bound for body in bodies if (bound := self._classes.name_of(body)) is not None]
                own = [class_bound for class_bound in names if class_bound.name == name]
                if own:
                    return self._of_bounds(self._members.with_constructors(*own))
                found = self._members.with_owners(self._classes.find(bodies, name)[0])
                if found:
                    return Meaning(entities=found, certain=certain, how="name")
                for space in self._spaces_of(path, facts, scope, names) if not is_before else ():
                    if (found_there := self._in_space(path, space, name)) is not None:
                        return found_there if certain else as_uncertain(found_there)
            elif around.kind == "enum" and rows:
                return Meaning(entities=(Bound(path, scope, name),), certain=certain, how="name")
            elif around.kind == "namespace" or scope == 0:
                of_class = self._namespaces_of_head(path, facts, offset)
                for namespace in (*of_class, *self._namespaces.search_order(path, facts, scope, offset)):
                    if (found_there := self._in_space(path, namespace, name)) is not None:
                        return found_there if certain else as_uncertain(found_there)
            scope = around.parent
        return self._by_arguments(path, offset, name) or self._undeclared_meaning(path, facts, offset, name)

    def _namespaces_of_head(self, path: str, facts: Facts, offset: int) -> list[str]:
        """Return the namespaces of a class that is defined as `a::Name : Base` for the names of its bases."""
        node = self._view.node(path, offset, offset + 1)
        while node is not None and node.type in _PATH_PARTS:
            node = node.parent
        head = node.parent if node is not None and node.type == "base_class_clause" else None
        name = head.child_by_field_name("name") if head is not None else None
        scope = name.child_by_field_name("scope") if name is not None and name.type == "qualified_identifier" else None
        space = self._namespaces.resolve_namespace(path, facts, [scope]) if scope is not None else None
        return [space] if space else []

    def _by_arguments(self, path: str, offset: int, name: str) -> Meaning | None:
        """Return the function that a call finds in the namespaces of the classes of its arguments."""
        node = self._view.node(path, offset, offset + 1)
        call = node.parent if node is not None else None
        given = call.child_by_field_name("arguments") if call is not None and call.type == "call_expression" else None
        for argument in given.named_children if given is not None else ():
            of = self._types.of(path, argument)
            for body in self._classes.of_type(of) if of is not None else ():
                space = self._namespace_of(body)
                if space and (found := self._in_space(path, space, name)) is not None:
                    return found
        return None

    def _namespace_of(self, body: Body) -> str:
        """Return the namespace of a class."""
        of = self._classes.name_of(body)
        facts = self._view.facts(of.file) if of is not None else None
        if of is None or facts is None:
            return ""
        at = facts.scopes[body.scope].start
        return self._declarations.space_of(of.file, facts, of.scope, at, passes_classes=True) or ""

    def _spaces_of(self, path: str, facts: Facts, scope: int, classes: Sequence[Bound]) -> list[str]:
        """Return the namespaces that a function sees which is defined outside of its class or namespace."""
        if facts.scopes[scope].definition >= 0:
            return []
        if not classes:
            return self._namespaces.of_function(path, facts, scope)
        of = classes[0]
        there = self._view.facts(of.file)
        at = next((definition.name_at for _, definition in self._view.definitions(of)), -1)
        return self._namespaces.around(of.file, there, of.scope, at) if there is not None else []

    def _spaces_of_method(self, path: str, facts: Facts, offset: int) -> list[str]:
        """Return the namespaces of the class whose method is defined around a place, behind the name of the method."""
        scope = facts.scope_at(offset)
        while scope > 0:
            around = facts.scopes[scope]
            if around.kind == "class" and around.definition < 0 and offset > self._classes.method_at(facts, scope):
                bodies = self._members.bodies_around(path, facts, scope)
                names = [bound for body in bodies if (bound := self._classes.name_of(body)) is not None]
                return self._spaces_of(path, facts, scope, names)
            scope = around.parent
        return []

    def _in_fixture(
        self, path: str, facts: Facts, scope: int, offset: int, name: str, found: tuple[Bound, ...], *, certain: bool
    ) -> Meaning:
        """Return what a name means in the body that a macro makes a method of a class of."""
        macro = facts.definitions[facts.scopes[scope].definition].name
        if macro in _METHOD_MACROS:
            return Meaning(entities=found, certain=certain, how="name")
        outer = self._around(path, facts, facts.scopes[scope].parent, offset, name, certain=False)
        entities = (*found, *(outer.entities if outer is not None else ()))
        return Meaning(entities=tuple(dict.fromkeys(entities)), certain=False, how="member")

    def _resolve_using(self, path: str, facts: Facts, rows: Sequence[int]) -> Meaning | None:
        """Return what `using a::name` brings."""
        for row in rows:
            if facts.bind_reason(row) == _IMPORT:
                found = self._brought(path, facts, facts.imports[facts.bind_target(row)])
                if found is not None:
                    return found
        return None

    def _brought(self, path: str, facts: Facts, using: Import) -> Meaning | None:
        node = self._view.node(path, using.imported_at, using.imported_at + 1)
        qualifiers = qualifiers_of(node) if node is not None else None
        place = (path, using.imported_at)
        if node is None or not qualifiers or place in self._bringing:
            # `using Base::Base` names itself in its path.
            return None
        self._bringing.add(place)
        try:
            return self._resolve_qualified_name(path, facts, node, qualifiers, using.imported)
        finally:
            self._bringing.discard(place)

    def _in_space(self, path: str, space: str, name: str) -> Meaning | None:
        """Return what a namespace has under a name, as far as a file sees it."""
        seen = [
            declaration for declaration in self._declarations.find_visible(path, name) if declaration.space == space
        ]
        if not seen:
            seen = [
                declaration
                for declaration in self._declarations.among_includers(path, name)
                if declaration.space == space
            ]
        return self._of_declarations(seen) if seen else None

    def _of_declarations(self, seen: list[Declaration]) -> Meaning:
        bounds = dict.fromkeys(other for declaration in seen for other in self._declarations.group(declaration.bound))
        return self._of_bounds(self._with_constructors(tuple(bounds)))

    def _of_group(self, bound: Bound) -> Meaning:
        return self._of_bounds(self._with_constructors(self._declarations.group(bound)))

    def _with_constructors(self, bounds: tuple[Bound, ...]) -> tuple[Bound, ...]:
        types = [bound for bound in bounds if self.is_type(bound)]
        return tuple(dict.fromkeys((*bounds, *self._members.with_constructors(*types)))) if types else bounds

    def _of_bounds(self, bounds: tuple[Bound, ...], how: str = "name") -> Meaning:
        if not bounds:
            return _UNKNOWN
        # Where the linker may join another file's declaration, that is proposed.
        own = bounds[0] if how == "name" and self._declarations.linker_twins(bounds) else None
        return Meaning(entities=bounds, certain=True, how=how, own=own)

    def _undeclared_meaning(self, path: str, facts: Facts, offset: int, name: str) -> Meaning:
        """Return what a name may mean of which a file sees no declaration."""
        if not self._declarations.find_all(name) and not self._declarations.is_whole(name):
            return _UNKNOWN
        includes = self._declarations.includes(path)
        if includes is None or not includes.reachable_files(path)[1] or facts.errors:
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
            found_in = [self._members.of_bodies(self._classes.of_type(of), name) for of in types]
            entities = tuple(dict.fromkeys(entity for found in found_in for entity in found.entities))
            certain = bool(found_in) and all(found.certain for found in found_in)
            return Meaning(entities=entities, certain=certain, how="member") if entities else UNKNOWN_MEMBER
        if before.endswith(b"#") and not before.endswith(b"##") and text[:offset].rpartition(b"\n")[2].strip() == b"#":
            # The name of a directive.
            return _ELSEWHERE
        if before.endswith(b"#") or after.startswith(b"##"):
            return _UNKNOWN
        if _COMMENT.match(text, text.rfind(b"\n", 0, offset) + 1, offset):
            return _ELSEWHERE
        if (qualified := _QUALIFIED.search(before)) is not None:
            parts = b"".join(qualified[0].split()).strip(b":").decode().replace("::", ".")
            space = self._namespaces.at(path, facts, offset, parts)
            return (self._in_space(path, space, name) if space is not None else None) or UNKNOWN_MEMBER
        found = self._lookup(path, facts, offset, name, certain=True)
        if found is None or found.entities:
            return found
        groups = {
            frozenset(self._declarations.group(declaration.bound)) for declaration in self._declarations.find_all(name)
        }
        if len(groups) == 1 and self._declarations.is_whole(name):
            return self._of_bounds(tuple(next(iter(groups))))
        return found


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
