"""Published MCP servers as tools of turns and of work items, in the sandbox."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from codeplane.kernel.json import JsonObject
from codeplane.wiring.app import Plane
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER
from tests.trust.approvals.agent_calls import action_of, refused, result
from tests.work.items.test_work import reached, started
from tests.work.tools.published_servers import published
from tests.work.tools.tool_plane import listed, ready, tool_plane
from tests.work.turns.conversation import Conversation
from tests.work.turns.scripted_model import ScriptedModel, finish, text, tool

pytestmark = requirement("TOOL-08")


@asynccontextmanager
async def working(
    root: Path, servers: dict[str, JsonObject], model: ScriptedModel | None = None
) -> AsyncIterator[Plane]:
    """A plane with published servers that the owner trusts, and an engine."""
    models = {"scripted": model} if model is not None else None
    async with tool_plane(root, servers, models=models) as opened:
        opened.work.start_engine(opened.conveyor)
        for name in servers:
            await ready(opened, name)
            result(await opened.conveyor.call("tools.trust", {"server": name}, OWNER))
        yield opened


async def talking(opened: Plane, toolset: str) -> Conversation:
    created = await opened.conveyor.call("thread.create", {"toolset": toolset}, OWNER)
    return Conversation(opened, str(result(created)["thread_id"]))


async def test_a_turn_keeps_and_finds_facts_with_the_memory_server(tmp_path: Path) -> None:
    memory = tmp_path / "memory"
    memory.mkdir()
    model = ScriptedModel(
        [
            tool(
                "ext_memory_create_entities",
                "a",
                entities=[{"name": "CodePlane", "entityType": "project", "observations": ["has one door"]}],
            ),
            finish("tool_calls"),
        ],
        [tool("ext_memory_search_nodes", "b", query="door"), finish("tool_calls")],
        text("It has one door."),
    )
    given = published(
        "memory",
        env={"MEMORY_FILE_PATH": str(memory / "memory.json")},
        writable=[str(memory)],
    )
    async with working(tmp_path / "repo", {"memory": given}, model) as opened:
        thread = await talking(opened, "ext.memory")
        turn = await thread.send("What do we know?")
        assert (turn["status"], turn["assistant_message"]) == ("COMPLETED", "It has one door."), turn
        offered = {str(found["name"]) for found in model.asked[0].tools}
        assert "ext_memory_read_graph" in offered and all(name.startswith("ext_memory_") for name in offered)
        answers = [str(message.get("text", "")) for message in model.asked[-1].messages if message["role"] == "tool"]
        assert "has one door" in answers[-1]
        finished = await thread.events("tool.finished")
        assert [event.payload["status"] for event in finished] == ["ok", "ok"]
    assert "has one door" in (memory / "memory.json").read_text()


async def test_the_filesystem_server_reads_the_repository_and_nothing_else(tmp_path: Path) -> None:
    repo, secret = tmp_path / "repo", tmp_path / "secret.txt"
    repo.mkdir()
    (repo / "a.txt").write_text("alpha\n")
    secret.write_text("hidden\n")
    async with working(repo, {"files": published("filesystem", str(repo))}) as opened:
        read = result(await opened.conveyor.call("ext.files.read_text_file", {"path": str(repo / "a.txt")}, AGENT))
        assert "alpha" in str(read["content"])
        other = result(await opened.conveyor.call("ext.files.read_text_file", {"path": str(secret)}, AGENT))
        assert other["is_error"] is True and "hidden" not in str(other["content"])
        # It says that it may overwrite, so it asks; and the sandbox shows it the repository to read alone.
        asked: JsonObject = {"path": str(repo / "a.txt"), "content": "changed"}
        assert action_of(await opened.conveyor.call("ext.files.write_file", asked, AGENT))
        tried = result(await opened.conveyor.call("ext.files.write_file", asked, OWNER))
        assert tried["is_error"] is True and (repo / "a.txt").read_text() == "alpha\n"
        token: JsonObject = {"path": str(opened.workspace.owner_token)}
        stolen = result(await opened.conveyor.call("ext.files.read_text_file", token, OWNER))
        assert stolen["is_error"] is True


async def test_the_everything_server_is_driven_by_a_work_item(tmp_path: Path) -> None:
    async with working(tmp_path, {"every": published("everything", "stdio")}) as opened:
        names = {found["tool"] for found in (await listed(opened, "every"))["tools"]}  # type: ignore[index, union-attr, call-overload]  # JSON
        assert {"echo", "get-sum", "get-tiny-image"} <= names
        # A server in the sandbox reaches no other machine, so what it says of reading is all there is to it.
        steps: list[JsonObject] = [
            {"operation": "ext.every.echo", "arguments": {"message": "hi"}},
            {"operation": "ext.every.get-sum", "arguments": {"a": 2, "b": 3}},
        ]
        result(await opened.conveyor.call("tools.trust", {"server": "every", "risk": "read"}, OWNER))
        item = await reached(opened, await started(opened, *steps), "COMPLETED", "FAILED", "WAITING")
        assert item["state"] == "COMPLETED", item
        summed = result(await opened.conveyor.call("ext.every.get-sum", {"a": 2, "b": 3}, AGENT))
        assert "5" in str(summed["content"])
        image = result(await opened.conveyor.call("ext.every.get-tiny-image", {}, AGENT))
        assert "[image of type image/png" in str(image["content"])
        wrong = await opened.conveyor.call("ext.every.get-sum", {"a": "two", "b": 3}, AGENT)
        assert refused(wrong) == "INVALID_ARGUMENT"
