"""Long answers come in pages that belong to one moment, one question and one session."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import pytest
from mcp import Client

from codeplane.kernel.clock import SECOND_NS, SystemClock
from codeplane.kernel.json import JsonObject
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.mcp.resources import LedgerResources, Resources
from codeplane.surfaces.mcp.server import McpSurface
from codeplane.wiring.app import load_workspace_config
from tests.harness import Server
from tests.interaction.requirements import requirement
from tests.kernel.plane import running_here

from .clients import LEGACY, WAYS, Transport, connect_client, failure_of, session_of, text_of

each_way = pytest.mark.parametrize("way", WAYS, ids=str)


async def page(client: Client, **arguments: object) -> tuple[list[int], str | None]:
    """The positions on a page of the log, and the cursor to the next."""
    result = await client.call_tool("ledger_events", arguments)
    assert not result.is_error, result
    structure = cast(JsonObject, result.structured_content)
    events = cast(list[JsonObject], structure["results"])
    following = cast(JsonObject, structure["pagination"])["next_cursor"]
    return [int(str(event["position"])) for event in events], None if following is None else str(following)


async def make_events(client: Client, count: int) -> None:
    for _ in range(count):
        await text_of(client, "session_create")


@requirement("LOG-14")
@each_way
async def test_pages_show_the_log_as_it_was_at_the_first(way: Transport, codeplane_server: Server) -> None:
    async with (
        connect_client(codeplane_server, way=way, structured=True, toolset="all") as client,
        connect_client(codeplane_server) as busy,
    ):
        await make_events(busy, 1)
        [start], back = await page(client, limit=1, newest=True)
        # From the newest, pages go back.
        [before], _ = await page(client, limit=1, newest=True, cursor=back)
        assert before == start - 1
        await make_events(busy, 5)

        positions, cursor = await page(client, after=start, limit=7)
        [at_first], _ = await page(client, limit=1, newest=True)
        pages = 1
        while cursor is not None:
            assert len(positions) == 7 * pages
            # What happens between two pages is not on the later one.
            await make_events(busy, 3)
            more, cursor = await page(client, after=start, limit=7, cursor=cursor)
            positions += more
            pages += 1

        assert pages > 1
        assert positions == list(range(start + 1, positions[-1] + 1))
        assert positions[-1] <= at_first
        [now], _ = await page(client, limit=1, newest=True)
        assert now >= at_first + 3 * pages


@each_way
async def test_the_text_of_a_page_ends_with_where_the_next_one_starts(way: Transport, codeplane_server: Server) -> None:
    async with connect_client(codeplane_server, way=way) as client:
        await make_events(client, 2)
        text = await text_of(client, "ledger_events", limit=2)
        found = re.search(r"\nmore: cursor=(\S+)$", text)
        assert found
        following = await text_of(client, "ledger_events", limit=2, cursor=found[1])
        whole = await text_of(client, "ledger_events", limit=4)

    assert [*_positions(text), *_positions(following)] == _positions(whole)
    assert len(_positions(text)) == len(_positions(following)) == 2


def _positions(text: str) -> list[int]:
    """The positions that the lines of a page begin with."""
    return [int(line.split()[0]) for line in text.splitlines() if line[:1].isdigit()]


async def test_a_cursor_is_refused_where_it_does_not_belong(codeplane_server: Server) -> None:
    async with (
        connect_client(codeplane_server, structured=True, toolset="all") as client,
        connect_client(codeplane_server) as other,
    ):
        await make_events(client, 2)
        _, cursor = await page(client, limit=2)
        four, _ = await page(client, limit=4)
        assert cursor is not None
        turned = cursor[:-1] + ("A" if cursor[-1] != "A" else "B")
        for arguments in (
            {"cursor": "forged"},
            {"cursor": "not base64 !"},
            {"cursor": "ä"},
            {"cursor": turned},
            {"cursor": cursor[:10]},
            {"cursor": cursor, "types": ["call.finished"]},
            {"cursor": cursor, "after": 1},
        ):
            text = await failure_of(client, "ledger_events", limit=2, **arguments)
            assert text.startswith("CURSOR_INVALID: "), arguments
            assert "\nhint: start again without a cursor" in text
        assert (await failure_of(client, "task_list", cursor=cursor)).startswith("CURSOR_INVALID: ")
        assert (await failure_of(other, "ledger_events", limit=2, cursor=cursor)).startswith("CURSOR_INVALID: ")
        theirs = await session_of(client)
        assert await text_of(other, "ledger_events", limit=2, cursor=cursor, session_id=theirs)
        assert (await page(client, limit=2, cursor=cursor))[0] == four[2:]


class Later(SystemClock):
    """A clock that can be put forward."""

    def __init__(self) -> None:
        self.ahead_sec = 0

    def monotonic_ns(self) -> int:
        return super().monotonic_ns() + self.ahead_sec * SECOND_NS


@asynccontextmanager
async def in_process(repo: Path, clock: Later) -> AsyncIterator[McpSurface]:
    workspace = Workspace(root=repo)
    loaded = load_workspace_config(workspace, ["sessions.idle_timeout_sec=100000"], {}).without_terminal()
    async with running_here(workspace, loaded=loaded, clock=clock) as plane:
        yield McpSurface(
            conveyor=plane.conveyor,
            resources=Resources([LedgerResources(plane.conveyor)]),
            version="0",
            default_toolset="all",
            session_idle_sec=100,
            max_body_bytes=100,
            max_sessions=1,
            on_disconnect=plane.sessions.disconnect,
            deferred=plane.work.deferred,
        )


async def test_a_cursor_lives_for_an_hour(repo: Path) -> None:
    clock = Later()
    async with in_process(repo, clock) as surface, Client(surface.server, mode=LEGACY, cache=None) as client:
        await make_events(client, 2)
        found = re.search(r"\nmore: cursor=(\S+)$", await text_of(client, "ledger_events", limit=2))
        assert found

        clock.ahead_sec = 3599
        assert await text_of(client, "ledger_events", limit=2, cursor=found[1])
        clock.ahead_sec = 3610
        text = await failure_of(client, "ledger_events", limit=2, cursor=found[1])

    assert text.startswith("CURSOR_EXPIRED: this cursor is more than an hour old")
