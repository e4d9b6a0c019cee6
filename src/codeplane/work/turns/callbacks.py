"""Brings the outcome of what a turn could only propose back into its thread, as a new turn."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

from codeplane.kernel.actor import Actor
from codeplane.kernel.call_record import ACTION_EXECUTED, ACTION_INTERRUPTED, action_stream
from codeplane.kernel.errors import CodePlaneError, SequenceConflict
from codeplane.kernel.event import Event
from codeplane.kernel.event_log import EventQuery
from codeplane.kernel.ports import Ledger
from codeplane.work.items.item import WorkItem
from codeplane.work.items.store import WorkStore
from codeplane.work.threads.store import ThreadStore

_REJECTED = "action.rejected"
_SETTLED = (ACTION_EXECUTED, ACTION_INTERRUPTED, _REJECTED)
_BATCH = 100
_MAX_REASON = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Callback:
    """A report to a thread about something that has ended; `source_id` names that."""

    thread_id: str
    source_id: str
    text: str
    on_behalf_of: Actor
    parent_id: str | None = None


# Queues a report to the thread of a work item.
QueueCallback = Callable[[Callback, WorkItem], Awaitable[None]]


class TurnCallbacks:
    """Looks for proposals of turns that a person has decided on since."""

    def __init__(self, *, log: Ledger, store: ThreadStore, work: WorkStore, queue_callback: QueueCallback) -> None:
        self._log = log
        self._store = store
        self._work = work
        self._queue_callback = queue_callback

    async def sweep(self) -> None:
        """Queue a turn for each proposal that was decided, once."""
        rows = await self._log.select(
            "SELECT action_id, turn_id FROM turn_proposals WHERE settled = 0 ORDER BY position LIMIT ?", (_BATCH,)
        )
        for action_id, turn_id in rows:
            newest = await self._log.query(EventQuery(stream=action_stream(str(action_id)), newest=True, limit=1))
            if newest and newest[0].type in _SETTLED:
                with suppress(SequenceConflict):
                    await self._call_back(str(action_id), str(turn_id), newest[0])

    async def _call_back(self, action_id: str, turn_id: str, settled: Event) -> None:
        turn = await self._store.turn(turn_id)
        try:
            item = await self._work.get(turn.work_id)
        except CodePlaneError:
            # Retention has taken the work along: nobody is left to tell.
            return
        callback = Callback(
            thread_id=turn.thread_id,
            source_id=action_id,
            text=_outcome(action_id, settled),
            on_behalf_of=item.on_behalf_of,
        )
        await self._queue_callback(callback, item)


def _outcome(action_id: str, settled: Event) -> str:
    operation = str(settled.payload.get("operation") or "the call")
    if settled.type == _REJECTED:
        reason = str(settled.payload.get("reason") or "")[:_MAX_REASON]
        return f"{action_id} ({operation}) was not approved{f': {reason}' if reason else ''}."
    if settled.type == ACTION_INTERRUPTED:
        return f"{action_id} ({operation}) was approved and begun, but nobody saw how it ended."
    return f"{action_id} ({operation}) was approved and ran; it ended with: {settled.payload.get('outcome')}."
