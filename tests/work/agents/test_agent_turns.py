"""An outside agent runs a thread's turns in a work tree of its own; a person applies or discards its diff."""

from pathlib import Path

from tests.harness import git
from tests.interaction.requirements import requirement
from tests.trust.approvals.agent_calls import refused, result
from tests.work.agents.agent_plane import agent_thread, scripted

pytestmark = requirement("OAG-01")


async def test_what_it_says_and_does_is_the_threads_and_its_changes_wait_for_a_person(tmp_path: Path) -> None:
    async with agent_thread(tmp_path, scripted()) as thread:
        turn = await thread.do(
            ["think", "Let me look."],
            ["plan", "Raise the price", "Test it"],
            ["say", "I raise it."],
            ["tool", "edit", "Edit shop.py", "shop.py", "price = 2\n"],
            ["write", "new/tax.py", "tax = 3\n"],
            ["usage", 5000, 0.25],
        )
        assert turn["status"] == "COMPLETED", turn
        assert (turn["input_tokens"], turn["output_tokens"], turn["cost_usd"]) == (11, 7, 0.25)
        assert turn["tool_steps"] == 1 and "wrote new/tax.py" in str(turn["assistant_message"])

        types = [event.type for event in await thread.events()]
        for wanted in ("agent.started", "agent.plan", "assistant.thinking_delta", "tool.planned", "tool.finished"):
            assert wanted in types, types
        assert types.index("agent.changed") < types.index("turn.completed")
        [finished] = await thread.events("tool.finished")
        assert finished.payload["status"] == "ok" and finished.payload["tool_name"] == "scripted.edit"
        messages = [event.payload["full_text"] for event in await thread.events("assistant.message_committed")]
        assert messages[0] == "I raise it." and len(messages) == 2

        # Nothing of it is in the checkout.
        assert (thread.repo / "shop.py").read_text() == "price = 1\n" and not (thread.repo / "new").exists()
        assert git(thread.repo, "status", "--porcelain") == ""
        diff = await thread.diff()
        assert diff["files"] == [
            {"path": "new/tax.py", "change": "created"},
            {"path": "shop.py", "change": "changed"},
        ]

        applied = result(await thread.ask("thread.apply", thread_id=thread.thread_id))
        assert (thread.repo / "shop.py").read_text() == "price = 2\n"
        assert (thread.repo / "new/tax.py").read_text() == "tax = 3\n"
        assert (await thread.diff())["files"] == []
        again = result(await thread.ask("thread.apply", thread_id=thread.thread_id))
        assert again["mutation_id"] == "" and again["files"] == []

        result(await thread.ask("undo", mutation_id=applied["mutation_id"]))
        assert (thread.repo / "shop.py").read_text() == "price = 1\n" and not (thread.repo / "new").exists()
        assert git(thread.repo, "status", "--porcelain") == ""
        assert await thread.are_tables_rebuilt_equal()


async def test_a_later_turn_goes_on_in_the_same_tree_also_after_its_changes_were_applied(tmp_path: Path) -> None:
    async with agent_thread(tmp_path, scripted()) as thread:
        await thread.do(["write", "a.py", "a = 1\n"])
        turn = await thread.do(["read", "a.py"], ["write", "b.py", "b = 1\n"])
        assert "a = 1" in str(turn["assistant_message"])
        assert len((await thread.diff())["files"]) == 2  # type: ignore[arg-type]  # a list
        result(await thread.ask("thread.apply", thread_id=thread.thread_id))
        turn = await thread.do(["read", "a.py"], ["write", "a.py", "a = 2\n"])
        assert "a = 1" in str(turn["assistant_message"])
        assert (await thread.diff())["files"] == [{"path": "a.py", "change": "changed"}]
        result(await thread.ask("thread.apply", thread_id=thread.thread_id))
        assert (thread.repo / "a.py").read_text() == "a = 2\n" and (thread.repo / "b.py").exists()


async def test_a_tree_without_changes_follows_the_checkout_to_its_newest_commit(tmp_path: Path) -> None:
    async with agent_thread(tmp_path, scripted()) as thread:
        await thread.do(["say", "Hello."])
        (thread.repo / "shop.py").write_text("price = 9\n")
        git(thread.repo, "commit", "--quiet", "--all", "--message", "nine")
        assert "price = 9" in str((await thread.do(["read", "shop.py"]))["assistant_message"])


async def test_discarding_removes_the_tree_and_a_later_turn_begins_anew(tmp_path: Path) -> None:
    async with agent_thread(tmp_path, scripted()) as thread:
        await thread.do(["write", "a.py", "a = 1\n"])
        tree = thread.tree
        result(await thread.ask("thread.discard", thread_id=thread.thread_id))
        assert not tree.exists() and len(git(thread.repo, "worktree", "list").splitlines()) == 1
        assert refused(await thread.ask("thread.diff", thread_id=thread.thread_id)) == "THREAD_TREE_GONE"
        turn = await thread.do(["read", "a.py"])
        assert "cannot read a.py" in str(turn["assistant_message"])
        assert await thread.are_tables_rebuilt_equal()


async def test_a_checkout_that_moved_is_left_alone_and_the_conflicts_are_named(tmp_path: Path) -> None:
    async with agent_thread(tmp_path, scripted()) as thread:
        await thread.do(["write", "shop.py", "price = 2\n"], ["write", "a.py", "a = 1\n"])
        (thread.repo / "shop.py").write_text("price = 5\n")
        assert (await thread.diff())["conflicts"] == ["shop.py"]
        assert refused(await thread.ask("thread.apply", thread_id=thread.thread_id)) == "JOB_CONFLICT"
        assert (thread.repo / "shop.py").read_text() == "price = 5\n" and not (thread.repo / "a.py").exists()


async def test_an_agent_that_keeps_sessions_goes_on_with_its_own_and_another_is_told_what_was_said(
    tmp_path: Path,
) -> None:
    async with agent_thread(tmp_path / "keeps", scripted("load", "echo")) as thread:
        await thread.do(["session"])
        turn = await thread.do(["session"])
        assert "[session s1]" in str(turn["assistant_message"]) and "REPLAYED" not in str(turn["assistant_message"])
        assert "Earlier in this conversation" not in str(turn["assistant_message"])
    async with agent_thread(tmp_path / "forgets", scripted("echo")) as thread:
        await thread.do(["say", "The answer is 42."])
        turn = await thread.do(["session"])
        assert "[session s2]" in str(turn["assistant_message"]) and "The answer is 42." in str(
            turn["assistant_message"]
        )
        assert "<data>" in str(turn["assistant_message"])
