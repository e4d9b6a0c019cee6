"""Connections that are lost at random: nothing is missing, nothing comes twice."""

from pathlib import Path

import pytest

from tests.interaction.requirements import requirement
from tests.surfaces.acp.lost_connections import follow_with_losses
from tests.surfaces.acp.scripted_agent import scripted_agent

pytestmark = requirement("ACP-09")


@pytest.mark.parametrize(
    ("losses", "seed"), [(40, 0), *(pytest.param(250, seed, marks=pytest.mark.soak) for seed in range(1, 5))]
)
async def test_every_update_comes_once(tmp_path: Path, losses: int, seed: int) -> None:
    with scripted_agent(tmp_path) as (server, _):
        seen, whole = await follow_with_losses(server, losses, seed)
    places = [one["_meta"]["codeplane"]["cursor"] for one in seen]
    assert len(places) == len(set(places))
    assert seen == whole
    assert len(seen) > losses
