"""Which mutations a caller may see: people all of them, others those of their session, their own and their work's."""

from collections.abc import Sequence

from codeplane.edit.history.mutation_record import MutationRecord, MutationStats
from codeplane.kernel.call import Call
from codeplane.kernel.call_record import CALL_STARTED
from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.event_log import EventQuery


async def visible_mutations(call: Call, records: Sequence[MutationRecord]) -> tuple[MutationRecord, ...]:
    """Those of the records that the caller may see, in their order."""
    scope = call.event_scope()
    if scope is None:
        return tuple(records)
    makers = {record.mutation_id: await _maker(call, record) for record in records}
    own = await call.log.own_actors({maker for maker in makers.values() if maker is not None}, scope)
    session = call.task.session_id if call.task else None
    return tuple(
        record
        for record in records
        if makers[record.mutation_id] in own or (session is not None and record.session_id == session)
    )


async def require_visible(call: Call, record: MutationRecord, error: type[CodePlaneError], retention: str) -> None:
    """Raise the error, worded as for a mutation that is not kept, when the caller may not see this one."""
    if not await visible_mutations(call, (record,)):
        raise error(
            f"{record.mutation_id} is not kept, or not any more: {retention}",
            hint="see mutation_list for what is kept",
        )


async def _maker(call: Call, record: MutationRecord) -> str | None:
    """Who made a mutation: as its record says, or else the log, as for one that a crash cut off."""
    actor = MutationStats.of(record).actor
    if actor is not None or record.call_id is None:
        return actor
    events = await call.log.query(EventQuery(call_id=record.call_id, types=(CALL_STARTED,), limit=1))
    return events[0].actor if events else None
