"""Mutation records, stored below `.codeplane/undo/`, and what undo needs to know of each kind."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from codeplane.edit.delta import Delta
from codeplane.kernel.call import Call
from codeplane.kernel.json import JsonObject

_ACTOR, _INSERTIONS, _DELETIONS = "actor", "insertions", "deletions"
# In the details of a mutation: the call that made, undid or redid it last.
CALL = "call_id"
Kind = Literal["files", "git"]
State = Literal["applied", "undone"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MutationRecord:
    """One mutation; `details` belong to the code that made it."""

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
        """The call that made it; None when that was not recorded."""
        call_id = self.details.get(CALL)
        return call_id if isinstance(call_id, str) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class MutationStats:
    """Who made a mutation, and its line counts; None for what was not recorded, as git's line counts."""

    actor: str | None = None
    insertions: int | None = None
    deletions: int | None = None

    def to_json(self) -> JsonObject:
        """Return the statistics as details of the mutation."""
        values = {_ACTOR: self.actor, _INSERTIONS: self.insertions, _DELETIONS: self.deletions}
        return {name: value for name, value in values.items() if value is not None}

    @classmethod
    def of(cls, record: MutationRecord) -> "MutationStats":
        """Read the statistics from a mutation record."""
        actor, insertions, deletions = (record.details.get(name) for name in (_ACTOR, _INSERTIONS, _DELETIONS))
        return cls(
            actor=actor if isinstance(actor, str) else None,
            insertions=insertions if isinstance(insertions, int) else None,
            deletions=deletions if isinstance(deletions, int) else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FileVersions:
    """One file before and after a mutation; `note` explains why a content is missing."""

    path: str
    old_path: str | None = None
    before: bytes | None = None
    after: bytes | None = None
    was_there: bool = False
    is_there: bool = False
    note: str = ""


class Reversal(Protocol):
    """Undoes mutations of one kind; raises CannotUndo, changing nothing, when something changed since."""

    async def undo(self, call: Call, record: MutationRecord) -> Delta:
        """Restore everything as it was before."""
        ...

    async def redo(self, call: Call, record: MutationRecord) -> Delta:
        """Do it again after an undo."""
        ...

    async def file_versions(self, record: MutationRecord, paths: Sequence[str]) -> list[FileVersions]:
        """Read some of its files, as they were before and after it."""
        ...

    def other_changes(self, record: MutationRecord) -> tuple[str, ...]:
        """Describe what else an undo or redo changes, one line each."""
        ...
