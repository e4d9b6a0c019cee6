"""Jobs that are killed at any moment go on where they were, and each ends once."""

from pathlib import Path

from tests.interaction.requirements import requirement
from tests.work.jobs.killed_jobs import besiege

KILLS = 3


@requirement("JOB-06")
def test_a_few_kills_repeat_and_lose_nothing(tmp_path: Path) -> None:
    tally = besiege(tmp_path, jobs=14, edits=4, kills=KILLS, seed=1)
    assert tally.kills == KILLS and tally.most_running >= 1
