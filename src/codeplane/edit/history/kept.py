"""Mutations that can be taken back, as they are kept below `.codeplane/undo/`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from codeplane.edit.delta import Delta
from codeplane.kernel.call import Call
from codeplane.kernel.json import JsonObject

# In the details of a mutation: the call that made it, took it back or did it again last.
CALL = "call_id"
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

    @property
    def call_id(self) -> str | None:
        """The call that made it; None when that was not kept."""
        found = self.details.get(CALL)
        return found if isinstance(found, str) else None


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
