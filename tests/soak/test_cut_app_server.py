"""Clients of Codex's protocol, cut off a thousand times."""

from pathlib import Path

import pytest

from tests.interaction.requirements import requirement
from tests.surfaces.app_server.assistant import assistant
from tests.surfaces.app_server.cut_clients import follow
from tests.surfaces.app_server.test_cursor import MESSAGES

CUTS = 1000


@pytest.mark.soak
@requirement("CDX-05")
def test_a_thousand_cuts_lose_and_repeat_nothing(tmp_path: Path) -> None:
    with assistant(tmp_path) as served:
        told = follow(served.server, [*MESSAGES * 3, "count 900"], cuts=CUTS, seed=22)
    assert told.seen == told.whole and told.cuts >= CUTS
