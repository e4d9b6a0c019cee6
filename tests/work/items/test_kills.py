"""Work that is killed at any moment goes on where it was, and repeats nothing."""

from pathlib import Path

from tests.interaction.requirements import requirement
from tests.work.items.killed_work import ITEMS, besiege

KILLS = 4


@requirement("WORK-02")
def test_a_few_kills_repeat_and_lose_nothing(tmp_path: Path) -> None:
    tally = besiege(tmp_path, kills=KILLS, seed=1)
    assert tally.kills == KILLS and tally.completed >= ITEMS
