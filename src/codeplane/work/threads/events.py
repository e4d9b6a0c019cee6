"""The events of a thread's stream that are written by threads and turns themselves."""

from codeplane.kernel.event import ContentTrust, Correlation, Draft, Source
from codeplane.kernel.json import JsonObject
from codeplane.kernel.thread_copies import thread_stream

THREAD_CREATED, THREAD_RENAMED, THREAD_ARCHIVED = "thread.created", "thread.renamed", "thread.archived"
THREAD_CONFIGURED = "thread.configured"
MESSAGE_CREATED = "message.created"
TURN_QUEUED, TURN_STARTED, TURN_RESUMED, TURN_PAUSED = "turn.queued", "turn.started", "turn.resumed", "turn.paused"
TURN_COMPLETED, TURN_FAILED = "turn.completed", "turn.failed"
TURN_INTERRUPT_REQUESTED = "turn.interrupt_requested"
TURN_BUDGET_APPLIED = "turn.budget_applied"
MODEL_ANSWERED, MODEL_REPAIR_ATTEMPTED, MODEL_FELL_BACK = "model.answered", "model.repair_attempted", "model.fallback"
ASSISTANT_THINKING, ASSISTANT_TEXT, ASSISTANT_COMMITTED = (
    "assistant.thinking_delta",
    "assistant.text_delta",
    "assistant.message_committed",
)
TOOL_PLANNED, TOOL_STARTED, TOOL_FINISHED, TOOL_ANSWERED = (
    "tool.planned",
    "tool.started",
    "tool.finished",
    "tool.answered",
)
MEMORY_SAVED, MEMORY_WRITTEN = "memory.checkpoint_saved", "memory.written"
CALLBACK_RECEIVED = "callback.received"
SCHEDULE_TRIGGERED = "schedule.triggered"
# After one of these, nothing more happens in a turn.
TURN_ENDS = frozenset({TURN_COMPLETED, TURN_FAILED})

_BY_MODEL = frozenset({ASSISTANT_THINKING, ASSISTANT_TEXT, ASSISTANT_COMMITTED, TOOL_PLANNED, MODEL_ANSWERED})
_BY_TOOL = frozenset({TOOL_STARTED, TOOL_FINISHED, TOOL_ANSWERED})


def thread_draft(kind: str, payload: JsonObject, *, actor: str, ids: Correlation) -> Draft:
    """An event of a thread; what a model wrote, and what a tool answered, is marked as such."""
    assert ids.thread_id is not None
    source, trust = Source.SYSTEM, ContentTrust.TRUSTED_SYSTEM
    if kind in _BY_MODEL:
        source, trust = Source.MODEL_UNTRUSTED, ContentTrust.UNTRUSTED_MODEL
    elif kind in _BY_TOOL:
        source, trust = Source.TOOL_EXECUTOR, ContentTrust.UNTRUSTED_MODEL
    elif kind == MESSAGE_CREATED:
        trust = ContentTrust.TRUSTED_VALIDATED
    return Draft(
        stream=thread_stream(ids.thread_id),
        type=kind,
        payload=payload,
        actor=actor,
        source=source,
        content_trust=trust,
        correlation=ids,
    )
