"""Views of approvals and diffs for clients that show them: they show, reach nothing outside and decide nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from codeplane.surfaces.cli.client_secret import HEADER, ClientSecret
from tests.harness import Server, cpl
from tests.interaction.requirements import requirement

from .clients import LEGACY, MODERN, Transport, connect_client
from .task_client import UI, TaskClient, text_of

pytestmark = requirement("MCX-02")

NAME = "app-client"
MIME_TYPE = "text/html;profile=mcp-app"
VIEWS = ("ui://codeplane/approval", "ui://codeplane/diff")


@pytest.fixture
def shower(fixture_server: Server) -> TaskClient:
    return TaskClient(server=fixture_server, extensions=(UI,), name="shower")


def listed(client: TaskClient) -> dict[str, dict[str, Any]]:
    return {tool["name"]: tool for tool in client.result("tools/list", {})["tools"]}


def test_tools_name_their_views_to_clients_that_show_them_alone(shower: TaskClient) -> None:
    plain = TaskClient(server=shower.server, extensions=())
    tools, others = listed(shower), listed(plain)
    assert {name for name, tool in tools.items() if "ui" in tool.get("_meta", {})} == {
        "approval_show",
        "approval_ask_client",
        "git_diff",
        "job_diff",
        "semantic_diff",
    }
    # A model is not offered what only a view calls.
    assert tools["approval_ask_client"]["_meta"]["ui"] == {"visibility": ["app"]}
    assert not any("_meta" in tool for tool in others.values())
    assert {name: {**tool, "_meta": None} for name, tool in tools.items()} == {
        name: {**tool, "_meta": None} for name, tool in others.items()
    }
    resources = [client.result("resources/list", {})["resources"] for client in (shower, plain)]
    assert resources[0] == resources[1] and not [found for found in resources[0] if found["uri"].startswith("ui:")]


def test_an_approval_can_be_shown_in_every_toolset(shower: TaskClient) -> None:
    core = TaskClient(server=shower.server, extensions=(UI,), query="?toolset=core")
    plain = TaskClient(server=shower.server, extensions=(), query="?toolset=core")
    assert listed(core).keys() - listed(plain).keys() == {"approval_show", "approval_ask_client"}


@pytest.mark.parametrize("mime_types", [["text/html"], "text/html;profile=mcp-app", []], ids=str)
async def test_a_client_that_shows_other_types_is_shown_none(fixture_server: Server, mime_types: object) -> None:
    client = TaskClient(server=fixture_server, extensions=())
    meta = {"io.modelcontextprotocol/clientCapabilities": {"extensions": {UI: {"mimeTypes": mime_types}}}}
    answer = client.post("tools/list", {"_meta": meta})
    assert not any("_meta" in tool for tool in answer["result"]["tools"])


@pytest.mark.parametrize("uri", VIEWS)
def test_a_view_is_one_document_that_reaches_nothing(shower: TaskClient, uri: str) -> None:
    [content] = shower.result("resources/read", {"uri": uri})["contents"]
    assert content["mimeType"] == MIME_TYPE
    csp = content["_meta"]["ui"]["csp"]
    assert csp == {"connectDomains": [], "resourceDomains": [], "frameDomains": [], "baseUriDomains": []}
    text = content["text"]
    assert not re.search(r"https?://|//[a-z]|\bsrc=|\bhref=|@import|fetch\(|XMLHttpRequest|WebSocket|import\(", text)
    # What others wrote is text, never markup or code.
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|Function\(", text)
    policy = re.search(r'content="(default-src [^"]*)"', text)
    assert policy is not None
    assert re.fullmatch(
        r"default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; base-uri 'none'; form-action 'none'",
        policy[1],
    )


@pytest.mark.parametrize(
    "uri", ["ui://codeplane/", "ui://codeplane/../server.py", "ui://other/diff", "ui://codeplane/x"]
)
def test_there_are_no_others(shower: TaskClient, uri: str) -> None:
    assert shower.post("resources/read", {"uri": uri})["error"]["code"] == -32602


def test_a_view_is_given_structure_and_others_get_what_they_always_got(shower: TaskClient) -> None:
    found = re.search(r"\((act_\w+)\)", text_of(shower.call("fixture_destroy")))
    assert found is not None
    shown = shower.call("approval_show", action_id=found[1])
    assert shown["structuredContent"]["state"] == "PENDING" and found[1] in text_of(shown)
    plain = TaskClient(server=shower.server, extensions=(), name=shower.name)
    assert "structuredContent" not in plain.call("approval_show", action_id=found[1])
    assert "structuredContent" not in shower.call("fixture_whoami")


@pytest.fixture
def secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fixture_server: Server) -> Iterator[str]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    assert cpl("clients", "allow", NAME, "--repo", str(fixture_server.repo)).returncode == 0
    yield ClientSecret.of(fixture_server.workspace, NAME).read()
    cpl("clients", "revoke", NAME, "--repo", str(fixture_server.repo))


def pending(client: TaskClient, tool: str, **arguments: object) -> str:
    answer = text_of(client.call(tool, **arguments))
    found = re.search(r"\((act_\w+)\)", answer)
    assert found is not None, answer
    return found[1]


def state_of(server: Server, action: str) -> str:
    return str(server.call("approval.show", action_id=action)["result"]["state"])  # type: ignore[index,call-overload]  # it succeeds


class TestDeciding:
    """What a view may decide is what an elicitation's answer may."""

    @pytest.mark.parametrize("operation", ["approval_approve", "approval_reject"])
    def test_no_tool_that_decides_is_a_views(self, shower: TaskClient, secret: str, operation: str) -> None:
        asking = TaskClient(server=shower.server, extensions=(UI,), name="decider", asks=True, headers={HEADER: secret})
        action = pending(TaskClient(server=shower.server, extensions=(), name="decider"), "fixture_send")
        refused = asking.call(operation, action_id=action)
        assert refused["isError"] and text_of(refused).startswith("POLICY_DENIED")
        assert state_of(shower.server, action) == "PENDING"
        cpl("approvals", "reject", action, "--repo", str(shower.server.repo))

    def test_the_button_asks_the_person_by_elicitation(self, shower: TaskClient, secret: str) -> None:
        asking = TaskClient(server=shower.server, extensions=(UI,), name="button", asks=True, headers={HEADER: secret})
        action = pending(TaskClient(server=shower.server, extensions=(), name="button"), "fixture_send")
        first = asking.call("approval_ask_client", action_id=action)
        assert first["resultType"] == "input_required"
        [(key, question)] = first["inputRequests"].items()
        assert question["params"]["message"].startswith("Send") and state_of(shower.server, action) == "PENDING"
        responses = {key: {"action": "accept", "content": {"decision": "approve"}}}
        again: dict[str, Any] = {"name": "approval_ask_client", "arguments": {"action_id": action}}
        more = {"inputResponses": responses, "requestState": first["requestState"]}
        done = asking.result("tools/call", {**again, **more})
        assert done["structuredContent"]["decided_by"] == f"client:{NAME}"

    def test_an_answer_about_one_action_decides_no_other(self, shower: TaskClient, secret: str) -> None:
        asking = TaskClient(server=shower.server, extensions=(UI,), name="swapper", asks=True, headers={HEADER: secret})
        plain = TaskClient(server=shower.server, extensions=(), name="swapper")
        shown = pending(plain, "fixture_send")
        other = pending(plain, "web_open", url="https://example.com/")
        first = asking.call("approval_ask_client", action_id=shown)
        responses = {key: {"action": "accept", "content": {"decision": "approve"}} for key in first["inputRequests"]}
        swapped: dict[str, Any] = {"name": "approval_ask_client", "arguments": {"action_id": other}}
        asking.post("tools/call", {**swapped, "inputResponses": responses, "requestState": first["requestState"]})
        assert {state_of(shower.server, action) for action in (shown, other)} == {"PENDING"}

    @pytest.mark.parametrize("tool", ["fixture_destroy", "fixture_shell"])
    def test_shell_and_what_destroys_are_never_asked_about_there(
        self, shower: TaskClient, secret: str, tool: str
    ) -> None:
        asking = TaskClient(server=shower.server, extensions=(UI,), name="bold", asks=True, headers={HEADER: secret})
        action = pending(TaskClient(server=shower.server, extensions=(), name="bold"), tool)
        answer = asking.call("approval_ask_client", action_id=action)
        assert answer["resultType"] == "complete" and answer["structuredContent"]["asked"] is False
        assert state_of(shower.server, action) == "PENDING"

    @pytest.mark.parametrize("headers", [{}, {HEADER: "cpl_client_" + "a" * 43}], ids=["none", "wrong"])
    def test_a_client_without_the_owners_switch_is_not_asked(self, shower: TaskClient, headers: dict[str, str]) -> None:
        asking = TaskClient(server=shower.server, extensions=(UI,), name="stranger", asks=True, headers=headers)
        action = pending(TaskClient(server=shower.server, extensions=(), name="stranger"), "fixture_send")
        answer = asking.call("approval_ask_client", action_id=action)
        assert answer["structuredContent"]["asked"] is False and state_of(shower.server, action) == "PENDING"
        cpl("approvals", "reject", action, "--repo", str(shower.server.repo))

    def test_actions_of_others_are_not_shown(self, shower: TaskClient, secret: str) -> None:
        action = pending(TaskClient(server=shower.server, extensions=(), name="mine"), "fixture_send")
        other = TaskClient(server=shower.server, extensions=(UI,), name="prying", asks=True, headers={HEADER: secret})
        for tool in ("approval_show", "approval_ask_client"):
            refused = other.call(tool, action_id=action)
            assert refused["isError"] and text_of(refused).startswith("APPROVAL_NOT_FOUND")
        cpl("approvals", "reject", action, "--repo", str(shower.server.repo))


@pytest.mark.parametrize("era", [LEGACY, MODERN])
async def test_clients_that_declare_nothing_see_no_view_in_either_protocol(fixture_server: Server, era: str) -> None:
    async with connect_client(fixture_server, way=Transport(era=era, transport="http")) as client:
        found = await client.list_tools()
        assert not any(tool.meta for tool in found.tools)
