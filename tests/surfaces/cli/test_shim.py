"""`cpl mcp`: a client's stdio, carried to the server and back."""

import json
import os
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from codeplane.kernel.json import JsonObject
from tests.harness import CPL, AnyProcess, Server, cpl, start, talking
from tests.interaction.requirements import requirement
from tests.surfaces.http.wire import get_field

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "shim test", "version": "1"}}
LONG = 1024 * 1024


class Shim:
    """A client's end of `cpl mcp`."""

    def __init__(self, process: AnyProcess, stdin: IO[bytes]) -> None:
        self.process = process
        assert process.stdout and process.stderr
        self.stdin, self.stdout, self.stderr = stdin, process.stdout, process.stderr

    def send(self, method: str, params: JsonObject | None = None, *, number: int | None = None) -> None:
        message: JsonObject = {"jsonrpc": "2.0", "method": method, "params": params or {}}
        if number is not None:
            message["id"] = number
        self.stdin.write(json.dumps(message).encode() + b"\n")
        self.stdin.flush()

    def receive(self) -> JsonObject:
        message: JsonObject = json.loads(self.stdout.readline())
        return message

    def hello(self) -> JsonObject:
        self.send("initialize", HELLO, number=0)  # type: ignore[arg-type]  # plain JSON
        answer = self.receive()
        self.send("notifications/initialized")
        return answer

    def call(self, name: str, arguments: JsonObject, *, number: int) -> JsonObject:
        self.send("tools/call", {"name": name, "arguments": arguments}, number=number)
        return self.receive()


@contextmanager
def shim(repo: Path, *arguments: str, cwd: Path | None = None) -> Iterator[Shim]:
    with talking("mcp", "--repo", str(repo), *arguments, cwd=cwd) as (process, stdin):
        yield Shim(process, stdin)


class TestTalk:
    @requirement("CLI-07")
    def test_both_directions_until_the_client_has_said_everything(self, codeplane_server: Server) -> None:
        with shim(codeplane_server.repo) as client:
            assert get_field(client.hello(), "result", "serverInfo", "name") == "codeplane"
            answer = client.call("status", {}, number=1)
            assert str(codeplane_server.repo) in str(get_field(answer, "result", "content", 0, "text"))
            client.stdin.close()
            assert client.process.wait(timeout=30) == 0
            assert (client.stdout.read(), client.stderr.read()) == (b"", b"")

    def test_what_is_asked_last_is_still_answered(self, codeplane_server: Server) -> None:
        with shim(codeplane_server.repo) as client:
            client.hello()
            client.send("tools/call", {"name": "status", "arguments": {}}, number=7)
            client.stdin.close()
            assert client.receive()["id"] == 7
            assert client.process.wait(timeout=30) == 0

    def test_a_megabyte_each_way(self, fixture_server: Server) -> None:
        with shim(fixture_server.repo) as client:
            client.hello()
            answer = client.call("fixture_answer", {"size": LONG}, number=1)
            assert get_field(answer, "result", "content", 0, "text") == "x" * LONG
            back = client.call("fixture_paths", {"paths": ["é" * LONG]}, number=2)
            assert len(str(get_field(back, "result", "content", 0, "text"))) > LONG

    def test_toolset_and_structure_are_chosen_by_options(self, codeplane_server: Server) -> None:
        with shim(codeplane_server.repo, "--toolset", "all", "--structured") as client:
            client.hello()
            client.send("tools/list", number=1)
            tools = get_field(client.receive(), "result", "tools")
            assert isinstance(tools, list)
            assert "ledger_events" in {tool["name"] for tool in tools}
            assert (
                get_field(client.call("status", {}, number=2), "result", "structuredContent", "api_version") == "1.0.0"
            )
        with shim(codeplane_server.repo, "--toolset=core") as client:
            client.hello()
            client.send("tools/list", number=1)
            tools = get_field(client.receive(), "result", "tools")
            assert isinstance(tools, list)
            assert "ledger_events" not in {tool["name"] for tool in tools}

    def test_the_project_is_where_the_client_says(self, codeplane_server: Server, tmp_path: Path) -> None:
        done = cpl("mcp", cwd=tmp_path, environ={"CLAUDE_PROJECT_DIR": str(codeplane_server.repo)}, stdin="")
        assert (done.returncode, done.stderr) == (0, "")

    def test_a_session_closes_with_its_client(self, codeplane_server: Server) -> None:
        with shim(codeplane_server.repo) as client:
            client.hello()
            client.call("status", {}, number=1)
            session = codeplane_server.call("ledger.events", types=["session.opened"], newest=True, limit=1)
            client.process.kill()
        session_id = get_field(session, "result", "results", 0, "session_id")
        with subprocess.Popen(
            [CPL, "log", "--session", str(session_id), "--type", "session.closed", "--json", "--follow"],
            cwd=codeplane_server.repo,
            stdout=subprocess.PIPE,
        ) as log:
            assert log.stdout is not None
            assert json.loads(log.stdout.readline())["payload"]["reason"] == "disconnect"
            log.kill()


