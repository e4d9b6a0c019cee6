"""Logs that are damaged or of a newer CodePlane, and clocks that were put back."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from codeplane.kernel.clock import SECOND_NS, SystemClock
from codeplane.kernel.event import Draft
from codeplane.kernel.workspace import Workspace
from codeplane.wiring.app import load_workspace_config
from tests.harness import Server, cpl
from tests.interaction.requirements import requirement
from tests.kernel.plane import running_here
from tests.surfaces.cli.diagnosis.doctor_run import run_check
from tests.surfaces.http.wire import send

pytestmark = requirement("CLI-20")


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
    assert (run_check(workspace, "ledger").verdict, run_check(workspace, "ledger").found) == ("ok", "none yet")


def test_a_damaged_one(used: Workspace) -> None:
    assert run_check(used, "ledger").found.startswith("sound")
    data = bytearray(used.ledger.read_bytes())
    data[4096 : len(data) // 2] = b"\xa5" * (len(data) // 2 - 4096)
    used.ledger.write_bytes(data)
    found = run_check(used, "ledger")
    assert found.verdict == "fail" and "damaged" in found.found and "cpl doctor --salvage" in found.fix


def test_one_that_is_damaged_while_it_is_served(server: Server) -> None:
    server.call("session.create")
    with closing(sqlite3.connect(server.workspace.ledger, isolation_level=None)) as connection:
        assert connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
        (page,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'snapshots'").fetchone()
    with server.workspace.ledger.open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\xa5" * 4096)
    found = run_check(server.workspace, "ledger")
    assert found.verdict == "fail" and "damaged: " in found.found
    assert not any(output in found.found for output in ("gaps in", "tables that differ", "\n"))
    assert found.fix == "cpl down && cpl doctor --salvage && cpl up"


@pytest.mark.parametrize("replaced", [False, True])
def test_one_that_is_taken_away_while_it_is_served(server: Server, replaced: bool) -> None:
    assert run_check(server.workspace, "ledger").verdict == "ok"
    kept = server.workspace.ledger.rename(server.workspace.home / "kept.db")
    if replaced:
        server.workspace.ledger.write_bytes(kept.read_bytes())
    done = "replaced" if replaced else "deleted"
    for name in ("ledger", "server"):
        found = run_check(server.workspace, name)
        assert found.verdict == "fail" and f"ledger.db was {done} while it was served" in found.found
        assert found.fix.startswith("cpl down && cpl up")
    assert send(server, path="/ready").status == 503
    refused = cpl("call", "write_files", 'edits=[{"path": "new.txt", "content": "x"}]', cwd=server.repo)
    assert refused.returncode == 1 and f"ledger.db was {done}" in refused.stderr, refused.stderr
    assert not (server.repo / "new.txt").exists()
    assert f"ledger.db was {done}" in cpl("status", cwd=server.repo).stdout
    kept.replace(server.workspace.ledger)
    assert run_check(server.workspace, "ledger").verdict == "ok"


def test_one_that_is_gone(used: Workspace) -> None:
    used.ledger.unlink()
    found = run_check(used, "ledger")
    assert found.verdict == "warn" and "ledger.db is gone" in found.found and "backup" in found.fix
    assert cpl("call", "session.create", cwd=used.root).returncode == 0
    assert run_check(used, "ledger").verdict == "ok"


def test_one_of_a_newer_codeplane(used: Workspace) -> None:
    with closing(sqlite3.connect(used.ledger)) as connection:
        connection.execute("PRAGMA user_version=99")
    found = run_check(used, "ledger")
    assert found.verdict == "fail" and "99" in found.found and "upgrade" in found.fix


def test_tables_that_are_not_what_the_log_says(server: Server) -> None:
    server.call("session.create")
    with closing(sqlite3.connect(server.workspace.ledger, isolation_level=None)) as connection:
        assert connection.execute("DELETE FROM tasks").rowcount
    found = run_check(server.workspace, "ledger")
    assert (found.verdict, found.fix) == ("fail", "cpl call ledger.rebuild")
    assert "error" not in server.call("ledger.rebuild")
    assert run_check(server.workspace, "ledger").verdict == "ok"


async def test_a_clock_that_was_put_back(workspace: Workspace) -> None:
    assert run_check(workspace, "clock").verdict == "ok"
    loaded = load_workspace_config(workspace, (), {}).without_terminal()
    async with running_here(workspace, loaded=loaded, clock=Ahead()) as plane:
        await plane.log.append([Draft(stream="system", type="test.happened", payload={})])
    found = run_check(workspace, "clock")
    assert found.verdict == "warn" and " s behind the newest event" in found.found
    assert found.fix == "timedatectl set-ntp true"
