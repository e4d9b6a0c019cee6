"""Records in the log how mutations ended that the last run left under way or did not record."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from codeplane.edit.engine import APPLIED, GIT_MV, REDONE, ROLLED_BACK, STREAM, UNDONE, event_payload, outcome_event_id
from codeplane.edit.history.mutation_record import MutationRecord
from codeplane.edit.history.mutation_store import MutationStore
from codeplane.edit.index_moves import IndexMoves, moves_from_json
from codeplane.edit.journal import JOURNAL
from codeplane.edit.journal_recovery import RecoveredMutation
from codeplane.index.files.paths import path_text
from codeplane.kernel.errors import SequenceConflict
from codeplane.kernel.event import Draft
from codeplane.kernel.event_log import EventLog, EventQuery
from codeplane.kernel.json import JsonObject

_LOOKED_AT = 1000
_PAGE, _PAGES = 1000, 20
_TOGETHER = 100


async def record_recovered(
    log: EventLog,
    recovered: Sequence[RecoveredMutation],
    mutations: MutationStore | None = None,
    moves: IndexMoves | None = None,
) -> JsonObject:
    """Append the missing outcomes to the log, each once, and return how many mutations ended how.

    These are the recovered mutations, and the newest stored ones whose outcome the log lacks. With `moves`, files that
    they moved on disk are moved in git's index too.
    """
    recovered_drafts = [_draft(mutation) for mutation in recovered if mutation.outcome != "stuck"]
    stored_drafts: list[Draft] = []
    records: Sequence[MutationRecord] = ()
    if mutations is not None:
        # The oldest first, as they happened.
        records = [*reversed(await asyncio.to_thread(mutations.all, limit=_LOOKED_AT))]
        stored_drafts = [_outcome(record) for record in records if _names_its_batch(record)]
    known = {_id(draft) for draft in recovered_drafts}
    drafts = [*(draft for draft in stored_drafts if _id(draft) not in known), *recovered_drafts]
    appended = await _append_missing(log, drafts)
    if moves is not None:
        unrecorded = [record for record in records if _names_its_batch(record) and _id(_outcome(record)) in appended]
        applied = [mutation.kept for mutation in recovered if mutation.outcome == "applied"]
        for record in (*unrecorded, *applied):
            await _move_in_index(moves, record)
    counts: JsonObject = {}
    for mutation in recovered:
        key = f"mutations_{mutation.outcome}"
        counts[key] = int(str(counts.get(key, 0))) + 1
    if count := len(appended - known):
        counts["mutations_recorded"] = count
    return counts


async def _move_in_index(moves: IndexMoves, record: MutationRecord | None) -> None:
    """Move in git's index what a mutation moved on disk, when its run ended in between."""
    if record is not None and (planned := moves_from_json(record.details.get(GIT_MV))):
        await moves.apply([move.reverse() for move in planned] if record.state == "undone" else planned)


async def _append_missing(log: EventLog, drafts: Sequence[Draft]) -> set[str]:
    """Append the drafts that the log lacks, reading it backwards, and return their ids."""
    missing_ids, until = {_id(draft) for draft in drafts}, None
    for _ in range(_PAGES):
        if not missing_ids:
            return set()
        page = await log.query(EventQuery(stream=STREAM, newest=True, limit=_PAGE, until=until))
        missing_ids -= {event.event_id for event in page}
        if len(page) < _PAGE:
            break
        until = page[0].position - 1
    missing = [draft for draft in drafts if _id(draft) in missing_ids]
    for start in range(0, len(missing), _TOGETHER):
        together = missing[start : start + _TOGETHER]
        try:
            await log.append(together)
        except SequenceConflict:
            # One of them is in the log, further back than was read.
            for draft in together:
                with suppress(SequenceConflict):
                    await log.append([draft])
    return missing_ids


def _outcome(record: MutationRecord) -> Draft:
    """Return the event for the last outcome of a stored mutation."""
    journal_id = str(record.details.get(JOURNAL) or record.mutation_id)
    return _draft(
        RecoveredMutation(journal_id=journal_id, mutation_id=record.mutation_id, outcome="applied", kept=record)
    )


def _names_its_batch(record: MutationRecord) -> bool:
    """Whether a record names the batch that was applied last, which old undone ones and most git mutations do not."""
    return JOURNAL in record.details or (record.kind == "files" and record.state == "applied")


def _id(draft: Draft) -> str:
    assert draft.event_id is not None
    return draft.event_id


def _draft(mutation: RecoveredMutation) -> Draft:
    record = mutation.kept
    payload: JsonObject = event_payload(record) if record is not None else {"mutation_id": mutation.mutation_id}
    payload["recovered"] = True
    if mutation.conflicts:
        payload["conflicts"] = [path_text(path) for path in mutation.conflicts[:100]]
    event_id = outcome_event_id(mutation.journal_id)
    return Draft(stream=STREAM, type=_event_type(mutation), payload=payload, event_id=event_id)


def _event_type(mutation: RecoveredMutation) -> str:
    if mutation.outcome != "applied":
        return ROLLED_BACK
    if mutation.kept is not None and mutation.kept.state == "undone":
        return UNDONE
    # The first batch of a mutation has the mutation's id; a redo has an id of its own.
    return APPLIED if mutation.journal_id == mutation.mutation_id else REDONE
