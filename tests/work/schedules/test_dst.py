"""Times of cron expressions where clocks are moved, compared with zoneinfo minute by minute."""

import random
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from codeplane.kernel.clock import SECOND_NS
from codeplane.work.schedules.cron import CronTrigger
from tests.interaction.requirements import requirement
from tests.work.schedules.local_times import EXPRESSIONS, YEARS, expected, find_changes, sample_zones

pytestmark = requirement("SCHED-02")

_ALL_ZONES = 50


def _to_ns(at: datetime) -> int:
    return int(at.timestamp()) * SECOND_NS


def _found(expression: str, zone: ZoneInfo, start: datetime, end: datetime) -> list[datetime]:
    trigger, at_ns, found = CronTrigger(expression, zone), _to_ns(start), []
    while (following := trigger.next_after(at_ns)) is not None and following <= _to_ns(end):
        assert following > at_ns
        found.append(datetime.fromtimestamp(following // SECOND_NS, UTC))
        at_ns = following
    return found


def _compare(zone_name: str, years: "range | list[int]", expressions: tuple[str, ...]) -> int:
    """Compare around every change of a zone's clock; returns how many changes there were."""
    zone, changes = ZoneInfo(zone_name), 0
    for year in years:
        for day in find_changes(zone, year):
            changes += 1
            start, end = day - timedelta(hours=2), day + timedelta(hours=30)
            for expression in expressions:
                wanted = expected(expression, zone, start, end)
                assert _found(expression, zone, start, end) == wanted, (zone_name, day, expression)
                # From any moment in between, not only from one time to the next.
                middle = day + timedelta(minutes=random.Random(f"{zone_name}{day}").randrange(1440))
                following = next((at for at in wanted if at > middle), None)
                first = CronTrigger(expression, zone).next_after(_to_ns(middle) + 1)
                assert following is None or first == _to_ns(following), (zone_name, middle, expression)
    return changes


@pytest.mark.parametrize("zone", sample_zones(18))
def test_times_around_changes_of_the_clock_are_those_of_zoneinfo(zone: str) -> None:
    years = random.Random(zone).sample([*YEARS], 2)
    expressions = tuple(random.Random(zone).sample(EXPRESSIONS, 3))
    _compare(zone, [*years, 2011], expressions)


@pytest.mark.soak
@pytest.mark.parametrize("zone", sample_zones(_ALL_ZONES))
def test_times_are_those_of_zoneinfo_in_every_zone_and_year(zone: str) -> None:
    _compare(zone, YEARS, EXPRESSIONS)


def test_a_day_that_a_zone_skipped_comes_at_its_end() -> None:
    # Samoa went from the 29th of December 2011 to the 31st.
    zone = ZoneInfo("Pacific/Apia")
    start = datetime(2011, 12, 30, 0, 0, tzinfo=UTC)
    found = _found("0 9 * * *", zone, start, start + timedelta(days=1))
    assert [at.astimezone(zone).strftime("%d %H:%M") for at in found] == ["31 00:00", "31 09:00"]
