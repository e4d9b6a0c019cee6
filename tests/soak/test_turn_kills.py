"""Three hundred kills over conversations."""

from pathlib import Path

import pytest

from tests.interaction.requirements import requirement
from tests.work.turns.killed_turns import besiege

pytestmark = requirement("TURN-04")

ROUNDS, KILLS = 10, 30


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(ROUNDS))
def test_three_hundred_kills_repeat_and_lose_nothing(
    tmp_path: Path, seed: int, capsys: pytest.CaptureFixture[str]
) -> None:
    tally = besiege(tmp_path, kills=KILLS, seed=seed)
    with capsys.disabled():
        print(f"\n{tally}")
    assert tally.kills == KILLS
