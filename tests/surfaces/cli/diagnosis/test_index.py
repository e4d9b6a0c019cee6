"""Indexes that are damaged, old, fail, do not follow the disk, or leave out what cannot be read."""

import shutil
import sqlite3
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.diagnosis.index import judge_status
from tests.harness import CPL, Server, git, start, until
from tests.interaction.requirements import requirement
from tests.surfaces.cli.diagnosis.doctor_run import run_check, unused_port, wait_for_check

pytestmark = requirement("CLI-20")


@contextmanager
def served(repo: Path, *, wrapped: Sequence[str] = (), overrides: Sequence[str] = ()) -> Iterator[Server]:
    """A server with an index, started through another program if one is given."""
    running = start(repo, program=(*wrapped, CPL, "up", "--json") if wrapped else (), overrides=overrides)
    try:
        assert "result" in running.call("search", query="x", mode="symbol")
        yield running
    finally:
        running.stop()


@pytest.fixture
def indexed(repo: Path) -> Workspace:
    """A repository with an index and no server."""
    with served(repo):
        pass
    return Workspace(root=repo.resolve())


class TestOnDisk:
    def test_none_yet(self, workspace: Workspace) -> None:
        assert run_check(workspace, "index").found == "none yet; cpl up builds it"

    @pytest.mark.parametrize("name", ["index.db", "facts.db"])
    def test_a_damaged_or_an_old_one_is_made_again_by_the_next_start(self, indexed: Workspace, name: str) -> None:
        assert run_check(indexed, "index").verdict == "ok"
        file = indexed.home / name
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("PRAGMA user_version=1")
        found = run_check(indexed, "index")
        assert found.verdict == "warn" and f"{name}: of another CodePlane (schema 1" in found.found
        assert found.fix == "cpl up makes it again"
        file.write_bytes(b"no database at all, but long enough to look like one" * 100)
        found = run_check(indexed, "index")
        assert found.verdict == "warn" and f"{name}: damaged" in found.found
        with served(indexed.root):
            assert run_check(indexed, "index").verdict == "ok"


class TestServed:
    def test_one_that_follows(self, repo: Path) -> None:
        with served(repo) as running:
            until(lambda: _watching(running))
            found = run_check(running.workspace, "index")
            assert found.verdict == "ok" and found.found.startswith("epoch ") and found.found.endswith(", 1 file")

    def test_watching_that_is_switched_off(self, workspace: Workspace) -> None:
        workspace.config.write_text("index: {watch: false}\n")
        with served(workspace.root) as running:
            found = run_check(running.workspace, "index")
        assert found.verdict == "warn" and "the disk is not watched" in found.found
        assert found.fix.startswith("set index.watch: true")

    def test_a_system_without_watches_left(self, workspace: Workspace) -> None:
        used_up = 'echo 0 > /proc/sys/user/max_inotify_watches && exec "$@"'
        wrapped = ("unshare", "-Ur", "sh", "-c", used_up, "sh")
        if subprocess.run([*wrapped, "true"], capture_output=True).returncode:
            pytest.skip("no namespace of one's own can be had here, so nothing is proved")
        with served(workspace.root, wrapped=wrapped) as running:
            until(lambda: "the disk is not watched" in running.workspace.log.read_text())
            found = run_check(running.workspace, "index")
        assert found.verdict == "warn" and "the disk is not watched" in found.found
        assert "fs.inotify.max_user_watches" in found.fix

    def test_files_that_cannot_be_read(self, workspace: Workspace) -> None:
        wrapped = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")
        if shutil.which("setpriv") is None or subprocess.run([*wrapped, "true"], capture_output=True).returncode:
            pytest.skip("nobody here can be kept from reading, so nothing is proved")
        (workspace.root / "closed.txt").write_text("x")
        (workspace.root / "closed.txt").chmod(0)
        with served(workspace.root, wrapped=wrapped) as running:
            until(lambda: _watching(running))
            found = run_check(running.workspace, "index")
        assert found.verdict == "warn" and found.found.endswith("1 cannot be read") and "chmod u+r" in found.fix

    def test_a_model_that_does_not_answer(self, workspace: Workspace) -> None:
        with unused_port() as port:
            workspace.config.write_text(
                "embeddings: {model: endpoint, endpoint_model: m, dimensions: 8,"
                f" base_url: 'http://127.0.0.1:{port}/v1'}}\n"
            )
            with served(workspace.root) as running:
                until(lambda: "nothing is found by meaning" in run_check(running.workspace, "index").found)
                found = run_check(running.workspace, "index")
                answer = run_check(running.workspace, "outside")
        assert found.verdict == "warn"
        assert answer.verdict == "warn" and "embeddings.base_url" in answer.found

    def test_an_index_that_cannot_be_built(self, workspace: Workspace) -> None:
        running = start(workspace.root)
        try:
            until(lambda: "result" in running.call("search", query="x"))
        finally:
            running.stop()
        # Git lists what the index is made of.
        (workspace.root / ".git/index").write_bytes(b"broken")
        shutil.rmtree(workspace.home)
        running = start(workspace.root)
        try:
            found = wait_for_check(running.workspace, "index", "fail")
        finally:
            running.stop()
        assert "it cannot be built: git ls-files failed" in found.found


def test_memory_that_is_short_and_a_commit_that_is_not_reached(indexed: Workspace) -> None:
    with served(indexed.root) as running:
        until(lambda: _watching(running))
        state = _state(running)
    head = git(indexed.root, "rev-parse", "HEAD").strip()
    assert judge_status(state, head=head, watch=True).verdict == "ok"
    assert "and not yet" in judge_status(state, head="1" * 40, watch=True).found
    throttled: JsonObject = {**state, "symbols": {"epoch": 1, "throttled": True}}
    found = judge_status(throttled, head=head, watch=True)
    assert found.verdict == "warn" and "index.memory_mb" in found.fix


def _state(running: Server) -> JsonObject:
    result = running.call("status", include=["index"])["result"]
    assert isinstance(result, dict) and isinstance(result["index"], dict)
    return result["index"]


def _watching(running: Server) -> bool:
    return bool(_state(running).get("watching"))
