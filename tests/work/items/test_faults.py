"""Faults around work items: two engines, a lease that runs out, clocks that jump, payloads and disks that are full."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject
from codeplane.ledger.projection import differences
from codeplane.wiring.app import Plane
from codeplane.work.items.engine import WorkEngine
from codeplane.work.items.item import WorkItem
from codeplane.work.items.kind import Transition, WorkRun
from codeplane.work.items.step_list import StepList
from codeplane.work.items.table import WorkTable
from tests.interaction.requirements import requirement
from tests.kernel.plane import FixtureOps, ManualClock, events
from tests.ledger.disks import small_disk
from tests.ledger.test_full_disk import fill
from tests.trust.approvals.agent_calls import refused
from tests.work.items.test_work import WRITE, ask, reached, shown, started, working

pytestmark = requirement("WORK-02")

SLOW: JsonObject = {"operation": "fixture.slow"}
DAY = 86_400


@asynccontextmanager
async def second_engine(opened: Plane) -> AsyncIterator[WorkEngine]:
    """An engine of another node on the same log, whose calls go through the same door."""
    foundation, first = opened.work.foundation, opened.work.engine
    crashes: list[BaseException] = []
    engine = WorkEngine(
        kinds=(StepList(payloads=opened.work._payloads, clock=foundation.clock, max_running=20),),
        log=foundation.log,
        clock=foundation.clock,
        config=foundation.config.work,
        node="second",
        instance="engine_2",
        is_live=first._is_live,
        withdraw=first._withdraw,
        disconnect=first._disconnect,
        on_crash=crashes.append,
    )
    engine.start(opened.conveyor)
    try:
        yield engine
    finally:
        await engine.stop()
    assert crashes == []


async def check_tables(opened: Plane) -> None:
    assert await opened.log.readers.run(lambda connection: differences(connection, WorkTable())) == []


class _BrokenSteps(StepList):
    """Steps that a bug breaks."""

    async def run(self, item: WorkItem, run: WorkRun) -> Transition | None:
        raise RecursionError("too deep")


async def test_a_bug_ends_the_item_that_it_breaks_and_is_reported(tmp_path: Path) -> None:
    async with working(tmp_path) as opened:
        engine, crashes = opened.work.engine, list[BaseException]()
        kind = _BrokenSteps(max_running=20, payloads=opened.work._payloads, clock=opened.work.foundation.clock)
        intact, engine._kinds[kind.name] = engine._kinds[kind.name], kind
        engine._on_crash = crashes.append
        broken = await reached(opened, await started(opened, WRITE), "COMPLETED", "FAILED")
        assert broken["state"] == "FAILED" and "INTERNAL" in str(broken) and "RecursionError" in str(broken)
        # The item has failed before its task has ended.
        while engine.running:
            await asyncio.sleep(0)
        assert [type(crash) for crash in crashes] == [RecursionError]
        engine._kinds[kind.name] = intact
        assert (await reached(opened, await started(opened, WRITE), "COMPLETED", "FAILED"))["state"] == "COMPLETED"
        await check_tables(opened)


async def test_two_engines_make_each_call_once(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with working(tmp_path, ops=ops) as opened, second_engine(opened) as second:
        work_ids = [await started(opened, WRITE, WRITE, WRITE) for _ in range(12)]
        second.wake()
        for work_id in work_ids:
            second.wake()
            assert (await reached(opened, work_id, "COMPLETED", "FAILED"))["state"] == "COMPLETED"
        assert len(ops.ran) == 36
        steps = [event for event in await events(opened) if event.type == "work.stepped"]
        assert len(steps) == 36
        await check_tables(opened)


async def test_a_lease_that_runs_out_while_its_holder_lives_repeats_nothing(tmp_path: Path) -> None:
    ops, clock = FixtureOps(), ManualClock()
    async with working(tmp_path, ops=ops, clock=clock) as opened:
        work_id = await started(opened, SLOW, WRITE)
        await ops.started.wait()
        clock.advance(opened.work.foundation.config.work.lease_sec + 1)
        async with second_engine(opened) as second:
            second.wake()
            while (await shown(opened, work_id))["attempt"] != 2:
                await asyncio.sleep(0)
            # The first one's call is still under way; the second one waits for it under the same key.
            assert ops.ran == ["fixture.slow"]
            ops.release.set()
            item = await reached(opened, work_id, "COMPLETED", "FAILED")
            assert item["state"] == "COMPLETED" and ops.ran == ["fixture.slow", "fixture.write"]
        await check_tables(opened)


@pytest.mark.parametrize("seconds", [-DAY, DAY])
async def test_a_clock_that_jumps_neither_ends_nor_repeats_work(tmp_path: Path, seconds: float) -> None:
    ops, clock = FixtureOps(), ManualClock()
    async with working(tmp_path, ops=ops, clock=clock) as opened:
        work_id = await started(opened, WRITE, SLOW, WRITE, max_seconds=60)
        await ops.started.wait()
        clock.jump(seconds)
        await opened.work.engine.sweep()
        clock.advance(2)
        ops.release.set()
        item = await reached(opened, work_id, "COMPLETED", "FAILED", "WAITING")
        assert item["state"] == "COMPLETED" and item["attempt"] == 1
        assert item["used_seconds"] == 2
        assert ops.ran == ["fixture.write", "fixture.slow", "fixture.write"]
        await check_tables(opened)


@requirement("WORK-03")
async def test_a_payload_over_its_bound_leaves_nothing_behind(tmp_path: Path) -> None:
    async with working(tmp_path, "work.payload_bytes=4096") as opened:
        long: JsonObject = {"operation": "fixture.write", "arguments": {"text": "x" * 5000}}
        assert refused(await ask(opened, "work.start", steps=[WRITE, long])) == "TOO_LARGE"
        assert await events(opened, "work.created") == []
        assert await opened.log.select("SELECT count(*) FROM payloads") == [(0,)]
        short: JsonObject = {"operation": "fixture.write", "arguments": {"text": "x" * 2000}}
        await reached(opened, await started(opened, WRITE, short), "COMPLETED")


async def test_a_disk_that_is_full_in_the_middle_loses_and_repeats_nothing(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "6m") as disk:
        ops, clock, root = FixtureOps(), ManualClock(), disk / "repo"
        root.mkdir()
        (root / "lines.txt").write_text("start\n")
        async with working(root, ops=ops, clock=clock) as opened:
            first, second = _append("start\n", "line 0\n"), _append("line 0\n", "line 1\n" + "x" * 50_000 + "\n")
            work_id = await started(opened, first, {"operation": "fixture.slow_read"}, second)
            await ops.started.wait()
            ballast = fill(disk)
            ops.release.set()
            await asyncio.wait_for(_let_go(opened), 30)
            assert (root / "lines.txt").read_text() == "start\nline 0\n"
            ballast.unlink()
            clock.advance(opened.work.foundation.config.work.lease_sec + 1)
            await opened.work.engine.sweep()
            item = await reached(opened, work_id, "COMPLETED", "FAILED")
            lines = (root / "lines.txt").read_text()
            # Where the log had room to say so, the item failed for it; else it went on when there was room again.
            assert item["error"] in (None, "STORAGE_FULL") and item["steps_done"] == (2 if item["error"] else 3), item
            assert lines.count("line 0") == 1 and lines.count("line 1") == (0 if item["error"] else 1)
            await check_tables(opened)


async def _let_go(opened: Plane) -> None:
    """Wait until the engine runs nothing."""
    while opened.work.engine.running:
        await asyncio.sleep(0)


def _append(before: str, after: str) -> JsonObject:
    edit: JsonObject = {"path": "lines.txt", "old_text": before, "new_text": before + after}
    return {"operation": "write_files", "arguments": {"edits": [edit]}}
