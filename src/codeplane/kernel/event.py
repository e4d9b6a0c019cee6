"""Facts: what is written to the log, and what comes back from it.

Those that every event takes are structs: a frozen dataclass takes ten times as long to make.
"""

from dataclasses import dataclass
from enum import StrEnum

from msgspec import Struct

from codeplane.kernel.clock import rfc3339
from codeplane.kernel.json import JsonObject


class Source(StrEnum):
    """Which part of the system states the fact."""

    MODEL_UNTRUSTED = "MODEL_UNTRUSTED"
    POLICY_ENGINE = "POLICY_ENGINE"
    TOOL_EXECUTOR = "TOOL_EXECUTOR"
    SYSTEM = "SYSTEM"


class ContentTrust(StrEnum):
    """How far the payload's content is trusted."""

    UNTRUSTED_MODEL = "UNTRUSTED_MODEL"
    TRUSTED_VALIDATED = "TRUSTED_VALIDATED"
    TRUSTED_SYSTEM = "TRUSTED_SYSTEM"


class Correlation(Struct, frozen=True, kw_only=True):
    """The ids that an event belongs to, beside its stream."""

    session_id: str | None = None
    call_id: str | None = None
    task_id: str | None = None
    thread_id: str | None = None
    turn_id: str | None = None
    job_id: str | None = None
    work_id: str | None = None

    def to_wire(self) -> dict[str, str]:
        """The ids that are known, by the names they have in traces and answers."""
        ids = {
            "session_id": self.session_id,
            "call_id": self.call_id,
            "task_id": self.task_id,
            "thread_id": self.thread_id,
            "turn_id": self.turn_id,
            "job_id": self.job_id,
            "work_id": self.work_id,
        }
        return {name: value for name, value in ids.items() if value is not None}


NO_CORRELATION = Correlation()


class Draft(Struct, frozen=True, kw_only=True):
    """An event before the log has given it its place."""

    stream: str
    type: str
    payload: JsonObject
    actor: str = "system"
    source: Source = Source.SYSTEM
    content_trust: ContentTrust = ContentTrust.TRUSTED_SYSTEM
    correlation: Correlation = NO_CORRELATION
    schema: int = 1
    event_id: str | None = None
    # When it happened, where that is known before the log takes it.
    at_ns: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedPayload:
    """A sealed payload that events refer to by hash; `limit` bounds all payloads of the same owner."""

    owner: str
    hash: str
    size: int
    data: bytes
    limit: int


class Event(Struct, frozen=True, kw_only=True):
    """One fact in the log."""

    event_id: str
    stream: str
    sequence: int
    position: int
    type: str
    schema: int
    at_ns: int
    actor: str
    source: Source
    content_trust: ContentTrust
    correlation: Correlation
    payload: JsonObject
    # The node that appended it, where several share a log.
    node: str = ""

    def to_wire(self) -> JsonObject:
        """The event as surfaces and exports show it."""
        return {
            "event_id": self.event_id,
            "stream": self.stream,
            "sequence": self.sequence,
            "position": self.position,
            "type": self.type,
            "schema": self.schema,
            "occurred_at": rfc3339(self.at_ns),
            "actor": self.actor,
            "source": self.source.value,
            "content_trust": self.content_trust.value,
            **self.correlation.to_wire(),
            **({"node": self.node} if self.node else {}),
            "payload": self.payload,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Appended:
    """The positions of an appended batch; `sequences` in the order of the drafts."""

    last_position: int
    sequences: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat:
    """A sign that the stream is alive though nothing happened."""

    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Events that were asked for are gone; the watch ends after this."""

    stream: str
    requested_after: int
    first_available: int

    def to_json(self) -> JsonObject:
        """The gap as streams send it."""
        return {
            "stream": self.stream,
            "requested_after": self.requested_after,
            "first_available": self.first_available,
        }
