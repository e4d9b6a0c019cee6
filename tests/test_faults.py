"""What goes wrong around CodePlane: disks that are full, read-only or damaged, crashes, and files that lie."""

import json
import os
import random
import sqlite3
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.discovery import find_server
from codeplane.surfaces.cli.owner_client import OwnerClient
from tests.harness import Server, cpl, make_repo, start, until
from tests.interaction.requirements import requirement
from tests.surfaces.cli.test_doctor import damage
from tests.surfaces.http.wire import call, get_field, listed_events, send

CREATED = "task.opened"


@contextmanager
def mounted(*command: str, at: Path) -> Iterator[None]:
    """Something mounted, or the test skipped with the reason."""
    done = subprocess.run(["mount", *command, str(at)], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"this test needs to mount: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(at)], check=True)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A repository alone on a disk of a few megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    with mounted("-t", "tmpfs", "-o", "size=6m", "tmpfs", at=place):
        yield make_repo(place / "repo")


def fill(repo: Path) -> Path:
    """Take all the space that is left on the repository's disk."""
    filler = repo.parent / "filler"
    with filler.open("ab", buffering=0) as file:
        for size in (65_536, 4096, 512, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue
    return filler


def descriptions(server: Server) -> set[object]:
    """The descriptions of all tasks in the log."""
    found: set[object] = set()
    after = 0
    while events := listed_events(call(server, "ledger.events", {"types": [CREATED], "after": after, "limit": 1000})):
        found |= {get_field(event, "payload", "description") for event in events}
        after = int(str(events[-1]["position"]))
    return found


class TestFullDisk:
    @requirement("LOG-12")
    def test_reads_go_on_writes_say_so_and_nothing_acknowledged_is_lost(self, small_disk: Path) -> None:
        server = start(small_disk)
        try:
            acknowledged = set()

            def create(number: int) -> tuple[int, object]:
                answer = call(server, "session.create", {"description": f"task {number}"})
                if answer.status == 200:
                    acknowledged.add(f"task {number}")
                    return 200, None
                return answer.status, answer.error["error"]

            until(lambda: send(server, path="/ready").status == 200)
            assert create(0) == (200, None)
            filler = fill(small_disk)
            refused = next(found for number in range(1, 2000) if (found := create(number))[0] != 200)
            assert refused == (429, "STORAGE_FULL")

            assert call(server, "status").status == 200
            assert "task 0" in descriptions(server)
            until(lambda: "STORAGE_FULL" in str(send(server, path="/ready").json.get("problems")))
            assert send(server, path="/ready").status == 503
            assert send(server).status == 200
            assert server.process.poll() is None

            filler.unlink()
            # Nobody has to call for it to be seen.
            until(lambda: send(server, path="/ready").status == 200)
            assert create(5000) == (200, None)
            assert acknowledged <= descriptions(server)
            assert call(server, "ledger.verify").result["ok"] is True
            # Records of reads were lost meanwhile, and the log says how many.
            wanted = {"types": ["storage.recovered"]}
            recovered = until(lambda: listed_events(call(server, "ledger.events", wanted)))
            assert all(int(str(get_field(event, "payload", "lost_records"))) > 0 for event in recovered)
        finally:
            assert server.stop() == 0

    def test_a_start_without_space_says_so(self, small_disk: Path) -> None:
        fill(small_disk)
        for arguments in (("up",), ("up", "-d"), ("init", "--no-clients")):
            done = cpl(*arguments, cwd=small_disk)
            assert (done.returncode, done.stdout) == (1, ""), done.stdout
            assert "(STORAGE_FULL)" in done.stderr
            assert "hint: free space" in done.stderr
            assert "Traceback" not in done.stderr


class TestReadOnly:
    @requirement("SRV-11")
    def test_a_folder_that_cannot_be_written(self, repo: Path) -> None:
        assert cpl("call", "session.create", cwd=repo).returncode == 0
        home = repo / ".codeplane"
        with ExitStack() as stack:
            stack.enter_context(mounted("--bind", str(home), at=home))
            subprocess.run(["mount", "-o", "remount,ro,bind", str(home)], check=True)
            for arguments in (("up",), ("call", "status")):
                done = cpl(*arguments, cwd=repo)
                assert (done.returncode, done.stdout) == (1, "")
                assert "(STORAGE_READ_ONLY)" in done.stderr, done.stderr
                assert "hint: make .codeplane/ writable" in done.stderr
                assert "Traceback" not in done.stderr
            checks = {check["name"]: check for check in json.loads(cpl("doctor", "--json", cwd=repo).stdout)["checks"]}
            assert checks["home"]["verdict"] == "fail"
        assert cpl("call", "status", cwd=repo).returncode == 0

    def test_a_repository_that_cannot_be_written(self, repo: Path) -> None:
        with ExitStack() as stack:
            stack.enter_context(mounted("--bind", str(repo), at=repo))
            subprocess.run(["mount", "-o", "remount,ro,bind", str(repo)], check=True)
            done = cpl("up", cwd=repo)
        assert done.returncode == 1
        assert "(STORAGE_READ_ONLY)" in done.stderr


class TestHome:
    @requirement("SRV-11")
    def test_a_file_in_its_place(self, repo: Path) -> None:
        (repo / ".codeplane").write_text("mine")
        for arguments in (("up",), ("init", "--no-clients")):
            done = cpl(*arguments, cwd=repo)
            assert (done.returncode, done.stdout) == (1, "")
            assert f"hint: move away what is at {repo}/.codeplane" in done.stderr
        assert (repo / ".codeplane").read_text() == "mine"

    @pytest.mark.parametrize("name", ["owner.token", "lock", "ledger.db", "server.json"])
    def test_a_folder_where_a_file_should_be(self, repo: Path, name: str) -> None:
        (repo / ".codeplane" / name).mkdir(parents=True)
        done = cpl("up", cwd=repo)
        assert (done.returncode, done.stdout) == (1, "")
        assert "error: " in done.stderr and "hint: " in done.stderr
        assert "Traceback" not in done.stderr


class TestLedger:
    @requirement("LOG-11")
    def test_a_damaged_one_is_salvaged_on_request_only(self, repo: Path) -> None:
        assert cpl("call", "session.create", cwd=repo).returncode == 0
        ledger = repo / ".codeplane/ledger.db"
        damage(ledger)
        before = ledger.read_bytes()
        done = cpl("up", cwd=repo)
        assert (done.returncode, done.stdout) == (1, "")
        assert "(LEDGER_CORRUPT)" in done.stderr
        assert "cpl doctor --salvage" in done.stderr
        assert ledger.read_bytes() == before
        assert cpl("doctor", "--salvage", cwd=repo).returncode == 0
        server = start(repo)
        try:
            assert call(server, "session.create").status == 200
            assert call(server, "ledger.verify").result["ok"] is True
        finally:
            assert server.stop() == 0

    def test_a_newer_one_is_left_alone(self, repo: Path) -> None:
        assert cpl("call", "session.create", cwd=repo).returncode == 0
        ledger = repo / ".codeplane/ledger.db"
        with sqlite3.connect(ledger) as connection:
            connection.execute("PRAGMA user_version = 99")
        connection.close()
        before = ledger.read_bytes()
        done = cpl("up", cwd=repo)
        assert (done.returncode, done.stdout) == (1, "")
        assert "schema 99" in done.stderr
        assert "(SCHEMA_TOO_NEW)\n\nhint: upgrade CodePlane" in done.stderr
        assert ledger.read_bytes() == before


class TestCrashes:
    @requirement("LOG-13")
    def test_what_was_acknowledged_survives_every_kill(self, repo: Path) -> None:
        random_moments = random.Random(7)
        acknowledged: set[object] = set()
        for kill in range(3):
            server = start(repo)
            if kill:
                assert acknowledged <= descriptions(server)
                assert call(server, "ledger.verify").result["ok"] is True
            _load_until_killed(server, acknowledged, f"run {kill}", after=random_moments.randint(1, 60))
        server = start(repo)
        try:
            assert len(acknowledged) >= 5
            assert acknowledged <= descriptions(server)
            assert call(server, "ledger.verify").result["ok"] is True
            running = call(server, "task.list", {"state": "OPEN"}).result["results"]
            assert isinstance(running, list)
            # Only the one that asks is open.
            assert len(running) <= 1
        finally:
            assert server.stop() == 0


def _load_until_killed(server: Server, acknowledged: set[object], name: str, *, after: int) -> None:
    """Two clients that create tasks as fast as they can, until so many are acknowledged and the server is killed."""
    enough = threading.Event()
    counts = [0]

    def work(number: int, client: OwnerClient) -> None:
        for index in range(10_000):
            description = f"{name} client {number} task {index}"
            try:
                answer = client.call("session.create", {"description": description})
            except Exception:
                enough.set()
                return
            if "result" in answer:
                acknowledged.add(description)
                counts[0] += 1
            if counts[0] >= after:
                enough.set()

    client = server.client()
    threads = [threading.Thread(target=work, args=(number, client)) for number in range(2)]
    for thread in threads:
        thread.start()
    assert enough.wait(timeout=60)
    server.kill()
    for thread in threads:
        thread.join(timeout=60)
        assert not thread.is_alive()


FORGERIES: dict[str, Callable[[Server], str]] = {
    "empty": lambda server: "",
    "not JSON": lambda server: "{",
    "not an object": lambda server: "[1, 2]",
    "a number": lambda server: "7",
    "too deep": lambda server: "[" * 100_000,
    "half of it": lambda server: server.workspace.server.read_text()[:40],
    "of another repository": lambda server: server.workspace.server.read_text(),
    "nobody there": lambda server: _facts(server, port=1),
    "an impossible port": lambda server: _facts(server, port=99_999_999),
    "a negative port": lambda server: _facts(server, port=-1),
    "another machine": lambda server: _facts(server, host="example.com"),
    "no host name": lambda server: _facts(server, host="a" * 300),
    "a pid that is none": lambda server: _facts(server, pid="many"),
    "another pid": lambda server: _facts(server, pid=os.getpid()),
}


def _facts(server: Server, **changes: object) -> str:
    return json.dumps({**json.loads(server.workspace.server.read_text()), **changes})


class TestForgedFacts:
    @requirement("SRV-11")
    def test_no_forged_file_is_believed(self, codeplane_server: Server, repo: Path) -> None:
        (repo / ".codeplane").mkdir()
        for name, forgery in FORGERIES.items():
            (repo / ".codeplane/server.json").write_text(forgery(codeplane_server))
            assert find_server(Workspace(root=repo)) is None, name
            assert find_server(Workspace(root=repo), even_ending=True) is None, name
        done = cpl("status", cwd=repo)
        assert (done.returncode, done.stderr) == (3, "")

    def test_and_none_keeps_a_server_from_starting(self, codeplane_server: Server, repo: Path) -> None:
        home = repo / ".codeplane"
        home.mkdir()
        (home / "server.json").write_text(FORGERIES["of another repository"](codeplane_server))
        (home / "port").write_bytes(b"\xff garbage \0")
        done = cpl("up", "-d", "--json", cwd=repo)
        try:
            assert done.returncode == 0, done.stderr
            output = json.loads(done.stdout)
            assert output["note"] == "started"
            assert output["pid"] != codeplane_server.process.pid
            assert (home / "port").read_text() == f"{output['port']}\n"
        finally:
            cpl("down", cwd=repo)
