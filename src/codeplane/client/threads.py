"""The client's records of conversations: threads, messages, turns and their events."""

from dataclasses import dataclass

from codeplane.client.records import list_field, number_field, object_field, text_field
from codeplane.kernel.json import JsonObject

TURN_ENDS = frozenset({"turn.completed", "turn.failed"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """A conversation in a list."""

    thread_id: str
    title: str
    created_by: str
    archived: bool
    messages: int
    created_at: str
    updated_at: str
    last_sequence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadMessage:
    """A message of a conversation; `role` is user, assistant or system."""

    message_id: str
    role: str
    content: str
    metadata: JsonObject
    content_trust: str
    created_at: str
    turn_id: str
    sequence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadSnapshot:
    """A conversation with its newest messages, oldest of them first; `has_older` says that there are more."""

    thread_id: str
    title: str
    last_sequence: int
    messages: tuple[ThreadMessage, ...]
    has_older: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnBudget:
    """The limits of a turn, within the server's; 0 is the default."""

    max_tool_steps: int = 0
    max_tool_tokens: int = 0
    max_context_messages: int = 0

    def to_json(self) -> JsonObject:
        """Return the JSON message."""
        return {
            "maxToolSteps": self.max_tool_steps,
            "maxToolTokens": self.max_tool_tokens,
            "maxContextMessages": self.max_context_messages,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnResult:
    """How far a turn is: QUEUED, RUNNING, PAUSED, COMPLETED or FAILED, then with `code` and `message`."""

    turn_id: str
    status: str
    answer: str
    pending_action_ids: tuple[str, ...]
    last_sequence: int
    user_message_id: str
    assistant_message_id: str
    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadEvent:
    """An event of a conversation, such as `assistant.text_delta` or `tool.started`; `data` is all that it says."""

    event_id: str
    thread_id: str
    turn_id: str
    sequence: int
    type: str
    actor: str
    occurred_at: str
    data: JsonObject

    @property
    def text_delta(self) -> str:
        """The next piece of the answer; empty for other events."""
        return text_field(self.data, "delta") if self.type == "assistant.text_delta" else ""

    @property
    def segment_id(self) -> str:
        """Which attempt at the answer a piece belongs to: 0@2 supersedes 0 after a retry or a restart."""
        return text_field(self.data, "segment_id")

    @property
    def full_text(self) -> str:
        """A message of the assistant, whole, which is what counts; empty for other events."""
        return text_field(self.data, "full_text") if self.type == "assistant.message_committed" else ""

    @property
    def ends_turn(self) -> bool:
        """Whether its turn is completed or failed."""
        return self.type in TURN_ENDS


def thread_from_json(message: JsonObject) -> Thread:
    """Return a thread from its JSON message."""
    return Thread(
        thread_id=text_field(message, "threadId"),
        title=text_field(message, "title"),
        created_by=text_field(message, "createdBy"),
        archived=message.get("archived") is True,
        messages=number_field(message, "messages"),
        created_at=text_field(message, "createdAt"),
        updated_at=text_field(message, "updatedAt"),
        last_sequence=number_field(message, "lastSequence"),
    )


def message_from_json(message: JsonObject) -> ThreadMessage:
    """Return a message of a thread from its JSON message."""
    return ThreadMessage(
        message_id=text_field(message, "messageId"),
        role=text_field(message, "role"),
        content=text_field(message, "content"),
        metadata=object_field(message, "metadata"),
        content_trust=text_field(message, "contentTrust"),
        created_at=text_field(message, "createdAt"),
        turn_id=text_field(message, "turnId"),
        sequence=number_field(message, "sequence"),
    )


def snapshot_from_json(message: JsonObject) -> ThreadSnapshot:
    """Return a snapshot from its JSON message."""
    return ThreadSnapshot(
        thread_id=text_field(message, "threadId"),
        title=text_field(message, "title"),
        last_sequence=number_field(message, "lastSequence"),
        messages=tuple(map(message_from_json, list_field(message, "messages"))),
        has_older=bool(text_field(message, "nextPageToken")),
    )


def turn_from_json(message: JsonObject) -> TurnResult:
    """Return the state of a turn from its JSON message."""
    pending = message.get("pendingActionIds")
    return TurnResult(
        turn_id=text_field(message, "turnId"),
        status=text_field(message, "status"),
        answer=text_field(message, "assistantMessage"),
        pending_action_ids=tuple(map(str, pending)) if isinstance(pending, list) else (),
        last_sequence=number_field(message, "lastSequence"),
        user_message_id=text_field(message, "userMessageId"),
        assistant_message_id=text_field(message, "assistantMessageId"),
        code=text_field(message, "code"),
        message=text_field(message, "message"),
    )


def event_from_json(message: JsonObject) -> ThreadEvent:
    """Return an event of a thread from its JSON message."""
    return ThreadEvent(
        event_id=text_field(message, "eventId"),
        thread_id=text_field(message, "threadId"),
        turn_id=text_field(message, "turnId"),
        sequence=number_field(message, "sequence"),
        type=text_field(message, "type"),
        actor=text_field(message, "actor"),
        occurred_at=text_field(message, "occurredAt"),
        data=object_field(message, "data"),
    )
