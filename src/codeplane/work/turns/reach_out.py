"""Notifications of heartbeats that have something to say, as many as the settings allow."""

from codeplane.kernel.clock import SECOND_NS, Clock
from codeplane.kernel.event import Correlation, Draft
from codeplane.kernel.event_log import EventQuery
from codeplane.kernel.json import JsonObject
from codeplane.kernel.ports import Ledger
from codeplane.work.items.kind import Transition
from codeplane.work.items.table import COMPLETED, FAILED
from codeplane.work.threads.store import ThreadStore
from codeplane.work.threads.thread import Turn
from codeplane.work.turns.heartbeat import HEARTBEAT, is_silent

REACH_OUT_QUEUED = "reach_out.queued"
_STREAM = "notification"
_DAY_NS = 86_400 * SECOND_NS
_MAX_SUMMARY = 300


class ReachOuts:
    """Decides which ends of heartbeats a person is notified of: what was found, and what failed."""

    def __init__(self, *, log: Ledger, store: ThreadStore, clock: Clock, per_day: int) -> None:
        self._log = log
        self._store = store
        self._clock = clock
        self._per_day = per_day

    async def drafts(self, turn: Turn, transition: Transition) -> list[Draft]:
        """The notification of a transition; none where it has nothing to say, or too many were sent today."""
        if turn.trigger_type != HEARTBEAT or transition.kind not in (COMPLETED, FAILED):
            return []
        summary = await self._summary(turn, transition)
        if not summary or await self._is_used_up():
            return []
        payload: JsonObject = {"thread_id": turn.thread_id, "turn_id": turn.turn_id, "summary": summary[:_MAX_SUMMARY]}
        ids = Correlation(thread_id=turn.thread_id, turn_id=turn.turn_id, work_id=turn.work_id)
        return [Draft(stream=_STREAM, type=REACH_OUT_QUEUED, payload=payload, correlation=ids)]

    async def _summary(self, turn: Turn, transition: Transition) -> str:
        if transition.kind == FAILED:
            return f"a heartbeat failed: {transition.payload.get('message') or transition.payload.get('error')}"
        answer = await self._store.message(str(transition.payload.get("assistant_message_id")))
        if answer is None or is_silent(turn.trigger_type, answer.content):
            return ""
        return answer.content.strip()

    async def _is_used_up(self) -> bool:
        if not self._per_day:
            return True
        newest = await self._log.query(EventQuery(types=(REACH_OUT_QUEUED,), newest=True, limit=self._per_day))
        since_ns = self._clock.now_ns() - _DAY_NS
        return len([event for event in newest if event.at_ns > since_ns]) >= self._per_day
