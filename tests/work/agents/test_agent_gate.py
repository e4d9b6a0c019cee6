"""What an outside agent asks for passes the door as its turn's calls: judged, asked about, recorded, and refused."""

from pathlib import Path

from codeplane.kernel.actor import Caller
from codeplane.kernel.outside_agent import AgentToolCall
from codeplane.work.agents.gate_models import ToolPermitRequest
from tests.harness import git
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT
from tests.trust.approvals.agent_calls import refused, result
from tests.work.agents.agent_plane import NAME, AgentThread, agent_thread, scripted

pytestmark = requirement("OAG-03")

ASKS = "trust.mode=always"
MAY_SPAWN = 'trust.agent_capabilities=["read_files", "spawn_agents", "streaming_tasks"]'


async def _start(thread: AgentThread, *steps: list[object]) -> str:
    """Have the agent do what a person is asked about, and wait for the question."""
    turn = await thread.do(*steps)  # type: ignore[arg-type]  # values of JSON
    assert turn["status"] == "PAUSED", turn
    return str(turn["turn_id"])


def test_a_title_names_files_as_the_repository_does() -> None:
    call = AgentToolCall(tool_call_id="1", title="Edit /trees/1/tree/tax.py, /trees/1/tree/src/a.py", kind="edit")
    asked = ToolPermitRequest.of("codex", call, network=False, root="/trees/1/tree")
    assert asked.title == "Edit tax.py, src/a.py"


async def test_an_edit_that_a_person_refuses_is_not_made_and_the_agent_is_told(tmp_path: Path) -> None:
    async with agent_thread(tmp_path, scripted(), "trust.allow=[agent_tool.enter]", ASKS) as thread:
        turn_id = await _start(thread, ["tool", "edit", "Edit shop.py", "shop.py", "price = 2\n"])
        action = await thread.pending()
        assert action["tool"] == "agent_tool.edit"
        shown = result(await thread.ask("approval.show", action_id=action["action_id"]))
        assert "-price = 1" in str(shown["preview"]) and "+price = 2" in str(shown["preview"])
        turn = result(await thread.ask("turn.show", turn_id=turn_id))
        assert turn["pending_action_ids"] == [action["action_id"]]
        result(await thread.ask("approval.reject", action_id=action["action_id"], reason="no"))
        turn = await thread.reached(turn_id, "COMPLETED")
        assert "[Edit shop.py: no]" in str(turn["assistant_message"])
        assert (thread.tree / "shop.py").read_text() == "price = 1\n"
        states = [event.type for event in await thread.events("turn.paused", "turn.resumed")]
        assert states == ["turn.paused", "turn.resumed"]


async def test_an_edit_that_a_person_approves_is_made_once_and_never_for_ever(tmp_path: Path) -> None:
    async with agent_thread(tmp_path, scripted(), "trust.allow=[agent_tool.enter]", ASKS) as thread:
        turn_id = await _start(thread, ["tool", "edit", "Edit shop.py", "shop.py", "price = 2\n"])
        result(await thread.ask("approval.approve", action_id=(await thread.pending())["action_id"]))
        turn = await thread.reached(turn_id, "COMPLETED")
        # Of the two options that allow it, the one for this time.
        assert "[Edit shop.py: yes]" in str(turn["assistant_message"])
        assert (thread.tree / "shop.py").read_text() == "price = 2\n"
        assert (thread.repo / "shop.py").read_text() == "price = 1\n"


async def test_an_answer_that_is_remembered_covers_later_edits_and_no_commands(tmp_path: Path) -> None:
    async with agent_thread(tmp_path, scripted(), "trust.allow=[agent_tool.enter]", ASKS) as thread:
        turn_id = await _start(
            thread,
            ["tool", "edit", "Edit shop.py", "shop.py", "price = 2\n"],
            ["tool", "edit", "Edit a.py", "a.py", "a = 1\n"],
            ["tool", "execute", "Run it", "", "echo > ran"],
        )
        action = await thread.pending()
        result(await thread.ask("approval.approve", action_id=action["action_id"], trust=True))
        async for _ in thread.opened.log.watch(streams={f"thread/{thread.thread_id}": 0}, heartbeat_sec=60):
            paused = await thread.events("turn.paused")
            if len(paused) == 2:
                break
        second = await thread.pending()
        assert second["tool"] == "agent_tool.execute" and (thread.tree / "a.py").exists()
        result(await thread.ask("approval.reject", action_id=second["action_id"]))
        await thread.reached(turn_id, "COMPLETED")
        assert not (thread.tree / "ran").exists()


