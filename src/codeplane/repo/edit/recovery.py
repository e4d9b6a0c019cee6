"""What the log is told of batches that the last run left under way."""

from collections.abc import Sequence

from codeplane.kernel.event import Draft
from codeplane.kernel.json import JsonObject
from codeplane.kernel.ports import EventLog, EventQuery
from codeplane.repo.edit.engine import APPLIED, REDONE, ROLLED_BACK, STREAM, UNDONE, outcome_id, payload_of
from codeplane.repo.edit.journal import Recovered
from codeplane.repo.truth.paths import shown

_LOOKED_AT = 1000


async def record(log: EventLog, recovered: Sequence[Recovered]) -> JsonObject:
    """Append the outcomes that the last run could not, each once; says how many ended how."""
    known = set()
    if recovered:
        known = {event.event_id for event in await log.query(EventQuery(stream=STREAM, newest=True, limit=_LOOKED_AT))}
    drafts = [_draft(found) for found in recovered if found.outcome != "stuck"]
    missing = [draft for draft in drafts if draft.event_id not in known]
    if missing:
        await log.append(missing)
    counts: JsonObject = {}
    for found in recovered:
        key = f"mutations_{found.outcome}"
        counts[key] = int(str(counts.get(key, 0))) + 1
    return counts


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
