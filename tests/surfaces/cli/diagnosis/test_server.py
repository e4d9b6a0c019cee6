"""Servers that are not there, hang, are others, or cannot have their ports."""

import contextlib
import json
import os
import signal
import socket
from pathlib import Path

import pytest

from codeplane import __version__
from codeplane.adapters.file_lock import FileLock
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.diagnosis.checklist import run_checks
from codeplane.surfaces.cli.diagnosis.server import server as looked_at
from codeplane.surfaces.cli.diagnosis.server_probe import ServerProbe
from codeplane.surfaces.cli.discovery import find_server
from tests.harness import Server, cpl, make_repo, start, until
from tests.interaction.requirements import requirement
from tests.ledger.disks import small_disk
from tests.surfaces.cli.diagnosis.doctor_run import run_check, server_probe
from tests.surfaces.http.wire import call, send
from tests.test_faults import fill

pytestmark = requirement("CLI-24")


def test_none(workspace: Workspace) -> None:
    found = run_check(workspace, "server")
    assert (found.verdict, found.found, found.fix) == ("warn", "not running", "cpl up")


def test_one_that_was_killed(server: Server) -> None:
    server.kill()
    found = run_check(server.workspace, "server")
    assert found.verdict == "warn" and found.fix == "cpl up"
    assert found.found == f"not running; the last one (pid {server.process.pid}) ended without shutting down"


def test_one_that_hangs_is_told_by_its_number_and_ends_nothing(server: Server) -> None:
    pid = server.process.pid
    os.kill(pid, signal.SIGSTOP)
    try:
        found = {check.name: check for check in run_checks(server.workspace)}
        done = cpl("down", cwd=server.repo)
    finally:
        os.kill(pid, signal.SIGCONT)
    assert found["server"].verdict == "warn" and f"pid {pid} has this repository" in found["server"].found
    assert f"kill -9 {pid}" in found["server"].fix
    # What can be seen without it still is.
    assert found["repository"].verdict == found["ledger"].verdict == "ok"
    assert done.returncode == 1 and f"kill -9 {pid}" in done.stderr and "(SERVER_RUNNING)" in done.stderr


def test_one_that_hangs_while_it_is_asked_is_asked_once(workspace: Workspace, server: Server) -> None:
    facts = find_server(server.workspace)
    assert facts is not None
    served = ServerProbe(server.workspace, facts, patience_sec=0.5)
    os.kill(server.process.pid, signal.SIGSTOP)
    try:
        found = looked_at(server.workspace, served)
        assert found.verdict == "fail" and "does not answer" in found.found
        assert f"kill -9 {server.process.pid}" in found.fix
    finally:
        os.kill(server.process.pid, signal.SIGCONT)
    # It would answer now, and is not asked: whoever hangs once would hold up every check.
    assert looked_at(server.workspace, served).verdict == "fail"
    assert looked_at(server.workspace, server_probe(server)).verdict == "ok"


def test_a_process_that_has_the_repository(workspace: Workspace) -> None:
    lock = FileLock(workspace.lock)
    lock.acquire()
    try:
        found = run_check(workspace, "server")
        status = cpl("status", cwd=workspace.root)
    finally:
        lock.release()
    assert status.returncode == 3 and f"pid {os.getpid()} has this repository" in status.stdout
    assert found.verdict == "warn" and f"pid {os.getpid()} has this repository" in found.found
    assert run_check(workspace, "server").found == "not running"


def test_one_whose_address_was_deleted_writes_it_down_again(server: Server) -> None:
    server.workspace.server.unlink()
    server.workspace.port.unlink()
    done = cpl("up", "-d", cwd=server.repo)
    assert done.returncode == 0 and f"pid {server.process.pid}, already running" in done.stdout
    until(server.workspace.port.exists)
    assert run_check(server.workspace, "server").verdict == "ok"
    assert cpl("status", cwd=server.repo).returncode == 0
    # The one that was started in vain would come up once this one has ended.
    assert until(lambda: not _starting(server.repo))


def _starting(repo: Path) -> bool:
    """Whether a server for a repository is being started in the background."""
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            # Its arguments do not name the repository: other accounts can read them.
            if b"--background" in (process / "cmdline").read_bytes() and (process / "cwd").readlink() == repo:
                return True
    return False


