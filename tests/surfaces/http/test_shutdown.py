"""The end of a server: what is under way finishes, streams are told, nothing is left behind."""

import json
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.harness import Server, cpl, start, until
from tests.interaction.requirements import requirement
from tests.surfaces.http.wire import (
    CALL,
    Answer,
    call,
    error_of,
    events,
    frames,
    get_field,
    open_response,
    send,
    send_request,
    send_stream_request,
    stream,
)

PROGRAM = (sys.executable, "-m", "tests.surfaces.http.slow_server")


@dataclass
class Slow:
    """A server with a call under way that ends when we say so."""

    server: Server
    folder: Path
    answers: list[Answer] = field(default_factory=list)
    threads: list[threading.Thread] = field(default_factory=list)

    def arguments(self, name: str) -> dict[str, str]:
        return {"path": str(self.folder / name), "began": str(self.folder / f"{name}-began")}

    def begin(self, operation: str, name: str) -> None:
        """Call and return when it is under way."""
        thread = threading.Thread(
            target=lambda: self.answers.append(call(self.server, operation, self.arguments(name))), daemon=True
        )
        thread.start()
        self.threads.append(thread)
        until((self.folder / f"{name}-began").exists)

    def release(self, name: str) -> None:
        (self.folder / name).touch()

    def wait(self) -> None:
        for thread in self.threads:
            thread.join(timeout=30)
            assert not thread.is_alive()


@pytest.fixture
def slow(repo: Path, tmp_path: Path) -> Iterator[Slow]:
    running = start(repo, program=PROGRAM, overrides=["server.shutdown_timeout_sec=20"])
    yield Slow(server=running, folder=tmp_path)
    if running.process.poll() is None:
        running.kill()


def mcp_session(server: Server) -> str:
    """The id of a new MCP session over HTTP."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}).encode()
    accept = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
    answer = send(server, "POST", "/mcp", body=body, headers=accept)
    assert answer.status == 200
    session = {**accept, "mcp-session-id": answer.headers["mcp-session-id"]}
    output = json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode()
    assert send(server, "POST", "/mcp", body=output, headers=session).status == 202
    return answer.headers["mcp-session-id"]


@requirement("SRV-05")
def test_calls_finish_streams_are_told_and_nothing_is_left(slow: Slow) -> None:
    server = slow.server
    headers = {"accept": "text/event-stream", "mcp-session-id": mcp_session(server)}
    with ExitStack() as stack:
        listening = stack.enter_context(open_response(server, "GET", "/events"))
        channel = stack.enter_context(open_response(server, "GET", "/mcp", headers=headers))
        watching = stack.enter_context(stream(server, "ledger.watch", {"from_now": True}))
        assert channel.status == 200
        slow.begin("slow.read", "one")
        slow.begin("slow.write", "two")
        server.process.send_signal(signal.SIGTERM)

        assert list(events(listening))[-1].kind == "shutdown"
        assert [event.kind for event in events(channel)] == ["shutdown"]
        flag, end = list(frames(watching))[-1]
        reported = end["error"]
        assert isinstance(reported, dict)
        assert (flag, reported["code"], error_of(reported)["error"]) == (2, "unavailable", "SHUTTING_DOWN")

    ready = send(server, path="/ready")
    assert (ready.status, get_field(ready.json, "problems", 0)) == (503, "the server is ending")
    assert send(server).json["status"] == "ending"
    refused = call(server, "status")
    assert (refused.status, refused.error["error"], refused.error["retryable"]) == (503, "SHUTTING_DOWN", True)
    assert server.workspace.port.exists()

    slow.release("one")
    slow.release("two")
    slow.wait()
    assert [answer.result["said"] for answer in slow.answers] == ["the file is there"] * 2
    assert server.process.wait(timeout=30) == 0
    assert not server.workspace.port.exists()
    assert not server.workspace.server.exists()
    _all_is_closed_and_sound(server)


def test_a_stream_of_a_call_that_answers_once_is_not_cut_off(slow: Slow) -> None:
    with send_stream_request(slow.server, "slow.read", slow.arguments("one")) as connection:
        until((slow.folder / "one-began").exists)
        slow.server.process.send_signal(signal.SIGINT)
        until(lambda: send(slow.server).json["status"] == "ending")
        slow.release("one")
        response = connection.getresponse()
        # The item, the meta, and the end.
        assert [flag for flag, _ in frames(response)] == [0, 0, 2]
    assert slow.server.process.wait(timeout=30) == 0


@requirement("SRV-05")
def test_a_call_that_does_not_end_is_cut_off_and_recorded_so(repo: Path, tmp_path: Path) -> None:
    server = start(repo, program=PROGRAM, overrides=["server.shutdown_timeout_sec=0.2"])
    slow = Slow(server=server, folder=tmp_path)
    body = json.dumps({"operation": "slow.write", "arguments": slow.arguments("never")}).encode()
    with send_request(server, CALL, body):
        until((tmp_path / "never-began").exists)
        # Ctrl+C, and again by somebody who cannot wait: one end is enough.
        server.process.send_signal(signal.SIGINT)
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(timeout=30) == 0
    found = cpl("log", "--all", "--json", "--type", "call.finished", cwd=repo)
    ends = [json.loads(line)["payload"] for line in found.stdout.splitlines()]
    assert [end["status"] for end in ends if end["operation"] == "slow.write"] == ["CANCELLED"]
    _all_is_closed_and_sound(server)


def _all_is_closed_and_sound(server: Server) -> None:
    """Told by the next one to open the ledger: it finds nothing to fix."""
    log = cpl("log", "--all", "--json", cwd=server.repo)
    written = [json.loads(line) for line in log.stdout.splitlines()]
    reasons = {event["payload"]["reason"] for event in written if event["type"] in ("session.closed", "task.closed")}
    assert "shutdown" in reasons
    assert "crash-recover" not in reasons
    assert json.loads(cpl("call", "ledger.verify", "--json", cwd=server.repo).stdout)["result"]["ok"]
    opened_sessions = {event["session_id"] for event in written if event["type"] == "session.opened"}
    closed = {event["session_id"] for event in written if event["type"] == "session.closed"}
    # The session that reads is open while it reads.
    assert len(opened_sessions - closed) <= 1
