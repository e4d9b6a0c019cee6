"""A hundred kills over jobs, and a thousand jobs over a kill."""

from pathlib import Path

import pytest

from tests.interaction.requirements import requirement
from tests.work.jobs.killed_jobs import besiege

pytestmark = requirement("JOB-06")

ROUNDS, KILLS = 5, 20


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(ROUNDS))
def test_a_hundred_kills_repeat_and_lose_nothing(tmp_path: Path, seed: int, capsys: pytest.CaptureFixture[str]) -> None:
    tally = besiege(tmp_path, jobs=60, edits=20, kills=KILLS, seed=seed)
    with capsys.disabled():
        print(f"\n{tally}")
    assert tally.kills == KILLS


@pytest.mark.soak
def test_a_thousand_jobs_end_once_though_the_server_is_killed_in_the_middle(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tally = besiege(tmp_path, jobs=1000, edits=0, kills=3, seed=7, window_sec=60)
    with capsys.disabled():
        print(f"\n{tally}")
    # Jobs are too quick to see five at once in a sample; that no more run is checked with each one.
    assert tally.kills == 3
