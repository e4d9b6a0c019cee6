"""The members of Kotlin that dotted expressions and calls mean."""

from abc import abstractmethod

from codeplane.code.entity import Bound, Entity, Outside
from codeplane.code.languages.declared_type import Type
from codeplane.code.languages.jvm.java_classes import Node, text
from codeplane.code.languages.jvm.java_lookup import Found
from codeplane.code.languages.jvm.kotlin_syntax import (
    NAMES,
    checked_types,
    dotted_names,
    is_callable_reference,
    split,
)
from codeplane.code.languages.jvm.kotlin_variables import KotlinVariables


class KotlinAccesses(KotlinVariables):
    """Finds what is reached through a receiver, and what a call calls or makes."""

    @abstractmethod
    def of_it(self, path: str, node: Node) -> Type | None:
        """Return the type of `it` in a lambda without parameters."""

    def receiver(self, path: str, node: Node | None) -> tuple[Type | None, bool]:
        """Return the type whose members are reached through an expression, and whether it is the name of a type."""
        if node is None:
            return None, False
        if node.type in NAMES or node.type == "type_identifier":
            found = self.resolve_bare_name(path, node, text(node))
            if found is not None and not (found.bounds or found.certain) and text(node)[:1].isupper():
                # What a receiver from outside may have is not written with a capital.
                named = self._classes.only(self._classes.resolve_type(path, node.start_byte, text(node)))
                if isinstance(named, Bound):
                    return self._classes.resolve_alias(Type(named)), True
            if found is not None and (found.bounds or not found.certain):
                return (self.of_found(found, node.start_byte) if found.certain else None), False
            if text(node) == "it" and found is None:
                return self.of_it(path, node), False
            named = self._classes.only(self._classes.resolve_type(path, node.start_byte, text(node)))
            if isinstance(named, Bound) or (named is not None and text(node)[:1].isupper()):
                return self._classes.resolve_alias(Type(named)), True
            return (Type(Outside(found.outside)) if found is not None and found.outside else None), False
        if node.type == "navigation_expression":
            of = self.type_name(path, node)
            if of is not None:
                return Type(of), True
        return self.of(path, node), False

    def type_name(self, path: str, node: Node) -> Entity | None:
        """Return the type that a dotted name means; None if it is a value or a package."""
        parts = dotted_names(node)
        if not parts or (self.resolve_bare_name(path, parts[0], text(parts[0])) or Found((), True)).bounds:
            return None
        first = self._classes.only(self._classes.resolve_type(path, parts[0].start_byte, text(parts[0])))
        if isinstance(first, Bound):
            current: Bound | None = first
            for part in parts[1:]:
                if current is not None and text(part) == "Companion":
                    current = self._classes.companion(current)
                else:
                    current = self._classes.nested_type(current, text(part)) if current is not None else None
            return current
        whole = self._classes.resolve_full_name(".".join(text(part) for part in parts))
        if whole:
            return self._classes.only(whole)
        return Outside(text(node)) if text(parts[-1])[:1].isupper() and text(parts[0])[:1].islower() else None

    def resolve_access(self, path: str, node: Node, call: Node | None) -> Found | None:
        """Return the member that a dotted expression means; None if its receiver is not known."""
        before, name = split(node)
        if before is None or name is None:
            return None
        owner, is_type = self.receiver(path, before)
        if owner is None:
            return self._without_type(path, before, text(name), call)
        found = self.of_owner(path, owner, text(name), call, static=is_type and not is_callable_reference(name))
        if not found.bounds and before.type in NAMES:
            narrowed = self._narrowed_member(path, before, text(name), call)
            return narrowed if narrowed is not None else found
        return found

    def _without_type(self, path: str, before: Node, name: str, call: Node | None) -> Found | None:
        """Return a member of a receiver that only a check says the type of."""
        narrowed = self._narrowed_member(path, before, name, call) if before.type in NAMES else None
        if narrowed is not None:
            return narrowed
        extended = self.extension(path, None, name, call)
        return Found(extended.bounds, False) if extended is not None else None

    def _narrowed_member(self, path: str, node: Node, name: str, call: Node | None) -> Found | None:
        """Return the member of a type that a variable is checked to have in the function around."""
        around: Node | None = node
        while around is not None and around.type not in ("function_declaration", "class_body"):
            around = around.parent
        kinds = [self._classes.read(path, type_node) for type_node in checked_types(around, text(node))]
        found = [self.of_owner(path, of, name, call) for of in kinds if of is not None and isinstance(of.of, Bound)]
        bounds = tuple(dict.fromkeys(bound for member in found for bound in member.bounds))
        owner = next((member.owner for member in found if member.bounds), None)
        return Found(bounds, len(bounds) == 1, owner) if bounds else None

    def of_owner(self, path: str, owner: Type, name: str, call: Node | None = None, *, static: bool = False) -> Found:
        """Return the member or extension of a type that a name means."""
        if isinstance(owner.of, Bound):
            if static and name == "Companion" and (held := self._classes.companion(owner.of)) is not None:
                return Found((), True, Type(held))
            found = self.member(owner, name, static=static and not self._classes.is_object(owner.of))
            fitting = self._applicable_functions(found, call)
            if fitting.bounds:
                return fitting
        extended = self.extension(path, owner, name, call)
        if extended is not None:
            return extended
        if isinstance(owner.of, Outside):
            return Found((), True, owner, owner.of.source)
        # What no class of the repository has is an extension from outside, or a member of a base from there.
        return Found((), not self._is_unsure(owner), owner, "a member from outside")

    def _is_unsure(self, owner: Type) -> bool:
        return not self._classes.is_whole(owner)

    def resolve_call(self, path: str, call: Node) -> Found | None:
        """Return the function that a call means; None if its receiver is not known."""
        callee = call.named_children[0] if call.named_children else None
        if callee is None:
            return None
        if callee.type in NAMES:
            return self.resolve_bare_name(path, callee, text(callee), call)
        if callee.type == "navigation_expression":
            return self.resolve_access(path, callee, call)
        return None

    def constructed_class(self, path: str, call: Node) -> Entity | None:
        """Return the class that a call makes an instance of."""
        callee = call.named_children[0] if call.named_children else None
        if callee is None or callee.type not in (*NAMES, "navigation_expression"):
            return None
        if callee.type == "navigation_expression":
            return self.type_name(path, callee)
        first = self._classes.only(self._classes.resolve_type(path, callee.start_byte, text(callee)))
        return first if isinstance(first, Bound) or text(callee)[:1].isupper() else None
