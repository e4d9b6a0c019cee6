"""What a new name means already in C and C++, where includes or the linker bring it."""

import re
from collections.abc import Iterable, Sequence
from typing import Protocol

from codeplane.code.entity import Bound, Meaning
from codeplane.code.languages.c.declarations import LANGUAGES, Declaration, Declarations
from codeplane.code.languages.member_resolver import CodeView
from codeplane.code.model import Facts


class Names(Protocol):
    """What clashes ask about names."""

    def meaning(self, path: str, facts: Facts, offset: int, name: str) -> Meaning | None:
        """Return what the name at a place means; None if the scopes of its file decide."""


class Clashes:
    """Finds what would have the name of a renamed symbol."""

    def __init__(self, view: CodeView, names: Names, declarations: Declarations) -> None:
        self._view = view
        self._names = names
        self._declarations = declarations
        self._seen: dict[tuple[str, str], tuple[Declaration, ...]] = {}
        self._from_outside: dict[tuple[str, str], Bound | None] = {}

    def is_possible(self, path: str, new: str) -> bool:
        """Whether anything at all has the new name."""
        return bool(self._view.files_with(new))

    def at(self, path: str, meant: Sequence[Bound], new: str) -> Bound | None:
        """Return what a new name means already where one of these symbols is named, or what the linker takes for it."""
        mine = [declaration for bound in meant if (declaration := self._declaration(bound)) is not None]
        for declaration in self._visible_declarations(path, new):
            # A macro replaces the name wherever it stands.
            if declaration.kind == "macro" or any(own.space == declaration.space for own in mine):
                return declaration.bound
        for own in mine if any(own.external for own in mine) else ():
            for declaration in self._declarations.find_all(new):
                if declaration.external and declaration.defines and declaration.space == own.space:
                    return declaration.bound
        return self._outside_name(path, new) if mine else None

    def _visible_declarations(self, path: str, new: str) -> tuple[Declaration, ...]:
        """Return what a file sees under a name, or those that include it do."""
        key = (path, new)
        if key not in self._seen:
            found = (*self._declarations.find_visible(path, new), *self._declarations.among_includers(path, new))
            self._seen[key] = tuple(dict.fromkeys(found))
        return self._seen[key]

    def _outside_name(self, path: str, new: str) -> Bound | None:
        """Return where a file, or one that includes it, uses a name of a header that is not in the repository."""
        key = (path, new)
        if key not in self._from_outside:
            includes = self._declarations.includes(path)
            files = {path, *(includes.includers(path) if includes is not None else ())}
            used = (file for file in sorted(files & set(self._view.files_with(new))) if self._uses_outside(file, new))
            self._from_outside[key] = next((Bound(file, 0, new) for file in used), None)
        return self._from_outside[key]

    def _uses_outside(self, path: str, new: str) -> bool:
        facts = self._view.facts(path)
        if facts is None or facts.language not in LANGUAGES:
            return False
        return any(self._is_outside(path, facts, at, new) for at in _places(self._view.text(path), new))

    def _is_outside(self, path: str, facts: Facts, at: int, new: str) -> bool:
        if facts.in_text(at) or at in facts.labels:
            return False
        found = self._names.meaning(path, facts, at, new)
        return (
            found is not None
            and found.how == "name"
            and not any(isinstance(entity, Bound) for entity in found.entities)
        )

    def _declaration(self, bound: Bound) -> Declaration | None:
        return next(
            (declaration for declaration in self._declarations.find_all(bound.name) if declaration.bound == bound), None
        )


def _places(text: bytes, name: str) -> Iterable[int]:
    return (match.start() for match in re.finditer(rb"\b%s\b" % re.escape(name.encode()), text))
