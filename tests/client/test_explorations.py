"""Explorations through the Python client, whose connections are cut again and again."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from codeplane.client import Client, Reconnection
from codeplane.kernel.errors import ExploreNetworkDenied, ExploreNotFound
from tests.client.cut_proxy import cut_proxy
from tests.harness import Server, make_repo, start
from tests.interaction.requirements import requirement
from tests.work.explore.explore_plane import SHOP

pytestmark = requirement("EXR-06")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = start(make_repo(tmp_path_factory.mktemp("explored") / "shop", SHOP))
    yield running
    running.stop()


def client(server: Server, port: int | None = None) -> Client:
    quick = Reconnection(tries=50, first_sec=0.001, most_sec=0.002)
    return Client(server.host, port or server.port, token=server.token, reconnection=quick)


def test_every_event_comes_once_over_cuts(server: Server) -> None:
    explorations = client(server).explorations
    session_id = explorations.start(goals=["money"])
    whole = [*explorations.watch(session_id)]
    assert [event.cursor for event in whole] == [*range(1, len(whole) + 1)]
    assert [event.prev_event_id for event in whole] == [None, *(event.event_id for event in whole[:-1])]
    assert whole[-1].case == "completed" and whole[-1].value["repoName"] == "shop" and whole[-1].is_end
    assert all(event.result is not None for event in whole if event.case == "result")
    chance = random.Random(3)
    with cut_proxy(server, lambda number: 2500 + chance.randrange(20_000)) as proxy:
        assert [*client(server, proxy.port).explorations.watch(session_id)] == whole
        assert proxy.connections > 1
    assert [*explorations.watch(session_id, after=5)] == whole[5:]
    shown = explorations.status(session_id, markdown=True)
    assert shown["state"] == "completed" and str(shown["markdown"]).startswith("# shop\n")


def test_errors_are_those_of_the_table(server: Server) -> None:
    explorations = client(server).explorations
    with pytest.raises(ExploreNotFound):
        explorations.status("nothing")
    with pytest.raises(ExploreNotFound):
        next(explorations.watch("nothing"))
    with pytest.raises(ExploreNetworkDenied):
        explorations.start(remote_url="https://example.com/x.git")
    session_id = explorations.start(Path("shop").as_posix())
    assert explorations.abort(session_id, reason="enough") in ("stopped", "completed")
