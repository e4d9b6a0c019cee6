"""Ten thousand appends and many kills over two planes of a shared log, and a thousand races for a key."""

import asyncio
from pathlib import Path

import pytest

from tests.interaction.requirements import requirement
from tests.kernel.plane import FixtureOps
from tests.shared_planes import race, sharing
from tests.shared_siege import besiege

APPENDS, KILLS, RACES = 10_000, 40, 1000


@pytest.mark.soak
@requirement("SHR-01", "SHR-07")
def test_ten_thousand_appends_and_kills_come_out_equal(tmp_path: Path) -> None:
    seen = asyncio.run(besiege(tmp_path, appends=APPENDS, kills=KILLS, seed=7))
    assert seen.appends + seen.conflicts + seen.calls >= APPENDS


@pytest.mark.soak
@requirement("SHR-07")
def test_a_key_runs_once_in_a_thousand_races(tmp_path: Path) -> None:
    async def run() -> None:
        ops = FixtureOps(), FixtureOps()
        # Each race counts as a mutation of its task.
        more = f"limits.max_mutations={2 * RACES}"
        async with sharing(tmp_path, "a", more, ops=ops[0]) as a, sharing(tmp_path, "b", more, ops=ops[1]) as b:
            for number in range(RACES):
                await race((a, b), ops, number)
            assert len(ops[0].ran) + len(ops[1].ran) == RACES

    asyncio.run(run())
