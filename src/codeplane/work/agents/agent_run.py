"""One run of a turn by an outside agent: who calls for it, and what it records in its thread."""

import asyncio
from dataclasses import dataclass

from msgspec.structs import replace

from codeplane.kernel.actor import Actor, Caller, Origin
from codeplane.kernel.event import Draft
from codeplane.kernel.json import JsonObject
from codeplane.work.items.item import WorkItem
from codeplane.work.items.kind import WorkRun
from codeplane.work.threads.events import thread_draft
from codeplane.work.threads.thread import Turn
from codeplane.work.turns.heartbeat import HEARTBEAT
from codeplane.work.turns.plan import TurnPlan

SURFACE = "agent"


@dataclass(slots=True, kw_only=True)
class AgentRun:
    """A turn of an outside agent while it runs."""

    item: WorkItem
    turn: Turn
    plan: TurnPlan
    work: WorkRun
    actor: Actor
    interrupt: asyncio.Event
    job_id: str | None
    # Steps that were begun, to number them.
    steps: int

    @property
    def agent(self) -> str:
        """The name of the agent in the settings."""
        return self.plan.agent

    @property
    def tree_id(self) -> str:
        """Whose work tree it changes files in: the job's, or the thread's."""
        return self.job_id or self.turn.thread_id

    def next_caller(self, *, wait_sec: float = 0, tool_call_id: str | None = None) -> Caller:
        """The caller of the next call that the agent makes."""
        origin = Origin(
            work_id=self.item.work_id,
            thread_id=self.turn.thread_id,
            turn_id=self.turn.turn_id,
            job_id=self.job_id,
            step=self.steps,
            tool_call_id=tool_call_id,
            on_behalf_of=self.item.on_behalf_of,
            node=self.work.node,
            is_unattended=self.turn.trigger_type == HEARTBEAT,
            approval_mode=self.plan.mode or None,
            tree_id=self.tree_id,
        )
        self.steps += 1
        return Caller(
            surface=SURFACE,
            connection_id=self.item.work_id,
            client=self.agent,
            actor=self.actor,
            origin=origin,
            wait_sec=wait_sec,
        )

    def key(self, what: str) -> str:
        """The idempotency key of a call; another attempt makes calls of its own."""
        return f"{self.turn.turn_id}/{self.item.attempt}/{what}"

    def draft(self, kind: str, payload: JsonObject) -> Draft:
        """An event of the turn's thread."""
        ids = replace(self.turn.ids, job_id=self.job_id)
        return thread_draft(kind, payload, actor=str(self.actor), ids=ids)
