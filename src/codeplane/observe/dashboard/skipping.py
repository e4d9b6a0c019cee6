"""Long stretches of the log in which nothing is told, so that each of them is looked through once.

Somebody who leaves the dashboard open writes thousands of reads that the activity leaves out; without this, every page
of it would look through all of them again.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from codeplane.kernel.event import Event
from codeplane.kernel.ports import EventQuery, Ledger

# Shorter ones are not worth a question of their own, and the oldest are forgotten.
_LONG, _MOST = 500, 40


class Skipping:
    """Asks the log for ends of calls by anybody but the dashboard's readers, past where there are known to be none."""

    def __init__(self, log: Ledger) -> None:
        self._log = log
        # (low, high]: at these positions nothing is told. The newest first, and none touches another.
        self._empty: list[tuple[int, int]] = []

    async def query(self, query: EventQuery, *, all_of_them: bool) -> list[Event]:
        """The newest events that fit; `all_of_them` says that nothing but the dashboard's reads is left out."""
        assert query.newest and query.until is not None
        found: list[Event] = []
        for after, until in self._parts(query.after, query.until):
            rest = query.limit - len(found)
            found = [*await self._log.query(replace(query, after=after, until=until, limit=rest)), *found]
            if len(found) == query.limit:
                break
        if all_of_them:
            self._learn(query, [event.position for event in found])
        return found

    def _parts(self, after: int, until: int) -> Iterator[tuple[int, int]]:
        for low, high in tuple(self._empty):
            if low < until and after < high:
                if high < until:
                    yield high, until
                until = low
        if after < until:
            yield after, until

    def _learn(self, query: EventQuery, places: Sequence[int]) -> None:
        assert query.until is not None
        # Below the last of a full page nothing is known.
        lows = [*([] if len(places) == query.limit else [query.after]), *places]
        highs = [*(place - 1 for place in lows[1:]), query.until]
        for low, high in zip(lows, highs, strict=True):
            if high - low >= _LONG:
                self._join(low, high)

    def _join(self, low: int, high: int) -> None:
        apart = []
        for one in self._empty:
            if one[1] < low or high < one[0]:
                apart.append(one)
            else:
                low, high = min(low, one[0]), max(high, one[1])
        self._empty = sorted([*apart, (low, high)], reverse=True)[:_MOST]
