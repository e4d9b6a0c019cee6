"""Deadlines and cancellation: they reach the handler, are recorded, and happen to nobody else."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from codeplane.kernel.actor import Caller
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Result
from codeplane.wiring.app import Plane
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, Answered, FixtureOps, events, of_call, plane
from tests.kernel.ports import Asking, exchange, ports_of

SOON = replace(AGENT, timeout_sec=0.02)


def items_of(opened: Plane, name: str, arguments: JsonObject, caller: Caller) -> AsyncGenerator[Result | Outcome, None]:
    return cast(AsyncGenerator[Result | Outcome, None], opened.conveyor.stream(name, arguments, caller))


@requirement("DOOR-05")
@pytest.mark.parametrize(("name", "caller"), [("fixture.short", AGENT), ("fixture.slow", SOON)])
async def test_a_deadline_stops_the_handler_and_is_recorded(tmp_path: Path, name: str, caller: Caller) -> None:
    ops = FixtureOps()
    async with plane(tmp_path, operations=[ops]) as opened:
        outcome = await opened.conveyor.call(name, {}, caller)
        assert outcome.error is not None
        assert outcome.error.name == "DEADLINE_EXCEEDED"
        assert ops.cancelled.is_set()
        assert (await of_call(opened, outcome))[-1].payload["status"] == "DEADLINE_EXCEEDED"


async def test_time_enough_is_no_deadline(tmp_path: Path) -> None:
    ops = FixtureOps()
    ops.release.set()
    async with plane(tmp_path, operations=[ops]) as opened:
        for name in ("fixture.short", "fixture.slow"):
            outcome = await opened.conveyor.call(name, {"text": "x"}, replace(AGENT, timeout_sec=30))
            assert outcome.result == Answered(answer="x")


async def test_a_time_out_of_the_handlers_own_is_a_crash_and_not_a_deadline(tmp_path: Path) -> None:
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        outcome = await opened.conveyor.call("fixture.broken_read", {}, AGENT)
        assert outcome.error is not None
        assert outcome.error.name == "INTERNAL"
        assert "a socket's own" in outcome.error.message


async def test_a_callers_deadline_covers_the_wait_for_a_key(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with plane(tmp_path, operations=[ops]) as opened:
        arguments: JsonObject = {"idempotency_key": "k"}
        first = asyncio.ensure_future(opened.conveyor.call("fixture.slow", arguments, AGENT))
        await ops.started.wait()
        second = await opened.conveyor.call("fixture.slow", arguments, SOON)
        assert second.error is not None
        assert second.error.name == "DEADLINE_EXCEEDED"
        assert (await of_call(opened, second))[-1].payload["executed"] is False
        ops.release.set()
        assert (await first).error is None
        third = await opened.conveyor.call("fixture.slow", arguments, SOON)
        assert third.meta.replayed
        assert ops.ran == ["fixture.slow"]


async def test_a_callers_deadline_covers_the_wait_for_a_person(tmp_path: Path) -> None:
    class Absent:
        async def approve(self, *args: object) -> None:
            await asyncio.Event().wait()

    ops = FixtureOps()
    async with plane(tmp_path, operations=[ops]) as opened:
        outcome = await exchange(opened, authority=Asking(), approver=Absent()).call("fixture.write", {}, SOON)
        assert outcome.error is not None
        assert outcome.error.name == "DEADLINE_EXCEEDED"
        assert ops.ran == []


@requirement("DOOR-05")
@pytest.mark.parametrize("name", ["fixture.slow", "fixture.slow_read"])
async def test_cancellation_reaches_the_handler_and_is_recorded(tmp_path: Path, name: str) -> None:
    ops = FixtureOps()
    async with plane(tmp_path, operations=[ops]) as opened:
        running = asyncio.ensure_future(opened.conveyor.call(name, {}, AGENT))
        await ops.started.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert ops.cancelled.is_set()
        assert opened.conveyor.running == 0
        (ending,) = await events(opened, "call.finished")
        assert ending.payload["status"] == "CANCELLED"
        assert ending.payload["executed"] is True


async def test_a_caller_that_leaves_while_the_outcome_is_written_changes_nothing(tmp_path: Path) -> None:
    ops = FixtureOps()
    ops.release.set()
    async with plane(tmp_path, operations=[ops]) as opened:
        appending = asyncio.Event()
        endings: list[str] = []

        class Log:
            async def append(self, drafts: list[object]) -> object:
                writing = asyncio.ensure_future(ports_of(opened).log.append(drafts))  # type: ignore[arg-type]  # drafts
                endings.append(drafts[0].type)  # type: ignore[attr-defined]  # as above
                if len(endings) == 2:
                    appending.set()
                return await asyncio.shield(writing)

            def __getattr__(self, name: str) -> object:
                return getattr(ports_of(opened).log, name)

        conveyor = exchange(opened, log=Log())
        arguments: JsonObject = {"text": "x", "idempotency_key": "k"}
        running = asyncio.ensure_future(conveyor.call("fixture.slow", arguments, AGENT))
        await appending.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        (ending,) = await events(opened, "call.finished")
        assert ending.payload["status"] == "ok"
        again = await opened.conveyor.call("fixture.slow", arguments, AGENT)
        assert again.result == Answered(answer="x")
        assert again.meta.replayed


async def test_a_stream_is_stopped_at_its_deadline(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with plane(tmp_path, operations=[ops]) as opened:
        arguments: JsonObject = {"times": 2, "text": "wait"}
        items = [item async for item in opened.conveyor.stream("fixture.stream_write", arguments, AGENT)]
        assert items[:2] == [Answered(answer="0"), Answered(answer="1")]
        ending = items[2]
        assert isinstance(ending, Outcome)
        assert ending.error is not None
        assert ending.error.name == "DEADLINE_EXCEEDED"
        assert ops.cancelled.is_set()


async def test_a_deadline_never_cancels_whoever_reads_slowly(tmp_path: Path) -> None:
    loop = asyncio.get_running_loop()
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        seen: list[Result | Outcome] = []
        async for item in opened.conveyor.stream("fixture.stream_write", {"times": 3}, AGENT):
            seen.append(item)
            passed = asyncio.Event()
            loop.call_later(0.05, passed.set)
            await passed.wait()
        assert seen[0] == Answered(answer="0")
        ending = seen[-1]
        assert isinstance(ending, Outcome)
        # What is there already may still be read; only waiting for more is over.
        assert ending.error is None or ending.error.name == "DEADLINE_EXCEEDED"


async def test_a_stream_may_be_read_from_one_task_after_another(tmp_path: Path) -> None:
    ops = FixtureOps()
    ops.release.set()
    async with plane(tmp_path, operations=[ops]) as opened:
        caller = replace(AGENT, timeout_sec=30)
        items = items_of(opened, "fixture.stream", {"times": 2, "text": "wait"}, caller)
        seen = [await asyncio.ensure_future(_next(items)) for _ in range(3)]
        assert seen[:2] == [Answered(answer="0"), Answered(answer="1")]
        assert isinstance(seen[2], Outcome)
        assert seen[2].error is None


async def _next(items: AsyncGenerator[Result | Outcome, None]) -> Result | Outcome:
    return await anext(items)


async def test_a_stream_that_is_left_is_cancelled_at_once(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with plane(tmp_path, operations=[ops]) as opened:
        async with aclosing(items_of(opened, "fixture.stream", {"times": 5}, AGENT)) as items:
            async for _ in items:
                break
        assert opened.conveyor.running == 0
        (ending,) = await events(opened, "call.finished")
        assert ending.payload["status"] == "CANCELLED"


async def test_a_handler_that_waits_is_told_when_its_stream_is_cancelled(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with plane(tmp_path, operations=[ops]) as opened:
        reading = asyncio.ensure_future(_all(items_of(opened, "fixture.stream", {"text": "wait"}, AGENT)))
        await ops.started.wait()
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        assert ops.cancelled.is_set()
        (ending,) = await events(opened, "call.finished")
        assert ending.payload["status"] == "CANCELLED"


async def _all(items: AsyncGenerator[Result | Outcome, None]) -> list[Result | Outcome]:
    async with aclosing(items):
        return [item async for item in items]


@pytest.mark.parametrize("name", ["fixture.write", "fixture.stream"])
async def test_whoever_leaves_before_the_last_word_does_not_change_it(tmp_path: Path, name: str) -> None:
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        async with aclosing(items_of(opened, name, {}, AGENT)) as items:
            async for item in items:
                if isinstance(item, Outcome) or name == "fixture.write":
                    break
        (ending,) = await events(opened, "call.finished")
        assert ending.payload["status"] == "ok"


async def test_a_crash_in_a_stream_ends_it_with_the_cause(tmp_path: Path) -> None:
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        items = await _all(items_of(opened, "fixture.stream", {"text": "crash"}, AGENT))
        ending = items[-1]
        assert isinstance(ending, Outcome)
        assert ending.error is not None
        assert ending.error.name == "INTERNAL"
        assert items[0] == Answered(answer="0")
