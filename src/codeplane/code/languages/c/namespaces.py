"""The namespaces of C++ that a place is in, opens and names."""

import tree_sitter

from codeplane.code.languages.c.declarations import Declarations
from codeplane.code.model import Facts


class Namespaces:
    """Finds namespaces; each is the names of its parts, joined by dots, and empty for what is in none."""

    def __init__(self, declarations: Declarations) -> None:
        self._declarations = declarations

    def resolve_namespace(self, facts: Facts, qualifiers: list[tree_sitter.Node]) -> str | None:
        """Return the namespace that a path names, looked for from the inside out."""
        parts = ".".join((qualifier.text or b"").decode("utf-8", "replace") for qualifier in qualifiers)
        first, _, _ = parts.partition(".")
        declared = self._declarations.find_all(first)
        known = {
            f"{declaration.space}.{first}".strip(".") for declaration in declared if declaration.kind == "namespace"
        }
        # `namespace a::b` is declared under its first part, too.
        known |= {first for declaration in declared if "::" in declaration.bound.name}
        for space in self._around(facts, qualifiers[0].start_byte):
            if f"{space}.{first}".strip(".") in known:
                return f"{space}.{parts}".strip(".")
        return None

    def search_order(self, facts: Facts, scope: int) -> list[str]:
        """Return the namespaces in which a name is looked for in the scope of one, or of a file: itself first."""
        space = self._declarations.space_of(facts, scope) or ""
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

    def around(self, facts: Facts, scope: int) -> list[str]:
        """Return the namespaces around a scope, the innermost first."""
        return _parents(self._declarations.space_of(facts, scope, passes_classes=True) or "")

    def _around(self, facts: Facts, offset: int) -> list[str]:
        scope, found = facts.scope_at(offset), list[str]()
        while scope > 0:
            if facts.scopes[scope].kind == "namespace":
                found += _parents(self._declarations.space_of(facts, scope) or "")
            scope = facts.scopes[scope].parent
        return list(dict.fromkeys([*found, ""]))


def _parents(space: str) -> list[str]:
    """Return a namespace and those around it, without the one that has no name."""
    parts = space.split(".") if space else []
    return [".".join(parts[:count]) for count in range(len(parts), 0, -1)]
