"""Plugins: programs of the owner's that answer calls, are sent events and call operations with rights of their own."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from codeplane.adapters.yaml_config import load_config
from codeplane.kernel.errors import ConfigInvalid
from codeplane.kernel.json import JsonObject, JsonValue, dumps
from codeplane.kernel.workspace import Workspace
from codeplane.wiring.app import Plane
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, events, plane
from tests.trust.approvals.agent_calls import action_of, refused, result
from tests.work.tools.tool_plane import FAST, listed, ready

pytestmark = requirement("TOOL-06")

SCRIPT = Path(__file__).with_name("scripted_plugin.py")
TEXT: JsonObject = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
CALL: JsonObject = {
    "type": "object",
    "properties": {"operation": {"type": "string"}, "arguments": {"type": "object"}},
    "required": ["operation", "arguments"],
}


def plugin(trick: str = "", **settings: JsonValue) -> JsonObject:
    """The settings of the tests' own plugin."""
    return {
        "command": sys.executable,
        "args": [str(SCRIPT), trick],
        "readable": [str(SCRIPT.parent)],
        "tools": {
            "count": {"description": "Count words.", "schema": TEXT, "risk": "read"},
            "ask": {"description": "Call an operation.", "schema": CALL, "risk": "write", "identity": "bot"},
            "seen": {"description": "Say what was seen.", "risk": "read", "capability": "context_sharing"},
        },
        **settings,
    }


@asynccontextmanager
async def plugin_plane(root: Path, given: JsonObject, *settings: str) -> AsyncIterator[Plane]:
    async with plane(root, f"tools.plugins={dumps({'words': given})}", *FAST, *settings) as opened:
        await opened.tools.start_servers()
        await ready(opened, "words")
        yield opened


async def asks(opened: Plane, operation: str, **arguments: JsonValue) -> str:
    """What the plugin gets when it calls an operation."""
    given: JsonObject = {"operation": operation, "arguments": arguments}
    return str(result(await opened.conveyor.call("ext.words.ask", given, OWNER))["content"])


async def test_its_tools_are_operations_with_the_declared_schema_risk_and_capability(tmp_path: Path) -> None:
    async with plugin_plane(tmp_path, plugin()) as opened:
        answer = result(await opened.conveyor.call("ext.words.count", {"text": "a b c"}, AGENT))
        assert answer["content"] == '{"words":3}'
        assert refused(await opened.conveyor.call("ext.words.count", {"text": 3}, AGENT)) == "INVALID_ARGUMENT"
        mark = opened.conveyor.catalogue.get("ext.words.seen").mark
        assert (mark.capability, mark.risk.name) == ("context_sharing", "READ")
        assert opened.conveyor.catalogue.get("ext.words.ask").mark.identity == "bot"


