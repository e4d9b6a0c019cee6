"""Log events as proto messages."""

from collections.abc import Callable, Mapping

from google.protobuf.message import Message

from codeplane._gen import events_pb2
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.services.messages import fill_message, to_struct

Make = Callable[[str, JsonObject], Message]

_STATUS = {
    "action.approved": "APPROVED",
    "action.rejected": "REJECTED",
    "action.executed": "EXECUTED",
    "action.interrupted": "APPROVED",
}
# What has to be accounted for and has no message of its own, by how its type begins.
_AUDITED = ("agent.", "answer.", "call.refused", "capability.", "content.", "device.", "owner.", "pairing.", "storage.")
_AUDITED_TOO = frozenset({"policy.loaded", "policy.rejected"})
_QUEUED = {
    "action.expiring": "NOTIFICATION_APPROVAL_EXPIRING_SOON",
    "job.completed": "NOTIFICATION_JOB_COMPLETED",
    "job.failed": "NOTIFICATION_JOB_FAILED",
    "reach_out.queued": "NOTIFICATION_PROACTIVE_REACH_OUT",
}


def event_message(wire: JsonObject) -> events_pb2.Event:
    """Return a log event as a message, with its typed message where there is one."""
    event = fill_message(events_pb2.Event, {name: value for name, value in wire.items() if name != "payload"})
    payload = wire.get("payload")
    if isinstance(payload, dict):
        event.data.CopyFrom(to_struct(payload))
        known = _PAYLOADS.get(event.type)
        if known is not None:
            name, make = known
            getattr(event, name).CopyFrom(make(event.type, payload))
    if event.type in _QUEUED:
        event.notification_queued.notification_id = f"note_{event.event_id}"
        event.notification_queued.type = _QUEUED[event.type]
    elif event.type.startswith(_AUDITED) or event.type in _AUDITED_TOO:
        event.audit_event_recorded.entry_id = event.event_id
        event.audit_event_recorded.event_type = event.type
    return event


def heartbeat_message(*, latest: int, position: int = 0) -> events_pb2.Event:
    """Return a heartbeat."""
    return events_pb2.Event(heartbeat=events_pb2.Heartbeat(latest_sequence=latest, position=position))


def gap_message(gap: Mapping[str, JsonValue]) -> events_pb2.Event:
    """Return the gap that ends a watch."""
    gap_fields: JsonObject = {
        "requested_from_sequence": gap.get("requested_after"),
        "next_available_sequence": gap.get("first_available"),
        "stream": gap.get("stream"),
    }
    return events_pb2.Event(stream_gap=fill_message(events_pb2.StreamGap, gap_fields))


def _created(kind: str, payload: JsonObject) -> Message:
    bot = payload.get("actor_kind") not in ("owner", "device")
    known: JsonObject = {
        **payload,
        "tool": payload.get("operation"),
        "risk_class": payload.get("risk"),
        "identity": "IDENTITY_BOT" if bot else "IDENTITY_USER",
        "deterministic_summary": payload.get("summary"),
        "preview": payload.get("body"),
    }
    return fill_message(events_pb2.ProposedActionCreated, known)


def _changed(kind: str, payload: JsonObject) -> Message:
    unknown = kind == "action.interrupted"
    return fill_message(
        events_pb2.ProposedActionStatusChanged, {**payload, "status": _STATUS[kind], "outcome_unknown": unknown}
    )


def _conflict(kind: str, payload: JsonObject) -> Message:
    known: JsonObject = {"reason": "args_hash_mismatch", **payload, "tool": payload.get("operation")}
    if "idempotency_key" not in payload:
        known["idempotency_key"] = payload.get("key")
    return fill_message(events_pb2.IdempotencyConflict, known)


def _decided(kind: str, payload: JsonObject) -> Message:
    # Sentences are for people; programs get the word. Events of earlier versions have only sentences.
    return fill_message(
        events_pb2.PolicyDecisionMade, {**payload, "reason": payload.get("code") or payload.get("reason")}
    )


def _rename_fields(message: type[Message]) -> Make:
    """Rename the fields of a payload to the message's."""
    return lambda kind, payload: fill_message(message, payload)


_PAYLOADS: Mapping[str, tuple[str, Make]] = {
    "action.created": ("proposed_action_created", _created),
    **dict.fromkeys(_STATUS, ("proposed_action_status_changed", _changed)),
    "idempotency.conflict": ("idempotency_conflict", _conflict),
    "policy.decided": ("policy_decision_made", _decided),
    "shell.started": ("tool_execution_started", _rename_fields(events_pb2.ToolExecutionStarted)),
    "shell.output": ("tool_execution_output_delta", _rename_fields(events_pb2.ToolExecutionOutputDelta)),
    "shell.finished": ("tool_execution_finished", _rename_fields(events_pb2.ToolExecutionFinished)),
}