async def test_commands_always_ask_whatever_the_mode(tmp_path: Path) -> None:
    async with agent_thread(tmp_path, scripted(), "trust.mode=automatic") as thread:
        turn_id = await _start(thread, ["tool", "execute", "Run it", "", "echo > ran"])
        result(await thread.ask("approval.approve", action_id=(await thread.pending())["action_id"]))
        await thread.reached(turn_id, "COMPLETED")
        assert (thread.tree / "ran").exists() and not (thread.repo / "ran").exists()


async def test_a_request_without_options_is_answered_as_cancelled(tmp_path: Path) -> None:
    async with agent_thread(tmp_path, scripted()) as thread:
        turn = await thread.do(["tool", "edit", "Edit it", "a.py", "a\n", "none"])
        assert "[Edit it: cancelled]" in str(turn["assistant_message"])


async def test_files_are_read_and_written_by_our_operations_in_its_own_tree(tmp_path: Path) -> None:
    long = "".join(f"line {number}\n" for number in range(1, 4001))
    async with agent_thread(tmp_path, scripted(), files={"shop.py": "price = 1\n", "long.txt": long}) as thread:
        turn = await thread.do(
            ["fs_read", "shop.py"],
            ["fs_read", "long.txt", 3999, 1],
            ["fs_write", "shop.py", "price = 3\n"],
            ["fs_write", "new/deep.py", "deep = 1\n"],
            ["read", "shop.py"],
            ["fs_read", "nowhere.py"],
            ["shell", "printf '\\000\\000' > binary"],
            ["fs_read", "binary"],
        )
        answer = str(turn["assistant_message"])
        # Agents tell by these words that there is no such file, and not that they cannot have it.
        assert answer.count("Resource not found") == 1 and "INVALID_ARGUMENT: binary is not text" in answer
        assert '{"content": "price = 1\\n"}' in answer and '"line 3999\\n"' in answer
        assert "[shop.py: price = 3" in answer and "nowhere.py" in answer
        assert (thread.repo / "shop.py").read_text() == "price = 1\n" and not (thread.repo / "new").exists()
        operations = [event.payload["operation"] for event in await thread.events("thread.policy.decided")]
        assert operations.count("write_files") == 2 and operations.count("read_files") >= 3
        whole = await thread.do(["fs_read", "long.txt"])
        assert "line 4000" in str(whole["assistant_message"])


async def test_files_outside_of_its_tree_are_refused(tmp_path: Path) -> None:
    async with agent_thread(tmp_path, scripted()) as thread:
        turn = await thread.do(
            ["fs_read", "/etc/passwd"],
            ["fs_write", str(thread.repo / "evil.py"), "evil\n"],
            ["fs_write", "../evil.py", "evil\n"],
            ["fs_write", ".git/hooks/pre-commit", "evil\n"],
            ["shell", "ln -s / out"],
            ["fs_read", "out/etc/passwd"],
            ["fs_write", "out/tmp/evil", "evil\n"],
        )
        answer = str(turn["assistant_message"])
        assert answer.count("PATH_DENIED") >= 3 and "root:" not in answer
        assert not (thread.repo / "evil.py").exists() and not Path("/tmp/evil").exists()
        problems = [event.payload["text"] for event in await thread.events("agent.problem")]
        assert any("outside of its work tree" in str(text) for text in problems)


