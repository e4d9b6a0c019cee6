"""The client's records: proto messages as plain data, with times as RFC 3339 text."""

from dataclasses import dataclass

from codeplane.kernel.json import JsonObject, JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class PairingCode:
    """A pairing code for one device."""

    code: str
    expires_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A device's token, when it expires and when to rotate it."""

    token: str
    expires_at: str
    renew_after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedDevice:
    """A newly paired device with its token."""

    device_id: str
    token: Token


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """A paired device."""

    device_id: str
    name: str
    state: str
    is_current: bool
    created_at: str
    expires_at: str
    revoked_at: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """An action that waits for a decision, or was decided."""

    action_id: str
    status: str
    tool: str
    risk_class: str
    actor: str
    summary: str
    reasons: str
    preview: str
    preview_hash: str
    created_at: str
    expires_at: str
    decided_by: str
    rejection_reason: str
    outcome: str
    outcome_unknown: bool
    state: str = ""
    failure: str = ""
    exit_code: int | None = None
    answer: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEvent:
    """An event of the log."""

    event_id: str
    stream: str
    sequence: int
    position: int
    type: str
    actor: str
    occurred_at: str
    payload: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat:
    """Nothing happened; resuming from `latest` misses nothing."""

    latest: int
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """The requested events no longer exist; the watch has ended."""

    stream: str
    requested_after: int
    first_available: int


Item = LogEvent | Heartbeat | Gap


def token_from_json(message: JsonObject) -> Token:
    """Return a token from its JSON message."""
    return Token(
        token=text_field(message, "token"),
        expires_at=text_field(message, "expiresAt"),
        renew_after=text_field(message, "renewAfter"),
    )


def device_from_json(message: JsonObject) -> Device:
    """Return a device from its JSON message."""
    return Device(
        device_id=text_field(message, "deviceId"),
        name=text_field(message, "name"),
        state=text_field(message, "state"),
        is_current=message.get("isCurrent") is True,
        created_at=text_field(message, "createdAt"),
        expires_at=text_field(message, "expiresAt"),
        revoked_at=text_field(message, "revokedAt") or None,
    )


def approval_from_json(message: JsonObject) -> Approval:
    """Return an approval from its JSON message."""
    return Approval(
        action_id=text_field(message, "actionId"),
        status=text_field(message, "status"),
        tool=text_field(message, "tool"),
        risk_class=text_field(message, "riskClass"),
        actor=text_field(message, "actor"),
        summary=text_field(message, "deterministicSummary"),
        reasons=text_field(message, "reasons"),
        preview=text_field(object_field(message, "preview"), "text"),
        preview_hash=text_field(message, "previewHash"),
        created_at=text_field(message, "createdAt"),
        expires_at=text_field(message, "expiresAt"),
        decided_by=text_field(message, "decidedBy"),
        rejection_reason=text_field(message, "rejectionReason"),
        outcome=text_field(message, "outcome"),
        outcome_unknown=message.get("outcomeUnknown") is True,
        state=text_field(message, "state"),
        failure=text_field(message, "failure"),
        exit_code=code if isinstance(code := message.get("exitCode"), int) else None,
        answer=text_field(message, "answer"),
    )


def item_from_json(message: JsonObject) -> Item:
    """Return an item of a watch from its JSON message."""
    if "heartbeat" in message:
        beat = object_field(message, "heartbeat")
        return Heartbeat(latest=number_field(beat, "latestSequence"), position=number_field(beat, "position"))
    if "streamGap" in message:
        gap = object_field(message, "streamGap")
        return Gap(
            stream=text_field(gap, "stream"),
            requested_after=number_field(gap, "requestedFromSequence"),
            first_available=number_field(gap, "nextAvailableSequence"),
        )
    return LogEvent(
        event_id=text_field(message, "eventId"),
        stream=text_field(message, "stream"),
        sequence=number_field(message, "sequence"),
        position=number_field(message, "position"),
        type=text_field(message, "type"),
        actor=text_field(message, "actor"),
        occurred_at=text_field(message, "occurredAt"),
        payload=object_field(message, "data"),
    )


def text_field(message: JsonObject, name: str) -> str:
    """Return a field of text, empty when it is not there."""
    value = message.get(name)
    return value if isinstance(value, str) else ""


def number_field(message: JsonObject, name: str) -> int:
    """Return a whole number, 0 when it is not there."""
    # Protobuf's JSON writes 64-bit numbers as text, and leaves zeros out.
    value: JsonValue = message.get(name)
    return int(value) if isinstance(value, (str, int)) else 0


def object_field(message: JsonObject, name: str) -> JsonObject:
    """Return an inner object, empty when it is not there."""
    value = message.get(name)
    return value if isinstance(value, dict) else {}


def list_field(message: JsonObject, name: str) -> list[JsonObject]:
    """Return the objects of a list, empty when it is not there."""
    values = message.get(name)
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []
