"""Puts turns into the queue of their thread: the message, the turn and its work in one batch."""

from dataclasses import dataclass

from codeplane.kernel.actor import Actor
from codeplane.kernel.clock import rfc3339
from codeplane.kernel.event import Correlation
from codeplane.kernel.ids import derived_event_id, digest
from codeplane.kernel.json import JsonObject
from codeplane.kernel.ports import Payloads
from codeplane.work.items.engine import WorkEngine
from codeplane.work.items.item import Priority, WorkLimits
from codeplane.work.skills.library import ChosenSkill
from codeplane.work.threads.events import (
    CALLBACK_RECEIVED,
    MESSAGE_CREATED,
    SCHEDULE_TRIGGERED,
    TURN_QUEUED,
    thread_draft,
)
from codeplane.work.threads.thread import Thread
from codeplane.work.turns.budget import TurnBudget
from codeplane.work.turns.heartbeat import HEARTBEAT
from codeplane.work.turns.kind import TurnKind
from codeplane.work.turns.plan import TurnPlan

CHAT_MESSAGE, DELEGATED_CALLBACK = "CHAT_MESSAGE", "DELEGATED_CALLBACK"
# What bounds turns are budgets of their own.
_LIMITS = WorkLimits(max_steps=100_000, max_seconds=86_400.0)
_PRIORITIES = {CHAT_MESSAGE: Priority.CHAT, HEARTBEAT: Priority.HEARTBEAT}
_MAX_TITLE = 80
# The kind of work that a turn of an outside agent is.
AGENT_TURN = "agent_turn"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTurn:
    """A turn that is to be queued; `source_id` is the client's message id, or what triggered it."""

    thread: Thread
    source_id: str
    text: str
    created_by: Actor
    on_behalf_of: Actor
    budget: TurnBudget
    reasoning: str = "REASONING_SUMMARY"
    model: str = ""
    queue_mode: str = "QUEUE_AFTER_TURN"
    trigger_type: str = CHAT_MESSAGE
    call_id: str | None = None
    # The work item that it goes on with.
    parent_id: str | None = None
    skills: tuple[ChosenSkill, ...] = ()
    # The time of the schedule that set it off.
    scheduled_for_ns: int | None = None

    @property
    def turn_id(self) -> str:
        """The same for the same message, or the same trigger, source and time."""
        trigger = () if self.trigger_type == CHAT_MESSAGE else (self.trigger_type,)
        time = () if self.scheduled_for_ns is None else (str(self.scheduled_for_ns),)
        # A schedule may be given another thread between two attempts to start the same turn.
        place = self.thread.thread_id if self.scheduled_for_ns is None else ""
        return derived_event_id("turn", place, *trigger, self.source_id, *time)

    @property
    def metadata(self) -> JsonObject:
        """What its message says about itself."""
        skills: JsonObject = {"skills": [skill.name for skill in self.skills]} if self.skills else {}
        return {**skills, **({"heartbeat": True} if self.trigger_type == HEARTBEAT else {})}

    @property
    def priority(self) -> Priority:
        """How urgent it is among all work."""
        return _PRIORITIES.get(self.trigger_type, Priority.CALLBACK)

    @property
    def is_message(self) -> bool:
        """Whether a person or program sent it, rather than the system."""
        return self.trigger_type == CHAT_MESSAGE


class TurnQueue:
    """Records new turns."""

    def __init__(self, *, engine: WorkEngine, payloads: Payloads) -> None:
        self._engine = engine
        self._payloads = payloads

    async def add(self, new: NewTurn) -> None:
        """Queue a turn; SequenceConflict when it is there already."""
        work_id = f"wrk_{new.turn_id.replace('-', '')}"
        with self._engine.admit(work_id):
            await self._create(new, work_id)
        self._engine.wake()

    async def _create(self, new: NewTurn, work_id: str) -> None:
        turn_id, thread = new.turn_id, new.thread
        ids = Correlation(call_id=new.call_id, thread_id=thread.thread_id, turn_id=turn_id, work_id=work_id)
        plan = TurnPlan(
            user_text=new.text,
            reasoning=new.reasoning,
            toolset=thread.toolset,
            model=new.model or thread.model,
            mode=thread.mode,
            skills=new.skills,
            agent=thread.agent,
        )
        message_id = f"msg_{derived_event_id('message', turn_id, 'user').replace('-', '')}"
        message: JsonObject = {
            "message_id": message_id,
            "role": "user" if new.is_message else "system",
            "content": new.text,
            "metadata": new.metadata,
        }
        queued: JsonObject = {
            "client_message_id": new.source_id if new.is_message else "",
            "trigger_source_id": "" if new.is_message else new.source_id,
            "user_message_id": message_id,
            "text_hash": digest(new.text.encode()),
            "trigger_type": new.trigger_type,
            "queue_mode": new.queue_mode,
            **new.budget.to_json(),
        }
        events: list[tuple[str, JsonObject]] = [(MESSAGE_CREATED, message), (TURN_QUEUED, queued)]
        if new.trigger_type == DELEGATED_CALLBACK:
            events.insert(0, (CALLBACK_RECEIVED, {"callback_id": new.source_id}))
        if new.scheduled_for_ns is not None:
            scheduled_for = rfc3339(new.scheduled_for_ns)
            events.insert(0, (SCHEDULE_TRIGGERED, {"schedule_id": new.source_id, "scheduled_for_utc": scheduled_for}))
        sealed = plan.seal(self._payloads, work_id)
        await self._engine.store.create(
            kind=AGENT_TURN if thread.agent else TurnKind.name,
            title=new.text.strip().partition("\n")[0][:_MAX_TITLE],
            parent_id=new.parent_id,
            on_behalf_of=new.on_behalf_of,
            limits=_LIMITS,
            payload_hash=sealed.hash,
            sealed=[sealed],
            steps=(),
            work_id=work_id,
            created_by=new.created_by,
            correlation=ids,
            priority=new.priority,
            copies=[thread_draft(kind, payload, actor=str(new.created_by), ids=ids) for kind, payload in events],
        )
