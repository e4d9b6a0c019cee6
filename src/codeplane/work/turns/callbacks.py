"""Brings the outcome of what a turn could only propose back into its thread, as a new turn."""

from contextlib import suppress

from codeplane.kernel.actor import Actor, ActorKind
from codeplane.kernel.call_record import ACTION_EXECUTED, ACTION_INTERRUPTED, action_stream
from codeplane.kernel.config import TurnsConfig
from codeplane.kernel.errors import CodePlaneError, SequenceConflict
from codeplane.kernel.event import Event
from codeplane.kernel.event_log import EventQuery
from codeplane.kernel.ports import Ledger
from codeplane.work.items.store import WorkStore
from codeplane.work.threads.store import ThreadStore
from codeplane.work.turns.budget import TurnBudget
from codeplane.work.turns.queue import DELEGATED_CALLBACK, NewTurn, TurnQueue

_SYSTEM = Actor(kind=ActorKind.SYSTEM, actor_id="system")
_REJECTED = "action.rejected"
_SETTLED = (ACTION_EXECUTED, ACTION_INTERRUPTED, _REJECTED)
_BATCH = 100
_MAX_REASON = 500
_DEFAULT_BUDGET = TurnBudget(max_tool_steps=0, max_tool_tokens=0, max_context_messages=0)


class TurnCallbacks:
    """Looks for proposals of turns that a person has decided on since."""

    def __init__(
        self, *, log: Ledger, store: ThreadStore, work: WorkStore, queue: TurnQueue, config: TurnsConfig
    ) -> None:
        self._log = log
        self._store = store
        self._work = work
        self._queue = queue
        self._config = config

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
        await self._queue.add(
            NewTurn(
                thread=await self._store.thread(turn.thread_id),
                source_id=action_id,
                text=_outcome(action_id, settled),
                created_by=_SYSTEM,
                on_behalf_of=item.on_behalf_of,
                budget=TurnBudget.effective(_DEFAULT_BUDGET, self._config),
                trigger_type=DELEGATED_CALLBACK,
            )
        )


def _outcome(action_id: str, settled: Event) -> str:
    operation = str(settled.payload.get("operation") or "the call")
    if settled.type == _REJECTED:
        reason = str(settled.payload.get("reason") or "")[:_MAX_REASON]
        return f"{action_id} ({operation}) was not approved{f': {reason}' if reason else ''}."
    if settled.type == ACTION_INTERRUPTED:
        return f"{action_id} ({operation}) was approved and begun, but nobody saw how it ended."
    return f"{action_id} ({operation}) was approved and ran; it ended with: {settled.payload.get('outcome')}."
