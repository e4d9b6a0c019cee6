"""Two planes of one machine on one shared log: neither ends the other's work, and what one decides holds for both."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest

from codeplane.kernel.actor import Caller
from codeplane.kernel.errors import ConfigInvalid, SharedLogMismatch
from codeplane.ledger.projection import differences
from codeplane.wiring.app import Plane, tables
from tests.interaction.requirements import requirement
from tests.kernel.plane import OWNER, FixtureOps, plane

AGENT = Caller(surface="mcp", client="helper", connection_id="c1")
QUICK = ("embeddings.model=none", "index.watch=false")


@asynccontextmanager
async def sharing(folder: Path, name: str, *settings: str, ops: FixtureOps | None = None) -> AsyncIterator[Plane]:
    """A plane on a folder of its own, on the shared log of all of them."""
    shared = f"ledger.shared={folder / 'shared'}"
    async with plane(folder / name, shared, *QUICK, *settings, operations=[ops or FixtureOps()]) as opened:
        yield opened


async def level(*planes: Plane) -> None:
    """Let every plane apply what any of them published."""
    for opened in planes:
        await opened.log.flush()
    for opened in planes:
        await opened.log.catch_up()


async def states(opened: Plane) -> dict[str, str]:
    """The states of tasks, by task."""
    return {str(task): str(state) for task, state in await opened.log.select("SELECT task_id, state FROM tasks")}


def rows_of(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Every table that planes keep of the log."""
    with closing(sqlite3.connect(path)) as connection:
        names = [table for projection in tables() for table in projection.tables]
        return {name: sorted(connection.execute(f"SELECT * FROM {name}").fetchall(), key=repr) for name in names}


@requirement("SHR-05")
async def test_a_start_ends_nothing_of_another_plane(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with sharing(tmp_path, "a", ops=ops) as a:
        running = asyncio.ensure_future(a.conveyor.call("fixture.slow", {}, AGENT))
        await ops.started.wait()
        await a.log.flush()
        before = await states(a)
        assert set(before.values()) == {"OPEN"}
        async with sharing(tmp_path, "b") as b:
            await level(a, b)
            assert await states(b) == await states(a) == before
            ((status,),) = await b.log.select("SELECT status FROM operations WHERE op_type = 'fixture.slow'")
            assert status == "running"
            ops.release.set()
            assert (await running).error is None
            await level(a, b)
            ((status,),) = await b.log.select("SELECT status FROM operations WHERE op_type = 'fixture.slow'")
            assert status == "ok"
            for opened in (a, b):
                assert (
                    await opened.log.readers.run(
                        lambda connection: [name for table in tables() for name in differences(connection, table)]
                    )
                    == []
                )
            await level(a, b)
    ledgers = [tmp_path / name / ".codeplane" / "ledger.db" for name in ("a", "b")]
    # A was the last to leave, and B applies that when it starts again.
    async with sharing(tmp_path, "b") as b:
        await b.log.catch_up()
        async with sharing(tmp_path, "a") as a:
            await level(a, b)
            assert rows_of(ledgers[0]) == rows_of(ledgers[1])


@requirement("SHR-05")
async def test_what_a_plane_itself_left_is_ended_by_its_next_start_alone(tmp_path: Path) -> None:
    async with sharing(tmp_path, "a") as a:
        await a.conveyor.call("fixture.read", {}, AGENT)
        await a.log.flush()
        ((task, session),) = await a.log.select("SELECT task_id, session_id FROM tasks")
        # As after kill -9: neither its task nor its session is closed.
        a.sessions._by_id.clear()
    async with sharing(tmp_path, "b") as b:
        assert await states(b) == {str(task): "OPEN"}
        async with sharing(tmp_path, "a") as a:
            assert await states(a) == {str(task): "CLOSED_INTERRUPTED"}
            await b.log.catch_up()
            assert await states(b) == {str(task): "CLOSED_INTERRUPTED"}
            closed = await b.log.select("SELECT reason FROM sessions WHERE session_id = ?", (session,))
            assert closed == [("crash-recover",)]


@requirement("SHR-04")
async def test_settings_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid, match="no absolute path"):
        async with plane(tmp_path / "a", "ledger.shared=here"):
            pass
    async with sharing(tmp_path, "a") as a:
        assert (await a.conveyor.call("status", {}, OWNER)).error is None
    with pytest.raises(SharedLogMismatch):
        async with plane(tmp_path / "a"):
            pass
    async with sharing(tmp_path, "a"):
        pass
