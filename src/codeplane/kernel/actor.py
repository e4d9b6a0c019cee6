"""Callers: who calls, on whose behalf, and what a surface knows about them."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

from codeplane.kernel.json import JsonObject

# What names of actors begin with that are plugins of the owner's.
PLUGIN_PREFIX = "plugin_"


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
        """Whether the actor is a person: only people see secrets and decide."""
        return self.kind in (ActorKind.OWNER, ActorKind.DEVICE)

    def to_json(self) -> JsonObject:
        """The actor as it is stored in records and shown to rules."""
        return {"kind": str(self.kind), "id": self.actor_id, "owner": self.owner_id}

    @classmethod
    def from_json(cls, values: JsonObject) -> "Actor":
        """The actor that `to_json` wrote."""
        return cls(kind=ActorKind(str(values["kind"])), actor_id=str(values["id"]), owner_id=str(values["owner"]))

    def __str__(self) -> str:
        return f"{self.kind}:{self.actor_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The work that an internal call belongs to and whom it acts for; set by planes, never by a surface."""

    work_id: str | None = None
    thread_id: str | None = None
    turn_id: str | None = None
    job_id: str | None = None
    step: int | None = None
    # The model's own id of the tool call, where a model asked for it.
    tool_call_id: str | None = None
    on_behalf_of: Actor | None = None
    namespace: str | None = None
    node: str | None = None
    # Whether it started on its own, so that nobody waits for it.
    is_unattended: bool = False
    # What is asked about in this work, where that is stricter than the owner's setting.
    approval_mode: str | None = None
    # The work tree that its calls run in, where that is not a job's own.
    tree_id: str | None = None

    def to_json(self) -> JsonObject:
        """The origin as it is stored in records and shown to rules, without unknown fields."""
        delegator = self.on_behalf_of
        values: JsonObject = {
            "work_id": self.work_id,
            "thread_id": self.thread_id,
            "turn_id": self.turn_id,
            "job_id": self.job_id,
            "step": self.step,
            "tool_call_id": self.tool_call_id,
            "on_behalf_of": None if delegator is None else delegator.to_json(),
            "namespace": self.namespace,
            "node": self.node,
            "is_unattended": self.is_unattended or None,
            "approval_mode": self.approval_mode,
            "tree_id": self.tree_id,
        }
        return {name: value for name, value in values.items() if value is not None}

    @classmethod
    def from_json(cls, values: JsonObject) -> "Origin":
        """The origin that `to_json` wrote."""
        delegator, step = values.get("on_behalf_of"), values.get("step")
        return cls(
            work_id=_text(values, "work_id"),
            thread_id=_text(values, "thread_id"),
            turn_id=_text(values, "turn_id"),
            job_id=_text(values, "job_id"),
            step=step if isinstance(step, int) else None,
            tool_call_id=_text(values, "tool_call_id"),
            on_behalf_of=Actor.from_json(delegator) if isinstance(delegator, dict) else None,
            namespace=_text(values, "namespace"),
            node=_text(values, "node"),
            is_unattended=values.get("is_unattended") is True,
            approval_mode=_text(values, "approval_mode"),
            tree_id=_text(values, "tree_id"),
        )


def _text(values: JsonObject, name: str) -> str | None:
    value = values.get(name)
    return value if isinstance(value, str) else None


# What the progress of a call says first that waits for a person's answer.
WAITS_FOR_PERSON = "waiting for a person: "


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


# What waits until the record of a call is durable: its answer (`now`), after a change the intent of the caller's next
# one (`next_change`), or what the caller itself appends behind it at once (`own_record`).
RecordWait: TypeAlias = Literal["now", "next_change", "own_record"]


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
    # Likewise, the session that such a call belongs to, and the work that it is a step of.
    session_id: str | None = None
    origin: Origin | None = None
    record_wait: RecordWait = "now"
    # Whether its key cannot have been used before this process began, so that memory knows of every use.
    key_is_new: bool = False
    # How long it waits for a person's answer; None is as long as the settings say.
    wait_sec: float | None = None
    ask: AskPerson | None = None
    # Whether it gets the structure of an answer beside its text.
    reads_structure: bool = True
    # What shows that it is a client which the owner trusts to ask its person.
    client_secret: str | None = None
    # The span at the caller's side that this call belongs to, as W3C trace context.
    traceparent: str | None = None
