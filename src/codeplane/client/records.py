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
        token=_text(message, "token"),
        expires_at=_text(message, "expiresAt"),
        renew_after=_text(message, "renewAfter"),
    )


def device_from_json(message: JsonObject) -> Device:
    """Return a device from its JSON message."""
    return Device(
        device_id=_text(message, "deviceId"),
        name=_text(message, "name"),
        state=_text(message, "state"),
        is_current=message.get("isCurrent") is True,
        created_at=_text(message, "createdAt"),
        expires_at=_text(message, "expiresAt"),
        revoked_at=_text(message, "revokedAt") or None,
    )


def approval_from_json(message: JsonObject) -> Approval:
    """Return an approval from its JSON message."""
    return Approval(
        action_id=_text(message, "actionId"),
        status=_text(message, "status"),
        tool=_text(message, "tool"),
        risk_class=_text(message, "riskClass"),
        actor=_text(message, "actor"),
        summary=_text(message, "deterministicSummary"),
        reasons=_text(message, "reasons"),
        preview=_text(_inner(message, "preview"), "text"),
        preview_hash=_text(message, "previewHash"),
        created_at=_text(message, "createdAt"),
        expires_at=_text(message, "expiresAt"),
        decided_by=_text(message, "decidedBy"),
        rejection_reason=_text(message, "rejectionReason"),
        outcome=_text(message, "outcome"),
        outcome_unknown=message.get("outcomeUnknown") is True,
        state=_text(message, "state"),
        failure=_text(message, "failure"),
        exit_code=code if isinstance(code := message.get("exitCode"), int) else None,
        answer=_text(message, "answer"),
    )


def item_from_json(message: JsonObject) -> Item:
    """Return an item of a watch from its JSON message."""
    if "heartbeat" in message:
        beat = _inner(message, "heartbeat")
        return Heartbeat(latest=_number(beat, "latestSequence"), position=_number(beat, "position"))
    if "streamGap" in message:
        gap = _inner(message, "streamGap")
        return Gap(
            stream=_text(gap, "stream"),
            requested_after=_number(gap, "requestedFromSequence"),
            first_available=_number(gap, "nextAvailableSequence"),
        )
    return LogEvent(
        event_id=_text(message, "eventId"),
        stream=_text(message, "stream"),
        sequence=_number(message, "sequence"),
        position=_number(message, "position"),
        type=_text(message, "type"),
        actor=_text(message, "actor"),
        occurred_at=_text(message, "occurredAt"),
        payload=_inner(message, "data"),
    )


def _text(message: JsonObject, name: str) -> str:
    value = message.get(name)
    return value if isinstance(value, str) else ""


def _number(message: JsonObject, name: str) -> int:
    # Protobuf's JSON writes 64-bit numbers as text, and leaves zeros out.
    value: JsonValue = message.get(name)
    return int(value) if isinstance(value, (str, int)) else 0


def _inner(message: JsonObject, name: str) -> JsonObject:
    value = message.get(name)
    return value if isinstance(value, dict) else {}
