"""A disk that is full: said as it is, nothing half-written, and well again when there is room."""

from pathlib import Path

import pytest

from codeplane.kernel.errors import CodePlaneError, StorageFull
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, FixtureOps, events, plane
from tests.ledger.disks import small_disk
from tests.ledger.logs import n, opened, rows


def fill(disk: Path) -> Path:
    """Take all the room that is left."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file:
        size = 1 << 16
        while size:
            try:
                file.write(b"x" * size)
            except OSError:
                size //= 2
    return ballast


@requirement("LOG-12")
async def test_a_full_disk_refuses_appends_whole_and_takes_them_again(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "2m") as disk:
        lost: list[CodePlaneError] = []
        async with opened(disk / "l.db", on_lost=lost.append) as log:
            await log.append([n("a", 1)])
            ballast = fill(disk)
            written = 1
            with pytest.raises(StorageFull) as caught:
                for _ in range(1000):
                    await log.append([n("a", 1, text="x" * 10_000), n("b", 1)])
                    written += 1
            assert caught.value.retryable
            acknowledged = log.position
            for _ in range(3):
                with pytest.raises(StorageFull):
                    await log.append([n("a", 1, text="x" * 100_000), n("b", 1)])
            assert log.append_soon([n("a", 1, text="x" * 100_000)])
            # What can be read is what was acknowledged: no half of anything.
            assert log.position == acknowledged == 1 + 2 * (written - 1)
            assert len(await log.read(stream="a", limit=5000)) == written
            assert len(await log.read(stream="b", limit=5000)) == written - 1
            with pytest.raises(StorageFull):
                await log.append([n("a", 1, text="x" * 100_000)])
            assert [error.name for error in lost] == ["STORAGE_FULL"]
            ballast.unlink()
            assert (await log.append([n("a", 1), n("b", 1)])).sequences == (written + 1, written)
            assert [row[:3] for row in await rows(log)] == [("a", written + 1, written + 1), ("b", written, written)]
        async with opened(disk / "l.db") as log:
            assert log.rebuilt == []
            assert len(await log.read(stream="a", limit=5000)) == written + 1


async def test_no_mutation_runs_on_a_full_disk_and_reads_go_on(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "3m") as disk:
        ops = FixtureOps()
        async with plane(disk / "repo", operations=[ops]) as opened_plane:
            assert (await opened_plane.conveyor.call("fixture.write", {}, AGENT)).error is None
            ballast = fill(disk)
            failed = None
            for _ in range(2000):
                outcome = await opened_plane.conveyor.call("fixture.write", {}, AGENT)
                if outcome.error is not None:
                    failed = outcome.error
                    if failed.name == "STORAGE_FULL":
                        break
            assert failed is not None
            assert failed.name == "STORAGE_FULL"
            ran = len(ops.ran)
            for _ in range(5):
                outcome = await opened_plane.conveyor.call("fixture.write", {}, AGENT)
                assert outcome.error is not None
                assert outcome.error.name == "STORAGE_FULL"
            assert len(ops.ran) == ran
            assert (await opened_plane.conveyor.call("fixture.read", {}, AGENT)).error is None
            ballast.unlink()
            assert (await opened_plane.conveyor.call("fixture.write", {}, AGENT)).error is None
            # The last one before the disk was full may have an intent alone, until its outcome is written late.
            await opened_plane.conveyor.sweep()
            started = {event.correlation.call_id for event in await events(opened_plane, "call.started")}
            finished = [event.correlation.call_id for event in await events(opened_plane, "call.finished")]
            assert started <= {*finished} and len(finished) == len({*finished})


async def test_a_disk_too_full_to_start_on_is_said_to_be_full(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "1m") as disk:
        ballast = fill(disk)
        with pytest.raises(StorageFull):
            async with opened(disk / "l.db"):
                pass
        ballast.unlink()
        async with opened(disk / "l.db") as log:
            assert (await log.append([n("a")])).sequences == (1,)
