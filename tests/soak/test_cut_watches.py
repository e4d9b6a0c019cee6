"""A thousand lost connections of a watcher on each wire."""

from pathlib import Path

import pytest

from tests.interaction.requirements import requirement
from tests.work.turns.cut_watches import WIRES, streaming_server, watch_with_cuts

pytestmark = requirement("THREAD-03")

CUTS = 1000


@pytest.mark.soak
@pytest.mark.parametrize("wire", WIRES)
def test_a_thousand_cuts_miss_and_repeat_nothing(tmp_path: Path, wire: str, capsys: pytest.CaptureFixture[str]) -> None:
    with streaming_server(tmp_path) as server:
        report = watch_with_cuts(server, wire, cuts=CUTS, seed=1)
    with capsys.disabled():
        print(f"\n{report.line(wire)}")
    assert report.is_in_order and report.events > CUTS
