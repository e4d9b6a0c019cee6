"""What a kind of work brings: how its items run; the engine leases, resumes, bounds and ends them."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol, TypeAlias

from codeplane.kernel.actor import Actor, Caller
from codeplane.kernel.call import Call
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.event import Draft
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.operation import Request, Result
from codeplane.work.items.item import WorkItem

# Marks a work item that a call is about to start as the call is marked, by what untrusted content was read.
PassMarks: TypeAlias = Callable[[Call, str], Awaitable[None]]


class Door(Protocol):
    """The way every call of work takes."""

    async def call(self, name: str, arguments: Mapping[str, JsonValue] | Request, caller: Caller) -> Outcome:
        """Run one call to its end."""
        ...

    def stream(
        self, name: str, arguments: Mapping[str, JsonValue] | Request, caller: Caller
    ) -> AsyncIterator[Result | Outcome]:
        """Run one call and yield its results as they come, then how it ended."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """What becomes of an item next, as its stream records it."""

    kind: str
    payload: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkRun:
    """One run of an item by an engine that holds its lease."""

    door: Door
    node: str
    is_stopping: Callable[[], bool]
    # The item as it is now; WorkEnded when it is no longer this engine's.
    refresh: Callable[[], Awaitable[WorkItem]]


class WorkKind(Protocol):
    """How the items of one kind run."""

    name: ClassVar[str]
    # How many items of the kind run at once; the engine has a bound of its own for all kinds together.
    max_running: int

    async def actor(self, item: WorkItem) -> Actor:
        """Who the item's calls are made by."""
        ...

    async def may_start(self, item: WorkItem) -> bool:
        """Whether a queued item may start now; the engine asks again when something has ended."""
        ...

    async def run(self, item: WorkItem, run: WorkRun) -> Transition | None:
        """Go on with an item until it ends or waits; None when the engine stops in between."""
        ...

    async def copies(self, item: WorkItem, transition: Transition) -> Sequence[Draft]:
        """Events of a transition for other streams, in the same batch."""
        ...