async def test_it_calls_operations_as_an_actor_with_the_rights_of_the_settings_alone(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("needle\n")
    async with plugin_plane(tmp_path, plugin(capabilities=["read_files"])) as opened:
        assert "needle" in await asks(opened, "read_files", paths=["a.txt"])
        # Agents may write by default, this plugin may not; and it is no person.
        write: JsonObject = {"path": "b.txt", "content": "x"}
        assert "CAPABILITY_DENIED" in await asks(opened, "write_files", edits=[write])
        assert "POLICY_DENIED" in await asks(opened, "approval.approve", action_id="act_1")
        assert not (tmp_path / "b.txt").exists()
        read = [event for event in await events(opened, "call.finished") if event.payload["operation"] == "read_files"]
        assert [event.actor for event in read] == ["agent:plugin_words"]


async def test_a_plugin_without_capabilities_does_nothing_by_itself(tmp_path: Path) -> None:
    async with plugin_plane(tmp_path, plugin()) as opened:
        assert "CAPABILITY_DENIED" in await asks(opened, "read_files", paths=["a.txt"])


async def test_it_does_not_call_its_own_tools(tmp_path: Path) -> None:
    given = plugin(capabilities=["read_files", "execute_tools"])
    async with plugin_plane(tmp_path, given) as opened:
        assert "a tool of its own" in await asks(opened, "ext.words.count", text="x")
        assert "a tool of its own" in await asks(opened, "ext_words_count", text="x")


async def test_what_reaches_out_asks_a_person_for_a_plugin_too(tmp_path: Path) -> None:
    given = plugin(capabilities=["read_files", "execute_tools"])
    async with plugin_plane(tmp_path, given) as opened:
        assert "APPROVAL_PENDING" in await asks(opened, "web.open", url="https://example.com/")


@pytest.mark.parametrize(("capability", "sees"), [("context_sharing", True), ("streaming_tasks", False)])
async def test_it_is_sent_the_events_that_it_may_see(tmp_path: Path, capability: str, sees: bool) -> None:
    given = plugin(capabilities=["read_files", capability], events=["call.*"])
    async with plugin_plane(tmp_path, given) as opened:
        found = ""
        for number in range(200):
            result(await opened.conveyor.call("status", {}, AGENT))
            await asks(opened, "status")
            await opened.log.flush()
            found = str(result(await opened.conveyor.call("ext.words.seen", {}, OWNER))["content"])
            if "call.finished" in found and (sees or number > 3):
                break
        # Its own calls it always sees; nothing of another type than it asked for.
        assert "call.finished" in found and "session" not in found
        record = [event for event in await events(opened) if event.actor.endswith("plugin_words")]
        assert record


@pytest.mark.parametrize(
    ("trick", "expected"),
    [
        ("garbage", '{"words":1}'),
        ("huge_line", "TOOL_SERVER_UNAVAILABLE"),
        ("never_answers", "TOOL_TIMEOUT"),
        ("exits", "TOOL_SERVER_UNAVAILABLE"),
    ],
)
async def test_a_broken_plugin_ends_its_own_calls_alone(tmp_path: Path, trick: str, expected: str) -> None:
    timeout = 0.5 if trick == "never_answers" else 20
    async with plugin_plane(tmp_path, plugin(trick, timeout_sec=timeout)) as opened:
        outcome = await opened.conveyor.call("ext.words.count", {"text": "x"}, OWNER)
        found = outcome.error.name if outcome.error is not None else result(outcome)["content"]
        assert found == expected
        assert (await ready(opened, "words"))["state"] == "ready"
        if trick == "garbage":
            assert int(str((await listed(opened, "words"))["problems"])) >= 21


async def test_a_plugin_that_asks_without_reading_the_answers_is_not_read_any_further(tmp_path: Path) -> None:
    async with plugin_plane(tmp_path, plugin("asks_without_reading", timeout_sec=3)) as opened:
        before = len(asyncio.all_tasks())
        calling = asyncio.ensure_future(opened.conveyor.call("ext.words.count", {"text": "x"}, OWNER))
        most = 0
        while not calling.done():
            most = max(most, len(asyncio.all_tasks()))
            await asyncio.sleep(0)
        assert refused(calling.result()) == "TOOL_TIMEOUT" and most < before + 200
        assert result(await opened.conveyor.call("status", {}, OWNER))


async def test_a_tool_that_the_owner_called_destructive_asks(tmp_path: Path) -> None:
    tools: JsonObject = {"count": {"description": "Wipe.", "schema": TEXT, "risk": "destructive"}}
    async with plugin_plane(tmp_path, plugin(tools=tools)) as opened:
        assert action_of(await opened.conveyor.call("ext.words.count", {"text": "x"}, AGENT))


def test_no_client_passes_for_a_plugin(tmp_path: Path) -> None:
    from codeplane.kernel.actor import Caller
    from codeplane.trust.identity.identities import Identities

    named = Identities("cpl_token").identify(Caller(surface="mcp", client="plugin_words"))
    assert named.actor_id == "~plugin_words"


@pytest.mark.parametrize(
    "tools",
    [{"count": {"description": "", "risk": "read"}}, {"count": {"description": "x"}}, {"count": {"risk": "harmless"}}],
)
def test_a_declaration_without_words_or_risk_is_refused(tmp_path: Path, tools: JsonObject) -> None:
    given = dumps({"words": {"command": "x", "tools": tools}})
    with pytest.raises(ConfigInvalid):
        load_config(
            workspace=Workspace(root=tmp_path), user_config=None, environ={}, overrides=(f"tools.plugins={given}",)
        )


async def test_a_name_is_given_once(tmp_path: Path) -> None:
    servers, plugins = dumps({"words": {"command": "x"}}), dumps({"words": plugin()})
    with pytest.raises(ConfigInvalid, match="both have 'words'"):
        async with plane(tmp_path, f"mcp.servers={servers}", f"tools.plugins={plugins}"):
            raise AssertionError("it does not start")


def test_a_plugin_has_a_program(tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid, match="command has to be given"):
        load_config(
            workspace=Workspace(root=tmp_path),
            user_config=None,
            environ={},
            overrides=(f"tools.plugins={dumps({'words': {'tools': {}}})}",),
        )
