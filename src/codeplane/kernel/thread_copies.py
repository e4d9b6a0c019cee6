"""Copies of a call's facts for the thread that the call belongs to, so that one stream shows the whole conversation."""

from collections.abc import Sequence

from msgspec.structs import replace

from codeplane.kernel.event import Draft
from codeplane.kernel.ids import derived_event_id
from codeplane.kernel.json import JsonObject

# Decisions, actions, conflicts, artifacts, proposals and what commands print; the rest is written there.
COPIED = frozenset(
    {
        "policy.decided",
        "action.created",
        "action.approved",
        "action.rejected",
        "action.executed",
        "action.interrupted",
        "idempotency.conflict",
        "shell.started",
        "shell.output",
        "shell.finished",
        "artifact.created",
        "skill.proposed",
        "improvement.proposed",
    }
)
# Of types of their own, so that tables take what happened once.
COPY_PREFIX = "thread."
# The action itself has the whole preview.
_MAX_BODY = 8192


def thread_stream(thread_id: str) -> str:
    """The stream of a thread."""
    return f"thread/{thread_id}"


def original_type(kind: str) -> str:
    """The type of the event that was copied; any other type stays as it is."""
    original = kind.removeprefix(COPY_PREFIX)
    return original if original in COPIED else kind


def with_thread_copies(drafts: Sequence[Draft]) -> Sequence[Draft]:
    """The drafts and, behind them, copies of those that belong to a thread."""
    copies: list[Draft] = []
    for draft in drafts:
        thread_id = draft.correlation.thread_id
        if thread_id is not None and draft.type in COPIED and not _is_routine(draft):
            copies.append(_copy(draft, thread_id))
    return [*drafts, *copies] if copies else drafts


def _is_routine(draft: Draft) -> bool:
    """Whether it says that a turn may ask its model, which the answer shows."""
    payload = draft.payload
    return (
        draft.type == "policy.decided"
        and payload.get("operation") == "model.call"
        and payload.get("decision") == "ALLOW_INTERNAL"
    )


def _copy(draft: Draft, thread_id: str) -> Draft:
    # A recovery that records something twice copies it once, too.
    event_id = derived_event_id("thread-copy", draft.event_id) if draft.event_id is not None else None
    return replace(
        draft,
        stream=thread_stream(thread_id),
        type=COPY_PREFIX + draft.type,
        payload=_shorten_body(draft.payload),
        event_id=event_id,
    )


def _shorten_body(payload: JsonObject) -> JsonObject:
    body = payload.get("body")
    if not isinstance(body, str) or len(body) <= _MAX_BODY:
        return payload
    return {**payload, "body": f"{body[:_MAX_BODY]}\n… the action shows the rest"}
