"""Tools of other programs as operations: started from the settings, asked about, trusted, called and recorded."""

import asyncio
import json
from pathlib import Path

import pytest

from codeplane.adapters.yaml_config import load_config
from codeplane.kernel.errors import ConfigInvalid
from codeplane.kernel.json import JsonObject, dumps
from codeplane.kernel.workspace import Workspace
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, events
from tests.trust.approvals.agent_calls import action_of, refused, result
from tests.work.tools.tool_plane import SCRIPT, listed, ready, scripted, tool_plane


def tool_of(server: JsonObject, name: str) -> JsonObject:
    """The view of a tool by the server's name for it."""
    tools = server["tools"]
    assert isinstance(tools, list)
    return next(tool for tool in tools if isinstance(tool, dict) and tool["tool"] == name)


@requirement("TOOL-01")
class TestThroughTheDoor:
    async def test_a_configured_server_is_started_and_its_tools_are_called_marked_and_recorded(
        self, tmp_path: Path
    ) -> None:
        async with tool_plane(tmp_path, {"notes": scripted()}) as opened:
            assert (await ready(opened, "notes"))["state"] == "ready"
            result(await opened.conveyor.call("tools.trust", {"server": "notes"}, OWNER))
            outcome = await opened.conveyor.call("ext.notes.look", {"text": "hi"}, AGENT)
            assert result(outcome)["content"] == "look: hi"
            assert "ext_notes_look" in {found.tool for found in opened.conveyor.catalogue.toolset(["notes"])}
            recorded = await events(opened)
            assert [e.payload["operation"] for e in recorded if e.type == "call.finished"][-1] == "ext.notes.look"
            marks = [event for event in recorded if event.type.startswith("content.")]
            assert [(mark.payload["source"], mark.payload["what"]) for mark in marks] == [("tool", "notes")]

    async def test_a_program_that_the_sandbox_hides_is_named_with_the_folder_to_show(self, tmp_path: Path) -> None:
        async with tool_plane(tmp_path, {"notes": scripted(readable=[])}, "tools.restarts=1") as opened:
            outcome = await opened.conveyor.call("tools.test", {"server": "notes"}, OWNER)
            assert outcome.error is not None and "out of the server's sight" in outcome.error.message
            assert f"--readable {SCRIPT.parent}" in str(outcome.error.hint)

    async def test_after_an_answer_of_it_outward_calls_are_only_proposed(self, tmp_path: Path) -> None:
        servers = {"notes": scripted(), "mail": scripted(network=True, risk="exfiltration")}
        async with tool_plane(tmp_path, servers, 'trust.allow=["ext.mail.send"]') as opened:
            await ready(opened, "notes")
            await ready(opened, "mail")
            result(await opened.conveyor.call("tools.trust", {"server": "notes"}, OWNER))
            assert result(await opened.conveyor.call("ext.mail.send", {"text": "before"}, AGENT))
            # The answer of the first one is marked, too: from here on a person decides.
            outcome = await opened.conveyor.call("ext.mail.send", {"text": "after"}, AGENT)
            assert action_of(outcome) and outcome.error is not None
            assert outcome.error.details["code"] == "untrusted_ingest_block"

    async def test_wrong_arguments_are_refused_before_the_server_sees_them(self, tmp_path: Path) -> None:
        async with tool_plane(tmp_path, {"notes": scripted()}) as opened:
            await ready(opened, "notes")
            assert refused(await opened.conveyor.call("ext.notes.look", {"text": 7}, OWNER)) == "INVALID_ARGUMENT"
            assert (await listed(opened, "notes"))["calls"] == 0

    async def test_progress_of_a_tool_reaches_its_caller(self, tmp_path: Path) -> None:
        heard: list[tuple[float, str | None]] = []

        async def hear(progress: object) -> None:
            heard.append((progress.done, progress.message))  # type: ignore[attr-defined]  # a Progress

        async with tool_plane(tmp_path, {"notes": scripted("progress")}) as opened:
            await ready(opened, "notes")
            from dataclasses import replace

            caller = replace(OWNER, on_progress=hear)
            result(await opened.conveyor.call("ext.notes.look", {"text": "x"}, caller))
        assert (1.0, "half") in heard

    async def test_an_embedded_run_starts_no_server(self, tmp_path: Path) -> None:
        from tests.kernel.plane import plane

        async with plane(tmp_path, f"mcp.servers={dumps({'notes': scripted()})}") as opened:
            assert (await listed(opened, "notes"))["state"] == "not started here"
            assert refused(await opened.conveyor.call("tools.test", {"server": "notes"}, OWNER)) == "INVALID_ARGUMENT"


