"""Planes of a shared log that are killed at any moment come out equal, and lose nothing that was acknowledged."""

from pathlib import Path

from tests.interaction.requirements import requirement
from tests.shared_siege import besiege

pytestmark = requirement("SHR-01", "SHR-07")


async def test_planes_that_are_killed_come_out_equal(tmp_path: Path) -> None:
    seen = await besiege(tmp_path, appends=200, kills=2, seed=1)
    assert seen.conflicts and seen.calls and seen.appends > 60
