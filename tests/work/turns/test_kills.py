"""Turns that are killed at any moment go on where they were, and repeat nothing."""

from pathlib import Path

from tests.interaction.requirements import requirement
from tests.work.turns.killed_turns import THREADS, besiege

KILLS = 4


@requirement("TURN-04")
def test_a_few_kills_repeat_and_lose_nothing(tmp_path: Path) -> None:
    tally = besiege(tmp_path, kills=KILLS, seed=1)
    assert tally.kills == KILLS and tally.turns >= THREADS
