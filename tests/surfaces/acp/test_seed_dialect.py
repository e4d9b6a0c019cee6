"""The dialect 0.2.1 of the specification, by the names of its suites."""

import json
from pathlib import Path
from typing import Any, get_args

import pytest
import xxhash

from codeplane.kernel.errors import ERRORS
from codeplane.kernel.json import canonical
from codeplane.surfaces.acp.seed_roots import MAX_OPEN
from tests.harness import Server, make_repo, start, until
from tests.interaction.requirements import requirement
from tests.surfaces.acp.client import AcpClient, AcpError, acp_client
from tests.surfaces.acp.conftest import FILES
from tests.surfaces.acp.test_permissions import asking_server
from tests.surfaces.acp.wire_types import (
    InitializeResponse,
    Kind,
    OrchestrateExploreStartResponse,
    SessionNotificationWire,
)

pytestmark = requirement("ACP-12")

# The example of the specification, word for word.
INITIALIZE = json.loads("""{
  "jsonrpc": "2.0",
  "id": "...",
  "method": "initialize",
  "params": {
    "protocol_version": "0.2.1",
    "client_capabilities": {
      "fs": { "read_text_file": true, "write_text_file": false },
      "terminal": false,
      "_meta": { "features": [
        "search.lexical","search.semantic","search.hybrid",
        "content.get_span","orchestrate.explore","llm.apple_on_device"
      ]}
    },
    "client_info": { "name": "OpenAgentsClient", "version": "1.0.0", "title": "OpenAgents" }
  }
}""")


async def opened(client: AcpClient) -> str:
    await client.send(INITIALIZE)
    await client.answer("...")
    return str((await client.call("session/new"))["session_id"])


def shown(client: AcpClient, kind: str) -> list[dict[str, Any]]:
    return [update for update in client.updates if update["session_update"] == kind]


