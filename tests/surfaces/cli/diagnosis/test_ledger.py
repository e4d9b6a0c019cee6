"""Logs that are damaged or of a newer CodePlane, and clocks that were put back."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from codeplane.app import configuration, running
from codeplane.kernel.clock import SECOND_NS, SystemClock
from codeplane.kernel.event import Draft
from codeplane.kernel.workspace import Workspace
from tests.harness import Server, cpl
from tests.surfaces.cli.diagnosis.seen import seen


class Ahead(SystemClock):
    """A clock that is a day ahead."""

    def now_ns(self) -> int:
        return super().now_ns() + 86_400 * SECOND_NS


@pytest.fixture
def used(repo: Path) -> Workspace:
    """A repository with a ledger and no server."""
    assert cpl("call", "session.create", cwd=repo).returncode == 0
    return Workspace(root=repo.resolve())


def test_none(workspace: Workspace) -> None:
    assert (seen(workspace, "ledger").verdict, seen(workspace, "ledger").found) == ("ok", "none yet")


def test_a_damaged_one(used: Workspace) -> None:
    assert seen(used, "ledger").found.startswith("sound")
    data = bytearray(used.ledger.read_bytes())
    data[4096 : len(data) // 2] = b"\xa5" * (len(data) // 2 - 4096)
    used.ledger.write_bytes(data)
    found = seen(used, "ledger")
    assert found.verdict == "fail" and "damaged" in found.found and "cpl doctor --salvage" in found.fix


def test_one_of_a_newer_codeplane(used: Workspace) -> None:
    with closing(sqlite3.connect(used.ledger)) as connection:
        connection.execute("PRAGMA user_version=99")
    found = seen(used, "ledger")
    assert found.verdict == "fail" and "99" in found.found and "upgrade" in found.fix


def test_tables_that_are_not_what_the_log_says(server: Server) -> None:
    server.call("session.create")
    with closing(sqlite3.connect(server.workspace.ledger, isolation_level=None)) as connection:
        assert connection.execute("DELETE FROM tasks").rowcount
    found = seen(server.workspace, "ledger")
    assert (found.verdict, found.fix) == ("fail", "cpl call ledger.rebuild")
    assert "error" not in server.call("ledger.rebuild")
    assert seen(server.workspace, "ledger").verdict == "ok"


def test_a_clock_that_was_put_back(workspace: Workspace) -> None:
    assert seen(workspace, "clock").verdict == "ok"

    async def tomorrow() -> None:
        loaded = configuration(workspace, (), {}).without_terminal()
        async with running(workspace, loaded=loaded, clock=Ahead()) as plane:
            await plane.log.append([Draft(stream="system", type="test.happened", payload={})])

    asyncio.run(tomorrow())
    found = seen(workspace, "clock")
    assert found.verdict == "warn" and " s behind the newest event" in found.found
    assert found.fix == "timedatectl set-ntp true"
