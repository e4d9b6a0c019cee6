"""Connections that are lost at random: nothing is missing, nothing comes twice."""

from pathlib import Path

import pytest

from tests.interaction.requirements import requirement
from tests.surfaces.acp.lost_connections import follow_with_losses
from tests.surfaces.acp.scripted_agent import scripted_agent

pytestmark = requirement("ACP-09")


@pytest.mark.parametrize("losses", [40, pytest.param(1000, marks=pytest.mark.soak)])
async def test_every_update_comes_once(tmp_path: Path, losses: int) -> None:
    with scripted_agent(tmp_path) as (server, _):
        seen, whole = await follow_with_losses(server, losses, seed=losses)
    places = [one["_meta"]["codeplane"]["cursor"] for one in seen]
    assert len(places) == len(set(places))
    assert seen == whole
    assert len(seen) > losses
