"""The fields and methods of values by their types, with what the parameters of these stand for."""

from collections.abc import Mapping

from codeplane.code.entity import Bound
from codeplane.code.languages.rust.impls import LIST, Member
from codeplane.code.languages.rust.std import OF_WRAPPERS, Ty, result_of, substitute_type
from codeplane.code.languages.rust.syntax import Node, field, text_of
from codeplane.code.languages.rust.written_types import MAX_DEPTH, WrittenTypes


class MemberTypes(WrittenTypes):
    """Finds the members of values."""

    def deref_type(self, of: Ty) -> Ty | None:
        """Return what a type of the repository dereferences to."""
        return self.of_impl(of, "Target", "Deref")

    def of_impl(self, of: Ty, name: str, trait: str) -> Ty | None:
        """Return the type that the `impl` block of a trait from outside gives a name: the `Item` of an `Iterator`."""
        for member in self._impls.members(of.of, name) if isinstance(of.of, Bound) else ():
            if member.owner.trait_name == trait and member.node.type == "type_item":
                return substitute_type(
                    self.read_type(member.bound.file, field(member.node, "type")), self.type_arguments(of, member)
                )
        return None

    def type_arguments(self, of: Ty, member: Member) -> Mapping[Bound, Ty | None]:
        """Return what the parameters of a member's type stand for in a value of it."""
        owner, path = member.owner.node, member.bound.file
        own = self.parameters(path, owner)
        given: dict[Bound, Ty | None] = dict.fromkeys(own)
        if owner.type != "impl_item":
            return given | dict(zip(own, of.args, strict=False))
        written = field(owner, "type")
        listed = field(written, "type_arguments") if written is not None and written.type == "generic_type" else None
        args = [child for child in listed.named_children if child.type != "lifetime"] if listed is not None else []
        for node, value in zip(args, of.args, strict=False):
            local = self._names.locals.find(path, node.start_byte, text_of(node), "type")
            if local is not None:
                given[local[0]] = value
        return given

    def field_of(self, of: Ty | None, name: str) -> Member | None:
        """Return the field that a value has under a name."""
        for _ in range(MAX_DEPTH):
            if of is None or of.shape != "named" or not isinstance(of.of, Bound):
                return None
            found = next((member for member in self._impls.members(of.of, name) if member.kind == "field"), None)
            found = found or next((field for field in self._fields(of.of, name)), None)
            if found is not None:
                return found
            of = self.deref_type(of)
        return None

    def _fields(self, of: Bound, name: str) -> list[Member]:
        return [
            member for member in self._impls.find_members(name)[0] if member.kind == "field" and member.owner.of == of
        ]

    def field_type(self, of: Ty | None, name: str) -> Ty | None:
        """Return the type of a field of a value."""
        member = self.field_of(of, name)
        if member is None or of is None:
            return None
        found = self.read_type(member.bound.file, field(member.node, "type"))
        return substitute_type(found, self.type_arguments(of, member)) if member.owner.of == of.of else found

    def tuple_item_type(self, of: Ty, position: int) -> Ty | None:
        """Return the type of an item of a tuple."""
        if of.shape == "tuple":
            return of.args[position] if 0 <= position < len(of.args) else None
        item = self._impls.item(of.of) if of.shape == "named" and isinstance(of.of, Bound) else None
        if item is None or not isinstance(of.of, Bound):
            return None
        found = self.unnamed_field_type(of.of.file, item, position)
        if found is None and (inner := self.deref_type(of)) is not None and inner != of:
            return self.tuple_item_type(inner, position)
        return substitute_type(found, dict(zip(self.parameters(of.of.file, item), of.args, strict=False)))

    def unnamed_field_type(self, path: str, item: Node, position: int) -> Ty | None:
        """Return the type of a field without a name."""
        body = field(item, "body")
        if body is None or body.type != "ordered_field_declaration_list":
            return None
        listed = body.children_by_field_name("type")
        return self.read_type(path, listed[position]) if 0 <= position < len(listed) else None

    def method(self, of: Ty, name: str) -> tuple[Member | None, Ty | None]:
        """Return the method that a value has under a name, if only one is possible, and what it is read from."""
        for _ in range(MAX_DEPTH):
            if of.wrapped and name in OF_WRAPPERS:
                return None, None
            found = [member for member in self.members(of, name) if member.takes_self]
            if found:
                traits = {(member.owner.trait, member.owner.trait_name) for member in found}
                return (found[0], of) if len(traits) == 1 else (None, None)
            if of.shape in ("outside", "list"):
                return self._given_by_trait(of, name), of
            inner = self.deref_type(of) if of.shape == "named" else None
            if inner is None:
                return None, None
            of = inner
        return None, None

    def _given_by_trait(self, of: Ty, name: str) -> Member | None:
        """Return the method that the only trait of the repository with such a one gives to a type from outside."""
        found = [
            member
            for member in self._impls.find_members(name)[0]
            if member.takes_self and (member.owner.is_trait or member.owner.trait_name)
        ]
        traits = {member.owner.of if member.owner.is_trait else member.owner.trait for member in found}
        trait = next(iter(traits)) if len(traits) == 1 else None
        if not isinstance(trait, Bound) or result_of(of, name, None, None) is not None:
            return None
        names = outside_names(of)
        if not any(owner.name in names and not isinstance(owner.of, Bound) for owner in self._impls.impls_of(trait)):
            return None
        return next((member for member in found if member.owner.is_trait), None)


def outside_names(of: Ty) -> frozenset[str]:
    """Return the names of a type from outside and of what it dereferences to."""
    if of.shape == "list":
        return frozenset({LIST})
    return frozenset({of.name, *_DEREFS.get(of.name, ())}) if of.shape == "outside" else frozenset()


_DEREFS = {"Vec": (LIST,), "String": ("str",), "PathBuf": ("Path",), "OsString": ("OsStr",)}
