"""What names mean in Kotlin: types, functions, members and variables, by packages, imports and declared types."""

import re
from collections.abc import Sequence

from msgspec import structs

from codeplane.code.entity import Bound, Entity, Meaning, Outside
from codeplane.code.languages.declared_type import Type
from codeplane.code.languages.jvm.java_classes import Node, text
from codeplane.code.languages.jvm.java_lookup import Found
from codeplane.code.languages.jvm.kotlin_classes import KotlinClasses, child_of, children_of
from codeplane.code.languages.jvm.kotlin_relatives import KotlinRelatives
from codeplane.code.languages.jvm.kotlin_syntax import NAMES, call_of_lambda, callee_name, split
from codeplane.code.languages.jvm.kotlin_types import KotlinTypes
from codeplane.code.languages.member_resolver import CodeView, MemberResolver, Relatives
from codeplane.code.model import Facts, Import

_DECLARATIONS = frozenset(
    {"class_declaration", "companion_object", "enum_entry", "function_declaration", "object_declaration", "type_alias"}
)
_PARAMETERS = frozenset({"catch_block", "class_parameter", "parameter", "parameter_with_optional_type"})

_REFERENCE = re.compile(rb"([\w\x80-\xff]+)\s*(?:<[^(){};]*>\??|\?)\s*::\s*$")
_FAR = 200


