"""Each server has a task of its own: what happens to its connection ends neither callers nor other servers."""

import asyncio
from pathlib import Path

import anyio
import pytest

from tests.interaction.requirements import requirement
from tests.kernel.plane import OWNER
from tests.trust.approvals.agent_calls import refused, result
from tests.work.tools.tool_plane import listed, ready, scripted, tool_plane

pytestmark = requirement("MCX-03")

CALLS = 8
DYING, GOOD = "ext.dying.look", "ext.good.look"


async def test_a_server_that_dies_in_the_middle_of_several_calls_ends_those_alone(tmp_path: Path) -> None:
    servers = {"dying": scripted(f"dies_at_{CALLS}", timeout_sec=60), "good": scripted("hangs", timeout_sec=60)}
    async with tool_plane(tmp_path, servers) as opened:
        await ready(opened, "dying")
        await ready(opened, "good")
        going_on = asyncio.ensure_future(opened.conveyor.call(GOOD, {"text": "x"}, OWNER))
        ended: list[str] = []

        async def call(number: int) -> None:
            outcome = await opened.conveyor.call(DYING, {"text": str(number)}, OWNER)
            ended.append(refused(outcome))
            # Nothing that is left in this task cancels what it does next.
            await anyio.lowlevel.checkpoint()
            assert result(await opened.conveyor.call("status", {}, OWNER))

        # A cancelled caller would take the others of its group with it.
        async with anyio.create_task_group() as group:
            for number in range(CALLS):
                group.start_soon(call, number)
        assert ended == ["TOOL_SERVER_UNAVAILABLE"] * CALLS
        current = asyncio.current_task()
        assert current is not None and current.cancelling() == 0
        assert not going_on.done()
        going_on.cancel()
        await asyncio.wait({going_on})
        # And the server is back, for the next ones.
        assert (await ready(opened, "dying"))["state"] == "ready"


async def test_callers_that_leave_and_a_server_that_dies_at_the_same_time_harm_nobody(tmp_path: Path) -> None:
    async with tool_plane(tmp_path, {"dying": scripted(f"dies_at_{CALLS}", timeout_sec=60)}) as opened:
        await ready(opened, "dying")
        calls = [
            asyncio.ensure_future(opened.conveyor.call(DYING, {"text": str(number)}, OWNER))
            for number in range(CALLS - 1)
        ]
        while (await listed(opened, "dying"))["calls"] != CALLS - 1:
            await asyncio.sleep(0)
        for leaving in calls[::2]:
            leaving.cancel()
        last = await opened.conveyor.call(DYING, {"text": "last"}, OWNER)
        assert refused(last) == "TOOL_SERVER_UNAVAILABLE"
        await asyncio.wait(calls)
        assert [call.cancelled() for call in calls] == [number % 2 == 0 for number in range(CALLS - 1)]
        assert {refused(call.result()) for call in calls[1::2]} == {"TOOL_SERVER_UNAVAILABLE"}


@pytest.mark.parametrize("when", ["reload", "stop"])
async def test_a_server_that_is_taken_away_ends_its_calls_with_a_typed_error(tmp_path: Path, when: str) -> None:
    async with tool_plane(tmp_path, {"dying": scripted("hangs", timeout_sec=60)}) as opened:
        await ready(opened, "dying")
        calls = [asyncio.ensure_future(opened.conveyor.call(DYING, {"text": str(n)}, OWNER)) for n in range(3)]
        while (await listed(opened, "dying"))["calls"] != 3:
            await asyncio.sleep(0)
        if when == "stop":
            await opened.tools.registry.stop()
        else:
            await opened.conveyor.call("tools.test", {"server": "dying"}, OWNER)
        outcomes = await asyncio.gather(*calls)
        assert {refused(outcome) for outcome in outcomes} == {"TOOL_SERVER_UNAVAILABLE"}
