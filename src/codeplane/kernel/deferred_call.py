"""Calls that go on after their answer: what a surface asks of them, and what it learns."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from codeplane.kernel.actor import Answer, Caller
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.json import JsonObject


class DeferredStatus(StrEnum):
    """The state of a deferred call."""

    WORKING = "working"
    ENDED = "ended"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeferredQuestion:
    """A question to the person at the caller's client; `question_id` is used once."""

    question_id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeferredCall:
    """A call that goes on after its answer, as it is now; `outcome` once it has ended."""

    deferred_id: str
    status: DeferredStatus
    created_ns: int
    updated_ns: int
    ttl_ms: int
    message: str = ""
    question: DeferredQuestion | None = None
    outcome: Outcome | None = None


class DeferredCalls(Protocol):
    """Runs calls that may take longer than a client should wait for an answer."""

    async def begin(self, name: str, arguments: JsonObject, caller: Caller, *, asks: bool) -> Outcome | DeferredCall:
        """Run a call: its outcome where that comes at once, else a handle that is durable.

        `asks`: whether the caller's client shows questions to its person.
        """
        ...

    async def show(self, deferred_id: str, caller: Caller, *, asks: bool) -> DeferredCall:
        """A call of the caller's own as it is now, taken up again after a restart; DeferredCallNotFound for others."""
        ...

    async def answer(self, deferred_id: str, answers: Mapping[str, Answer | None], caller: Caller) -> None:
        """Give the answers of the person at the client, by question; unknown questions are passed over."""
        ...

    async def cancel(self, deferred_id: str, caller: Caller) -> None:
        """End a call that has not ended; what it did by then stays done."""
        ...
