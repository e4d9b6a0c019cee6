"""Times of cron expressions in fifty zones over twenty years."""

import pytest

from tests.interaction.requirements import requirement
from tests.work.schedules.local_times import EXPRESSIONS, YEARS, sample_zones
from tests.work.schedules.zone_comparison import compare_zone

pytestmark = requirement("SCHED-02")

ZONES = 50


@pytest.mark.soak
@pytest.mark.parametrize("zone", sample_zones(ZONES))
def test_times_are_those_of_zoneinfo_in_every_zone_and_year(zone: str) -> None:
    compare_zone(zone, YEARS, EXPRESSIONS)
