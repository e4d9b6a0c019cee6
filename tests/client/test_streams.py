"""Typed streams of events and searches, whose connections are cut, and a watched thread cut again and again."""

import random
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

from codeplane.client import Client, LogEvent, Reconnection
from codeplane.client.async_client import AsyncClient
from codeplane.kernel.errors import InvalidArgument, ServerUnreachable
from tests.client.cut_proxy import cut_proxy
from tests.client.cut_threads import watch_with_cuts
from tests.harness import Server, make_repo, start
from tests.interaction.requirements import requirement

pytestmark = requirement("CLIENT-01")

QUICK = Reconnection(tries=50, first_sec=0.001, most_sec=0.002)
LINES = 300


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of a repository with many lines to find."""
    files = {f"part{number}.txt": "a needle here\n" * 30 for number in range(LINES // 30)}
    running = start(make_repo(tmp_path_factory.mktemp("streams") / "shop", files))
    yield running
    running.stop()


def test_a_search_that_is_cut_has_every_hit_once(server: Server) -> None:
    chance = random.Random(7)
    whole = [hit for page in _client(server).search("needle", mode="literal") for hit in page.hits]
    assert len(whole) == LINES and {hit.path for hit in whole} == {f"part{n}.txt" for n in range(LINES // 30)}
    with cut_proxy(server, lambda number: 3000 + chance.randrange(30_000)) as proxy:
        pages = [*_client(server, proxy.port).search("needle", mode="literal")]
    assert [hit for page in pages for hit in page.hits] == whole and proxy.connections > 1
    assert all(page.total >= len(page.hits) and not page.partial and not page.stale for page in pages)
    assert sum(len(page.hits) for page in _client(server).search("needle", mode="literal", most=40)) <= 100
    with pytest.raises(InvalidArgument):
        next(_client(server).search(""))


def test_events_of_the_log_come_once_over_cuts(server: Server) -> None:
    client = _client(server)
    threads = [client.create_thread(title=str(number)) for number in range(20)]
    chance = random.Random(8)
    with cut_proxy(server, lambda number: 400 + chance.randrange(4000)) as proxy:
        with _client(server, proxy.port).watch_events(after=0, types=["thread.created"]) as events:
            seen = [next(events)]
            while seen[-1].stream != f"thread/{threads[-1]}":
                seen.append(next(events))
        assert proxy.connections > 1
    created = [event.stream.removeprefix("thread/") for event in seen]
    assert created[-len(threads) :] == threads and len({event.event_id for event in seen}) == len(seen)
    assert [event.position for event in seen] == sorted(event.position for event in seen)


async def test_the_client_for_asyncio_has_them_too(server: Server) -> None:
    client = AsyncClient.of_repository(server.repo)
    hits = [hit async for page in client.search("needle", mode="literal", most=50) for hit in page.hits]
    assert len(hits) >= 50
    thread_id = await client.create_thread()
    async with aclosing(client.watch_events(after=0, types=["thread.created"])) as events:
        async for event in events:
            assert isinstance(event, LogEvent)
            if event.stream == f"thread/{thread_id}":
                break


def test_a_server_that_does_not_come_back_is_said_with_the_position(server: Server) -> None:
    with cut_proxy(server, lambda number: 0) as proxy:
        lost = Client(server.host, proxy.port, token=server.token, reconnection=Reconnection(tries=2, first_sec=0.001))
        with pytest.raises(ServerUnreachable, match="tried 3 times") as raised:
            next(lost.watch_events(after=41))
        assert raised.value.details["position"] == 41
        with pytest.raises(ServerUnreachable, match="tried 3 times"):
            next(lost.search("needle"))


@requirement("CLIENT-03")
def test_a_watched_thread_that_is_cut_misses_and_repeats_nothing(tmp_path: Path) -> None:
    report = watch_with_cuts(tmp_path, cuts=40, seed=3)
    assert report.cuts >= 40 and report.seen == report.whole


def _client(server: Server, port: int = 0) -> Client:
    return Client(server.host, port or server.port, token=server.token, reconnection=QUICK)