@requirement("TOOL-02")
class TestTrust:
    async def test_a_tool_of_unknown_risk_asks_in_every_mode_and_a_trusted_one_does_not(self, tmp_path: Path) -> None:
        async with tool_plane(tmp_path, {"notes": scripted()}, "trust.mode=automatic") as opened:
            server = await ready(opened, "notes")
            assert tool_of(server, "look")["risk"] == "unknown"
            assert action_of(await opened.conveyor.call("ext.notes.look", {"text": "x"}, AGENT))
            trusted = result(await opened.conveyor.call("tools.trust", {"server": "notes", "tools": ["look"]}, OWNER))
            assert isinstance(trusted["tools"], list) and trusted["tools"][0]["risk"] == "reads"
            assert result(await opened.conveyor.call("ext.notes.look", {"text": "x"}, AGENT))
            assert tool_of(await listed(opened, "notes"), "note")["risk"] == "unknown"
            result(await opened.conveyor.call("tools.distrust", {"server": "notes", "tools": ["look"]}, OWNER))
            assert action_of(await opened.conveyor.call("ext.notes.look", {"text": "y"}, AGENT))

    async def test_trust_outlives_a_restart(self, tmp_path: Path) -> None:
        servers = {"notes": scripted()}
        async with tool_plane(tmp_path, servers) as opened:
            await ready(opened, "notes")
            result(await opened.conveyor.call("tools.trust", {"server": "notes"}, OWNER))
        async with tool_plane(tmp_path, servers) as opened:
            server = await ready(opened, "notes")
            # What a server says with the protocol's defaults: `send` says nothing, so it may destroy.
            risks = {name: tool_of(server, name)["risk"] for name in ("look", "note", "send")}
            assert risks == {"look": "reads", "note": "writes", "send": "destroys"}

    async def test_the_owners_word_counts_more_than_the_servers(self, tmp_path: Path) -> None:
        given = scripted(tools={"look": {"risk": "destructive"}, "note": {"disabled": True}}, believe_hints=True)
        async with tool_plane(tmp_path, {"notes": given}) as opened:
            server = await ready(opened, "notes")
            assert tool_of(server, "look")["risk"] == "destroys"
            assert action_of(await opened.conveyor.call("ext.notes.look", {"text": "x"}, AGENT))
            assert refused(await opened.conveyor.call("ext.notes.note", {"text": "x"}, OWNER)) == "UNKNOWN_OPERATION"

    async def test_no_agent_trusts_or_lists_servers(self, tmp_path: Path) -> None:
        async with tool_plane(tmp_path, {"notes": scripted()}) as opened:
            await ready(opened, "notes")
            for name, arguments in (("tools.trust", {"server": "notes"}), ("tools.list", {}), ("tools.reload", {})):
                assert refused(await opened.conveyor.call(name, arguments, AGENT)) == "POLICY_DENIED"

    async def test_an_approved_call_runs_only_as_it_was_shown(self, tmp_path: Path) -> None:
        async with tool_plane(tmp_path, {"notes": scripted("redefines")}) as opened:
            await ready(opened, "notes")
            outcome = await opened.conveyor.call("ext.notes.look", {"text": "x"}, AGENT)
            shown = result(await opened.conveyor.call("approval.show", {"action_id": action_of(outcome)}, OWNER))
            assert "what the server says of it, unchecked:\n  | Version 1." in str(shown["preview"])
            # Another call makes the server announce another definition.
            await opened.conveyor.call("ext.notes.look", {"text": "owner"}, OWNER)
            await _until_version(opened, 2)
            decided = await opened.conveyor.call("approval.approve", {"action_id": action_of(outcome)}, OWNER)
            key = str(outcome.error.details["idempotency_key"]) if outcome.error else ""
            again = await opened.conveyor.call("ext.notes.look", {"text": "x", "idempotency_key": key}, AGENT)
            assert decided.error is not None or again.error is not None
            assert (await listed(opened, "notes"))["calls"] == 1


async def _until_version(opened: object, version: int) -> None:
    while True:
        server = await listed(opened, "notes")  # type: ignore[arg-type]  # a Plane
        if f"Version {version}" in str(tool_of(server, "look")["description"]):
            return
        await asyncio.sleep(0)


