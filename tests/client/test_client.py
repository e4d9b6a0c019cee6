"""The Python client: envelopes as they are, typed records, errors as the classes they are, nothing slow to import."""

import json
import subprocess
import sys
from contextlib import closing

import pytest

from codeplane.client import Approval, Client, Gap, Heartbeat, LogEvent
from codeplane.client.errors import error_of_body, to_exception
from codeplane.kernel.errors import (
    ERRORS,
    ApprovalNotFound,
    ApprovalPending,
    ApprovalSettled,
    Internal,
    PairingRefused,
    PolicyDenied,
    ServerUnreachable,
    ShuttingDown,
    Unauthorized,
)
from tests.harness import Server
from tests.interaction.requirements import requirement

pytestmark = requirement("RPC-07")


def client(server: Server, token: str | None = None) -> Client:
    return Client(server.host, server.port, token=token or server.token, user_agent="test")


def agent(server: Server, name: str) -> Client:
    """An agent with a token of its own."""
    issued = client(server).call("agent.token", {"agent": name, "capabilities": ["read_files", "write_files"]})
    result = issued["result"]
    assert isinstance(result, dict)
    return client(server, str(result["token"]))


def asked(server: Server, name: str) -> str:
    """The id of an action that an agent asks for."""
    envelope = agent(server, name).call("ledger.retain", {"idempotency_key": name})
    error = envelope["error"]
    assert isinstance(error, dict), envelope
    assert error["error"] == ApprovalPending.name
    return str(error["details"]["action_id"])


class TestCall:
    def test_the_envelope(self, connect_server: Server) -> None:
        envelope = client(connect_server).call("status", {}, text=True)
        assert set(envelope) == {"result", "meta", "text"}

    def test_an_error_and_its_meta(self, connect_server: Server) -> None:
        envelope = client(connect_server).call("session.inf", {})
        error, meta = envelope["error"], envelope["meta"]
        assert isinstance(error, dict) and isinstance(meta, dict)
        assert (error["error"], error["code"], "meta" in error) == ("UNKNOWN_OPERATION", 1002, False)
        assert meta["request_id"]

    def test_a_stream_with_its_end(self, connect_server: Server) -> None:
        items = list(client(connect_server).stream("fixture.ticks", {}))
        assert items == [{"number": 0}, {"number": 1}, {"number": 2}, {"end": True}]

    def test_a_stream_that_is_refused(self, connect_server: Server) -> None:
        (end,) = client(connect_server, "wrong").stream("ledger.watch", {})
        assert isinstance(end["error"], dict) and end["error"]["error"] == "UNAUTHORIZED"

    def test_nobody_there(self) -> None:
        with pytest.raises(ServerUnreachable):
            Client("127.0.0.1", 9, token="x").call("status", {})

    def test_what_the_guard_refuses_is_an_error_too(self, connect_server: Server) -> None:
        envelope = client(connect_server).call("status", {"x": "y" * (5 * 1024 * 1024)})
        assert isinstance(envelope["error"], dict) and envelope["error"]["error"] == "TOO_LARGE"


class TestDevices:
    @requirement("RPC-04")
    def test_from_the_code_to_the_end(self, connect_server: Server) -> None:
        owner = client(connect_server)
        code = owner.create_pairing_code()
        with pytest.raises(PairingRefused):
            Client(connect_server.host, connect_server.port).pair("ZZZZ-ZZZZ", "nobody")
        bound = Client(connect_server.host, connect_server.port).pair(code.code, "a tablet")
        device = client(connect_server, bound.token.token)
        (current,) = [found for found in device.devices() if found.is_current]
        assert (current.device_id, current.name, current.state) == (bound.device_id, "a tablet", "live")
        fresh = client(connect_server, device.rotate().token)
        with closing(fresh.watch()) as items:
            # What the device itself did a moment ago may come first.
            assert any(isinstance(item, Heartbeat) for item in items)
            owner.revoke(bound.device_id, reason="lost")
            with pytest.raises(Unauthorized):
                list(items)
        with pytest.raises(Unauthorized):
            fresh.devices()
        assert bound.device_id not in {found.device_id for found in owner.devices(live_only=True)}


