"""A hundred times `kill -9` under mixed load: nothing acknowledged is lost, nothing runs twice."""

import os
from pathlib import Path

import pytest

from tests.interaction.requirements import requirement
from tests.soak.siege import besiege

pytestmark = requirement("LOG-13")

KILLS = 100
REPOSITORIES = 5


@pytest.mark.soak
def test_a_hundred_kills_lose_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seed = int(os.environ.get("SOAK_SEED", "20260728"))
    tally = besiege(tmp_path, kills=KILLS, repositories=REPOSITORIES, seed=seed)
    with capsys.disabled():
        print(f"\n{tally.line()}; seed {seed}")
    assert tally.kills == KILLS
    assert tally.acknowledged > KILLS
    assert tally.keys["replayed"] and tally.crashes_watched