@requirement("TOOL-03")
class TestSettings:
    @pytest.mark.parametrize(
        "text",
        [
            'mcp:\n  servers: {evil: {command: "/bin/sh"}}\n',
            'mcp: {servers: {evil: {command: "/bin/sh"}}, toolset: core}\n',
            "tools:\n  plugins: {evil: {command: /bin/sh}}\n",
        ],
    )
    def test_a_file_in_the_repository_cannot_start_programs(self, tmp_path: Path, text: str) -> None:
        workspace = Workspace(root=tmp_path)
        workspace.config.parent.mkdir()
        workspace.config.write_text(text)
        with pytest.raises(ConfigInvalid, match="is not taken from a file in the repository"):
            load_config(workspace=workspace, user_config=None, environ={}, overrides=())

    def test_the_owners_own_file_can_and_the_repository_still_sets_the_toolset(self, tmp_path: Path) -> None:
        workspace, user = Workspace(root=tmp_path / "repo"), tmp_path / "owner" / "config.yaml"
        workspace.config.parent.mkdir(parents=True)
        workspace.config.write_text("mcp: {toolset: all}\n")
        user.parent.mkdir()
        user.write_text("mcp: {servers: {notes: {command: notes-server, args: [--fast]}}}\n")
        loaded = load_config(workspace=workspace, user_config=user, environ={}, overrides=())
        assert loaded.config.mcp.toolset == "all" and loaded.config.mcp.servers["notes"].args == ("--fast",)

    @pytest.mark.parametrize(
        ("server", "message"),
        [
            ({"command": "a", "url": "http://b"}, "either command or url"),
            ({}, "either command or url"),
            ({"url": "file:///etc/passwd"}, "begins with http"),
            ({"command": "a", "comand": "b"}, "comand"),
            ({"url": "https://a", "oauth": {"grant": "client_credentials"}}, "client_credentials needs"),
            ({"url": "https://a", "oauth": {"client_id": "x", "client_secret": "${S}"}}, "issuer"),
        ],
    )
    def test_settings_that_cannot_be_meant_are_refused(self, tmp_path: Path, server: JsonObject, message: str) -> None:
        with pytest.raises(ConfigInvalid, match=message):
            load_config(
                workspace=Workspace(root=tmp_path),
                user_config=None,
                environ={},
                overrides=(f"mcp.servers={json.dumps({'notes': server})}",),
            )

    async def test_secrets_come_from_the_environment_and_are_in_no_answer_and_not_in_the_log(
        self, tmp_path: Path
    ) -> None:
        from tests.kernel.plane import NO_WAIT, running_here

        secret = "wd40-" + "k3yB1rd" * 3
        given = scripted("steals_files", env={"API_KEY": "${NOTES_KEY}"})
        loaded = load_config(
            workspace=Workspace(root=tmp_path),
            user_config=None,
            environ={"NOTES_KEY": secret},
            overrides=(f"mcp.servers={dumps({'notes': given})}", NO_WAIT),
        ).without_terminal()
        async with running_here(Workspace(root=tmp_path), loaded=loaded) as opened:
            await opened.tools.start_servers()
            await ready(opened, "notes")
            answer = result(await opened.conveyor.call("ext.notes.look", {"text": "env API_KEY\nenv HOME"}, OWNER))
            assert "env " in str(answer["content"]) and "env None" not in str(answer["content"])
            recorded = [dumps(event.payload) for event in await events(opened)]
            assert not [text for text in recorded if secret in text]

    async def test_a_secret_that_is_nowhere_keeps_the_server_down_with_a_hint(self, tmp_path: Path) -> None:
        given = scripted(env={"API_KEY": "${NOT_THERE}"})
        async with tool_plane(tmp_path, {"notes": given}) as opened:
            outcome = await opened.conveyor.call("tools.test", {"server": "notes"}, OWNER)
            assert refused(outcome) == "TOOL_SERVER_UNAVAILABLE" and outcome.error is not None
            assert "cpl tools secret NOT_THERE" in outcome.error.hint

    async def test_a_program_in_the_work_tree_is_not_taken_for_the_one_on_path(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fake = tmp_path / "bin" / "notes-server"
        fake.parent.mkdir()
        fake.write_text("#!/bin/sh\ntouch /tmp/never\n")
        fake.chmod(0o755)
        monkeypatch.setenv("PATH", f"{fake.parent}:/usr/bin:/bin")
        async with tool_plane(tmp_path, {"notes": {"command": "notes-server"}}) as opened:
            outcome = await opened.conveyor.call("tools.test", {"server": "notes"}, OWNER)
            assert outcome.error is not None and "is not on PATH" in outcome.error.message

    async def test_settings_are_read_again_without_a_restart(self, tmp_path: Path) -> None:
        from tests.kernel.plane import NO_WAIT, running_here

        user = tmp_path / "owner" / "config.yaml"
        user.parent.mkdir()
        user.write_text("{}\n")
        workspace = Workspace(root=tmp_path / "repo")
        workspace.root.mkdir()
        loaded = load_config(workspace=workspace, user_config=user, environ={}, overrides=(NO_WAIT,))
        async with running_here(workspace, loaded=loaded.without_terminal()) as opened:
            await opened.tools.start_servers()
            user.write_text(f"mcp: {{servers: {dumps({'notes': scripted(), 'core': scripted()})}}}\n")
            result(await opened.conveyor.call("tools.reload", {}, OWNER))
            assert (await ready(opened, "notes"))["state"] == "ready"
            await ready(opened, "core")
            # A server cannot put its tools into a toolset of ours.
            assert not [one for one in opened.conveyor.catalogue.toolset(["core"]) if one.name.startswith("ext.")]
            assert len(opened.conveyor.catalogue.toolset(["ext.core"])) == 3
            user.write_text("{}\n")
            result(await opened.conveyor.call("tools.reload", {}, OWNER))
            assert refused(await opened.conveyor.call("ext.notes.look", {"text": "x"}, OWNER)) == "UNKNOWN_OPERATION"
