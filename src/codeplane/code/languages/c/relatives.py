"""What has to keep one name with a symbol of C or C++: its other declarations, constructors, and overriding methods."""

import re
from collections.abc import Iterable

from codeplane.code.entity import Bound
from codeplane.code.languages.c.classes import Body, Classes
from codeplane.code.languages.c.declarations import Declarations
from codeplane.code.languages.c.macro_conditions import is_used_undefined
from codeplane.code.languages.c.members import Members
from codeplane.code.languages.member_resolver import CodeView, Relatives
from codeplane.code.languages.reserved_words import words
from codeplane.code.model import Facts

# What a loop over a range and a coroutine call without their names.
_OF_RANGES = frozenset({"begin", "end"})
_OF_COROUTINES = words(
    """promise_type get_return_object initial_suspend final_suspend unhandled_exception return_void return_value
    yield_value await_transform await_ready await_suspend await_resume"""
)
# Types in a class, and what allocators and locks do, that templates of the standard library ask for by these names.
_OF_TEMPLATES = words(
    """allocator_type char_type const_pointer const_reference difference_type element_type
    int_type is_always_equal is_transparent iterator iterator_category iterator_concept key_type mapped_type off_type
    other param_type pointer pos_type propagate_on_container_copy_assignment propagate_on_container_move_assignment
    propagate_on_container_swap rebind reference result_type size_type state_type traits_type
    value_type"""
)
_METHODS_OF_TEMPLATES = {
    **dict.fromkeys(words("allocate deallocate"), ("allocator", "allocator_traits", "rebind", "value_type")),
    **dict.fromkeys(
        words("lock unlock try_lock lock_shared unlock_shared try_lock_shared"),
        ("lock_guard", "scoped_lock", "shared_lock", "unique_lock", "condition_variable_any"),
    ),
    **dict.fromkeys(words("push_back push_front insert"), ("back_inserter", "front_inserter", "inserter")),
}


class CRelatives:
    """Finds what is renamed with a symbol."""

    def __init__(self, view: CodeView, declarations: Declarations, classes: Classes, members: Members) -> None:
        self._view = view
        self._declarations = declarations
        self._classes = classes
        self._members = members

    def of(self, member: Bound) -> Relatives:
        """Return what is renamed with a symbol."""
        facts = self._view.facts(member.file)
        if facts is None:
            return Relatives()
        mine = [definition for _, definition in self._view.definitions(member)]
        if macros := self._declarations.macros_over(member.file, member):
            return Relatives(possible=macros)
        if any(self._declarations.space(member.file, facts, definition) is not None for definition in mine):
            group = self._declarations.group(member)
            more = self._members.with_constructors(*group) if facts.language != "c" else ()
            members = tuple(bound for bound in dict.fromkeys((*group, *more)) if bound != member)
            others = (*self._declarations.linker_twins(group), *self._declarations.strays(group))
            possible = tuple(bound for bound in dict.fromkeys(others) if bound != member)
            return Relatives(members=members, possible=possible, outside=self._guard(group))
        if facts.scopes[member.scope].kind != "class" or not mine:
            return Relatives()
        return self._of_member(member, facts, mine[0].kind)

    def _guard(self, group: Iterable[Bound]) -> str:
        """Return what may define a macro outside of the repository, where it is defined only if nothing else has."""
        for bound in group:
            name = re.escape(bound.name.encode())
            guard = re.compile(
                rb"^[ \t]*#[ \t]*(?:ifndef[ \t]+|(?:el)?if\b.*!\s*defined\b[\s(]*)%s\b" % name, re.MULTILINE
            )
            text = self._view.text(bound.file)
            is_macro = any(definition.kind == "macro" for _, definition in self._view.definitions(bound))
            if guard.search(text) or (is_macro and is_used_undefined(text, bound.name)):
                return "a header or an option of the compiler that may define it"
        return ""

    def _of_member(self, member: Bound, facts: Facts, kind: str) -> Relatives:
        bodies = self._members.bodies_around(member.file, facts, member.scope)
        names = [bound for body in bodies if (bound := self._classes.name_of(body)) is not None]
        if any(name.name == member.name for name in names):
            found = dict.fromkeys(bound for name in names for bound in self._members.with_constructors(name))
            return Relatives(members=tuple(entity for entity in found if entity != member))
        outside, everything = "", dict[Bound, None]()
        # What a template reads from another by its arguments, all of that one's specializations have.
        classes = [other for name in names for other in self._declarations.group(name)]
        for body in dict.fromkeys((*bodies, *self._classes.of_bounds(tuple(classes)))):
            family, missing = self._classes.family(body)
            for relative in sorted(family, key=lambda relative: (relative.path, relative.scope)):
                everything.update(dict.fromkeys(self._classes.own_members(relative, member.name)))
            if missing and kind in ("method", "function", "prototype") and self._may_override(body, member.name):
                outside = missing
        members = tuple(entity for entity in everything if entity != member)
        if facts.language != "c" and member.name in _OF_RANGES and kind != "field":
            outside = outside or "loops over ranges"
        elif facts.language != "c" and member.name in _OF_COROUTINES:
            outside = outside or "coroutines"
        elif facts.language != "c" and self._is_of_templates(member, kind):
            outside = outside or "templates of the standard library"
        return Relatives(members=members, outside=outside)

    def _is_of_templates(self, member: Bound, kind: str) -> bool:
        """Whether templates of the standard library may ask a class for a member by its name."""
        if kind not in ("method", "function", "prototype", "field"):
            return member.name in _OF_TEMPLATES
        return any(self._view.files_with(name) for name in _METHODS_OF_TEMPLATES.get(member.name, ()))

    def _may_override(self, body: Body, name: str) -> bool:
        """Whether a method may override one of a base; where a class marks what does, the others do not."""
        facts = self._view.facts(body.path)
        if facts is None:
            return True
        text, scope = self._view.text(body.path), facts.scopes[body.scope]
        heads = [
            text[facts.definitions[index].start : facts.definitions[index].end].partition(b"{")[0]
            for index in facts.definitions_in(body.scope, name)
        ]
        if any(re.search(rb"\b(?:virtual|override|final)\b", head) for head in heads):
            return True
        if any(head.lstrip().startswith(b"static") for head in heads):
            return False
        return re.search(rb"\boverride\b", text[scope.start : scope.end]) is None
