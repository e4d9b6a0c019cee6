"""What calls of C# have for the type parameters of generic methods."""

from collections.abc import Sequence

from codeplane.code.entity import Bound
from codeplane.code.languages.declared_type import Type
from codeplane.code.languages.dotnet.classes import Node, text
from codeplane.code.languages.dotnet.delegates import CSharpDelegates
from codeplane.code.languages.dotnet.lookup import simple_name
from codeplane.code.model import Definition


class CSharpGenerics(CSharpDelegates):
    """Compares the types of arguments with what a generic method asks for."""

    def infer_type_parameters(
        self, path: str, name: Node, file: str, method: Definition, given: Sequence[Type | None]
    ) -> dict[Bound, Type | None]:
        """Return the types for a method's type parameters: those that a call writes, or those of what it is given."""
        found: dict[Bound, Type | None] = {}
        written = next((child for child in name.named_children if child.type == "type_argument_list"), None)
        if written is not None:
            own = self._type_parameters(file, method)
            types = [self._classes.read(path, argument) for argument in written.named_children]
            return dict(zip(own, types, strict=False)) if len(own) == len(types) else {}
        for parameter, of in zip(self._parameters(file, method), given, strict=False):
            wanted = self._classes.read(file, parameter.child_by_field_name("type"))
            if wanted is not None and of is not None:
                self._compare(wanted, of, found)
        return found

    def _type_parameters(self, file: str, method: Definition) -> list[Bound]:
        facts = self._view.facts(file)
        node = self._view.node(file, method.name_at, method.name_at + len(method.name.encode()))
        made = node.parent if node is not None else None
        listed = made.child_by_field_name("type_parameters") if made is not None else None
        if facts is None or listed is None:
            return []
        names = [text(child.child_by_field_name("name")) for child in listed.named_children]
        return [Bound(file, facts.scope_at(listed.end_byte), name) for name in names]

    def _compare(self, wanted: Type, of: Type, found: dict[Bound, Type | None]) -> None:
        if isinstance(wanted.of, Bound) and not self._classes.is_class(wanted.of):
            if of.dims < wanted.dims:
                return
            here = Type(of.of, of.args, of.dims - wanted.dims)
            # What is given in two ways may be a type that both have.
            found[wanted.of] = here if found.get(wanted.of, here) == here else None
            return
        if wanted.dims != of.dims or not wanted.args:
            return
        for ancestor in self._classes.ancestors(of):
            if self._is_same(wanted, ancestor) and len(ancestor.args) == len(wanted.args):
                for inner, given in zip(wanted.args, ancestor.args, strict=True):
                    if inner is not None and given is not None:
                        self._compare(inner, given, found)
                return

    def _is_same(self, wanted: Type, of: Type) -> bool:
        if isinstance(wanted.of, Bound) and isinstance(of.of, Bound):
            return of.of in self._classes.parts(wanted.of)
        return (
            not isinstance(wanted.of, Bound) and not isinstance(of.of, Bound) and simple_name(wanted) == simple_name(of)
        )
