"""Conversations through the client for asyncio; cancelling and closing end the connection."""

import asyncio
from contextlib import aclosing

import pytest

from codeplane.client.async_client import AsyncClient
from codeplane.client.resuming_stream import Reconnection
from codeplane.kernel.errors import StreamGap, ThreadNotFound
from tests.client.cut_proxy import cut_proxy
from tests.harness import PATIENCE_SEC, Server
from tests.interaction.requirements import requirement

pytestmark = [pytest.mark.anyio, requirement("RPC-21")]

ALL = 1 << 30


def client(server: Server, *, port: int = 0) -> AsyncClient:
    reconnection = Reconnection(tries=10_000, first_sec=0.01, most_sec=0.02)
    return AsyncClient(server.host, port or server.port, token=server.token, reconnection=reconnection)


async def test_send_list_show_and_cancel(connect_server: Server) -> None:
    caller = client(connect_server)
    thread_id = await caller.create_thread(title="Asked at once")
    sent = await caller.send(thread_id, "greet", wait_sec=60)
    shown = await caller.thread(thread_id)
    assert (shown.messages[-1].content, shown.last_sequence) == (sent.answer, sent.last_sequence)
    assert [message async for message in caller.messages(thread_id)] == list(reversed(shown.messages))
    assert thread_id in [found.thread_id async for found in caller.threads(query="Asked at once")]
    assert (await caller.cancel_turn(sent.turn_id)).status == "COMPLETED"
    assert "result" in await caller.call("session.info", {})


async def test_errors_are_those_of_the_client(connect_server: Server) -> None:
    caller = client(connect_server)
    with pytest.raises(ThreadNotFound):
        await caller.thread("thr_none")
    with pytest.raises(ThreadNotFound):
        await anext(caller.start_turn("thr_none", "greet"))
    with pytest.raises(StreamGap):
        await anext(caller.watch_thread(await caller.create_thread(), 7))


async def test_many_turns_at_once_with_cuts(connect_server: Server) -> None:
    with cut_proxy(connect_server, lambda number: 331 * (1 + number % 12)) as proxy:
        caller, cut = client(connect_server), client(connect_server, port=proxy.port)
        threads = [await caller.create_thread() for _ in range(5)]

        async def sequences(thread_id: str) -> list[int]:
            return [event.sequence async for event in cut.start_turn(thread_id, "greet")]

        for found in await asyncio.gather(*map(sequences, threads)):
            assert found == [*range(2, 2 + len(found))] and found
        assert proxy.connections > len(threads)


async def test_cancelling_a_call_ends_its_connection(connect_server: Server) -> None:
    with cut_proxy(connect_server, lambda number: 0) as proxy:
        proxy.holds.set()
        call = asyncio.create_task(client(connect_server, port=proxy.port).thread("thr_none"))
        assert await asyncio.to_thread(proxy.arrived.wait, PATIENCE_SEC)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert await asyncio.to_thread(proxy.dropped.wait, PATIENCE_SEC)


async def test_cancelling_a_reader_ends_its_connection(connect_server: Server) -> None:
    thread_id = await client(connect_server).create_thread()
    with cut_proxy(connect_server, lambda number: ALL) as proxy:
        seen = asyncio.Event()

        async def read() -> None:
            async with aclosing(client(connect_server, port=proxy.port).watch_thread(thread_id)) as events:
                async for _ in events:
                    seen.set()

        reader = asyncio.create_task(read())
        await asyncio.wait_for(seen.wait(), PATIENCE_SEC)
        assert not proxy.dropped.is_set()
        reader.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reader
        assert await asyncio.to_thread(proxy.dropped.wait, PATIENCE_SEC)
        assert proxy.connections == 1
