"""Times of cron expressions where clocks are moved, compared with zoneinfo minute by minute."""

import random
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from tests.interaction.requirements import requirement
from tests.work.schedules.local_times import EXPRESSIONS, YEARS, sample_zones
from tests.work.schedules.zone_comparison import compare_zone, find_times

pytestmark = requirement("SCHED-02")


@pytest.mark.parametrize("zone", sample_zones(18))
def test_times_around_changes_of_the_clock_are_those_of_zoneinfo(zone: str) -> None:
    years = random.Random(zone).sample([*YEARS], 2)
    expressions = tuple(random.Random(zone).sample(EXPRESSIONS, 3))
    compare_zone(zone, [*years, 2011], expressions)


def test_a_day_that_a_zone_skipped_comes_at_its_end() -> None:
    # Samoa went from the 29th of December 2011 to the 31st.
    zone = ZoneInfo("Pacific/Apia")
    start = datetime(2011, 12, 30, 0, 0, tzinfo=UTC)
    found = find_times("0 9 * * *", zone, start, start + timedelta(days=1))
    assert [at.astimezone(zone).strftime("%d %H:%M") for at in found] == ["31 00:00", "31 09:00"]
