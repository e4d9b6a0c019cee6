"""Requests and results of the turn operations."""

from typing import ClassVar, Literal

from pydantic import Field

from codeplane.kernel.clock import rfc3339
from codeplane.kernel.operation import FollowUp, Request, Result
from codeplane.kernel.plural import plural
from codeplane.work.skills.models import MAX_CHOSEN
from codeplane.work.threads.models import MAX_MESSAGE_BYTES
from codeplane.work.threads.thread import Turn, TurnState

QueueMode = Literal["QUEUE_AFTER_TURN", "REJECT_IF_BUSY", "INTERRUPT_AFTER_CURRENT_TOOL"]
ReasoningVisibility = Literal["REASONING_SUMMARY", "REASONING_OFF", "REASONING_RAW"]
TriggerType = Literal["CHAT_MESSAGE", "JOB_WAKEUP", "SCHEDULE_WAKEUP", "HEARTBEAT", "DELEGATED_CALLBACK"]


class BudgetRequest(Request):
    """A wanted budget; 0 is the default."""

    max_tool_steps: int = Field(0, ge=0, le=100_000)
    max_tool_tokens: int = Field(0, ge=0, le=100_000_000)
    max_context_messages: int = Field(0, ge=0, le=100_000)


class SendTurnRequest(Request):
    """A message for the assistant of a thread."""

    prose: ClassVar[frozenset[str]] = frozenset()
    thread_id: str = Field(min_length=4, max_length=100)
    user_text: str = Field(min_length=1, max_length=MAX_MESSAGE_BYTES, pattern=r"\S", description="the message")
    client_message_id: str = Field("", max_length=200, description="the same id again re-attaches to the same turn")
    queue_mode: QueueMode = Field("QUEUE_AFTER_TURN", description="what happens while another turn runs")
    reasoning_visibility: ReasoningVisibility = "REASONING_SUMMARY"
    trigger_type: TriggerType = "CHAT_MESSAGE"
    trigger_source_id: str = Field("", max_length=200)
    requested_budget: BudgetRequest = BudgetRequest()
    model: str = Field("", max_length=200, description="provider/model instead of the thread's")
    skills: tuple[str, ...] = Field((), max_length=MAX_CHOSEN, description="skills for this message, by name")
    wait_sec: float = Field(0.0, ge=0, le=600, description="how long to wait for the end of the turn, or its pause")


class TurnRequest(Request):
    """A turn."""

    turn_id: str = Field(min_length=4, max_length=100, description="its id, or a beginning or end that only it has")


class CancelTurnRequest(TurnRequest):
    """The end of a turn."""

    reason: str = Field("", max_length=500)


class TurnView(Result):
    """A turn, and what it answered so far."""

    turn_id: str
    thread_id: str
    work_id: str
    user_message_id: str
    status: str
    code: str | None
    message: str | None
    assistant_message_id: str | None
    assistant_message: str
    pending_action_ids: tuple[str, ...]
    tool_steps: int
    tool_tokens: int
    input_tokens: int
    output_tokens: int
    cost_usd: float
    created_at: str
    updated_at: str
    last_sequence: int
    from_sequence: int = Field(description="a watch from here on shows the turn from its message on")

    @classmethod
    def of(
        cls, turn: Turn, *, answer: str, pending: tuple[str, ...], last_sequence: int, from_sequence: int
    ) -> "TurnView":
        """The turn as callers see it."""
        return cls(
            turn_id=turn.turn_id,
            thread_id=turn.thread_id,
            work_id=turn.work_id,
            user_message_id=turn.user_message_id,
            status=turn.state.value,
            code=turn.code,
            message=turn.message,
            assistant_message_id=turn.assistant_message_id,
            assistant_message=answer,
            pending_action_ids=pending,
            tool_steps=turn.tool_steps,
            tool_tokens=turn.tool_tokens,
            input_tokens=turn.input_tokens,
            output_tokens=turn.output_tokens,
            cost_usd=turn.cost_micros / 1_000_000,
            created_at=rfc3339(turn.created_ns),
            updated_at=rfc3339(turn.updated_ns),
            last_sequence=last_sequence,
            from_sequence=from_sequence,
        )

    def text(self) -> str:
        why = f": {self.code} {self.message or ''}".rstrip() if self.code else ""
        waits = f"\nwaits for: {', '.join(self.pending_action_ids)}" if self.pending_action_ids else ""
        steps = f", {plural(self.tool_steps, 'tool step')}" if self.tool_steps else ""
        head = f"{self.turn_id} {self.status}{steps}{why}{waits}"
        return f"{self.assistant_message}\n[{head}]" if self.assistant_message else head

    def follow_up(self) -> FollowUp | None:
        if self.status in (TurnState.COMPLETED, TurnState.FAILED):
            return None
        return FollowUp(show="turn.show", cancel="turn.cancel", arguments={"turn_id": self.turn_id})


class UndoneTurn(Result):
    """What was taken back of a turn."""

    turn_id: str
    undone: tuple[str, ...]
    failed: str | None = None

    def text(self) -> str:
        done = (
            f"took back {plural(len(self.undone), 'change')}: {', '.join(self.undone)}"
            if self.undone
            else "there was nothing to take back"
        )
        return f"{done}\nstopped: {self.failed}" if self.failed else done

    def unmet(self) -> str | None:
        return "partly_undone" if self.failed else None