class TestInitializeAndFeaturesHandshakeTests:
    async def test_the_example_is_answered_in_its_shape(self, plain_server: Server) -> None:
        async with acp_client(plain_server) as client:
            await client.send(INITIALIZE)
            answer = await client.answer("...")
            assert answer.pop("agent_info").keys() == {"name", "version"}
            features = answer.pop("_meta")["features"]
            assert answer == {
                "protocol_version": "0.2.1",
                "agent_capabilities": {
                    "load_session": True,
                    "prompt_capabilities": {"image": False, "audio": False, "embedded_context": True},
                    "mcp_capabilities": {"http": False, "sse": False},
                },
                "auth_methods": [],
            }
            (banner,) = await client.until(
                lambda: [message["params"] for message in client.heard if message.get("method") == "features.hello"]
            )
            assert (banner["namespace"], banner["name"]) == ("features", "hello")
            assert banner["payload"] == {"protocol_version": "0.2.1", "features": features}

    async def test_models_are_features_where_they_are_configured(
        self, plain_server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def features(server: Server) -> list[str]:
            async with acp_client(server) as client:
                await client.send(INITIALIZE)
                return [name for name in (await client.answer("..."))["_meta"]["features"] if name.startswith("llm.")]

        assert await features(plain_server) == ["llm.call"]
        async with asking_server(tmp_path, monkeypatch) as (server, _):
            assert await features(server) == ["llm.call", "llm.apple_on_device"]

    async def test_a_client_that_does_not_wait_for_the_handshake(self, plain_server: Server) -> None:
        async with acp_client(plain_server) as client:
            await client.send(INITIALIZE)
            assert (await client.call("session/new"))["session_id"].startswith("thr_")
            assert (await client.answer("..."))["protocol_version"] == "0.2.1"

    @pytest.mark.parametrize("version", ["0.2.0", "1.0", ""])
    async def test_another_version_is_refused(self, plain_server: Server, version: str) -> None:
        async with acp_client(plain_server) as client:
            with pytest.raises(AcpError) as refused:
                await client.call("initialize", {"protocol_version": version})
            assert refused.value.data["code"] == "ERR_VERSION_MISMATCH"

    async def test_an_id_is_taken_once(self, plain_server: Server) -> None:
        async with acp_client(plain_server) as client:
            await opened(client)
            await client.start("index.status", {}, "again")
            await client.answer("again")
            count = len(client.heard)
            await client.start("index.status", {}, "again")
            await client.until(lambda: len(client.heard) > count)
            assert "error" in client.heard[-1]


class TestEngineOpsProduceACPToolUpdatesTests:
    @pytest.mark.parametrize("name", ["search.lexical", "search.semantic", "search.hybrid"])
    async def test_a_search_is_a_tool_call_with_a_typed_output(self, plain_server: Server, name: str) -> None:
        async with acp_client(plain_server) as client:
            session = await opened(client)
            asked = {"session_id": session, "query": "greet", "k": 200, "filters": {"paths": ["*.py"]}}
            result = await client.call(name, asked)
            (call,) = shown(client, "tool_call")
            assert (call["name"], call["call_id"]) == (name, result["call_id"])
            started, completed = shown(client, "tool_call_update")
            assert (started["status"], completed["status"]) == ("started", "completed")
            assert completed["output"] == result["payload"]
            assert completed["_meta"] == {key: result[key] for key in ("type", "schema_version", "checksum")}
            assert result["checksum"] == xxhash.xxh32(canonical(result["payload"])).intdigest()
            assert result["payload"][0]["path"] == "greeting.py" and "greet" in result["payload"][0]["text"]

    async def test_a_span_with_its_context(self, plain_server: Server) -> None:
        async with acp_client(plain_server) as client:
            session = await opened(client)
            span = {"session_id": session, "path": "greeting.py", "start_line": 2, "end_line": 2, "context": 1}
            payload = (await client.call("content.get_span", span))["payload"]
            assert (payload["start_line"], payload["end_line"], payload["encoding"]) == (1, 3, "utf-8")
            assert payload["text"].startswith("def greet") and payload["truncated"] is False

    async def test_long_spans_are_cut_and_say_so(self, plain_server: Server) -> None:
        (plain_server.repo / "long.txt").write_text("".join(f"line {number}\r\n" for number in range(500)))
        async with acp_client(plain_server) as client:
            session = await opened(client)
            span = {"session_id": session, "path": "long.txt", "start_line": 1, "end_line": 400}
            payload = (await client.call("content.get_span", span))["payload"]
            assert payload["truncated"] is True and payload["text"].endswith("…")
            assert len(payload["text"].encode()) <= 8192 and payload["text"].count("\n") <= 120
            assert "\r" not in payload["text"]

    async def test_what_fails_ends_as_an_error(self, plain_server: Server) -> None:
        async with acp_client(plain_server) as client:
            session = await opened(client)
            span = {"session_id": session, "path": "../../etc/passwd", "start_line": 1, "end_line": 2}
            with pytest.raises(AcpError):
                await client.call("content.get_span", span)
            last = shown(client, "tool_call_update")[-1]
            assert last["status"] == "error" and last["error"].startswith("ERR_")

    @pytest.mark.parametrize("wrong", [{"k": 201}, {"k": 0}, {"query": ""}, {"session_id": "thr_none"}])
    async def test_bounds(self, plain_server: Server, wrong: dict[str, object]) -> None:
        async with acp_client(plain_server) as client:
            session = await opened(client)
            with pytest.raises(AcpError):
                await client.call("search.lexical", {"session_id": session, "query": "greet", **wrong})
            assert shown(client, "tool_call") == []


async def test_a_long_search_says_what_it_has_before_it_ends(tmp_path: Path) -> None:
    lookups = {f"lookup_{number}.py": f"def lookup_{number}():\n    return lookup\n" for number in range(150)}
    server = start(make_repo(tmp_path / "repo", lookups))

    def is_indexed() -> bool:
        found = server.call("search", query="lookup", mode="lexical")["result"]
        return isinstance(found, dict) and not found["partial"]

    try:
        until(is_indexed)
        async with acp_client(server) as client:
            session = await opened(client)
            result = await client.call("search.lexical", {"session_id": session, "query": "lookup", "k": 140})
            started, *partials, completed = shown(client, "tool_call_update")
            assert {one["call_id"] for one in (started, *partials, completed)} == {result["call_id"]}
            assert [(one["status"], one["_meta"]["partial"]) for one in partials] == [("started", True)] * 2
            assert [one["_meta"]["first"] for one in partials] == [0, 20]
            for one in partials:
                assert one["_meta"]["checksum"] == xxhash.xxh32(canonical(one["output"])).intdigest()
            so_far = [hit for one in partials for hit in one["output"]]
            assert completed["output"] == result["payload"] and len(result["payload"]) == 140
            assert result["payload"][: len(so_far)] == so_far and "partial" not in completed["_meta"]
    finally:
        server.stop()


class TestErrorCodeMappingTests:
    def test_every_error_has_a_code_of_the_specification(self) -> None:
        known = {
            *("ERR_VERSION_MISMATCH", "ERR_UNAUTHORIZED", "ERR_PATH_DENIED", "ERR_ENCODING", "ERR_TOO_LARGE"),
            *("ERR_RATE_LIMIT", "ERR_MODEL_UNAVAILABLE", "ERR_EXTERNAL_LLM_DISABLED", "ERR_OP_CANCELED"),
            "ERR_INTERNAL",
        }
        assert {error.acp for error in ERRORS} == known

    def test_what_is_refused_or_bounded_is_no_internal_error(self) -> None:
        denied = {"ERR_UNAUTHORIZED", "ERR_PATH_DENIED", "ERR_EXTERNAL_LLM_DISABLED"}
        assert {error.acp for error in ERRORS if error.http in (401, 403)} == denied
        assert {error.acp for error in ERRORS if error.http == 429} == {"ERR_RATE_LIMIT"}
        assert {error.acp for error in ERRORS if error.http in (413, 431)} == {"ERR_TOO_LARGE"}
        assert {error.acp for error in ERRORS if error.name in ("WORKSPACE_NOT_FOUND", "PATH_DENIED")} == {
            "ERR_PATH_DENIED"
        }

    async def test_an_error_on_the_wire(self, plain_server: Server) -> None:
        async with acp_client(plain_server, token=None) as client:
            await client.send(INITIALIZE)
            await client.answer("...")
            with pytest.raises(AcpError) as refused:
                await client.call("session/new")
            assert refused.value.data["code"] == "ERR_UNAUTHORIZED"
            assert refused.value.data.keys() >= {"code", "message", "retryable"}


class TestACPShapeParityTests:
    async def test_everything_is_in_snake_case(self, plain_server: Server) -> None:
        async with acp_client(plain_server) as client:
            session = await opened(client)
            prompt = {"session_id": session, "prompt": [{"type": "text", "text": "greet"}]}
            assert (await client.call("session/prompt", prompt))["stop_reason"] == "end_turn"
            await client.call("search.lexical", {"session_id": session, "query": "greet"})
            await client.call("index.status")
            count = len(client.updates)
            await client.call("session/load", {"session_id": session})
            assert "agent_message_chunk" in [update["session_update"] for update in client.updates[count:]]
            named = {key for message in client.heard for key in _keys(message) if key != key.lower()}
            assert named == {"sessionUpdate"}

    async def test_what_is_sent_survives_the_types_of_the_specification(self, plain_server: Server) -> None:
        async with acp_client(plain_server) as client:
            await client.send(INITIALIZE)
            assert InitializeResponse.again(await client.answer("...")) == await client.answer("...")
            session = str((await client.call("session/new"))["session_id"])
            prompt = {"session_id": session, "prompt": [{"type": "text", "text": "greet"}]}
            await client.call("session/prompt", prompt)
            await client.call("search.hybrid", {"session_id": session, "query": "greet"})
            with pytest.raises(AcpError):
                await client.call(
                    "content.get_span", {"session_id": session, "path": "none.py", "start_line": 1, "end_line": 2}
                )
            await client.call("session/load", {"session_id": session})
            await client.call("index.subscribe", {"session_id": session})
            started = await client.call("orchestrate.explore.start", {"root": str(plain_server.repo), "goals": None})
            assert OrchestrateExploreStartResponse.model_validate(started).status == "started"
            ended = {"completed", "error"}
            await client.until(
                lambda: any(
                    one["call_id"] == started["call_id"] and one["status"] in ended
                    for one in shown(client, "tool_call_update")
                )
            )
            sent = [message["params"] for message in client.heard if message.get("method") == "session/update"]
            for notice in sent:
                assert SessionNotificationWire.again(notice) == {
                    **notice,
                    "update": {name: value for name, value in notice["update"].items() if name != "session_update"},
                }
            assert {notice["update"]["sessionUpdate"] for notice in sent} == set(get_args(Kind)) - {
                "available_commands_update",
                "current_mode_update",
                "agent_thought_chunk",
            }
            explored = {notice["session_id"] for notice in sent} - {session}
            assert explored == {started["session_id"]}


def _keys(value: object) -> list[str]:
    if isinstance(value, dict):
        return [*value, *(key for inner in value.values() for key in _keys(inner))]
    return [key for inner in value for key in _keys(inner)] if isinstance(value, list) else []


async def test_one_model_request_at_a_time(plain_server: Server) -> None:
    async with acp_client(plain_server) as client:
        session = await opened(client)
        params = {"session_id": session, "prompt": [{"type": "text", "text": "greet"}]}
        first = await client.start("session/prompt", params)
        second = await client.start("session/prompt", params)
        with pytest.raises(AcpError) as refused:
            await client.answer(second)
        assert refused.value.data["code"] == "ERR_RATE_LIMIT" and refused.value.data["retryable"] is True
        assert (await client.answer(first))["stop_reason"] == "end_turn"


async def test_a_call_that_a_person_decides_ends_as_an_error_and_completes_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with asking_server(tmp_path, monkeypatch) as (server, _), acp_client(server) as client:
        session = await opened(client)
        prompt = {"session_id": session, "prompt": [{"type": "text", "text": "greet them"}]}
        prompted = await client.start("session/prompt", prompt)

        def refused() -> dict[str, Any] | None:
            updates = shown(client, "tool_call_update")
            return next((one for one in updates if "action_id" in one.get("_meta", {})), None)

        waiting = await client.until(refused)
        assert waiting["status"] == "error" and waiting["error"].startswith("ERR_UNAUTHORIZED: ")
        assert "hello {name}" not in (server.repo / "greeting.py").read_text()
        server.call("approval.approve", action_id=waiting["_meta"]["action_id"])
        assert (await client.answer(prompted))["stop_reason"] == "end_turn"
        own = [one["status"] for one in shown(client, "tool_call_update") if one["call_id"] == waiting["call_id"]]
        assert own[-1] == "completed" and "error" in own[:-1]
        assert "hello {name}" in (server.repo / "greeting.py").read_text()


async def test_a_root_is_added_within_the_roots_that_the_owner_allows(tmp_path: Path) -> None:
    allowed = make_repo(tmp_path / "far" / "shop", {"shop.py": "def sell():\n    return 1\n"})
    refused = make_repo(tmp_path / "elsewhere", FILES)
    server = start(
        make_repo(tmp_path / "repo", FILES), overrides=[f"workspaces.roots={json.dumps([str(tmp_path / 'far')])}"]
    )
    try:
        async with acp_client(server) as client:
            await opened(client)
            added = await client.call("index.add_root", {"path": str(allowed)})
            assert added["name"] == "shop"
            with pytest.raises(AcpError) as denied:
                await client.call("index.add_root", {"path": str(refused)})
            assert denied.value.data["code"] in ("ERR_UNAUTHORIZED", "ERR_PATH_DENIED")
            listed = server.call("workspace.list")["result"]
            assert "shop" in str(listed) and "elsewhere" not in str(listed)
    finally:
        server.stop()


@pytest.mark.parametrize("decision", ["approve", "reject"])
async def test_a_root_that_a_person_decides_about_completes_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, decision: str
) -> None:
    far = make_repo(tmp_path / "far", FILES)
    async with asking_server(tmp_path, monkeypatch) as (server, _), acp_client(server) as client:
        session = await opened(client)
        with pytest.raises(AcpError) as waiting:
            await client.call("index.add_root", {"path": str(far), "session_id": session})
        assert waiting.value.data["code"] == "ERR_UNAUTHORIZED"
        (call,) = shown(client, "tool_call")
        assert (call["name"], call["arguments"]) == ("index.add_root", {"path": str(far)})
        refused = shown(client, "tool_call_update")[-1]
        assert refused["status"] == "error" and refused["call_id"] == call["call_id"]
        assert "far" not in str(server.call("workspace.list")["result"])
        server.call(f"approval.{decision}", action_id=refused["_meta"]["action_id"])
        ends = await client.until(lambda: shown(client, "tool_call_update")[2:])
        if decision == "approve":
            assert (ends[0]["status"], ends[0]["output"]["name"]) == ("completed", "far")
            assert "far" in str(server.call("workspace.list")["result"])
        else:
            assert ends[0]["status"] == "error" and ends[0]["error"].startswith("ERR_UNAUTHORIZED: ")
            assert "far" not in str(server.call("workspace.list")["result"])
        assert len(shown(client, "tool_call")) == 1 and ends[0]["call_id"] == call["call_id"]


