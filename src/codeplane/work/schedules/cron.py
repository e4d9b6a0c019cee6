"""Cron expressions in a time zone: which instants they mean, also where local time is skipped or repeated."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo

from cronsim import CronSim, CronSimError

from codeplane.kernel.clock import SECOND_NS
from codeplane.kernel.errors import InvalidArgument

_FIELDS = 5
_HINT = "write minute, hour, day of month, month and day of week, as in 30 9 * * 1-5"
# No zone has moved its clocks by more; Samoa left out a whole day.
_LARGEST_SHIFT = timedelta(hours=26)
_DAY, _SECOND = timedelta(days=1), timedelta(seconds=1)


class CronTrigger:
    """A cron expression of five fields.

    A time of day that the clocks skip comes at the end of the gap, one that they repeat comes once, the first time; an
    expression whose minute or hour begins with `*` follows the time that passes instead, as in Debian's cron.
    """

    def __init__(self, expression: str, zone: tzinfo) -> None:
        """Raises InvalidArgument for an expression that cannot be read."""
        self._expression = expression
        self._zone = zone
        fields = expression.split()
        if len(fields) != _FIELDS:
            raise InvalidArgument(f"{expression!r} has {len(fields)} fields, not {_FIELDS}", hint=_HINT)
        try:
            CronSim(expression, datetime(2000, 1, 1))
        except (CronSimError, AssertionError) as error:
            raise InvalidArgument(f"{expression!r} is no cron expression: {error}", hint=_HINT) from error
        self._is_fixed = not fields[0].startswith("*") and not fields[1].startswith("*")

    def next_after(self, at_ns: int) -> int | None:
        """The first instant after `at_ns`; None when none comes within 50 years."""
        # Times of cron are whole minutes, so that the fraction of a second does not matter.
        at = datetime.fromtimestamp(at_ns // SECOND_NS, UTC)
        found = self._next_fixed(at) if self._is_fixed else self._next_passing(at)
        return None if found is None else int(found.timestamp()) * SECOND_NS

    def _next_fixed(self, at: datetime) -> datetime | None:
        start = self._local(at)
        if self._offset(at - _LARGEST_SHIFT) != self._offset(at + _LARGEST_SHIFT):
            # Local times before this one may still come, where the clocks are put back, or were skipped.
            start -= _LARGEST_SHIFT
        for local in self._matches(start):
            instant = self._instant(local)
            if instant > at:
                return instant
        return None

    def _next_passing(self, at: datetime) -> datetime | None:
        """The first match in real time: by each offset for as long as it lasts."""
        # The search goes on from one second before, since matches come after where it starts.
        start, offset = at, self._offset(at)
        while True:
            local = next(self._matches((start + offset).replace(tzinfo=None)), None)
            if local is None:
                return None
            instant = local.replace(tzinfo=UTC) - offset
            change = self._first_change(start, instant, offset)
            if change is None:
                return instant
            start, offset = change - _SECOND, self._offset(change)

    def _first_change(self, start: datetime, end: datetime, offset: timedelta) -> datetime | None:
        """The first instant after `start` and not after `end` at which another offset holds."""
        before = start
        while before < end:
            after = min(before + _DAY, end)
            if self._offset(after) != offset:
                return self._find_change(before, after, offset)
            before = after
        return None

    def _find_change(self, before: datetime, after: datetime, offset: timedelta) -> datetime:
        """The instant between two at which `offset` ends."""
        while after - before > _SECOND:
            middle = before + timedelta(seconds=int((after - before).total_seconds()) // 2)
            if self._offset(middle) == offset:
                before = middle
            else:
                after = middle
        return after

    def _instant(self, local: datetime) -> datetime:
        """When a local time comes first; the end of the gap for one that is skipped."""
        first, second = (local.replace(tzinfo=self._zone, fold=fold).astimezone(UTC) for fold in (0, 1))
        if second >= first:
            return first
        # In a gap: the offset before it gives an instant behind the gap, that after it one before.
        return self._find_change(second - _SECOND, first, self._offset(second - _SECOND))

    def _matches(self, local: datetime) -> Iterator[datetime]:
        return CronSim(self._expression, local)

    def _local(self, at: datetime) -> datetime:
        return (at + self._offset(at)).replace(tzinfo=None)

    def _offset(self, at: datetime) -> timedelta:
        offset = at.astimezone(self._zone).utcoffset()
        assert offset is not None
        return offset
