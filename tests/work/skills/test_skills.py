"""Skills in turns: only when chosen, only when trusted, and never with more tools."""

from collections.abc import Callable
from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject
from codeplane.ledger.projection import differences
from codeplane.work.skills.table import SkillTrustTable
from codeplane.work.skills.tool_names import narrow_tools
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT
from tests.trust.approvals.agent_calls import refused, result
from tests.work.turns.conversation import Conversation, conversing
from tests.work.turns.scripted_model import ModelCallRequest, ScriptedModel, finish, text, tool

pytestmark = requirement("SKILL-02")

Answer = Callable[[ModelCallRequest], list[JsonObject]]


def _write(root: Path, name: str = "review", allowed: str = "") -> Path:
    folder = root / ".agents/skills" / name
    folder.mkdir(parents=True, exist_ok=True)
    front = f"name: {name}\ndescription: Reviews a change.\n{f'allowed-tools: {allowed}' if allowed else ''}"
    (folder / "SKILL.md").write_text(f"---\n{front}\n---\nLook twice.\n")
    return folder


async def _trust(thread: Conversation, name: str = "review") -> None:
    shown = result(await thread.ask("skill.show", name=name))
    result(await thread.ask("skill.trust", name=name, hash=shown["hash"]))


def _model(seen: list[ModelCallRequest]) -> ScriptedModel:
    def answer(asked: ModelCallRequest) -> list[JsonObject]:
        seen.append(asked)
        return text("Done.")

    return ScriptedModel(choose=answer)


async def test_a_skill_of_the_repository_is_off_until_its_hash_is_trusted(tmp_path: Path) -> None:
    seen: list[ModelCallRequest] = []
    async with conversing(tmp_path, _model(seen)) as thread:
        folder = _write(tmp_path)
        send: JsonObject = {"thread_id": thread.thread_id, "user_text": "review it", "skills": ["review"]}
        assert refused(await thread.ask("turn.send", **send)) == "SKILL_NOT_TRUSTED"
        assert refused(await thread.ask("skill.load", name="review")) == "SKILL_NOT_TRUSTED"
        await _trust(thread)
        await thread.send("review it", skills=["review"])
        assert "Look twice." in str(seen[-1].messages[0]["text"])
        await thread.send("and without it")
        assert "Look twice." not in str(seen[-1].messages[0]["text"])
        (folder / "SKILL.md").write_text((folder / "SKILL.md").read_text() + "Then push.\n")
        assert refused(await thread.ask("turn.send", **send, client_message_id="2")) == "SKILL_NOT_TRUSTED"
        assert result(await thread.ask("skill.show", name="review"))["state"] == "changed"
        log = thread.opened.log
        assert await log.readers.run(lambda connection: differences(connection, SkillTrustTable())) == []


async def test_trust_is_for_people_and_for_what_they_saw(tmp_path: Path) -> None:
    async with conversing(tmp_path, ScriptedModel(text("Yes."))) as thread:
        folder = _write(tmp_path)
        shown = result(await thread.ask("skill.show", name="review"))
        trust: JsonObject = {"name": "review", "hash": shown["hash"]}
        assert refused(await thread.opened.conveyor.call("skill.trust", trust, AGENT)) == "POLICY_DENIED"
        (folder / "evil.sh").write_text("push\n")
        assert refused(await thread.ask("skill.trust", **trust)) == "SKILL_NOT_TRUSTED"
        await _trust(thread)
        result(await thread.ask("skill.load", name="review"))
        result(await thread.ask("skill.distrust", name="review"))
        assert refused(await thread.ask("skill.load", name="review")) == "SKILL_NOT_TRUSTED"
        assert refused(await thread.ask("skill.load", name="nothing")) == "SKILL_NOT_FOUND"


async def test_a_skill_narrows_the_tools_of_its_turn(tmp_path: Path) -> None:
    asked: list[ModelCallRequest] = []

    def answer(question: ModelCallRequest) -> list[JsonObject]:
        asked.append(question)
        forbidden = [tool("fixture_write", text="x"), finish()]
        return forbidden if len(asked) == 1 else text("Then not.")

    async with conversing(tmp_path, ScriptedModel(choose=answer)) as thread:
        _write(tmp_path, allowed="fixture_read no_such_tool Bash(git:*)")
        await _trust(thread)
        turn = await thread.send("review it", skills=["review"])
        assert turn["status"] == "COMPLETED"
        assert [offered["name"] for offered in asked[0].tools] == ["fixture_read"]
        # What it may not use is no tool of the turn: it was told so and answered again.
        assert "there is no tool 'fixture_write'" in str(asked[1].messages[-1]["text"])
        assert await thread.events("tool.started") == []
        # It cannot be loaded in the middle of a turn, whose tools are known by then.
        assert refused(await thread.ask("skill.load", name="review")) == "INVALID_ARGUMENT"


async def test_a_turn_keeps_the_skill_that_it_was_given(tmp_path: Path) -> None:
    seen: list[ModelCallRequest] = []
    async with conversing(tmp_path, _model(seen)) as thread:
        folder = _write(tmp_path)
        await _trust(thread)
        turn = await thread.send("review it", skills=["review"], client_message_id="one")
        (folder / "SKILL.md").write_text("---\nname: review\ndescription: Other.\n---\nOther.\n")
        # The same message again is the same turn, whatever became of its skill.
        same = await thread.send("review it", skills=["review"], client_message_id="one")
        assert same["turn_id"] == turn["turn_id"]
        refusal = await thread.ask("turn.send", thread_id=thread.thread_id, user_text="again", skills=["review"])
        assert refused(refusal) == "SKILL_NOT_TRUSTED"
        assert turn["status"] == "COMPLETED" and "Look twice." in str(seen[0].messages[0]["text"])


@pytest.mark.parametrize(
    ("allowed", "left"),
    [
        (["Read", "Grep"], {"read_files", "search"}),
        (["Bash"], {"run_bash"}),
        (["Bash(git:*)"], set[str]()),
        (["mcp__codeplane__git_status", "git.diff"], {"git_status", "git_diff"}),
        (["everything", "*"], set[str]()),
        ([], set[str]()),
    ],
)
def test_tools_are_known_by_their_names_elsewhere(allowed: list[str], left: set[str]) -> None:
    offered = ["read_files", "search", "run_bash", "git_status", "git_diff", "write_files"]
    assert narrow_tools(allowed, offered) == left
