"""Remembers long ranges of the log without rows for the activity, so that each is scanned once.

An open dashboard writes thousands of reads that the activity leaves out; without this, every page would scan all of
them again.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from codeplane.kernel.event import Event
from codeplane.kernel.event_log import EventQuery
from codeplane.kernel.ports import Ledger

# Shorter ranges are not worth a query of their own, and the oldest are forgotten.
_MIN_LENGTH, _MAX_RANGES = 500, 40


class EmptyRanges:
    """Queries the log for ends of calls except the dashboard's reads, skipping ranges known to have none."""

    def __init__(self, log: Ledger) -> None:
        self._log = log
        # Ranges (low, high] without such events, newest first, none touching another.
        self._empty: list[tuple[int, int]] = []

    async def query(self, query: EventQuery, *, all_of_them: bool) -> list[Event]:
        """The newest events that match; `all_of_them` when only the dashboard's reads are left out."""
        assert query.newest and query.until is not None
        events: list[Event] = []
        for after, until in self._unknown_ranges(query.after, query.until):
            rest = query.limit - len(events)
            events = [*await self._log.query(replace(query, after=after, until=until, limit=rest)), *events]
            if len(events) == query.limit:
                break
        if all_of_them:
            self._learn(query, [event.position for event in events])
        return events

    def _unknown_ranges(self, after: int, until: int) -> Iterator[tuple[int, int]]:
        for low, high in tuple(self._empty):
            if low < until and after < high:
                if high < until:
                    yield high, until
                until = low
        if after < until:
            yield after, until

    def _learn(self, query: EventQuery, places: Sequence[int]) -> None:
        assert query.until is not None
        # Below the last event of a full page nothing is known.
        lows = [*([] if len(places) == query.limit else [query.after]), *places]
        highs = [*(place - 1 for place in lows[1:]), query.until]
        for low, high in zip(lows, highs, strict=True):
            if high - low >= _MIN_LENGTH:
                self._join(low, high)

    def _join(self, low: int, high: int) -> None:
        apart = []
        for known in self._empty:
            if known[1] < low or high < known[0]:
                apart.append(known)
            else:
                low, high = min(low, known[0]), max(high, known[1])
        self._empty = sorted([*apart, (low, high)], reverse=True)[:_MAX_RANGES]
