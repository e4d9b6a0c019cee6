"""Log events as proto messages."""

from base64 import b64decode
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TypeVar

from google.protobuf.message import Message

from codeplane._gen import events_pb2
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.thread_copies import original_type
from codeplane.surfaces.services.messages import fill_message

E = TypeVar("E", bound=Message)
Make = Callable[[str, JsonObject], Message]

_STATUS = {
    "action.approved": "APPROVED",
    "action.rejected": "REJECTED",
    "action.executed": "EXECUTED",
    "action.interrupted": "APPROVED",
}
# What has to be accounted for and has no message of its own, by how its type begins.
_AUDITED = (
    "agent.",
    "answer.",
    "call.refused",
    "capability.",
    "content.",
    "device.",
    "owner.",
    "pairing.",
    "proposal.",
    "storage.",
)
_AUDITED_TOO = frozenset(
    {
        "policy.loaded",
        "policy.rejected",
        "turn.failed",
        "model.repair_attempted",
        "model.fallback",
        "skill.trusted",
        "skill.distrusted",
    }
)
_QUEUED = {
    "action.expiring": "NOTIFICATION_APPROVAL_EXPIRING_SOON",
    "job.completed": "NOTIFICATION_JOB_COMPLETED",
    "job.failed": "NOTIFICATION_JOB_FAILED",
    "job.paused": "NOTIFICATION_JOB_PAUSED",
    "reach_out.queued": "NOTIFICATION_PROACTIVE_REACH_OUT",
}


def event_message(kind: type[E], wire: JsonObject) -> E:
    """Return a log event as a message of a kind that has the fields of `Event` or some of them.

    An event that has a message of its own is also in the kind's oneof, if that has a member for it.
    """
    payload, type_ = wire.get("payload"), original_type(str(wire.get("type")))
    values: JsonObject = {name: value for name, value in wire.items() if name != "payload"}
    if type_ in _QUEUED:
        values["notification_queued"] = {"notification_id": f"note_{wire.get('event_id')}", "type": _QUEUED[type_]}
    elif type_.startswith(_AUDITED) or type_ in _AUDITED_TOO:
        values["audit_event_recorded"] = {"entry_id": wire.get("event_id"), "event_type": type_}
    if isinstance(payload, dict):
        values["data"] = payload
    event = fill_message(kind, values)
    members = kind.DESCRIPTOR.fields_by_name
    if isinstance(payload, dict):
        name, make = _PAYLOADS.get(type_, ("", None))
        if make is not None and name in members:
            getattr(event, name).CopyFrom(make(type_, payload))
    return event


def heartbeat_message(kind: type[E], *, latest: int, position: int = 0) -> E:
    """Return a heartbeat."""
    return fill_message(kind, {"heartbeat": {"latest_sequence": latest, "position": position}})


def gap_message(kind: type[E], gap: Mapping[str, JsonValue]) -> E:
    """Return the gap that ends a watch."""
    gap_fields: JsonObject = {
        "requested_from_sequence": gap.get("requested_after"),
        "next_available_sequence": gap.get("first_available"),
        "stream": gap.get("stream"),
    }
    return fill_message(kind, {"stream_gap": gap_fields})


def _creation_message(kind: str, payload: JsonObject) -> Message:
    bot = payload.get("actor_kind") not in ("owner", "device")
    known: JsonObject = {
        **payload,
        "tool": payload.get("operation"),
        "risk_class": payload.get("risk"),
        "identity": payload.get("identity") or ("IDENTITY_BOT" if bot else "IDENTITY_USER"),
        "deterministic_summary": payload.get("summary"),
        "preview": payload.get("body"),
    }
    return fill_message(events_pb2.ProposedActionCreated, known)


def _change_message(kind: str, payload: JsonObject) -> Message:
    unknown = kind == "action.interrupted"
    return fill_message(
        events_pb2.ProposedActionStatusChanged, {**payload, "status": _STATUS[kind], "outcome_unknown": unknown}
    )


def _conflict(kind: str, payload: JsonObject) -> Message:
    known: JsonObject = {"reason": "args_hash_mismatch", **payload, "tool": payload.get("operation")}
    if "idempotency_key" not in payload:
        known["idempotency_key"] = payload.get("key")
    return fill_message(events_pb2.IdempotencyConflict, known)


