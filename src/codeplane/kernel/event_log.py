"""The log that all planes write to, and what is asked of it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from codeplane.kernel.event import Appended, Draft, Event, Gap, Heartbeat, SealedPayload


@dataclass(frozen=True, slots=True, kw_only=True)
class PayloadCondition:
    """A payload field has a value, or starts with it where the value ends in *; with `other`, it has another value.

    Events without the field match either way. With `other`, so do events that have the field `or_has` or, with
    `or_session`, a session.
    """

    field: str
    value: str
    other: bool = False
    or_has: str = ""
    or_session: bool = False


# What every caller may read of the log: it tells of the repository, not of anybody's work.
PUBLIC_STREAMS = ("index",)


@dataclass(frozen=True, slots=True, kw_only=True)
class EventScope:
    """The part of the log that one actor may read: what it and its work wrote, the streams that these began, and
    public ones."""

    actor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EventQuery:
    """Which events of the whole log are wanted.

    `words`: lower-case words that must all occur in the payload. `quiet`: sessions of which only events that changed
    something are wanted. `scope`: the part of the log that the reader may see; None is all of it.
    """

    after: int = 0
    until: int | None = None
    limit: int = 1000
    stream: str | None = None
    types: tuple[str, ...] = ()
    task_id: str | None = None
    session_id: str | None = None
    call_id: str | None = None
    work_id: str | None = None
    actor: str | None = None
    conditions: tuple[PayloadCondition, ...] = ()
    words: tuple[str, ...] = ()
    quiet: tuple[str, ...] = ()
    newest: bool = False
    scope: EventScope | None = None


class EventLog(Protocol):
    """The one ordered, durable log."""

    async def append(
        self,
        drafts: Sequence[Draft],
        *,
        expect: Mapping[str, int] | None = None,
        sealed: Sequence[SealedPayload] = (),
    ) -> Appended:
        """Append all or none and return when durable; `expect` names the last sequence each stream must have.

        `sealed` is stored with them; TooLarge when one does not fit its owner's bound.
        """
        ...

    def append_soon(self, drafts: Sequence[Draft]) -> bool:
        """Append without waiting; False when the queue is full and the caller has to wait with `append`."""
        ...

    def append_later(self, drafts: Sequence[Draft]) -> "asyncio.Future[object] | None":
        """Append with the next append that somebody waits for, or soon; None when the queue is full.

        The future is done once it is durable, or has the error.
        """
        ...

    async def read(self, *, stream: str, after: int = 0, limit: int = 1000) -> list[Event]:
        """Events of one stream after a sequence, oldest first; raises StreamGap when some of them are gone."""
        ...

    async def flush(self) -> None:
        """Return when everything appended so far can be read."""
        ...

    async def query(self, query: EventQuery) -> list[Event]:
        """Events of the whole log that fit, in the order of their positions."""
        ...

    async def own_actors(self, actors: Collection[str], scope: EventScope) -> frozenset[str]:
        """Those of the actors whose doings the reader may see: itself, and the work that it started."""
        ...

    def watch(
        self, *, streams: Mapping[str, int], heartbeat_sec: float = 15.0
    ) -> AsyncIterator[Event | Heartbeat | Gap]:
        """Events of the streams after the given sequences, and then as they happen."""
        ...

    def follow(self, query: EventQuery, *, heartbeat_sec: float = 15.0) -> AsyncIterator[Event | Heartbeat | Gap]:
        """Events of the whole log that fit, after a position, and then as they happen."""
        ...

    def is_own(self, event: Event) -> bool:
        """Whether this node appended the event; always so where no others share the log."""
        ...

    def listen(self, types: Collection[str], handler: Callable[[Event], None]) -> None:
        """Call a handler on this loop with every event of these types that is applied from now on, in order.

        It is called before the append that made the event returns; it must not block or raise.
        """
        ...
