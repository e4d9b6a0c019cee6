"""Mutations that can be taken back, as they are kept below `.codeplane/undo/`."""

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


class Reversal(Protocol):
    """Takes back mutations of one kind; raises CannotUndo, changing nothing, when things are not as they were left."""

    async def undo(self, call: Call, kept: Kept) -> Delta:
        """Put everything back as it was before."""
        ...

    async def redo(self, call: Call, kept: Kept) -> Delta:
        """Do it again after an undo."""
        ...