def _decision_message(kind: str, payload: JsonObject) -> Message:
    # Sentences are for people; programs get the word. Events of earlier versions have only sentences.
    return fill_message(
        events_pb2.PolicyDecisionMade, {**payload, "reason": payload.get("code") or payload.get("reason")}
    )


def _output(kind: str, payload: JsonObject) -> Message:
    delta = fill_message(
        events_pb2.ToolExecutionOutputDelta, {name: value for name, value in payload.items() if name != "chunk"}
    )
    # The log has text, and beside it the bytes that were printed where the text is not exact.
    with suppress(ValueError):
        delta.chunk = b64decode(str(payload.get("raw") or ""), validate=True)
    delta.chunk = delta.chunk or str(payload.get("chunk") or "").encode("utf-8", "backslashreplace")
    return delta


def _rename_fields(message: type[Message]) -> Make:
    """Rename the fields of a payload to the message's."""
    return lambda kind, payload: fill_message(message, payload)


_PAYLOADS: Mapping[str, tuple[str, Make]] = {
    "action.created": ("proposed_action_created", _creation_message),
    **dict.fromkeys(_STATUS, ("proposed_action_status_changed", _change_message)),
    "idempotency.conflict": ("idempotency_conflict", _conflict),
    "policy.decided": ("policy_decision_made", _decision_message),
    "shell.started": ("tool_execution_started", _rename_fields(events_pb2.ToolExecutionStarted)),
    "shell.output": ("tool_execution_output_delta", _output),
    "shell.finished": ("tool_execution_finished", _rename_fields(events_pb2.ToolExecutionFinished)),
    "turn.started": ("turn_started", _rename_fields(events_pb2.TurnStarted)),
    "turn.budget_applied": ("turn_budget_applied", _rename_fields(events_pb2.TurnBudgetApplied)),
    "turn.completed": ("turn_completed", _rename_fields(events_pb2.TurnCompleted)),
    "turn.failed": ("turn_failed", _rename_fields(events_pb2.TurnFailed)),
    "turn.paused": ("turn_paused", _rename_fields(events_pb2.TurnPaused)),
    "turn.resumed": ("turn_resumed", _rename_fields(events_pb2.TurnResumed)),
    "model.repair_attempted": (
        "model_output_repair_attempted",
        _rename_fields(events_pb2.ModelOutputRepairAttempted),
    ),
    "assistant.thinking_delta": (
        "assistant_thinking_delta",
        _rename_fields(events_pb2.AssistantThinkingDelta),
    ),
    "assistant.text_delta": ("assistant_text_delta", _rename_fields(events_pb2.AssistantTextDelta)),
    "assistant.message_committed": (
        "assistant_message_committed",
        _rename_fields(events_pb2.AssistantMessageCommitted),
    ),
    "tool.planned": ("tool_call_planned", _rename_fields(events_pb2.ToolCallPlanned)),
    "tool.started": ("tool_execution_started", _rename_fields(events_pb2.ToolExecutionStarted)),
    "tool.finished": ("tool_execution_finished", _rename_fields(events_pb2.ToolExecutionFinished)),
    "memory.written": ("memory_checkpoint_saved", _rename_fields(events_pb2.MemoryCheckpointSaved)),
    "memory.checkpoint_saved": ("memory_checkpoint_saved", _rename_fields(events_pb2.MemoryCheckpointSaved)),
    "job.status_changed": ("job_status_changed", _rename_fields(events_pb2.JobStatusChanged)),
    "schedule.triggered": ("schedule_triggered", _rename_fields(events_pb2.ScheduleTriggered)),
    "skill.proposed": ("skill_proposal_created", _rename_fields(events_pb2.SkillProposalCreated)),
    "improvement.proposed": (
        "self_improvement_proposal_created",
        _rename_fields(events_pb2.SelfImprovementProposalCreated),
    ),
    "artifact.created": ("artifact_created", _rename_fields(events_pb2.ArtifactCreated)),
    "callback.received": ("delegated_callback_received", _rename_fields(events_pb2.DelegatedCallbackReceived)),
}
