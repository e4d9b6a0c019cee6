"""Two hundred kills around the times of schedules."""

from pathlib import Path

import pytest

from tests.interaction.requirements import requirement
from tests.work.schedules.killed_schedules import besiege

pytestmark = requirement("SCHED-03")

ROUNDS, KILLS = 8, 25


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(ROUNDS))
def test_two_hundred_kills_fire_every_time_once(tmp_path: Path, seed: int) -> None:
    assert besiege(tmp_path, kills=KILLS, seed=seed).kills == KILLS
