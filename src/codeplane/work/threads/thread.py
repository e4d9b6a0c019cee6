"""A thread, its messages and the turns in it, as their tables have them."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from codeplane.kernel.event import Correlation
from codeplane.kernel.thread_copies import thread_stream
from codeplane.ledger.rows import Cell


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """One conversation."""

    thread_id: str
    title: str
    created_by: str
    toolset: str
    model: str
    archived: bool
    messages: int
    created_ns: int
    updated_ns: int
    # What its turns ask about, where that is stricter than the owner's setting; empty is that setting.
    mode: str = ""
    # The outside agent that runs its turns; empty where a model does.
    agent: str = ""

    @property
    def stream(self) -> str:
        """The stream of everything that happens in it."""
        return thread_stream(self.thread_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message of a person, the assistant or the system; `sequence` is its place in the thread."""

    message_id: str
    thread_id: str
    turn_id: str | None
    role: str
    content: str
    metadata: str
    content_trust: str
    created_ns: int
    sequence: int


class TurnState(StrEnum):
    """The state of a turn."""

    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn; `code` and `message` say why it failed."""

    turn_id: str
    thread_id: str
    work_id: str
    client_message_id: str
    user_message_id: str
    text_hash: str
    trigger_type: str
    state: TurnState
    code: str | None
    message: str | None
    retryable: bool
    assistant_message_id: str | None
    interrupted: bool
    max_tool_steps: int
    max_tool_tokens: int
    max_context_messages: int
    tool_steps: int
    tool_tokens: int
    input_tokens: int
    output_tokens: int
    cost_micros: int
    created_ns: int
    updated_ns: int
    position: int

    @property
    def has_ended(self) -> bool:
        """Whether nothing more happens in it."""
        return self.state in (TurnState.COMPLETED, TurnState.FAILED)

    @property
    def ids(self) -> Correlation:
        """The ids of everything that happens in it."""
        return Correlation(thread_id=self.thread_id, turn_id=self.turn_id, work_id=self.work_id)


THREAD_COLUMNS = "thread_id, title, created_by, toolset, model, archived, messages, created_ns, updated_ns, mode, agent"
MESSAGE_COLUMNS = "message_id, thread_id, turn_id, role, content, metadata, content_trust, created_ns, sequence"
TURN_COLUMNS = (
    "turn_id, thread_id, work_id, client_message_id, user_message_id, text_hash, trigger_type, state, code, message, "
    "retryable, assistant_message_id, interrupted, max_tool_steps, max_tool_tokens, max_context_messages, tool_steps, "
    "tool_tokens, input_tokens, output_tokens, cost_micros, created_ns, updated_ns, position"
)


def thread_from_row(row: Sequence[Cell]) -> Thread:
    """The thread in a row of its table."""
    thread_id, title, created_by, toolset, model, archived, messages, created_ns, updated_ns, mode, agent = row
    return Thread(
        thread_id=str(thread_id),
        title=str(title),
        created_by=str(created_by),
        toolset=str(toolset),
        model=str(model),
        archived=bool(archived),
        messages=int(str(messages)),
        created_ns=int(str(created_ns)),
        updated_ns=int(str(updated_ns)),
        mode=str(mode or ""),
        agent=str(agent),
    )


def message_from_row(row: Sequence[Cell]) -> Message:
    """The message in a row of its table."""
    message_id, thread_id, turn_id, role, content, metadata, content_trust, created_ns, sequence = row
    return Message(
        message_id=str(message_id),
        thread_id=str(thread_id),
        turn_id=None if turn_id is None else str(turn_id),
        role=str(role),
        content=str(content),
        metadata=str(metadata),
        content_trust=str(content_trust),
        created_ns=int(str(created_ns)),
        sequence=int(str(sequence)),
    )


def turn_from_row(row: Sequence[Cell]) -> Turn:
    """The turn in a row of its table."""
    (turn_id, thread_id, work_id, client_message_id, user_message_id, text_hash, trigger_type, state, code, message,
     retryable, assistant_message_id, interrupted, max_tool_steps, max_tool_tokens, max_context_messages, tool_steps,
     tool_tokens, input_tokens, output_tokens, cost_micros, created_ns, updated_ns, position) = row  # fmt: skip
    return Turn(
        turn_id=str(turn_id),
        thread_id=str(thread_id),
        work_id=str(work_id),
        client_message_id=str(client_message_id),
        user_message_id=str(user_message_id),
        text_hash=str(text_hash),
        trigger_type=str(trigger_type),
        state=TurnState(str(state)),
        code=None if code is None else str(code),
        message=None if message is None else str(message),
        retryable=bool(retryable),
        assistant_message_id=None if assistant_message_id is None else str(assistant_message_id),
        interrupted=bool(interrupted),
        max_tool_steps=int(str(max_tool_steps)),
        max_tool_tokens=int(str(max_tool_tokens)),
        max_context_messages=int(str(max_context_messages)),
        tool_steps=int(str(tool_steps)),
        tool_tokens=int(str(tool_tokens)),
        input_tokens=int(str(input_tokens)),
        output_tokens=int(str(output_tokens)),
        cost_micros=int(str(cost_micros)),
        created_ns=int(str(created_ns)),
        updated_ns=int(str(updated_ns)),
        position=int(str(position)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What is remembered of a thread: what a person wrote, and in short what a model is no longer shown."""

    checkpoint_id: str = ""
    written: str = ""
    cut: str = ""
    updated_ns: int = 0
