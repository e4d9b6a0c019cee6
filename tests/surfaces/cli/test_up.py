"""`cpl up`: one server for a repository, however often and from wherever it is asked for."""

import errno
import json
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from itertools import count, islice
from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject
from codeplane.surfaces.http.binding import stable_port
from tests.harness import CPL, PATIENCE_SEC, Server, cpl, git, make_repo, start, until
from tests.interaction.requirements import requirement
from tests.surfaces.http.test_shutdown import PROGRAM, Slow
from tests.surfaces.http.wire import call, frames, get_field, listed_events, send, stream
from tests.warm_process import WarmProcess


@pytest.fixture
def tidy(repo: Path) -> Iterator[Path]:
    """A repository whose server is ended afterwards, also one that only starts by then or is slow to answer."""
    yield repo
    until(lambda: cpl("down", cwd=repo).returncode == 0)
    for pid in in_the_background(repo):
        os.kill(pid, signal.SIGKILL)


def up(repo: Path, *arguments: str) -> JsonObject:
    """What `cpl up --json` says, which has to go well."""
    done = cpl("up", "--json", *arguments, cwd=repo)
    assert done.returncode == 0, done.stderr
    output: JsonObject = json.loads(done.stdout)
    return output


class TestOne:
    @pytest.mark.parametrize("how", [(), ("--detach",)], ids=["foreground", "detached"])
    def test_the_second_finds_the_first(self, codeplane_server: Server, how: tuple[str, ...]) -> None:
        output = up(codeplane_server.repo, *how)
        assert (output["pid"], output["note"]) == (codeplane_server.process.pid, "already running")
        assert (output["url"], output["repo"]) == (codeplane_server.url, str(codeplane_server.repo))

    def test_settings_for_a_server_that_runs_are_not_passed_over_in_silence(self, codeplane_server: Server) -> None:
        done = cpl("up", "--set", "mcp.toolset=all", cwd=codeplane_server.repo)
        assert done.returncode == 0
        assert "already running" in done.stdout
        assert "--set has no effect" in done.stderr

    @requirement("MCP-12")
    def test_without_refactoring_the_setting_is_named(self, tidy: Path) -> None:
        up(tidy, "--detach", "--no-refactor")
        done = cpl("call", "refactor.rename", "symbol=a", "new_name=b", cwd=tidy)
        assert done.returncode == 1
        assert "refactor.rename is switched off by refactor.enabled: false (OPERATION_DISABLED)" in done.stderr
        assert "set refactor.enabled: true in .codeplane/config.yaml" in done.stderr

    def test_its_arguments_do_not_name_the_repository(self, tidy: Path) -> None:
        output = up(tidy, "--detach")
        arguments = Path(f"/proc/{output['pid']}/cmdline").read_text()
        assert "codeplane" in arguments and str(tidy) not in arguments and tidy.name not in arguments.split("\0")
        assert output["repo"] == str(tidy)
        done = cpl("status", "--json", cwd=tidy)
        assert done.returncode == 0, done.stderr

    @requirement("SRV-06")
    def test_of_five_at_once_one_serves(self, tidy: Path) -> None:
        forms = [[], ["-d"], [], ["-d"], []]
        with ExitStack() as stack:
            racing = [WarmProcess([CPL, "up", "--json", *form], cwd=tidy) for form in forms]
            for process in racing:
                stack.enter_context(process)
                # Before it is waited for, where a line below fails.
                stack.callback(process.kill)
            lines = [process.stdout.readline() for process in racing]
            assert all(lines), [process.stderr.read() for process in racing if process.poll() is not None]
            output = [json.loads(line) for line in lines]
            (pid,) = {one["pid"] for one in output}
            winners = [one["note"] for one in output if one["note"] != "already running"]
            assert winners in (["started"], ["Ctrl+C ends it"])
            assert send(Server(repo=tidy, process=racing[0], facts=output[0])).json["pid"] == pid
            for process in racing:
                if process.pid != pid:
                    assert process.wait(timeout=PATIENCE_SEC) == 0
            # Those in the background that came too late are gone as well: they would serve once this one ends.
            assert in_the_background(tidy) <= {pid}
            assert cpl("down", cwd=tidy).returncode == 0
            for process in racing:
                assert process.wait(timeout=PATIENCE_SEC) == 0

    def test_one_that_comes_too_late_does_not_serve_afterwards(self, repo: Path) -> None:
        late = subprocess.Popen([CPL, "up", "-d", "--json"], cwd=repo, stdout=subprocess.PIPE)
        (slow,) = until(lambda: in_the_background(repo))
        os.kill(slow, signal.SIGSTOP)
        first = start(repo)
        try:
            assert json.loads(_line(late))["note"] == "already running"
            assert late.wait(timeout=30) == 0
            assert in_the_background(repo) == set()
        finally:
            with suppress(ProcessLookupError):
                os.kill(slow, signal.SIGKILL)
            first.stop()
            assert late.stdout is not None
            late.stdout.close()

    def test_one_that_is_ending_is_waited_for_and_followed(self, repo: Path, tmp_path: Path) -> None:
        old = start(repo, program=PROGRAM)
        slow = Slow(server=old, folder=tmp_path)
        slow.begin("slow.read", "file")
        old.process.send_signal(signal.SIGTERM)
        until(lambda: send(old).json["status"] == "ending")
        following = WarmProcess([CPL, "up", "-d", "--json"], cwd=repo)
        try:
            slow.release("file")
            assert old.process.wait(timeout=30) == 0
            output = json.loads(following.stdout.readline())
            assert (following.wait(timeout=30), output["note"]) == (0, "started")
            assert output["pid"] != old.process.pid
        finally:
            cpl("down", cwd=repo)
            following.stdout.close()
            following.stderr.close()


