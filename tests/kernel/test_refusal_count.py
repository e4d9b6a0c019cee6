"""Callers that nobody knows fill neither the log nor the audit, and how often they came is known all the same."""

from pathlib import Path

from codeplane.kernel.actor import Caller
from codeplane.kernel.errors import Unauthorized
from codeplane.kernel.event import Event
from codeplane.kernel.refusal_count import MAX_RECORDED, WINDOW_SEC
from codeplane.wiring.app import Plane
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, ManualClock, events, plane

pytestmark = requirement("TRUST-64")


async def knock(opened: Plane, times: int, surface: str = "mcp") -> None:
    """Call with false tokens, each time under another name."""
    for number in range(times):
        caller = Caller(surface=surface, client=f"client {number}", token=f"false {number}")
        outcome = await opened.conveyor.call("status" if number % 2 else f"no such {number}", {}, caller)
        assert outcome.error is not None


async def refusals(opened: Plane, status: str = "UNAUTHORIZED") -> list[Event]:
    return [event for event in await events(opened, "call.refused") if event.payload["status"] == status]


async def test_a_flood_of_false_tokens_is_counted(tmp_path: Path) -> None:
    clock = ManualClock()
    async with plane(tmp_path, clock=clock) as opened:
        await knock(opened, 500)
        assert len(await refusals(opened)) == len(await refusals(opened, "UNKNOWN_OPERATION")) == MAX_RECORDED
        # Another surface has its own, and whoever is known is always recorded.
        await knock(opened, 4, "connect")
        assert len(await refusals(opened)) == MAX_RECORDED + 2
        for _ in range(2 * MAX_RECORDED):
            await opened.conveyor.call("no such", {}, AGENT)
        known = [event for event in await refusals(opened, "UNKNOWN_OPERATION") if event.actor == "agent:agent"]
        assert len(known) == 2 * MAX_RECORDED
        clock.advance(WINDOW_SEC + 1)
        await opened.conveyor.sweep()
        last = (await refusals(opened))[-1]
        assert last.payload["count"] == 250 - MAX_RECORDED
        assert str(last.payload["reason"]).startswith(f"{250 - MAX_RECORDED} more within {WINDOW_SEC} s, the last: ")
        assert len(await refusals(opened)) == MAX_RECORDED + 2 + 1
        listed = await opened.conveyor.call("audit.list", {"limit": 100}, OWNER)
        assert listed.result is not None and f"{250 - MAX_RECORDED} more within" in listed.result.model_dump_json()
        await opened.counted.advance(opened.log.position)
        (metric,) = [one for one in opened.counted.collect() if one.name == "codeplane_calls_refused"]
        assert metric.samples[0].value == 500 + 4 + 2 * MAX_RECORDED
        # And the next ones are recorded one by one again.
        await knock(opened, 2)
        assert len(await refusals(opened)) == MAX_RECORDED + 2 + 1 + 1


async def test_what_was_counted_is_recorded_at_the_end(tmp_path: Path) -> None:
    async with plane(tmp_path, clock=ManualClock()) as opened:
        for _ in range(MAX_RECORDED + 7):
            # As a surface refuses a request before it is a call.
            await opened.conveyor.refuse("mcp", Caller(surface="mcp", token="false"), Unauthorized("unknown token"))
        assert len(await refusals(opened)) == MAX_RECORDED
    async with plane(tmp_path, clock=ManualClock()) as opened:
        assert [event.payload.get("count") for event in await refusals(opened)] == [None] * MAX_RECORDED + [7]
