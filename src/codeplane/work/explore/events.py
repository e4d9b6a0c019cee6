"""The events of an exploration, and the envelopes in which clients get them."""

from collections.abc import Mapping

from codeplane.kernel.clock import rfc3339
from codeplane.kernel.event import Correlation, Draft, Event, Source
from codeplane.kernel.ids import uuid7
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.work.explore.typed_result import result_to_wire

PREFIX, WORK_PREFIX = "explore/", "exp_"
_TYPE = "explore."
STARTED, PROGRESS, RESULT, PLAN_SNAPSHOT, COMPLETED, STOPPED, ERROR, COMMAND = (
    f"{_TYPE}started",
    f"{_TYPE}progress",
    f"{_TYPE}result",
    f"{_TYPE}plan_snapshot",
    f"{_TYPE}completed",
    f"{_TYPE}stopped",
    f"{_TYPE}error",
    f"{_TYPE}command",
)
ENDS = frozenset({COMPLETED, STOPPED})
_CASES = {
    STARTED: "started",
    PROGRESS: "progress",
    RESULT: "result",
    PLAN_SNAPSHOT: "planSnapshot",
    COMPLETED: "completed",
    STOPPED: "stopped",
    ERROR: "error",
}


def work_id_of(session_id: str) -> str:
    """The work item of an exploration."""
    return WORK_PREFIX + session_id.replace("-", "")


def session_id_of(work_id: str) -> str:
    """The exploration that a work item is, as a UUID."""
    digits = work_id.removeprefix(WORK_PREFIX)
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def explore_stream(work_id: str) -> str:
    """The stream of an exploration."""
    return f"{PREFIX}{work_id}"


def draft(
    work_id: str,
    kind: str,
    value: Mapping[str, JsonValue],
    *,
    actor: str,
    parent: str | None = None,
    command: str | None = None,
) -> Draft:
    """An event with an id that its results can name; `command` is the case of a command."""
    payload: JsonObject = {
        "parentId": parent,
        "value": dict(value),
        **({"command": command} if command is not None else {}),
    }
    return Draft(
        stream=explore_stream(work_id),
        type=kind,
        payload=payload,
        actor=actor,
        source=Source.TOOL_EXECUTOR if kind in (RESULT, COMMAND) else Source.SYSTEM,
        correlation=Correlation(work_id=work_id),
        event_id=uuid7(),
    )


def envelope(event: Event, prev_event_id: str | None) -> JsonObject:
    """An event as an AgentEnvelope, whose payload has one case beside the ids."""
    work_id = event.stream.removeprefix(PREFIX)
    value, command = event.payload["value"], event.payload.get("command")
    assert isinstance(value, dict)
    case = str(command) if command is not None else _CASES[event.type]
    payload: JsonObject = {
        "eventId": event.event_id,
        "prevEventId": prev_event_id,
        "sessionId": session_id_of(work_id),
        case: result_to_wire(value) if event.type == RESULT else value,
    }
    return {
        "id": event.event_id,
        "parentId": event.payload.get("parentId"),
        "ts": rfc3339(event.at_ns),
        "kind": "Evt" if command is None else "Cmd",
        "payload": payload,
    }
