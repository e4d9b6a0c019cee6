"""Who calls, and what a surface knows about the caller."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum


class ActorKind(StrEnum):
    """The kinds of callers."""

    OWNER = "owner"
    DEVICE = "device"
    AGENT = "agent"
    ASSISTANT = "assistant"
    JOB = "job"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """An identified caller; `owner_id` is whom it acts for."""

    kind: ActorKind
    actor_id: str
    owner_id: str = "owner"

    @property
    def is_person(self) -> bool:
        """Whether a person acts here: secrets are theirs, and deciding is for them."""
        return self.kind in (ActorKind.OWNER, ActorKind.DEVICE)

    def __str__(self) -> str:
        return f"{self.kind.value}:{self.actor_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a call has come."""

    done: float
    total: float | None = None
    message: str | None = None


ProgressSink = Callable[[Progress], Awaitable[None]]


class Answer(StrEnum):
    """A person's answer to a question in the client."""

    APPROVE = "approve"
    REJECT = "reject"


# Shows a question in the client itself; None when the person put it aside.
AskPerson = Callable[[str], Awaitable[Answer | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """One request's origin as a surface sees it, before anyone is identified."""

    surface: str
    connection_id: str | None = None
    client: str | None = None
    token: str | None = None
    request_id: str | None = None
    timeout_sec: float | None = None
    on_progress: ProgressSink | None = None
    # Who it is when that is known already: set by the plane for calls of its own, never by a surface.
    actor: Actor | None = None
    # Likewise, the session that such a call belongs to.
    session_id: str | None = None
    ask: AskPerson | None = None
    # Whether it gets the structure of an answer beside its text.
    reads_structure: bool = True
    # What shows that it is a client which the owner trusts to ask its person.
    client_secret: str | None = None
    # The span at the caller's side that this call belongs to, as W3C trace context.
    traceparent: str | None = None
