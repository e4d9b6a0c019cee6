"""`cpl acp`: a client's lines, carried to a WebSocket of the server and back."""

import json
import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.cli.socket_shim import MAX_MESSAGE_BYTES, Lines
from tests.harness import AnyProcess, Server, cpl, start, talking
from tests.interaction.requirements import requirement
from tests.surfaces.cli.test_help import SLOW, imported

pytestmark = requirement("ACP-01")

LONG = 3 * 1024 * 1024


class Client:
    """A client's end of `cpl acp`."""

    def __init__(self, process: AnyProcess, stdin: IO[bytes]) -> None:
        self.process = process
        assert process.stdout and process.stderr
        self.stdin, self.stdout, self.stderr = stdin, process.stdout, process.stderr

    def ask(self, number: int, **params: object) -> JsonObject:
        """Ask for `initialize`, which is always answered."""
        wanted = {"protocolVersion": 1, **params}
        message = {"jsonrpc": "2.0", "id": number, "method": "initialize", "params": wanted}
        self.stdin.write(json.dumps(message).encode() + b"\n")
        self.stdin.flush()
        return self.receive()

    def receive(self) -> JsonObject:
        message: JsonObject = json.loads(self.stdout.readline())
        return message


@contextmanager
def client_of(repo: Path, *arguments: str) -> Iterator[Client]:
    with talking("acp", "--repo", str(repo), *arguments) as (process, stdin):
        yield Client(process, stdin)


def test_it_imports_less_than_the_help() -> None:
    modules = imported("acp", "--help")
    assert "codeplane.surfaces.cli.socket_shim" in modules
    assert not modules & {*SLOW, "acp", "rich", "asyncio", "uvicorn", "pygit2", "typer", "click"}


class TestTalk:
    def test_both_directions_until_the_client_has_said_everything(self, codeplane_server: Server) -> None:
        with client_of(codeplane_server.repo) as client:
            assert client.ask(0)["id"] == 0
            client.stdin.close()
            assert client.process.wait(timeout=30) == 0
            assert (client.stdout.read(), client.stderr.read()) == (b"", b"")

    def test_what_is_asked_last_is_still_answered(self, codeplane_server: Server) -> None:
        lines = "".join(
            json.dumps({"jsonrpc": "2.0", "id": number, "method": "initialize", "params": {"protocolVersion": 1}})
            + "\n" * (number < 2)
            for number in range(3)
        )
        done = cpl("acp", cwd=codeplane_server.repo, stdin=lines)
        assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [0, 1, 2]
        assert (done.returncode, done.stderr) == (0, "")

    @pytest.mark.parametrize("size", [65_537, LONG])
    def test_long_lines(self, codeplane_server: Server, size: int) -> None:
        with client_of(codeplane_server.repo) as client:
            assert client.ask(0, _meta={"text": "a" * size})["id"] == 0

    def test_a_message_over_the_servers_limit_ends_with_a_reason(self, codeplane_server: Server) -> None:
        text = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "x", "params": {"text": "a" * (17 * 1024 * 1024)}})
        done = cpl("acp", cwd=codeplane_server.repo, stdin=text)
        assert done.returncode == 3
        assert "(SERVER_UNREACHABLE)" in done.stderr and "1009" in done.stderr


class TestStart:
    def test_it_starts_the_server_where_none_runs(self, repo: Path) -> None:
        try:
            with client_of(repo) as client:
                assert client.ask(0)["id"] == 0
                assert json.loads((repo / ".codeplane/server.json").read_text())["detached"] is True
        finally:
            cpl("down", cwd=repo)

    @pytest.mark.parametrize("arguments", [("--nonsense",), ("--repo",), ("--client=",), ("v2",)])
    def test_wrong_usage_is_two_and_on_stderr(self, repo: Path, arguments: tuple[str, ...]) -> None:
        done = cpl("acp", *arguments, cwd=repo, stdin="")
        assert (done.returncode, done.stdout) == (2, "")
        assert "hint: cpl acp --help" in done.stderr

    def test_a_folder_that_is_no_repository_is_refused(self, tmp_path: Path) -> None:
        done = cpl("acp", cwd=tmp_path, stdin="", environ={"CLAUDE_PROJECT_DIR": ""})
        assert (done.returncode, done.stdout) == (1, "")
        assert "(WORKSPACE_NOT_FOUND)\n\nhint: " in done.stderr


class TestEnd:
    @pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
    def test_the_end_of_the_server_is_an_error_with_what_to_do(self, repo: Path, number: signal.Signals) -> None:
        server = start(repo)
        with client_of(repo) as client:
            client.ask(0)
            server.process.send_signal(number)
            assert client.process.wait(timeout=30) == 3
            assert client.stdout.read() == b""
            assert b"(SERVER_UNREACHABLE)\n\nhint: reconnect" in client.stderr.read()
        server.process.wait(timeout=30)

    def test_whoever_else_has_the_port_is_not_talked_to(self, repo: Path, codeplane_server: Server) -> None:
        with socket.create_server(("127.0.0.1", 0)) as other:
            (repo / ".codeplane").mkdir()
            facts = json.loads(codeplane_server.workspace.server.read_text())
            forged = {**facts, "port": other.getsockname()[1], "pid": os.getpid(), "repo": str(repo)}
            (repo / ".codeplane/server.json").write_text(json.dumps(forged))
            health = json.dumps({"status": "ok", "instance": facts["instance"], "pid": os.getpid()}).encode()
            heard: list[bytes] = []
            thread = threading.Thread(target=_impostor, args=(other, health, heard), daemon=True)
            thread.start()
            done = cpl("acp", cwd=repo, stdin="secrets\n")
            thread.join(timeout=30)
        assert (done.returncode, done.stdout) == (3, "")
        assert "not the server of this repository" in done.stderr
        assert not any(b"secrets" in data for data in heard)


def _impostor(listener: socket.socket, health: bytes, heard: list[bytes]) -> None:
    """Says it is well, and then answers like any other web server."""
    for body in (health, b"hello"):
        connection, _ = listener.accept()
        with connection:
            heard.append(connection.recv(65_536))
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))


class TestLines:
    @pytest.mark.parametrize("size", [1, 2, 3, 100])
    def test_lines_come_whole_however_they_are_read(self, size: int) -> None:
        text = b'{"a": 1}\n\n  \r\n{"b": "\xc3\xa9"}\r\n{"c": 3}'
        chunks = (text[start : start + size] for start in range(0, len(text), size))
        assert list(Lines().split(chunks)) == [b'{"a": 1}', b'{"b": "\xc3\xa9"}', b'{"c": 3}']

    def test_a_line_without_an_end_is_refused(self) -> None:
        chunk = b"x" * (1024 * 1024)
        with pytest.raises(InvalidArgument):
            list(Lines().split(chunk for _ in range(MAX_MESSAGE_BYTES // len(chunk) + 1)))
