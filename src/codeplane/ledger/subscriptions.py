"""Follows the log live: recent events from memory, older ones from the disk, and heartbeats between."""

import sqlite3
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from codeplane.kernel.errors import InvalidArgument, ShuttingDown
from codeplane.kernel.event import Event, Gap, Heartbeat
from codeplane.kernel.event_log import EventQuery
from codeplane.ledger.database import ReaderPool
from codeplane.ledger.event_queries import read_log, read_stream
from codeplane.ledger.recent_events import RecentEvents, is_plain, matches
from codeplane.ledger.watchers import Watchers

_PAGE = 500


class Subscriptions:
    """The events sent to subscribers of the log, until it is closed."""

    def __init__(
        self, *, readers: ReaderPool, recent: RecentEvents, watchers: Watchers, position: Callable[[], int]
    ) -> None:
        """`position` is the last durable one."""
        self._readers = readers
        self._recent = recent
        self._watchers = watchers
        self._position = position
        self._is_closed = False

    def close(self) -> None:
        """End everyone who follows, with ShuttingDown."""
        self._is_closed = True
        self._watchers.wake()

    async def watch(
        self, *, streams: Mapping[str, int], heartbeat_sec: float
    ) -> AsyncGenerator[Event | Heartbeat | Gap, None]:
        """Events of the streams after the given sequences, and then as they happen."""
        if not streams or len(streams) > 100:
            raise InvalidArgument("watch between 1 and 100 streams")
        after, due = dict(streams), False
        # Up to here everything was read; nothing at first.
        position: int | None = None
        with self._watchers.join(heartbeat_sec, streams=after) as timer:
            while True:
                sent = False
                recent = None if position is None else self._recent.after_in(position, after)
                events = None if recent is None else _next_of_streams(recent[0], after)
                if recent is not None and events is not None:
                    position = recent[1]
                    for event in events:
                        yield event
                        after[event.stream], sent = event.sequence, True
                else:
                    position = self._position()
                    for stream in after:
                        while True:
                            page = await self._readers.run(partial(_stream_page, stream=stream, after=after[stream]))
                            if isinstance(page, Gap):
                                yield page
                                return
                            for event in page:
                                yield event
                                after[stream], sent = event.sequence, True
                            if len(page) < _PAGE:
                                break
                if due and not sent:
                    yield Heartbeat(position=self._position())
                due = await timer.beat(spoke=sent)
                self._check_open()

    async def follow(self, query: EventQuery, *, heartbeat_sec: float) -> AsyncGenerator[Event | Heartbeat | Gap, None]:
        """Events of the whole log that match, after a position, and then as they happen."""
        query, due, plain = replace(query, limit=_PAGE, newest=False), False, is_plain(query)
        # The first look is at the disk, where it shows whether something is gone.
        is_first = True
        wants = partial(matches, query) if plain else None
        with self._watchers.join(heartbeat_sec, wants) as timer:
            while True:
                sent = False
                recent = self._recent.after(query.after) if plain and not is_first else None
                if recent:
                    for event in filter(wants, recent):
                        yield event
                        sent = True
                    query = replace(query, after=recent[-1].position)
                while recent is None:
                    page = await self._readers.run(partial(read_log, query=query))
                    if not page.dropped <= query.after <= page.last:
                        yield Gap(stream="*", requested_after=query.after, first_available=page.dropped + 1)
                        return
                    for event in page.events:
                        yield event
                        sent = True
                    full = len(page.events) == _PAGE
                    query = replace(query, after=page.events[-1].position if full else max(query.after, page.last))
                    if not full:
                        break
                is_first = False
                if due and not sent:
                    yield Heartbeat(position=query.after)
                due = await timer.beat(spoke=sent)
                self._check_open()

    def _check_open(self) -> None:
        if self._is_closed:
            raise ShuttingDown("the ledger is closed")


def _next_of_streams(recent: Sequence[Event], after: Mapping[str, int]) -> list[Event] | None:
    """The events that come next in the streams; None when one of them is missing between."""
    heads, events = dict(after), list[Event]()
    for event in recent:
        head = heads[event.stream]
        if event.sequence <= head:
            continue
        if event.sequence != head + 1:
            return None
        heads[event.stream] = event.sequence
        events.append(event)
    return events


def _stream_page(connection: sqlite3.Connection, *, stream: str, after: int) -> list[Event] | Gap:
    return read_stream(connection, stream, after, _PAGE)
