"""One cursor on every wire: a watcher that is cut off at random misses nothing and sees nothing twice."""

import importlib.util
from collections.abc import Iterator

import pytest

from tests.harness import Server
from tests.interaction.requirements import requirement
from tests.work.turns.cut_watches import WIRES, streaming_server, watch_with_cuts

pytestmark = requirement("THREAD-03")
CUTS = 40


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with streaming_server(tmp_path_factory.mktemp("cursors")) as running:
        yield running


@pytest.mark.parametrize("wire", WIRES)
def test_a_watcher_that_is_cut_off_sees_every_event_once(server: Server, wire: str) -> None:
    if wire == "websocket" and importlib.util.find_spec("websockets") is None:
        pytest.skip("NOT TESTED over WebSocket: websockets is not installed (make dev)")
    report = watch_with_cuts(server, wire, cuts=CUTS, seed=7)
    assert (report.missed, report.repeated, report.is_in_order) == (0, 0, True)
    assert report.events > report.reconnects == CUTS
