"""Calls under way: progress, several at once, and those that nobody waits for any more."""

from __future__ import annotations

import anyio
import anyio.to_thread
import pytest
from mcp import Client

from codeplane.kernel.ids import new_id
from tests.harness import Server
from tests.interaction.requirements import requirement

from .clients import MODERN, WAYS, Transport, connect_client, text_of, wait_for_event

each_way = pytest.mark.parametrize("way", WAYS, ids=str)


class Waiting:
    """A call of `fixture_wait` that was told to be under way."""

    def __init__(self, client: Client) -> None:
        self.name = new_id("wait")
        self.scope = anyio.CancelScope()
        self.answer = ""
        self._client = client
        self._under_way = anyio.Event()

    async def run(self) -> None:
        async def reported(progress: float, total: float | None, message: str | None) -> None:
            assert (progress, total, message) == (0, 1, "waiting")
            self._under_way.set()

        with self.scope:
            result = await self._client.call_tool("fixture_wait", {"name": self.name}, progress_callback=reported)
            self.answer = result.content[0].text  # type: ignore[union-attr]  # CodePlane answers in text

    async def under_way(self) -> None:
        with anyio.fail_after(30):
            await self._under_way.wait()


@requirement("MCP-07")
@each_way
async def test_progress_is_reported_before_the_answer(way: Transport, fixture_server: Server) -> None:
    heard: list[tuple[float, float | None, str | None]] = []

    async def reported(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    async with connect_client(fixture_server, way=way) as client:
        await client.call_tool("test_tool_with_progress", {}, progress_callback=reported)

    assert heard == [(done, 100, f"Completed step {done} of 100") for done in (0, 50, 100)]


@each_way
async def test_nobody_is_told_of_progress_who_did_not_ask(way: Transport, fixture_server: Server) -> None:
    async with connect_client(fixture_server, way=way) as client:
        assert await text_of(client, "test_tool_with_progress") == "done"


@each_way
async def test_a_slow_call_does_not_hold_up_a_fast_one(way: Transport, fixture_server: Server) -> None:
    async with connect_client(fixture_server, way=way) as client, anyio.create_task_group() as group:
        slow = Waiting(client)
        group.start_soon(slow.run)
        await slow.under_way()

        assert await text_of(client, "fixture_answer", size=1) == "x"
        assert slow.answer == ""
        await text_of(client, "fixture_release", name=slow.name)

    assert slow.answer == f"{slow.name} was released"


@each_way
async def test_a_cancelled_call_reaches_its_handler_and_the_log(way: Transport, fixture_server: Server) -> None:
    async with connect_client(fixture_server, way=way) as client, anyio.create_task_group() as group:
        waiting = Waiting(client)
        group.start_soon(waiting.run)
        await waiting.under_way()

        waiting.scope.cancel()

        async with connect_client(fixture_server) as other:
            assert await text_of(other, "fixture_ended", name=waiting.name) == "cancelled"
        assert await text_of(client, "fixture_answer", size=1) == "x"

    arguments = {"name": waiting.name}
    await anyio.to_thread.run_sync(
        lambda: wait_for_event(fixture_server, "call.finished", status="CANCELLED", arguments=arguments)
    )


async def test_many_calls_at_once_each_get_their_own_answer(fixture_server: Server) -> None:
    answers: dict[int, str] = {}

    async with connect_client(fixture_server, way=Transport(transport="http", era=MODERN)) as client:

        async def ask(size: int) -> None:
            answers[size] = await text_of(client, "fixture_answer", size=size)

        async with anyio.create_task_group() as group:
            for size in range(1, 60):
                group.start_soon(ask, size)

    assert answers == {size: "x" * size for size in range(1, 60)}


async def test_two_protocol_versions_are_served_at_once(fixture_server: Server) -> None:
    old, new = Transport(transport="http", era="legacy"), Transport(transport="http", era=MODERN)
    async with (
        connect_client(fixture_server, way=old, name="old") as first,
        connect_client(fixture_server, way=new, name="new") as second,
        anyio.create_task_group() as group,
    ):
        assert (first.protocol_version, second.protocol_version) == ("2025-11-25", MODERN)
        waiting = Waiting(first)
        group.start_soon(waiting.run)
        await waiting.under_way()

        assert await text_of(second, "fixture_whoami") == "agent:new"
        await text_of(second, "fixture_release", name=waiting.name)

    assert waiting.answer == f"{waiting.name} was released"