class TestStart:
    @requirement("CLI-07")
    def test_two_at_once_start_one_server_between_them(self, repo: Path) -> None:
        try:
            with shim(repo) as one, shim(repo) as two:
                for client in (one, two):
                    client.send("initialize", HELLO, number=0)  # type: ignore[arg-type]  # plain JSON
                for client in (one, two):
                    assert get_field(client.receive(), "result", "serverInfo", "name") == "codeplane"
                    client.send("notifications/initialized")
                pids = {
                    str(get_field(client.call("status", {}, number=1), "result", "content", 0, "text"))
                    .split("pid ")[1]
                    .split()[0]
                    for client in (one, two)
                }
                assert len(pids) == 1
                facts = json.loads((repo / ".codeplane/server.json").read_text())
                assert ({str(facts["pid"])}, facts["detached"]) == (pids, True)
                for client in (one, two):
                    client.stdin.close()
                    assert client.process.wait(timeout=30) == 0
        finally:
            cpl("down", cwd=repo)

    def test_settings_that_stop_the_server_are_told_on_stderr(self, repo: Path) -> None:
        (repo / ".codeplane").mkdir()
        (repo / ".codeplane/config.yaml").write_text("nonsense: 1\n")
        done = cpl("mcp", cwd=repo, stdin="")
        assert (done.returncode, done.stdout) == (1, "")
        assert "nonsense: unknown key" in done.stderr
        assert "(CONFIG_INVALID)\n\nhint: " in done.stderr

    @pytest.mark.parametrize("named", [True, False])
    def test_a_wrong_folder_is_told_on_stderr(self, tmp_path: Path, named: bool) -> None:
        arguments = ("--repo", str(tmp_path / "nowhere")) if named else ()
        # As git-lfs leaves it where it is installed: no repository.
        (tmp_path / ".git" / "lfs").mkdir(parents=True)
        done = cpl("mcp", *arguments, cwd=tmp_path, stdin="", environ={"CLAUDE_PROJECT_DIR": ""})
        assert (done.returncode, done.stdout) == (1, "")
        assert "(WORKSPACE_NOT_FOUND)\n\nhint: " in done.stderr


class TestEnd:
    @requirement("CLI-07")
    @pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
    def test_the_end_of_the_server_is_an_error_with_what_to_do(self, repo: Path, number: signal.Signals) -> None:
        server = start(repo)
        with shim(repo) as client:
            client.hello()
            server.process.send_signal(number)
            assert client.process.wait(timeout=30) == 3
            assert client.stdout.read() == b""
            assert b"error: the server ended (SERVER_UNREACHABLE)\n\nhint: reconnect" in client.stderr.read()
        server.process.wait(timeout=30)

    def test_a_client_that_stops_reading_is_let_go(self, fixture_server: Server) -> None:
        with shim(fixture_server.repo) as client:
            client.hello()
            client.stdout.close()
            client.send("tools/call", {"name": "fixture_answer", "arguments": {"size": LONG}}, number=1)
            assert client.process.wait(timeout=30) == 0
            assert client.stderr.read() == b""

    def test_without_a_stdin_there_is_nothing_to_do(self, codeplane_server: Server) -> None:
        done = subprocess.run(
            ["sh", "-c", f"exec {CPL} mcp --repo {codeplane_server.repo} <&-"], capture_output=True, timeout=60
        )
        assert (done.returncode, done.stdout) == (0, b"")

    def test_whoever_else_has_the_port_is_not_talked_to(self, repo: Path, codeplane_server: Server) -> None:
        """The server was there when it was asked for, and another has its place when it is called."""
        with socket.create_server(("127.0.0.1", 0)) as other:
            port = other.getsockname()[1]
            (repo / ".codeplane").mkdir()
            facts = json.loads(codeplane_server.workspace.server.read_text())
            forged = {**facts, "port": port, "pid": os.getpid(), "repo": str(repo)}
            (repo / ".codeplane/server.json").write_text(json.dumps(forged))
            health = json.dumps({"status": "ok", "instance": facts["instance"], "pid": os.getpid()}).encode()
            thread = threading.Thread(target=_impostor, args=(other, health), daemon=True)
            thread.start()
            done = cpl("mcp", cwd=repo, stdin="secrets\n")
            thread.join(timeout=30)
        assert (done.returncode, done.stdout) == (3, "")
        assert "not the server of this repository" in done.stderr


def _impostor(listener: socket.socket, health: bytes) -> None:
    """Says it is well, and then answers like any other web server."""
    for body in (health, b"hello"):
        connection, _ = listener.accept()
        with connection:
            connection.recv(65_536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
