"""Mutations that can be taken back, as they are kept below `.codeplane/undo/`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from codeplane.kernel.call import Call
from codeplane.kernel.json import JsonObject
from codeplane.repo.edit.delta import Delta

Kind = Literal["files", "git"]
State = Literal["applied", "undone"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """One mutation; `details` are for whoever made it."""

    mutation_id: str
    kind: Kind
    what: str
    at_ns: int
    session_id: str | None
    state: State
    paths: tuple[str, ...]
    details: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """One file before and after a mutation; a content that is None though the file was there is explained by `note`."""

    path: str
    old_path: str | None = None
    before: bytes | None = None
    after: bytes | None = None
    was_there: bool = False
    is_there: bool = False
    note: str = ""


class Reversal(Protocol):
    """Takes back mutations of one kind; raises CannotUndo, changing nothing, when things are not as they were left."""

    async def undo(self, call: Call, kept: Kept) -> Delta:
        """Put everything back as it was before."""
        ...

    async def redo(self, call: Call, kept: Kept) -> Delta:
        """Do it again after an undo."""
        ...

    async def sides(self, kept: Kept, paths: Sequence[str]) -> list[Sides]:
        """Some of its files as they were before it, and as it left them."""
        ...

    def beside(self, kept: Kept) -> tuple[str, ...]:
        """What else moves when it is taken back or done again, a line each."""
        ...