def test_one_of_another_version(server: Server) -> None:
    written = server.workspace.server
    written.write_text(json.dumps({**json.loads(written.read_text()), "version": "0.0.1"}))
    found = run_check(server.workspace, "server")
    assert (found.verdict, found.found) == ("warn", f"runs 0.0.1, this is {__version__}")
    assert found.fix == "cpl down && cpl up"


@pytest.mark.parametrize(
    ("token", "output"), [(b"\xff\xfe", "cannot be read"), (b"another-token-than-its-own-one", "unknown token")]
)
def test_a_token_that_is_not_its_own(server: Server, token: bytes, output: str) -> None:
    server.workspace.owner_token.write_bytes(token)
    found = {check.name: check for check in run_checks(server.workspace)}
    assert found["server"].verdict == "fail" and output in found["server"].found
    assert found["server"].fix == "cpl down && cpl up"
    # What only the server knows is not known, which is not the same as sound.
    for name in ("ledger", "waiting", "index"):
        assert (found[name].verdict, found[name].fix) == ("warn", "see server")


@pytest.mark.parametrize("left", [None, b"garbage\n"])
def test_what_it_says_of_a_token_that_is_gone_mends_it(repo: Path, left: bytes | None) -> None:
    assert cpl("up", "-d", cwd=repo).returncode == 0
    workspace = Workspace(root=repo.resolve())
    try:
        workspace.owner_token.unlink()
        if left is not None:
            workspace.owner_token.write_bytes(left)
            workspace.owner_token.chmod(0o600)
        found = run_check(workspace, "server")
        assert (found.verdict, found.fix) == ("fail", "cpl down && cpl up -d")
        assert cpl("down", cwd=repo).returncode == cpl("up", "-d", cwd=repo).returncode == 0
        assert run_check(workspace, "server").verdict == run_check(workspace, "secrets").verdict == "ok"
        # Nothing is replaced in silence.
        assert ("token was made again" in workspace.log.read_text()) is (left is not None)
    finally:
        assert cpl("down", cwd=repo).returncode == 0


def test_one_that_cannot_record_since_its_disk_is_full(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "6m") as disk:
        running = start(make_repo(disk / "repo"))
        try:
            until(lambda: send(running, path="/ready").status == 200)
            fill(running.repo)
            # It is noticed when something has to be recorded.
            assert any(call(running, "session.create").status != 200 for _ in range(2000))
            found = {check.name: check for check in run_checks(running.workspace)}
        finally:
            assert running.stop() == 0
    assert found["server"].verdict == "fail" and "STORAGE_FULL" in found["server"].found
    assert found["home"].verdict == "fail" and "its disk is full" in found["home"].found


class TestPorts:
    @pytest.mark.parametrize(
        ("text", "setting"),
        [
            ("server: {{port: {port}}}", "server.port"),
            ("grpc: {{port: {port}}}", "grpc.port"),
            ("server: {{tls: self_signed, tls_port: {port}}}", "server.tls_port"),
        ],
    )
    def test_a_port_that_somebody_has(self, workspace: Workspace, text: str, setting: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            workspace.config.write_text(text.format(port=port))
            found = run_check(workspace, "ports")
        assert found.verdict == "fail" and f"{setting} {port} is taken" in found.found
        assert f"--set {setting}=0" in found.fix

    def test_a_port_for_tls_that_nobody_wants(self, workspace: Workspace) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            workspace.config.write_text(f"server: {{tls_port: {taken.getsockname()[1]}}}")
            assert run_check(workspace, "ports").verdict == "ok"

    @pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "box.local"])
    def test_an_address_that_may_not_be_served(self, workspace: Workspace, host: str) -> None:
        workspace.config.write_text(f"server: {{host: {host}}}")
        found = run_check(workspace, "ports")
        assert found.verdict == "fail" and "server.host" in f"{found.found} {found.fix}"

    def test_any_port_will_do(self, workspace: Workspace) -> None:
        assert (run_check(workspace, "ports").verdict, run_check(workspace, "ports").found) == (
            "ok",
            "any that is free",
        )
