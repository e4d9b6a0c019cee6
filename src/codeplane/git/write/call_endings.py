"""Determines how calls ended that the last run left open, from the journal and the records of git mutations."""

from collections.abc import Collection, Mapping, Sequence

from codeplane.edit.engine import APPLIED, REDONE, STREAM, UNDONE
from codeplane.edit.history.mutation_record import MutationRecord
from codeplane.edit.history.mutation_store import MutationStore
from codeplane.edit.journal_recovery import RecoveredMutation
from codeplane.git.write.pending_mutations import CallNote
from codeplane.index.files.paths import path_text
from codeplane.kernel.event_log import EventLog, EventQuery
from codeplane.kernel.ports import Ending

_LOOKED_AT = 1000
_MAX_PATHS = 100
UNKNOWN, NOT_DONE = Ending(state="unknown"), Ending(state="not_done")
RUNNING = Ending(state="running")
# The name of a commit that only staged its new files and was not made.
STAGED = "stage"
_COMMITS = frozenset({"git.commit", "git.amend"})
# An operation of several steps is done when its last step is.
_LAST_STEP = {"checkpoint": "commit"}
# Remote operations whose local part is recorded first, and rolled back by recovery when it is incomplete.
_SETTLED = frozenset({"git.submodule_add", "git.submodule_update"})


class CallEndings:
    """Determine whether a call that was under way when the last run ended made its change, completely or not at all.

    A journaled operation records its change before making it, so without a record nothing was done.
    """

    def __init__(
        self,
        *,
        log: EventLog,
        journaled: Collection[str],
        recovered: Sequence[RecoveredMutation],
        mutations: MutationStore,
        notes: Mapping[str, CallNote],
        running: Collection[str | None] = (),
    ) -> None:
        """`running` are the calls that git still works for."""
        self._running = frozenset(running)
        self._log = log
        self._journaled = frozenset(journaled)
        self._recovered = recovered
        self._mutations = mutations
        self._notes = notes

    async def of(self, call_id: str, operation: str, since_ns: int) -> Ending:
        """Return the ending of a call that started at `since_ns`."""
        if call_id in self._running:
            return RUNNING
        if operation not in self._journaled and operation not in _SETTLED:
            return UNKNOWN
        last = _LAST_STEP.get(operation, "")
        for mutation in self._recovered:
            if mutation.call_id == call_id:
                return self._of_recovered(mutation, last, operation)
        newest = self._mutations.all(limit=_LOOKED_AT)
        records = [record for record in newest if record.at_ns >= since_ns or record.call_id == call_id]
        for record in records:
            if record.call_id == call_id:
                return self._ending_of_change(record) if record.what.startswith(last) else UNKNOWN
        if (note := self._notes.get(call_id)) is not None:
            done = note.done and note.what.startswith(last)
            return Ending(state="done" if done else "unknown", mutation_id=note.mutation_id, reason=note.reason)
        query = EventQuery(stream=STREAM, call_id=call_id, types=(APPLIED, UNDONE, REDONE), limit=1)
        for event in await self._log.query(query):
            return Ending(state="done", mutation_id=str(event.payload["mutation_id"]))
        # A change without a call id may be this call's.
        nameless = any(mutation.call_id is None for mutation in self._recovered if mutation.outcome != "rolled_back")
        return UNKNOWN if nameless or any(record.call_id is None for record in records) else NOT_DONE

    def _of_recovered(self, mutation: RecoveredMutation, last: str, operation: str) -> Ending:
        if mutation.outcome == "stuck" or not mutation.certain or mutation.kept is None:
            return UNKNOWN
        if mutation.outcome == "rolled_back":
            # An earlier step may have been done.
            return NOT_DONE if not last else UNKNOWN
        if operation in _COMMITS and mutation.kept.what.startswith(STAGED):
            return NOT_DONE
        return self._ending_of_change(mutation.kept) if mutation.kept.what.startswith(last) else UNKNOWN

    def _ending_of_change(self, record: MutationRecord) -> Ending:
        """Return the ending of a change that was made, with its id when it can be undone."""
        return Ending(
            state="done",
            mutation_id=record.mutation_id if self._mutations.has(record.mutation_id) else None,
            paths=tuple(path_text(path) for path in record.paths[:_MAX_PATHS]),
        )
