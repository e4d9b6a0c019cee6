"""What the log is told of batches that the last run left under way, or ended without saying so."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from codeplane.edit.endings import Recovered
from codeplane.edit.engine import APPLIED, GIT_MV, REDONE, ROLLED_BACK, STREAM, UNDONE, outcome_id, payload_of
from codeplane.edit.history.kept import Kept
from codeplane.edit.history.mutations import KeptMutations
from codeplane.edit.index_moves import IndexMoves, moves_of
from codeplane.edit.journal import JOURNAL
from codeplane.index.files.paths import shown
from codeplane.kernel.errors import SequenceConflict
from codeplane.kernel.event import Draft
from codeplane.kernel.json import JsonObject
from codeplane.kernel.ports import EventLog, EventQuery

_LOOKED_AT = 1000
_PAGE, _PAGES = 1000, 20
_TOGETHER = 100


async def record(
    log: EventLog,
    recovered: Sequence[Recovered],
    kept: KeptMutations | None = None,
    moves: IndexMoves | None = None,
) -> JsonObject:
    """Append the outcomes that the last run could not, each once; says how many ended how.

    Those are of the batches that were under way, and of the newest that are kept but that the log does not know of.
    With `moves`, what they moved on disk moves in git's index too.
    """
    ended = [_draft(one) for one in recovered if one.outcome != "stuck"]
    unsaid: list[Draft] = []
    found: Sequence[Kept] = ()
    if kept is not None:
        found = await asyncio.to_thread(kept.all, limit=_LOOKED_AT)
        # The oldest first, as they happened.
        unsaid = [_outcome(one) for one in reversed(found) if _is_telling(one)]
    known = {_id(draft) for draft in ended}
    appended = await _appended(log, [*(draft for draft in unsaid if _id(draft) not in known), *ended])
    if moves is not None:
        silent_ones = [one for one in reversed(found) if _is_telling(one) and _id(_outcome(one)) in appended]
        for done in (*silent_ones, *(batch.kept for batch in recovered if batch.outcome == "applied")):
            await _moved_along(moves, done)
    counts: JsonObject = {}
    for one in recovered:
        key = f"mutations_{one.outcome}"
        counts[key] = int(str(counts.get(key, 0))) + 1
    if silent := len(appended - known):
        counts["mutations_recorded"] = silent
    return counts


async def _moved_along(moves: IndexMoves, kept: Kept | None) -> None:
    """Move in git's index what a mutation moved on disk, where its run was ended in between."""
    if kept is not None and (planned := moves_of(kept.details.get(GIT_MV))):
        await moves.made([move.back() for move in planned] if kept.state == "undone" else planned)


async def _appended(log: EventLog, drafts: Sequence[Draft]) -> set[str]:
    """Append what the log does not hold, which is read back until all are found; gives the ids of what was."""
    unseen, until = {_id(draft) for draft in drafts}, None
    for _ in range(_PAGES):
        if not unseen:
            return set()
        page = await log.query(EventQuery(stream=STREAM, newest=True, limit=_PAGE, until=until))
        unseen -= {event.event_id for event in page}
        if len(page) < _PAGE:
            break
        until = page[0].position - 1
    missing = [draft for draft in drafts if _id(draft) in unseen]
    for start in range(0, len(missing), _TOGETHER):
        together = missing[start : start + _TOGETHER]
        try:
            await log.append(together)
        except SequenceConflict:
            # One that is further back than was looked is there already.
            for draft in together:
                with suppress(SequenceConflict):
                    await log.append([draft])
    return unseen


def _outcome(kept: Kept) -> Draft:
    """The last that became of a kept mutation."""
    journal_id = str(kept.details.get(JOURNAL) or kept.mutation_id)
    return _draft(Recovered(journal_id=journal_id, mutation_id=kept.mutation_id, outcome="applied", kept=kept))


def _is_telling(kept: Kept) -> bool:
    """Whether it says which batch left it so; of an older one that was undone there is no telling, and of git's own
    only those are told that nobody was there to answer for."""
    return JOURNAL in kept.details or (kept.kind == "files" and kept.state == "applied")


def _id(draft: Draft) -> str:
    assert draft.event_id is not None
    return draft.event_id


def _draft(found: Recovered) -> Draft:
    payload: JsonObject = payload_of(found.kept) if found.kept is not None else {"mutation_id": found.mutation_id}
    payload["recovered"] = True
    if found.conflicts:
        payload["conflicts"] = [shown(path) for path in found.conflicts[:100]]
    return Draft(stream=STREAM, type=_kind(found), payload=payload, event_id=outcome_id(found.journal_id))


def _kind(found: Recovered) -> str:
    if found.outcome != "applied":
        return ROLLED_BACK
    if found.kept is not None and found.kept.state == "undone":
        return UNDONE
    # A batch of its own carries its mutation's id; one that does a mutation again does not.
    return APPLIED if found.journal_id == found.mutation_id else REDONE
