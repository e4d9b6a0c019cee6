"""Turns as work: who acts, when one may start, and what its thread is shown of its transitions."""

import asyncio
from collections.abc import Sequence
from typing import ClassVar, Protocol

from codeplane.kernel.actor import Actor, ActorKind
from codeplane.kernel.event import Draft
from codeplane.kernel.json import JsonObject
from codeplane.work.items.item import WorkItem
from codeplane.work.items.kind import Transition, WorkRun
from codeplane.work.items.table import CANCELLED, COMPLETED, FAILED, LEASED, WAITING
from codeplane.work.threads.events import (
    TURN_BUDGET_APPLIED,
    TURN_COMPLETED,
    TURN_FAILED,
    TURN_PAUSED,
    TURN_RESUMED,
    TURN_STARTED,
    thread_draft,
)
from codeplane.work.threads.store import ThreadStore
from codeplane.work.threads.thread import Turn
from codeplane.work.turns.budget import TurnBudget
from codeplane.work.turns.reach_out import ReachOuts

CANCELLED_CODE = "CANCELLED"


class TurnRunner(Protocol):
    """Who answers turns: a model with its tools, or an outside agent."""

    async def run(
        self,
        item: WorkItem,
        turn: Turn,
        work: WorkRun,
        *,
        interrupt: asyncio.Event,
        actor: Actor,
        job_id: str | None = None,
    ) -> Transition | None:
        """Go on with a turn where it was left, until it ends, waits or the engine stops."""
        ...


def _assistant(turn: Turn, item: WorkItem) -> Actor:
    """Who acts in the turns of a thread."""
    return Actor(kind=ActorKind.ASSISTANT, actor_id=turn.thread_id, owner_id=item.on_behalf_of.owner_id)


class TurnKind:
    """Runs turns, one at a time in each thread."""

    name: ClassVar[str] = "turn"

    def __init__(
        self, *, store: ThreadStore, loop: TurnRunner, reach_outs: ReachOuts, tokenizer: str, max_running: int
    ) -> None:
        self.max_running = max_running
        self._store = store
        self._loop = loop
        self._reach_outs = reach_outs
        self._tokenizer = tokenizer
        self._interrupts: dict[str, asyncio.Event] = {}

    async def actor(self, item: WorkItem) -> Actor:
        """The assistant of the thread that the turn is in."""
        return _assistant(await self._store.turn_of_work(item.work_id), item)

    async def may_start(self, item: WorkItem) -> bool:
        """Whether every earlier turn of the thread has ended."""
        return await self._store.is_first(await self._store.turn_of_work(item.work_id))

    async def run(self, item: WorkItem, run: WorkRun) -> Transition | None:
        """Go on with the turn."""
        turn = await self._store.turn_of_work(item.work_id)
        interrupt = self._interrupts[item.work_id] = asyncio.Event()
        if turn.interrupted:
            interrupt.set()
        try:
            return await self._loop.run(item, turn, run, interrupt=interrupt, actor=_assistant(turn, item))
        finally:
            del self._interrupts[item.work_id]

    def interrupt(self, work_id: str) -> bool:
        """End a running turn after its current tool; False when it does not run here."""
        event = self._interrupts.get(work_id)
        if event is not None:
            event.set()
        return event is not None

    async def copies(self, item: WorkItem, transition: Transition) -> Sequence[Draft]:
        """What the thread is shown of a transition, and of a heartbeat the person."""
        turn = await self._store.turn_of_work(item.work_id)
        actor = str(_assistant(turn, item))
        events = turn_events(item, turn, transition, self._tokenizer)
        drafts = [thread_draft(kind, payload, actor=actor, ids=turn.ids) for kind, payload in events]
        return [*drafts, *await self._reach_outs.drafts(turn, transition)]


def turn_events(item: WorkItem, turn: Turn, transition: Transition, tokenizer: str) -> list[tuple[str, JsonObject]]:
    """What a thread is shown of a transition of the work that a turn is."""
    payload, left = transition.payload, max(0, turn.max_tool_steps - turn.tool_steps)
    match transition.kind:
        case kind if kind == LEASED:
            attempt = payload["attempt"]
            if attempt == item.attempt:
                return []
            if attempt != 1:
                reason = item.waits_for.value if item.waits_for is not None else "restart"
                return [(TURN_RESUMED, {"resumed_reason": reason, "steps_remaining": left})]
            started: JsonObject = {"user_message_id": turn.user_message_id, "trigger_type": turn.trigger_type}
            budget = TurnBudget.of(turn).to_json()
            applied: JsonObject = {"effective_budget": budget, "tokenizer": tokenizer}
            return [(TURN_STARTED, started), (TURN_BUDGET_APPLIED, applied)]
        case kind if kind == WAITING:
            paused: JsonObject = {
                "pending_action_count": 1 if payload.get("action_id") else 0,
                "steps_used": turn.tool_steps,
                "steps_remaining": left,
                "action_id": payload.get("action_id"),
            }
            return [(TURN_PAUSED, paused)]
        case kind if kind == COMPLETED:
            return [(TURN_COMPLETED, {"assistant_message_id": payload.get("assistant_message_id")})]
        case kind if kind in (FAILED, CANCELLED):
            code = payload.get("error") or CANCELLED_CODE
            failed: JsonObject = {
                "code": code,
                "message": payload.get("message") or "",
                "retryable": bool(payload.get("retryable")),
                "assistant_message_id": payload.get("assistant_message_id"),
            }
            return [(TURN_FAILED, failed)]
    return []
