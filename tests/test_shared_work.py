"""Work of a plane that has gone, on a shared log: another one finishes it, once, and the first one notices."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

from codeplane.kernel.clock import SECOND_NS, SystemClock
from codeplane.kernel.event_log import EventQuery
from codeplane.kernel.json import JsonObject
from codeplane.wiring.app import Plane
from tests.interaction.requirements import requirement
from tests.kernel.plane import FixtureOps
from tests.shared_planes import level, sharing
from tests.work.items.test_work import WRITE, reached, shown, started

TAKES_OVER = "work.take_over=true"
SLOW: JsonObject = {"operation": "fixture.slow"}


class Ahead(SystemClock):
    """A clock by which every lease has run out."""

    def now_ns(self) -> int:
        return super().now_ns() + 3600 * SECOND_NS


async def half_done(opened: Plane, ops: FixtureOps) -> str:
    """An item of three calls that its engine has left after the second, as one that has gone does."""
    opened.work.start_engine(opened.conveyor)
    work_id = await started(opened, WRITE, SLOW, WRITE)
    await ops.started.wait()
    ops.release.set()
    await opened.work.engine.stop()
    assert ops.ran == ["fixture.write", "fixture.slow"]
    return work_id


@requirement("SHR-08")
async def test_work_of_a_plane_that_has_gone_is_finished_by_one_that_may(tmp_path: Path) -> None:
    first, second, third = FixtureOps(), FixtureOps(), FixtureOps()
    async with (
        sharing(tmp_path, "a", ops=first) as a,
        sharing(tmp_path, "b", ops=second, clock=Ahead()) as b,
        sharing(tmp_path, "c", TAKES_OVER, ops=third, clock=Ahead()) as c,
    ):
        work_id = await half_done(a, first)
        await level(a, b, c)
        b.work.start_engine(b.conveyor)
        # Its own item is behind the other's in the queue: it has looked at both when it is done.
        await reached(b, await started(b, WRITE), "COMPLETED")
        assert ((await shown(b, work_id))["state"], len(second.ran)) == ("RUNNING", 1)
        c.work.start_engine(c.conveyor)
        item = await reached(c, work_id, "COMPLETED")
        assert (item["steps_done"], item["attempt"], third.ran) == (3, 2, ["fixture.write"])
        assert first.ran == ["fixture.write", "fixture.slow"]


@requirement("SHR-08")
async def test_of_several_planes_one_takes_the_work_over(tmp_path: Path) -> None:
    first, others = FixtureOps(), [FixtureOps() for _ in range(3)]
    async with AsyncExitStack() as stack:
        a = await stack.enter_async_context(sharing(tmp_path, "a", ops=first))
        takers = [
            await stack.enter_async_context(sharing(tmp_path, f"b{number}", TAKES_OVER, ops=ops, clock=Ahead()))
            for number, ops in enumerate(others)
        ]
        work_id = await half_done(a, first)
        await level(a, *takers)
        for taker in takers:
            taker.work.start_engine(taker.conveyor)
        await asyncio.gather(*(reached(taker, work_id, "COMPLETED") for taker in takers))
        assert sorted(len(ops.ran) for ops in others) == [0, 0, 1]
        ended = await a.log.query(EventQuery(stream=f"work/{work_id}", types=("work.completed",)))
        assert len(ended) == 1


@requirement("SHR-08", "SHR-07")
async def test_the_first_plane_notices_that_its_work_was_taken_over(tmp_path: Path) -> None:
    first, second = FixtureOps(), FixtureOps()
    async with (
        sharing(tmp_path, "a", ops=first) as a,
        sharing(tmp_path, "b", TAKES_OVER, ops=second, clock=Ahead()) as b,
    ):
        a.work.start_engine(a.conveyor)
        work_id = await started(a, WRITE, SLOW, WRITE)
        await first.started.wait()
        await level(a, b)
        b.work.start_engine(b.conveyor)
        # B's second call has the key of the one that A is at: it waits for that one's answer.
        async for _ in a.log.watch(streams={f"work/{work_id}": 0}):
            await b.log.catch_up()
            if (await shown(b, work_id))["attempt"] == 2:
                break
        await a.log.catch_up()
        first.release.set()
        item = await reached(b, work_id, "COMPLETED")
        assert (item["steps_done"], second.ran) == (3, ["fixture.write"])
        assert (first.ran, a.work.engine.running) == (["fixture.write", "fixture.slow"], 0)