async def test_a_terminal_is_a_command_of_ours_which_a_person_decides(tmp_path: Path) -> None:
    async with agent_thread(tmp_path, scripted()) as thread:
        turn_id = await _start(thread, ["terminal", "echo from $(basename $PWD) && touch made"])
        action = await thread.pending()
        assert action["tool"] == "run_bash"
        result(await thread.ask("approval.approve", action_id=action["action_id"]))
        turn = await thread.reached(turn_id, "COMPLETED")
        assert "[terminal 0: from tree]" in str(turn["assistant_message"])
        assert (thread.tree / "made").exists() and not (thread.repo / "made").exists()
        turn_id = await _start(thread, ["terminal", "touch other"])
        result(await thread.ask("approval.reject", action_id=(await thread.pending())["action_id"]))
        turn = await thread.reached(turn_id, "COMPLETED")
        assert "[terminal 126: REJECTED" in str(turn["assistant_message"])


async def test_an_agent_that_is_offered_no_terminal_gets_none(tmp_path: Path) -> None:
    async with agent_thread(tmp_path, scripted(terminal=False)) as thread:
        turn = await thread.do(["terminal", "true"])
        assert "not offered" in str(turn["assistant_message"])


async def test_our_tools_work_on_its_own_tree_and_change_no_git(tmp_path: Path) -> None:
    edit = {"edits": [{"path": "shop.py", "old_text": "price = 1", "new_text": "price = 4"}]}
    async with agent_thread(tmp_path, scripted(), toolset="core,git,thread") as thread:
        turn = await thread.do(
            ["mcp", "write_files", edit],
            ["mcp", "search", {"query": "price"}],
            ["mcp", "git_create_branch", {"name": "sneaky"}],
            ["mcp", "thread_apply", {"thread_id": thread.thread_id}],
            ["read", "shop.py"],
        )
        answer = str(turn["assistant_message"])
        assert "[has write_files: " in answer and "[shop.py: price = 4" in answer
        assert "POLICY_DENIED" in answer and "[lacks thread_apply: there is no tool" in answer
        assert (thread.repo / "shop.py").read_text() == "price = 1\n"
        assert "sneaky" not in git(thread.repo, "branch", "--list")


async def test_its_rights_are_no_more_than_those_of_whom_it_works_for(tmp_path: Path) -> None:
    async with agent_thread(tmp_path, scripted(), MAY_SPAWN) as thread:
        created = result(await thread.opened.conveyor.call("thread.create", {"agent": NAME}, AGENT))
        own = AgentThread(thread.opened, str(created["thread_id"]), caller=AGENT, repo=thread.repo, trees=thread.trees)
        await own.do(
            ["fs_write", "shop.py", "price = 2\n"],
            ["tool", "edit", "Edit shop.py", "shop.py", "price = 2\n"],
            ["fs_read", "shop.py"],
        )
        answer = await own.said()
        assert "CAPABILITY_DENIED" in answer and "[Edit shop.py: no]" in answer and "price = 1" in answer
        assert refused(await own.ask("thread.apply", thread_id=own.thread_id)) in ("POLICY_DENIED", "CAPABILITY_DENIED")


async def test_only_the_turn_of_an_agent_asks_for_an_agent(tmp_path: Path) -> None:
    async with agent_thread(tmp_path, scripted()) as thread:
        asked = {"agent": NAME, "tool_call_id": "x", "title": "mine"}
        for caller in (thread.caller, AGENT, Caller(surface="mcp", client="other")):
            outcome = await thread.opened.conveyor.call("agent_tool.edit", asked, caller)
            assert refused(outcome) == "INVALID_ARGUMENT"


async def test_an_agent_that_is_not_there_is_named_when_a_thread_is_made(tmp_path: Path) -> None:
    async with agent_thread(tmp_path, scripted(), f"agents.default={NAME}") as thread:
        assert refused(await thread.ask("thread.create", agent="nobody")) == "OUTSIDE_AGENT_UNKNOWN"
        assert result(await thread.ask("thread.create"))["agent"] == NAME
        assert result(await thread.ask("thread.create", agent="none"))["agent"] == ""
