"""What became of calls that nobody saw the end of, by what the journal and the record of git's changes say."""

from collections.abc import Collection, Mapping, Sequence

from codeplane.edit.engine import APPLIED, REDONE, STREAM, UNDONE
from codeplane.edit.history.mutation_record import MutationRecord
from codeplane.edit.history.mutation_store import MutationStore
from codeplane.edit.journal_recovery import RecoveredMutation
from codeplane.git.write.pending_mutations import CallNote
from codeplane.index.files.paths import shown
from codeplane.kernel.ports import Ending, EventLog, EventQuery

_LOOKED_AT = 1000
_MAX_PATHS = 100
UNKNOWN, NOT_DONE = Ending(state="unknown"), Ending(state="not_done")
RUNNING = Ending(state="running")
# What is recorded of a commit that staged its new files, and was not made.
STAGED = "stage"
_COMMITS = frozenset({"git.commit", "git.amend"})
# An operation of several steps is done with its last one.
_LAST_STEP = {"checkpoint": "commit"}
# They reach other machines too; what they do here is written down before, and taken back by recovery when half done.
_SETTLED = frozenset({"git.submodule_add"})


class CallEndings:
    """Tells of a call that was under way when the last run ended whether its change was made, as a whole or not at all.

    A journaled operation writes down what it is about to do before it does it: of which there is no trace, nothing was
    done.
    """

    def __init__(
        self,
        *,
        log: EventLog,
        journaled: Collection[str],
        recovered: Sequence[RecoveredMutation],
        kept: MutationStore,
        notes: Mapping[str, CallNote],
        running: Collection[str | None] = (),
    ) -> None:
        """`running` are the calls that git still works for."""
        self._running = frozenset(running)
        self._log = log
        self._journaled = frozenset(journaled)
        self._recovered = recovered
        self._kept = kept
        self._notes = notes

    async def of(self, call_id: str, operation: str, since_ns: int) -> Ending:
        """The ending of a call that began at `since_ns`."""
        if call_id in self._running:
            return RUNNING
        if operation not in self._journaled and operation not in _SETTLED:
            return UNKNOWN
        last = _LAST_STEP.get(operation, "")
        for found in self._recovered:
            if found.call_id == call_id:
                return self._of_recovered(found, last, operation)
        made = [one for one in self._kept.all(limit=_LOOKED_AT) if one.at_ns >= since_ns or one.call_id == call_id]
        for one in made:
            if one.call_id == call_id:
                return self._done(one) if one.what.startswith(last) else UNKNOWN
        if (note := self._notes.get(call_id)) is not None:
            done = note.done and note.what.startswith(last)
            return Ending(state="done", mutation_id=note.mutation_id) if done else UNKNOWN
        query = EventQuery(stream=STREAM, call_id=call_id, types=(APPLIED, UNDONE, REDONE), limit=1)
        for event in await self._log.query(query):
            return Ending(state="done", mutation_id=str(event.payload["mutation_id"]))
        # What was done, and does not say by whom, may be this call's.
        nameless = any(one.call_id is None for one in self._recovered if one.outcome != "rolled_back")
        return UNKNOWN if nameless or any(one.call_id is None for one in made) else NOT_DONE

    def _of_recovered(self, found: RecoveredMutation, last: str, operation: str) -> Ending:
        if found.outcome == "stuck" or not found.certain or found.kept is None:
            return UNKNOWN
        if found.outcome == "rolled_back":
            # Of several steps there may be one before it.
            return NOT_DONE if not last else UNKNOWN
        if operation in _COMMITS and found.kept.what.startswith(STAGED):
            return NOT_DONE
        return self._done(found.kept) if found.kept.what.startswith(last) else UNKNOWN

    def _done(self, kept: MutationRecord) -> Ending:
        """Done; with its id where undo takes it, as the answer that was lost had it."""
        return Ending(
            state="done",
            mutation_id=kept.mutation_id if self._kept.has(kept.mutation_id) else None,
            paths=tuple(shown(path) for path in kept.paths[:_MAX_PATHS]),
        )
