"""The short form of the soak test, for every run: three times `kill -9` under the same load and the same checks."""

from pathlib import Path

from tests.interaction.requirements import requirement
from tests.soak.siege import besiege

KILLS = 3


@requirement("LOG-13")
def test_three_kills_lose_nothing(tmp_path: Path) -> None:
    tally = besiege(tmp_path, kills=KILLS, repositories=1, seed=1)
    assert tally.kills == KILLS
    assert tally.acknowledged > 0
    assert tally.resumed >= KILLS