class TestApprovals:
    def test_a_question_is_seen_and_answered_once(self, connect_server: Server) -> None:
        owner, action_id = client(connect_server), asked(connect_server, "asks-once")
        (listed,) = [found for found in owner.approvals() if found.action_id == action_id]
        shown = owner.approval(action_id)
        assert isinstance(shown, Approval)
        assert (shown.status, shown.tool, shown.risk_class) == ("PENDING", "ledger.retain", "DESTRUCTIVE")
        assert shown.preview and shown.summary == listed.summary and not listed.outcome_unknown
        with pytest.raises(PolicyDenied):
            agent(connect_server, "asks-once").approve(action_id)
        assert owner.approve(action_id, preview_hash=shown.preview_hash) == "APPROVED"
        with pytest.raises(ApprovalSettled):
            owner.reject(action_id, reason="too late")

    def test_no_comes_with_its_reason(self, connect_server: Server) -> None:
        owner, action_id = client(connect_server), asked(connect_server, "asks-in-vain")
        assert owner.reject(action_id, reason="not today") == "REJECTED"
        assert owner.approval(action_id).rejection_reason == "not today"

    def test_pages_are_turned(self, connect_server: Server) -> None:
        wanted = {asked(connect_server, f"one-of-three-{number}") for number in range(3)}
        found = [approval.action_id for approval in client(connect_server).approvals(page_size=1)]
        assert wanted <= set(found) and len(found) == len(set(found))

    def test_what_is_not_there(self, connect_server: Server) -> None:
        with pytest.raises(ApprovalNotFound):
            client(connect_server).approval("act_none")


class TestWatch:
    def test_on_from_a_sequence(self, connect_server: Server) -> None:
        created = client(connect_server).call("session.create", {})["meta"]
        client(connect_server).call("ledger.verify", {})
        assert isinstance(created, dict)
        stream = f"session/{created['session_id']}"
        with closing(client(connect_server).watch(streams={stream: 0})) as items:
            first = next(item for item in items if isinstance(item, LogEvent))
        assert (first.stream, first.sequence, first.type) == (stream, 1, "session.opened")
        with closing(client(connect_server).watch(stream=stream, from_position=first.position - 1)) as items:
            assert next(item for item in items if isinstance(item, LogEvent)) == first

    def test_a_gap_is_the_last_word(self, connect_server: Server) -> None:
        (gap,) = client(connect_server).watch(streams={"nothing/here": 7})
        assert gap == Gap(stream="nothing/here", requested_after=7, first_available=1)

    def test_the_servers_end_is_said(self, own_server: Server) -> None:
        with closing(client(own_server).watch()) as items:
            next(items)
            own_server.stop()
            with pytest.raises(ShuttingDown):
                list(items)


class TestErrors:
    @pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: kind.name)
    def test_every_error_of_the_table_comes_back_as_itself(self, kind: type[Exception]) -> None:
        error = kind("what", hint="next", details={"a": 1})  # type: ignore[call-arg]
        again = to_exception(error.to_wire())  # type: ignore[attr-defined]
        assert type(again) is kind and again.to_wire() == error.to_wire()  # type: ignore[attr-defined]

    def test_one_of_a_newer_server_is_internal_and_says_what_it_said(self) -> None:
        error = to_exception({"error": "FROM_THE_FUTURE", "message": "what", "hint": "next"})
        assert isinstance(error, Internal) and error.message == "what"

    @pytest.mark.parametrize("body", [{}, {"code": "unavailable"}, {"details": "x"}, {"details": [{"type": 7}]}])
    def test_whatever_comes_is_an_error(self, body: dict[str, object]) -> None:
        error, meta = error_of_body(body, 503)  # type: ignore[arg-type]
        assert error["message"] and meta == {}


def test_it_imports_nothing_slow() -> None:
    program = "import sys, json, codeplane.client; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    slow = {"asyncio", "connectrpc", "google", "grpc", "httpx2", "mcp", "pydantic", "starlette", "typer"}
    assert not slow & {name.partition(".")[0] for name in json.loads(done.stdout)}
