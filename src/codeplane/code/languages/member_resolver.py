"""How a language that declares its types resolves members: by the type of what they are read from."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import tree_sitter

from codeplane.code.entity import Bound, Entity, Meaning
from codeplane.code.languages.modules import Modules
from codeplane.code.model import Definition, Facts, Import


class CodeView(Protocol):
    """What a resolver of members may ask about the repository."""

    def facts(self, path: str) -> Facts | None:
        """Return a file's facts, or None if it has none."""

    def text(self, path: str) -> bytes:
        """Return a file's bytes."""

    def node(self, path: str, start: int, end: int) -> tree_sitter.Node | None:
        """Return the smallest syntax node around a span of a file."""

    def resolve_plain_name(self, path: str, offset: int, name: str) -> Meaning:
        """Return what a plain name at a place means by scopes, imports and packages."""

    def find_export(self, place: str, name: str) -> tuple[Entity, ...]:
        """Return what a module or package gives under a name."""

    def definitions(self, bound: Bound) -> Sequence[tuple[int, Definition]]:
        """Return the definitions that share a binding, each with its index in the facts of its file."""

    def find_definitions(self, name: str) -> tuple[Sequence[tuple[str, int]], bool]:
        """Return every definition of a name (file and index), and whether these are all."""

    def files_with(self, name: str) -> Sequence[str]:
        """Return the files in which an identifier occurs."""

    def modules(self, path: str) -> Modules | None:
        """Return the modules of the language of a file."""

    def with_text(self, path: str, text: bytes) -> "CodeView":
        """Return the repository as it would be if a file had another text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relatives:
    """The members that have to keep one name with a member: what it overrides or implements, and what overrides it.

    `members` are certain, `possible` may belong to them, and `outside` says in a few words which type that is not in
    the repository asks for the name; it is empty if none does. `fixed` says that this is certain, so that no rename
    can be right. `implemented` are those of the interfaces that ask for the member itself: a use of one of them may
    reach it.
    """

    members: tuple[Bound, ...] = ()
    possible: tuple[Bound, ...] = ()
    outside: str = ""
    fixed: bool = False
    implemented: tuple[Bound, ...] = ()


class MemberResolver(ABC):
    """Resolves the members of one family of languages; made for one answer, so that it may cache."""

    def __init__(self, view: CodeView) -> None:
        self._view = view

    @abstractmethod
    def meaning(self, path: str, facts: Facts, offset: int, name: str) -> Meaning | None:
        """Return what the name at a place means; None if the general rules for names decide.

        A member whose owner is certain is `Meaning(entities=(bound,), certain=True, how="member")`. One of a type that
        is not in the repository has `Outside` as its entity. One that is not known has no entities and is not certain.
        With `how="overload"` it is one of several entities, of which the types of arguments decide.
        """

    def resolve_import(self, path: str, facts: Facts, import_: Import) -> tuple[Entity, ...] | None:
        """Return what an import brings; None if the general rules for imports decide."""
        return None

    def module_files(self, path: str, definition: Definition) -> tuple[str, ...]:
        """Return the files that hold the module which a definition only declares, as `mod name;` does."""
        return ()

    def visibility_start(self, path: str, at: int, length: int) -> int:
        """Return where the name that is bound at a place begins to be known in its scope."""
        return 0

    def other_at(self, path: str, offset: int, name: str, new: str) -> Bound | None:
        """Return what a new name would mean at the place of a name already; None for nothing."""
        return None

    @abstractmethod
    def relatives(self, member: Bound) -> Relatives | None:
        """Return the members that are renamed with one; None if the language does not say."""

    def may_reach(self, path: str, definition: Bound) -> bool:
        """Whether a file may use a definition, by the rules of who sees it."""
        return True

    def pasting_macro(self, name: str, places: Sequence[tuple[str, int]]) -> tuple[str, int] | None:
        """Return where a macro makes a name from parts, or other names from one that is used at these places."""
        return None

    def is_guess(self, path: str, facts: Facts, import_: Import) -> bool:
        """Whether an import may mean something else than what is found."""
        return False

    def top_level(self, path: str, facts: Facts, name: str) -> tuple[Entity, ...] | None:
        """Return what a plain name that a file does not bind means; None if the general rules decide."""
        return None