class KotlinMembers(MemberResolver):
    """Resolves every name of Kotlin."""

    def __init__(self, view: CodeView, classes: KotlinClasses) -> None:
        super().__init__(view)
        self._classes = classes
        self._types = KotlinTypes(view, classes)
        self._relatives = KotlinRelatives(view, classes, self._types)

    def meaning(self, path: str, facts: Facts, offset: int, name: str) -> Meaning | None:
        """Return what the name at a place means; None if the general rules for names decide."""
        node = self._view.node(path, offset, offset + len(name.encode()))
        parent = node.parent if node is not None else None
        if node is None or parent is None or text(node).strip("`") != name.strip("`"):
            return None
        if parent.type == "identifier" and parent.parent is not None and parent.parent.type == "import_header":
            return self._of_import(parent, node)
        if parent.type == "import_alias":
            return None
        if node.type == "label":
            return self._of_label(path, node, name)
        if node.type == "type_identifier":
            return self._by_alias(path, facts, name, self._of_type(path, facts, node, parent))
        if node.type not in NAMES:
            return None
        if (owner := self._owner_before(path, offset)) is not None:
            return self._of_found(self._types.of_owner(path, Type(owner), name), "member")
        return self._by_alias(path, facts, name, self._of_identifier(path, facts, node, parent))

    def _by_alias(self, path: str, facts: Facts, name: str, found: Meaning | None) -> Meaning | None:
        """Return a meaning with the import that gives it another name, where that is the name that is used."""
        alias = next((import_ for import_ in facts.imports if import_.alias == name), None)
        if found is None or alias is None or found.how != "name":
            return found
        meant = self.resolve_import(path, facts, alias)
        if found.entities not in ((), (Outside(name),), (Outside(alias.source),)) and not set(found.entities) & set(
            meant
        ):
            # Something nearer has the name.
            return found
        return structs.replace(found, entities=meant, certain=True, own=Bound(path, alias.scope, name))

    def _owner_before(self, path: str, offset: int) -> Entity | None:
        """Return the type in `Type<A>::name` and `Type?::name`, which the grammar reads as comparisons."""
        match = _REFERENCE.search(self._view.text(path), max(0, offset - _FAR), offset)
        if match is None:
            return None
        named = self._classes.resolve_type(path, match.start(1), match[1].decode("utf-8", "replace"))
        return self._classes.only(named)

    def _of_identifier(self, path: str, facts: Facts, node: Node, parent: Node) -> Meaning | None:
        name = text(node)
        if self._declares(node, parent):
            return self._of_declaration(path, facts, node.start_byte, name)
        if parent.type == "navigation_suffix" and parent.parent is not None:
            return self._of_member(path, node, parent.parent)
        if parent.type == "value_argument" and _is_label(node):
            return self._of_argument(path, parent, name)
        if parent.type == "callable_reference" and parent.named_children[-1] == node:
            return self._of_reference(path, node, parent)
        if parent.type == "infix_expression" and len(parent.named_children) == 3 and parent.named_children[1] == node:
            return self._of_infix(path, parent, name)
        call = parent if parent.type == "call_expression" and parent.named_children[0] == node else None
        found = self._types.resolve_bare_name(path, node, name, call)
        if found is not None and found.bounds:
            return self._of_found(found, "name")
        if found is not None and not found.certain:
            named = self._classes.resolve_type(path, node.start_byte, name)
            bounds = [entity for entity in named if isinstance(entity, Bound)]
            return self._of_types(bounds, certain=name[:1].isupper()) if bounds else _unknown_meaning("name")
        named = self._classes.resolve_type(path, node.start_byte, name)
        if any(isinstance(entity, Bound) for entity in named):
            return self._of_types(named)
        return _meaning_of([Outside(name)])

    def _of_types(self, named: Sequence[Entity], *, certain: bool = True) -> Meaning:
        """Return the meaning of a type's name, which is not certain where several types have it."""
        return _meaning_of(named, certain=certain and self._classes.only(named) is not None)

    def other_at(self, path: str, offset: int, name: str, new: str) -> Bound | None:
        """Return what a new name would mean already at the place of a name without a receiver."""
        facts = self._view.facts(path)
        if facts is None or not self._view.files_with(new):
            return None
        node = self._view.node(path, offset, offset + len(name.encode()))
        now = self.meaning(path, facts, offset, name)
        if node is None or now is None or now.how != "name" or node.parent is None or self._declares(node, node.parent):
            return None
        if node.type == "type_identifier":
            named = self._classes.resolve_type(path, offset, new)
            return next((entity for entity in named if isinstance(entity, Bound)), None)
        then = self._types.resolve_bare_name(path, node, new)
        return then.bounds[0] if then is not None and then.bounds else None

    def relatives(self, member: Bound) -> Relatives:
        """Return the members that are renamed with one."""
        return self._relatives.of(member)

    def resolve_import(self, path: str, facts: Facts, import_: Import) -> tuple[Entity, ...]:
        """Return what an import brings: types, functions, variables and members of objects of one name."""
        if import_.imported in ("", "*"):
            return ()
        whole = f"{import_.source}.{import_.imported}"
        found = (*self._classes.resolve_full_name(whole), *self._types.find_in_source(import_.source, import_.imported))
        return tuple(dict.fromkeys(found)) or (Outside(whole),)

    def top_level(self, path: str, facts: Facts, name: str) -> tuple[Entity, ...]:
        """Return what a name that a file does not bind means by its package and its imports of everything."""
        top = self._types.top(path, facts, name)
        types = tuple(entity for entity in self._classes.resolve_type(path, 0, name) if isinstance(entity, Bound))
        return (*types, *(top.bounds if top is not None else ()))

    def _of_import(self, dotted: Node, node: Node) -> Meaning:
        """Return what a part of an import means: all that a package has under its last name."""
        names = children_of(dotted, "simple_identifier")
        parts = [text(name) for name in names[: names.index(node) + 1]]
        whole = ".".join(parts)
        found = (*self._classes.resolve_full_name(whole), *self._types.find_in_source(".".join(parts[:-1]), parts[-1]))
        bounds = tuple(dict.fromkeys(found))
        # An import of overloads from several files goes with each of them.
        return Meaning(
            entities=bounds or (Outside(whole),), certain=len(bounds) < 2 or self._is_one(bounds), how="import"
        )

    def _is_one(self, bounds: tuple[Bound, ...]) -> bool:
        return self._types.is_one(bounds)

    def _declares(self, node: Node, parent: Node) -> bool:
        if parent.type == "variable_declaration":
            return parent.named_children[0] == node or child_of(parent, "simple_identifier") == node
        if parent.type in _DECLARATIONS:
            return child_of(parent, "simple_identifier") == node or (
                parent.type != "function_declaration" and child_of(parent, "type_identifier") == node
            )
        return parent.type in _PARAMETERS and child_of(parent, "simple_identifier") == node

    def _of_declaration(self, path: str, facts: Facts, offset: int, name: str) -> Meaning | None:
        for row in facts.rows(scope := facts.scope_at(offset), name):
            if facts.bind_at(row) == offset:
                return _meaning_of([Bound(path, scope, name)])
        for index in facts.definitions_in(scope, name) or range(len(facts.definitions)):
            definition = facts.definitions[index]
            if definition.name_at == offset:
                return _meaning_of([Bound(path, definition.scope, definition.name)])
        return None

    def _of_type(self, path: str, facts: Facts, node: Node, parent: Node) -> Meaning | None:
        name = text(node)
        if parent.type in ("this_expression", "super_expression"):
            return self._of_label(path, node, name)
        if parent.type == "type_parameter" and parent.named_children[0] == node:
            return None
        if parent.type in _DECLARATIONS and self._declares(node, parent):
            scope = facts.scope_at(parent.start_byte)
            return self._of_declaration(path, facts, node.start_byte, name) or _meaning_of([Bound(path, scope, name)])
        if parent.type == "user_type":
            names = children_of(parent, "type_identifier")
            place = names.index(node)
            if place:
                of = self._classes.of_names(path, names, place + 1)
                return _meaning_of([of] if of is not None else [], how="member")
            named = self._classes.resolve_type(path, node.start_byte, name)
            if len(names) > 1 and not any(isinstance(entity, Bound) for entity in named):
                return _meaning_of([Outside("a package")])
            return self._of_types(named)
        if parent.type == "callable_reference":
            found = self._types.resolve_bare_name(path, node, name)
            if found is not None and found.bounds:
                return self._of_found(found, "name")
        return self._of_types(self._classes.resolve_type(path, node.start_byte, name))

    def _of_label(self, path: str, node: Node, name: str) -> Meaning:
        """Return what a label names: a class around, a function around, or what a lambda around is passed to."""
        facts = self._view.facts(path)
        around = node.parent
        while around is not None and facts is not None:
            if around.type in ("class_body", "enum_class_body"):
                of = self._types.class_of_body(path, around)
                if of is not None and of.name == name:
                    return _meaning_of([of], how="name")
            elif around.type == "function_declaration":
                named = child_of(around, "simple_identifier")
                if named is not None and text(named) == name:
                    return self._of_declaration(path, facts, named.start_byte, name) or _unknown_meaning("label")
            elif around.type == "lambda_literal":
                call = call_of_lambda(around)
                if call is not None and callee_name(call) == name:
                    found = self._types.resolve_call(path, call)
                    return self._of_found(found, "label") if found is not None else _unknown_meaning("label")
            around = around.parent
        return _meaning_of([Outside("a label")], how="label")

    def _of_member(self, path: str, node: Node, around: Node) -> Meaning:
        outer = around.parent
        call = outer if outer is not None and outer.type == "call_expression" else None
        call = call if call is not None and call.named_children[0] == around else None
        if split(around)[1] != node:
            return _unknown_meaning("member")
        found = self._types.resolve_access(path, around, call)
        if found is not None and found.bounds:
            return self._of_found(found, "member")
        named = self._types.type_name(path, around)
        if isinstance(named, Bound):
            return _meaning_of([named], how="member")
        if found is None and named is not None:
            return _meaning_of([Outside(text(around))], how="member")
        if found is None and self._is_package(path, around):
            return self._of_qualified(around)
        return self._of_found(found, "member")

    def _is_package(self, path: str, node: Node) -> bool:
        """Whether a dotted name begins with a package."""
        before = split(node)[0]
        while before is not None and before.type == "navigation_expression":
            before = split(before)[0]
        if (
            before is None
            or before.type not in NAMES
            or self._types.resolve_bare_name(path, before, text(before)) is not None
        ):
            return False
        return text(before) != "it"

    def _of_qualified(self, node: Node) -> Meaning:
        """Return what a name behind a package means."""
        before, name = split(node)
        found = self._types.find_in_source("".join(text(before).split()), text(name))
        return _meaning_of(found or [Outside(text(node))], how="member", certain=self._is_one(found) if found else True)

    def _of_reference(self, path: str, node: Node, reference: Node) -> Meaning:
        """Return what `Type::name` or `::name` means."""
        name = text(node)
        if len(reference.named_children) == 1:
            found = self._types.resolve_bare_name(path, node, name)
            if found is not None and (found.bounds or not found.certain):
                return self._of_found(found, "name")
            named = self._classes.resolve_type(path, node.start_byte, name)
            return self._of_types([entity for entity in named if isinstance(entity, Bound)] or [Outside(name)])
        owner, _ = self._types.receiver(path, reference.named_children[0])
        if owner is None:
            return _unknown_meaning("member")
        return self._of_found(self._types.of_owner(path, owner, name), "member")

    def _of_infix(self, path: str, around: Node, name: str) -> Meaning:
        of = self._types.of(path, around.named_children[0])
        if of is not None:
            return self._of_found(self._types.of_owner(path, of, name), "member")
        extended = self._types.extension(path, None, name, None)
        return self._of_found(extended, "member") if extended is not None else _unknown_meaning("member")

    def _of_argument(self, path: str, argument: Node, name: str) -> Meaning:
        """Return the parameter that an argument is named by."""
        listed = argument.parent
        suffix = listed.parent if listed is not None else None
        call = suffix.parent if suffix is not None and suffix.type == "call_suffix" else None
        if call is None:
            made = child_of(suffix, "user_type") if suffix is not None else None
            of = self._classes.read(path, made)
            return self._of_constructor(of.of if of is not None else None, name)
        found = self._types.resolve_call(path, call)
        if found is None or not found.bounds:
            if callee_name(call) == "copy" and found is not None and found.owner is not None:
                return self._of_constructor(found.owner.of, name)
            return self._of_constructor(self._types.constructed_class(path, call), name)
        bounds = []
        for bound in found.bounds:
            facts = self._view.facts(bound.file)
            for index, _ in self._view.definitions(bound):
                body = facts.body_of.get(index, -1) if facts is not None else -1
                if facts is not None and body >= 0 and facts.rows(body, name):
                    bounds.append(Bound(bound.file, body, name))
        return Meaning(entities=tuple(bounds), certain=found.certain and bool(bounds), how="label")

    def _of_constructor(self, of: Entity | None, name: str) -> Meaning:
        if isinstance(of, Outside):
            return _meaning_of([of], how="label")
        facts = self._view.facts(of.file) if isinstance(of, Bound) else None
        if facts is None or not isinstance(of, Bound):
            return _unknown_meaning("label")
        body = self._classes.body(of)
        places = [Bound(of.file, body, name)] if body >= 0 and facts.rows(body, name) else []
        # Parameters of further constructors are in scopes of their own.
        inner = [at for at, scope in enumerate(facts.scopes) if scope.parent == body and scope.kind == "function"]
        places += [Bound(of.file, at, name) for at in inner if facts.scopes[at].definition < 0 and facts.rows(at, name)]
        return Meaning(entities=tuple(places), certain=len(places) == 1, how="label")

    def _of_found(self, found: Found | None, how: str) -> Meaning:
        if found is None:
            return _unknown_meaning(how)
        if not found.bounds:
            entities: tuple[Entity, ...] = (Outside(found.outside or "outside"),) if found.certain else ()
            return Meaning(entities=entities, certain=bool(entities), how=how)
        if len(found.bounds) > 1 and not self._is_one(found.bounds):
            return Meaning(entities=found.bounds, certain=found.certain, how="overload")
        # A bare name that an unknown receiver may have is like a member of that receiver.
        how = "member" if how == "name" and not found.certain else how
        return Meaning(entities=found.bounds, certain=found.certain, how=how)


def _meaning_of(entities: Sequence[Entity], *, how: str = "name", certain: bool = True) -> Meaning:
    return Meaning(entities=tuple(entities), certain=bool(entities) and certain, how=how)


def _unknown_meaning(how: str) -> Meaning:
    return Meaning(entities=(), certain=False, how=how)


def _is_label(node: Node) -> bool:
    """Whether a name in an argument is that of a parameter."""
    following = node.next_sibling
    return following is not None and following.type == "=" and node.prev_sibling is None
