"""Compares the times of cron expressions with those that zoneinfo gives, around every change of a zone's clock."""

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from codeplane.kernel.clock import SECOND_NS
from codeplane.work.schedules.cron import CronTrigger
from tests.work.schedules.local_times import expected, find_changes


def _to_ns(at: datetime) -> int:
    return int(at.timestamp()) * SECOND_NS


def find_times(expression: str, zone: ZoneInfo, start: datetime, end: datetime) -> list[datetime]:
    """The times of an expression after a start and not after an end."""
    trigger, at_ns, found = CronTrigger(expression, zone), _to_ns(start), []
    while (following := trigger.next_after(at_ns)) is not None and following <= _to_ns(end):
        assert following > at_ns
        found.append(datetime.fromtimestamp(following // SECOND_NS, UTC))
        at_ns = following
    return found


def compare_zone(zone_name: str, years: Sequence[int], expressions: tuple[str, ...]) -> int:
    """Compare around every change of a zone's clock; returns how many changes there were."""
    zone, changes = ZoneInfo(zone_name), 0
    for year in years:
        for day in find_changes(zone, year):
            changes += 1
            start, end = day - timedelta(hours=2), day + timedelta(hours=30)
            for expression in expressions:
                wanted = expected(expression, zone, start, end)
                assert find_times(expression, zone, start, end) == wanted, (zone_name, day, expression)
                # From any moment in between, not only from one time to the next.
                middle = day + timedelta(minutes=random.Random(f"{zone_name}{day}").randrange(1440))
                following = next((at for at in wanted if at > middle), None)
                first = CronTrigger(expression, zone).next_after(_to_ns(middle) + 1)
                assert following is None or first == _to_ns(following), (zone_name, middle, expression)
    return changes
