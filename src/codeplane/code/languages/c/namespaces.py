"""The namespaces of C++ that a place is in, opens and names."""

from collections.abc import Sequence

import tree_sitter

from codeplane.code.languages.c.declarations import Declarations
from codeplane.code.model import Facts


class Namespaces:
    """Finds namespaces; each is the names of its parts, joined by dots, and empty for what is in none."""

    def __init__(self, declarations: Declarations) -> None:
        self._declarations = declarations

    def resolve_namespace(
        self, path: str, facts: Facts, qualifiers: list[tree_sitter.Node], of_class: Sequence[str] = ()
    ) -> str | None:
        """Return the namespace that a path names, looked for from the inside out.

        `of_class` are the namespaces of the class whose method is defined around the path.
        """
        parts = ".".join((qualifier.text or b"").decode("utf-8", "replace") for qualifier in qualifiers)
        return self.at(path, facts, qualifiers[0].start_byte, parts, of_class)

    def at(self, path: str, facts: Facts, offset: int, parts: str, of_class: Sequence[str] = ()) -> str | None:
        """Return the namespace that names joined by dots mean at a place."""
        first, _, rest = parts.partition(".")
        if (meant := self._declarations.namespace_alias(path, first)) is not None and meant != first:
            parts = f"{meant}.{rest}".strip(".")
            first, _, _ = parts.partition(".")
        declared = self._declarations.find_all(first)
        known = {
            f"{declaration.space}.{first}".strip(".") for declaration in declared if declaration.kind == "namespace"
        }
        # `namespace a::b` is declared under its first part, too.
        known |= {first for declaration in declared if "::" in declaration.bound.name}
        hidden = self._declarations.macro_namespaces(first)
        known |= hidden
        for space in dict.fromkeys((*of_class, *self._around(path, facts, offset))):
            if hidden and not space:
                known.add(first)
            if f"{space}.{first}".strip(".") in known:
                return self._without_inline(f"{space}.{parts}".strip("."))
        return None

    def _without_inline(self, space: str) -> str:
        """Return a namespace without those in it that are inline: what they have, the one around them has."""
        return ".".join(part for part in space.split(".") if not self._declarations.is_inline_namespace(part))

    def search_order(self, path: str, facts: Facts, scope: int, at: int) -> list[str]:
        """Return the namespaces in which a name is looked for in the scope of one, or of a file: itself first."""
        space = self._declarations.space_of(path, facts, scope, at) or ""
        opened = [
            import_.source.replace("::", ".").strip(".")
            for import_ in facts.imports
            if import_.kind == "cpp_using_namespace" and import_.scope == scope
        ]
        return list(dict.fromkeys([space, *opened, *_parents(space)[1:]]))

    def of_function(self, path: str, facts: Facts, scope: int) -> list[str]:
        """Return the namespaces in which names are looked for in a function that is defined as `a::b::name`."""
        method = next(
            (
                definition
                for definition in facts.definitions
                if definition.scope == scope and definition.kind == "method"
            ),
            None,
        )
        space = self._declarations.receiver_space(path, facts, method) if method is not None else None
        return _parents(space) if space is not None else []

    def around(self, path: str, facts: Facts, scope: int, at: int) -> list[str]:
        """Return the namespaces around a place in a scope, the innermost first."""
        return _parents(self._declarations.space_of(path, facts, scope, at, passes_classes=True) or "")

    def _around(self, path: str, facts: Facts, offset: int) -> list[str]:
        scope, found = facts.scope_at(offset), list[str]()
        while scope >= 0:
            if facts.scopes[scope].kind == "namespace" or scope == 0:
                found += self.search_order(path, facts, scope, offset)
            scope = facts.scopes[scope].parent
        return list(dict.fromkeys([*found, ""]))


def _parents(space: str) -> list[str]:
    """Return a namespace and those around it, without the one that has no name."""
    parts = space.split(".") if space else []
    return [".".join(parts[:count]) for count in range(len(parts), 0, -1)]