async def test_roots_that_wait_are_bounded_also_when_they_come_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = [make_repo(tmp_path / f"far{number}", FILES) for number in range(MAX_OPEN + 2)]
    async with asking_server(tmp_path, monkeypatch) as (server, _), acp_client(server) as client:
        session = await opened(client)
        sent = [await client.start("index.add_root", {"path": str(far), "session_id": session}) for far in folders]
        codes = []
        for request_id in sent:
            with pytest.raises(AcpError) as refused:
                await client.answer(request_id)
            codes.append(refused.value.data["code"])
        assert sorted(codes) == ["ERR_RATE_LIMIT"] * 2 + ["ERR_UNAUTHORIZED"] * MAX_OPEN
        # A decision makes room.
        waiting = next(one for one in shown(client, "tool_call_update") if "_meta" in one)
        server.call("approval.reject", action_id=waiting["_meta"]["action_id"])
        await client.until(lambda: [one for one in shown(client, "tool_call_update") if "rejected" in str(one)])
        with pytest.raises(AcpError) as pending:
            await client.call("index.add_root", {"path": str(folders[-1]), "session_id": session})
        assert pending.value.data["code"] == "ERR_UNAUTHORIZED"


async def test_a_root_without_a_session_waits_for_nobody(tmp_path: Path) -> None:
    far, repo = make_repo(tmp_path / "far", FILES), make_repo(tmp_path / "repo", FILES)
    server = start(repo, overrides=["approvals.wait_sec=3600"])
    try:
        async with acp_client(server) as client:
            await opened(client)
            with pytest.raises(AcpError) as waiting:
                await client.call("index.add_root", {"path": str(far), "session_id": None})
            assert waiting.value.data["code"] == "ERR_UNAUTHORIZED" and waiting.value.data["details"]["action_id"]
    finally:
        server.stop()


async def test_a_root_in_a_session_of_others_is_refused(plain_server: Server) -> None:
    async with acp_client(plain_server) as client:
        await opened(client)
        with pytest.raises(AcpError):
            await client.call("index.add_root", {"path": str(plain_server.repo), "session_id": "thr_none"})
        assert client.updates == []


async def test_a_prompt_over_the_bound_is_refused(plain_server: Server) -> None:
    async with acp_client(plain_server) as client:
        session = await opened(client)
        prompt = {"session_id": session, "prompt": [{"type": "text", "text": "x" * 65_537}]}
        with pytest.raises(AcpError) as refused:
            await client.call("session/prompt", prompt)
        assert refused.value.data["code"] == "ERR_TOO_LARGE"
        assert client.updates == []