def in_the_background(repo: Path) -> set[int]:
    """The processes that serve a repository in the background, or are about to."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (folder / "cwd").readlink() == repo and "--background" in (folder / "cmdline").read_text().split("\0"):
                found.add(int(folder.name))
    return found


def is_free(port: int) -> bool:
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


def with_free_port(folder: Path) -> Path:
    """A repository whose own port nobody has: other programs of the machine may have that of one, but not of all."""
    places = (folder.resolve() / f"r{number}" for number in range(100))
    return make_repo(next(place for place in places if is_free(stable_port(place))))


def take_port(folder: Path) -> tuple[socket.socket, Path]:
    """A repository and a socket on its port: the port of one that nobody else has taken meanwhile."""
    for number in count():
        repo = folder / f"repo-{number}"
        try:
            taken = socket.create_server(("127.0.0.1", stable_port(repo.resolve())))
        except OSError as error:
            assert error.errno == errno.EADDRINUSE
            continue
        return taken, make_repo(repo)
    raise AssertionError("unreachable")


class TestPlace:
    def test_the_port_stays_and_is_written_down(self, tmp_path: Path) -> None:
        repo = with_free_port(tmp_path)
        for _ in range(2):
            server = start(repo)
            assert server.port == stable_port(repo.resolve())
            assert server.workspace.port.read_text() == f"{server.port}\n"
            assert json.loads(server.workspace.server.read_text())["port"] == server.port
            assert server.stop() == 0

    def test_another_port_when_it_is_taken(self, tmp_path: Path) -> None:
        taken, repo = take_port(tmp_path)
        with taken:
            server = start(repo)
            try:
                assert server.port != stable_port(repo.resolve())
                assert server.workspace.port.read_text() == f"{server.port}\n"
                assert cpl("status", cwd=repo).returncode == 0
            finally:
                server.stop()

    @pytest.mark.parametrize("how", [(), ("-d",)], ids=["foreground", "detached"])
    def test_a_port_that_was_asked_for_and_is_taken(self, repo: Path, how: tuple[str, ...]) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            done = cpl("up", *how, "--set", f"server.port={port}", cwd=repo)
        assert done.returncode == 1
        assert "(BIND_REFUSED)" in done.stderr
        assert "hint: choose another with --set server.port=N" in done.stderr
        assert done.stdout == ""
        assert not (repo / ".codeplane/server.json").exists()

    def test_an_address_that_others_can_reach(self, repo: Path) -> None:
        done = cpl("up", "--set", "server.host=0.0.0.0", cwd=repo)
        assert (done.returncode, done.stdout) == (1, "")
        assert "(BIND_REFUSED)" in done.stderr

    def test_ipv6(self, repo: Path) -> None:
        if not socket.has_ipv6 or not Path("/proc/net/if_inet6").exists():
            pytest.skip("this machine has no ::1")
        server = start(repo, overrides=["server.host=::1"])
        try:
            assert server.url == f"http://[::1]:{server.port}"
            assert send(server).status == 200
            assert cpl("status", cwd=repo).returncode == 0
            assert cpl("mcp", cwd=repo, stdin="").returncode == 0
        finally:
            server.stop()

    def test_outside_a_repository(self, tmp_path: Path) -> None:
        done = cpl("up", cwd=tmp_path)
        assert done.returncode == 1
        assert "(WORKSPACE_NOT_FOUND)" in done.stderr
        assert "hint: to use this folder as it is: cpl up --repo ." in done.stderr
        assert list(tmp_path.iterdir()) == []

    def test_in_a_folder_that_is_gone(self, tmp_path: Path) -> None:
        gone = tmp_path / "gone"
        gone.mkdir()
        command = f"cd {gone} && rmdir {gone} && {CPL} up"
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60)
        assert done.returncode == 1
        assert "error: " in done.stderr and "hint: " in done.stderr
        assert "Traceback" not in done.stderr

    def test_modules_of_the_repository_do_not_stand_in_for_ours(self, tmp_path: Path) -> None:
        trap = "raise SystemExit('the repository was imported')\n"
        files = dict.fromkeys(["yaml.py", "codeplane/__init__.py", "typer.py", "json.py"], trap)
        repo = make_repo(tmp_path / "trap", files)
        try:
            # With interpreters of their own: a forked process has all its modules already.
            command = [CPL, "up", "--json", "--detach"]
            done = subprocess.run(command, cwd=repo, capture_output=True, text=True, timeout=PATIENCE_SEC)
            assert done.returncode == 0 and json.loads(done.stdout)["note"] == "started", done.stderr
        finally:
            cpl("down", cwd=repo)


class TestSettings:
    @requirement("CLI-08")
    def test_the_nearer_source_wins(self, repo: Path, tmp_path: Path) -> None:
        user, own = tmp_path / "config/codeplane/config.yaml", repo / ".codeplane/config.yaml"
        user.parent.mkdir(parents=True)
        own.parent.mkdir()
        environ = {"XDG_CONFIG_HOME": str(tmp_path / "config")}

        def mode(*arguments: str) -> str:
            done = cpl("call", "status", "--json", *arguments, cwd=repo, environ=environ)
            return str(json.loads(done.stdout)["result"]["config"]["trust_mode"])

        user.write_text("trust:\n  mode: automatic\n")
        assert mode() == "automatic"
        own.write_text("trust:\n  mode: trust\n")
        assert mode() == "trust"
        environ["CODEPLANE__TRUST__MODE"] = "automatic"
        assert mode() == "automatic"
        assert mode("--set", "trust.mode=trust") == "trust"

    @requirement("CLI-08")
    @pytest.mark.parametrize("how", [(), ("-d",)], ids=["foreground", "detached"])
    def test_an_unknown_key_is_named_with_its_place(self, repo: Path, how: tuple[str, ...]) -> None:
        config = repo / ".codeplane/config.yaml"
        config.parent.mkdir()
        config.write_text("server:\n  prot: 8080\n")
        done = cpl("up", *how, cwd=repo)
        assert (done.returncode, done.stdout) == (1, "")
        assert f"error: {config}:2: server.prot: unknown key; did you mean 'port'?" in done.stderr
        assert "(CONFIG_INVALID)" in done.stderr
        assert "\n\nhint: " in done.stderr

    def test_an_error_is_an_envelope_for_programs(self, repo: Path) -> None:
        done = cpl("up", "--json", "--set", "server.port=high", cwd=repo)
        assert done.returncode == 1
        assert json.loads(done.stdout)["error"]["error"] == "CONFIG_INVALID"


class TestAfterACrash:
    @requirement("SRV-06")
    def test_it_starts_again_at_once_and_mends_what_was_open(self, tmp_path: Path) -> None:
        repo = with_free_port(tmp_path)
        first = start(repo)
        session = call(first, "session.create", {"description": "cut off"}).result["session_id"]
        call(first, "ledger.verify")
        first.kill()
        assert cpl("status", cwd=repo).returncode == 3
        second = start(repo)
        try:
            assert second.port == first.port
            wanted = {"in_session": session, "types": ["task.closed", "session.closed"]}
            ends = listed_events(call(second, "ledger.events", wanted))
            assert {get_field(event, "payload", "reason") for event in ends} == {"crash-recover"}
            assert {get_field(event, "payload", "state") for event in ends} == {"CLOSED_INTERRUPTED", None}
            assert call(second, "ledger.verify").result["ok"] is True
        finally:
            second.stop()


class TestIdle:
    @requirement("SRV-09")
    def test_a_detached_server_ends_when_nobody_is_there_and_not_before(self, tidy: Path) -> None:
        output = up(tidy, "-d", "--set", "server.idle_exit_sec=1")
        server = Server(repo=tidy, process=None, facts=output)  # type: ignore[arg-type]  # it is nobody's child
        with stream(server, "ledger.watch", {"heartbeat_sec": 0.1, "from_now": True}) as response:
            beats = (item for _, item in frames(response) if "heartbeat" in item)
            assert len(list(islice(beats, 15))) == 15
        until(lambda: not server.workspace.server.exists())
        until(lambda: not _alive(int(str(output["pid"]))))

    def test_one_in_the_foreground_stays(self, repo: Path) -> None:
        server = start(repo, overrides=["server.idle_exit_sec=0.1"])
        try:
            with pytest.raises(subprocess.TimeoutExpired):
                server.process.wait(timeout=0.6)
        finally:
            assert server.stop() == 0


class TestDown:
    def test_not_running_is_fine(self, repo: Path) -> None:
        done = cpl("down", cwd=repo)
        assert (done.returncode, done.stdout) == (0, "not running\n")

    def test_it_waits_until_the_server_is_gone(self, repo: Path) -> None:
        server = start(repo)
        done = cpl("down", cwd=repo)
        assert (done.returncode, done.stdout) == (0, f"ended (pid {server.process.pid})\n")
        assert server.process.wait(timeout=30) == 0
        assert not server.workspace.server.exists()
        assert cpl("down", cwd=repo).stdout == "not running\n"

    def test_a_folder_inside_that_is_named_does_not_end_the_server_around_it(self, repo: Path) -> None:
        server = start(repo)
        try:
            (repo / "wt").mkdir()
            done = cpl("down", "--repo", "wt", cwd=repo)
            assert (done.returncode, done.stdout) == (0, "not running\n")
            assert f"cpl down --repo {repo.resolve()}" in done.stderr and server.process.poll() is None
            # From inside, without a name, the repository around is meant, and is named.
            done = cpl("down", cwd=repo / "wt")
            assert done.stdout == f"ended (pid {server.process.pid}): {repo.resolve()}\n"
        finally:
            server.stop()

    @pytest.mark.parametrize("pid", [0, -1, 1, pytest.param(os.getpid(), id="own")])
    def test_nobody_else_is_ended_by_a_forged_file(self, codeplane_server: Server, tmp_path: Path, pid: int) -> None:
        facts = json.loads(codeplane_server.workspace.server.read_text())
        repo = make_repo(tmp_path / "other")
        (repo / ".codeplane").mkdir()
        for forged in ({**facts, "pid": pid}, {**facts, "pid": pid, "repo": str(repo)}):
            (repo / ".codeplane/server.json").write_text(json.dumps(forged))
            assert cpl("down", cwd=repo).stdout == "not running\n"
        assert codeplane_server.process.poll() is None


def _line(process: "subprocess.Popen[bytes]") -> bytes:
    assert process.stdout is not None
    return process.stdout.readline()


def _alive(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


class TestRemovedFolder:
    @requirement("GIT-14")
    def test_a_work_tree_that_is_served_is_not_removed_and_its_server_ends_with_the_folder(self, repo: Path) -> None:
        git(repo, "worktree", "add", "--quiet", "-b", "wt", "wt")
        outer, inner = start(repo), start(repo / "wt")
        try:
            for force in (False, True):
                error = outer.call("git.worktree_remove", name="wt", force=force)["error"]
                assert isinstance(error, dict) and error["error"] == "SERVER_RUNNING"
                assert f"pid {inner.process.pid}" in str(error["message"])
                assert f"cpl down --repo {inner.workspace.root}" in str(error["hint"])
            assert inner.process.poll() is None and (repo / "wt" / "README.md").exists()
            # At once, as nothing that is deleted bit by bit beside a server that writes into it would go.
            gone = inner.workspace.home.rename(repo.parent / "gone")
            inner.process.wait(timeout=PATIENCE_SEC)
            shutil.rmtree(gone)
            assert not inner.workspace.home.exists()
            assert "result" in outer.call("git.worktree_remove", name="wt")
            assert not (repo / "wt").exists() and outer.process.poll() is None
        finally:
            inner.stop()
            outer.stop()
