"""One run of a turn: what it is made of, how far it is, and what it records in its thread."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from msgspec.structs import replace

from codeplane.kernel.actor import Actor, Caller, Origin
from codeplane.kernel.event import Draft
from codeplane.kernel.json import JsonObject
from codeplane.work.items.item import WorkItem
from codeplane.work.items.kind import WorkRun
from codeplane.work.models.schema import Conversation, MessagePart
from codeplane.work.threads.events import thread_draft
from codeplane.work.threads.thread import Turn
from codeplane.work.turns.budget import TurnBudget
from codeplane.work.turns.heartbeat import HEARTBEAT
from codeplane.work.turns.plan import TurnPlan
from codeplane.work.turns.tool_step import Toolbox
from codeplane.work.turns.transcript import Transcript

SURFACE = "turn"


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """Which models there are for turns."""

    is_configured: Callable[[str], bool]
    # The model that is asked when another's answers cannot be used; empty when there is none.
    fallback: Callable[[str], str]


@dataclass(slots=True, kw_only=True)
class TurnRun:
    """A turn while it runs."""

    item: WorkItem
    turn: Turn
    plan: TurnPlan
    work: WorkRun
    actor: Actor
    interrupt: asyncio.Event
    toolbox: Toolbox
    transcript: Transcript
    history: tuple[MessagePart, ...]
    # Steps that were begun, to number them; tool calls that were answered, and the tokens of their answers.
    steps: int
    tool_steps: int
    tool_tokens: int
    # What the model was asked so far: each question goes on from the one before.
    conversation: Conversation = field(default_factory=Conversation)
    # The job that the turn is, if it is one; it pauses when its budget is used up.
    job_id: str | None = None

    @property
    def used_up(self) -> str | None:
        """Which bound of the budget has been reached."""
        return TurnBudget.of(self.turn).used_up(self.tool_steps, self.tool_tokens)

    def next_caller(self, tool_call_id: str | None = None) -> Caller:
        """The caller of the next step."""
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
        )
        self.steps += 1
        return Caller(
            surface=SURFACE,
            connection_id=self.item.work_id,
            actor=self.actor,
            origin=origin,
            # What the turn records of the step waits for both.
            record_wait="own_record",
            key_is_new=self.item.attempt == 1,
            wait_sec=0,
        )

    def draft(self, kind: str, payload: JsonObject) -> Draft:
        """An event of the turn's thread."""
        ids = self.turn.ids if self.job_id is None else replace(self.turn.ids, job_id=self.job_id)
        return thread_draft(kind, payload, actor=str(self.actor), ids=ids)
