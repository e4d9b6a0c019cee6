"""Outside agents that hang, flood, babble, exit or are cut off: the turn says why it ended, or goes on."""

import json
import os
import signal
from contextlib import suppress
from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject, JsonValue, dumps
from tests.harness import make_repo, start, until
from tests.interaction.requirements import requirement
from tests.kernel.plane import OWNER
from tests.trust.approvals.agent_calls import refused, result
from tests.work.agents.agent_plane import FILES, NAME, AgentThread, agent_plane, agent_thread, scripted

pytestmark = requirement("OAG-04")

ASKS = ("trust.mode=always", "trust.allow=[agent_tool.enter]")


async def _failed(thread: AgentThread, code: str, words: str, *steps: list[JsonValue]) -> JsonObject:
    """A turn that fails with a code, and a message that has the words."""
    turn = await thread.do(*(steps or (["say", "Hello."],)))
    assert (turn["status"], turn["code"]) == ("FAILED", code), turn
    assert words in str(turn["message"]), turn["message"]
    return turn


async def test_one_that_exits_says_with_what_words_and_its_changes_stay(tmp_path: Path) -> None:
    async with agent_thread(tmp_path, scripted()) as thread:
        await _failed(
            thread,
            "OUTSIDE_AGENT_FAILED",
            "ended with 3: giving up",
            ["say", "I begin."],
            ["write", "a.py", "a\n"],
            ["exit", 3],
        )
        assert "I begin." in await thread.said()
        assert (await thread.diff())["files"] == [{"path": "a.py", "change": "created"}]
        listed = result(await thread.ask("acp_agent.list"))
        assert "giving up" in str(listed["agents"])
        # The next turn starts it again.
        assert (await thread.do(["read", "a.py"]))["status"] == "COMPLETED"


async def test_one_that_is_silent_is_ended(tmp_path: Path) -> None:
    async with agent_thread(tmp_path, scripted("deaf"), "agents.silence_sec=1") as thread:
        await _failed(thread, "OUTSIDE_AGENT_TIMEOUT", "said nothing", ["hang"])


async def test_one_that_never_introduces_itself_is_ended(tmp_path: Path) -> None:
    async with agent_thread(tmp_path, scripted("mute"), "agents.start_sec=1") as thread:
        await _failed(thread, "OUTSIDE_AGENT_TIMEOUT", "not ready within 1 s")
        assert refused(await thread.ask("acp_agent.test", agent=NAME)) == "OUTSIDE_AGENT_TIMEOUT"


async def test_one_of_another_version_is_refused(tmp_path: Path) -> None:
    async with agent_thread(tmp_path, scripted("version")) as thread:
        await _failed(thread, "OUTSIDE_AGENT_FAILED", "speaks version 7")


async def test_one_that_wants_a_sign_in_says_so(tmp_path: Path) -> None:
    async with agent_thread(tmp_path, scripted("sign_in")) as thread:
        await _failed(thread, "OUTSIDE_AGENT_SIGN_IN", "(login)")


@pytest.mark.parametrize("command", ("/nowhere/agent", "no-such-program"))
async def test_one_that_is_not_there_is_named(command: str, tmp_path: Path) -> None:
    async with agent_thread(tmp_path, scripted() | {"command": command}) as thread:
        await _failed(thread, "OUTSIDE_AGENT_FAILED", command)


async def test_some_garbage_is_ignored_and_more_ends_it(tmp_path: Path) -> None:
    async with agent_thread(tmp_path, scripted()) as thread:
        turn = await thread.do(
            ["raw", "not json"],
            ["raw", "[1, 2]"],
            ["raw", "[" * 50_000],
            ["raw", '{"jsonrpc": "2.0", "id": 99, "result": {}}'],
            ["raw", '{"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "other", "update": {}}}'],
            ["raw", '{"jsonrpc": "2.0", "method": "session/update", "params": 7}'],
            ["raw", '{"jsonrpc": "2.0", "method": "shutdown", "params": {}}'],
            ["ask", "fs/delete_everything", {}],
            ["ask", "fs/read_text_file", {"path": 7}],
            ["ask", "session/request_permission", {"toolCall": {}}],
            ["ask", "terminal/output", {"terminalId": "none"}],
            ["say", "Still here."],
        )
        assert turn["status"] == "COMPLETED" and "Still here." in str(turn["assistant_message"])
        assert str(turn["assistant_message"]).count("is not offered") == 1
        assert len(await thread.events("agent.problem")) >= 6
        garbage: list[JsonValue] = ["raw", "x"]
        await _failed(thread, "OUTSIDE_AGENT_REFUSED", "were no messages", *[garbage] * 110)
        # However much of it there is, the thread is shown a few.
        assert len(await thread.events("agent.problem")) < 40


async def test_what_nothing_can_store_is_ignored_or_answered(tmp_path: Path) -> None:
    update = '{"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s1", "update": %s}}'
    deep = '{"a": ' * 400 + "1" + "}" * 400
    raw: list[str] = [
        f'{{"sessionUpdate": "usage_update", "used": 1e999, "size": {10**40}, "cost": {{"amount": 1e300}}}}',
        '{"sessionUpdate": "usage_update", "used": -7, "size": true, "cost": {"amount": -Infinity}}',
        '{"sessionUpdate": "tool_call", "toolCallId": "odd", "title": "odd", "rawInput": {"x": NaN}}',
        f'{{"sessionUpdate": "tool_call", "toolCallId": "deep", "title": "deep", "rawInput": {deep}}}',
        '{"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "half \\ud800"}}',
    ]
    async with agent_thread(tmp_path, scripted(), *ASKS) as thread:
        steps: list[list[JsonValue]] = [["raw", update % one] for one in raw]
        odd: list[JsonValue] = [{"a": float("1e999")}, {"a": float("nan")}]
        for value in odd:
            call: JsonObject = {"toolCallId": "c", "kind": "read", "title": "x", "rawInput": value}
            steps.append(["ask", "session/request_permission", {"toolCall": call, "options": []}])
        turn = await thread.send(json.dumps([*steps, ["say", "Still here."]]))
        assert turn["status"] == "COMPLETED", turn["message"]
        assert "Still here." in str(turn["assistant_message"])
        assert await thread.are_tables_rebuilt_equal()


async def test_one_that_asks_for_too_much_is_ended(tmp_path: Path) -> None:
    asked: list[list[JsonValue]] = [["fs_read", "shop.py"]] * 20
    async with agent_thread(tmp_path, scripted(), "agents.max_requests=10") as thread:
        await _failed(thread, "OUTSIDE_AGENT_REFUSED", "more than 10 things", *asked)


async def test_a_line_of_megabytes_ends_it(tmp_path: Path) -> None:
    async with agent_thread(tmp_path, scripted(), "agents.message_kb=64") as thread:
        await _failed(thread, "OUTSIDE_AGENT_REFUSED", "a line has more than", ["long_line", 4_000_000])


async def test_a_flood_of_text_ends_it_and_the_thread_stays_small(tmp_path: Path) -> None:
    async with agent_thread(tmp_path, scripted(), "agents.output_mb=1") as thread:
        await _failed(thread, "OUTSIDE_AGENT_REFUSED", "more than 1,048,576 bytes", ["flood", 300, 10_000])
        assert len(await thread.events()) < 2000
        assert "cut off" in await thread.said()


async def test_a_flood_of_tools_ends_it(tmp_path: Path) -> None:
    async with agent_thread(tmp_path, scripted(), "agents.max_tool_calls=10") as thread:
        await _failed(thread, "OUTSIDE_AGENT_REFUSED", "more than 10 tool calls", ["tool_flood", 50])
        assert len(await thread.events("tool.planned")) == 10


async def test_one_that_asks_again_for_what_was_refused_asks_nobody_and_is_ended(tmp_path: Path) -> None:
    async with agent_thread(tmp_path, scripted(), *ASKS) as thread:
        again: list[JsonValue] = ["tool", "edit", "Edit it", "a.py", "a\n"]
        turn = await thread.do(*[again] * 30)
        result(await thread.ask("approval.reject", action_id=(await thread.pending())["action_id"]))
        turn = await thread.reached(str(turn["turn_id"]), "FAILED")
        assert turn["code"] == "OUTSIDE_AGENT_REFUSED" and "what was refused" in str(turn["message"])
        assert len(await thread.events("thread.action.created")) == 1
        assert not (thread.tree / "a.py").exists()


async def test_one_that_stops_when_a_person_refuses_has_not_failed(tmp_path: Path) -> None:
    async with agent_thread(tmp_path, scripted(env={"STOP_REASON": "cancelled"}), *ASKS) as thread:
        turn = await thread.do(["tool", "edit", "Edit it", "a.py", "a\n"])
        result(await thread.ask("approval.reject", action_id=(await thread.pending())["action_id"]))
        turn = await thread.reached(str(turn["turn_id"]), "COMPLETED", "FAILED")
        assert turn["status"] == "COMPLETED", turn
        # Without a refusal it is a failure as before.
        turn = await thread.do(["say", "I stop."])
        assert (turn["status"], turn["code"]) == ("FAILED", "OUTSIDE_AGENT_FAILED")


@pytest.mark.parametrize("reason", ("refusal", "max_tokens", "max_turn_requests", "nonsense"))
async def test_a_turn_that_it_does_not_finish_fails_with_the_reason(reason: str, tmp_path: Path) -> None:
    async with agent_thread(tmp_path, scripted(env={"STOP_REASON": reason})) as thread:
        code = "OUTSIDE_AGENT_REFUSED" if reason == "nonsense" else "OUTSIDE_AGENT_FAILED"
        turn = await thread.do(["say", "I stop."])
        assert (turn["status"], turn["code"]) == ("FAILED", code) and "I stop." in await thread.said()


async def test_cancelling_ends_its_processes_at_once_also_while_it_waits_for_a_person(tmp_path: Path) -> None:
    async with agent_thread(tmp_path, scripted("deaf"), *ASKS) as thread:
        for steps in ([["say", "I wait."], ["hang"]], [["tool", "edit", "Edit it", "a.py", "a\n"]]):
            turn = await thread.do(*steps, wait_sec=0)  # type: ignore[arg-type]  # values of JSON
            turn_id = str(turn["turn_id"])
            async for _ in thread.opened.log.watch(streams={f"thread/{thread.thread_id}": 0}, heartbeat_sec=60):
                types = [event.type for event in await thread.events() if event.correlation.turn_id == turn_id]
                if "assistant.text_delta" in types or "turn.paused" in types:
                    break
            ended = result(await thread.ask("turn.cancel", turn_id=turn_id))
            assert (ended["status"], ended["code"]) == ("FAILED", "CANCELLED")
            assert result(await thread.ask("approval.list", status="PENDING"))["items"] == []
            assert _agents(thread.tree) == []
            last = [event.type for event in await thread.events() if event.correlation.turn_id == turn_id][-1]
            assert last in ("turn.failed", "thread.action.rejected")
        assert (await thread.do(["say", "Back."]))["status"] == "COMPLETED"


async def test_of_several_that_work_the_ones_that_are_killed_fail_and_the_others_go_on(tmp_path: Path) -> None:
    repo, trees = make_repo(tmp_path / "shop", FILES), tmp_path / "trees"
    steps: list[JsonValue] = [["write", "a.py", "a\n"], ["say", "I wait."], ["hang"]]
    async with agent_plane(repo, trees, {NAME: scripted()}) as opened:
        threads = []
        for _ in range(3):
            created = result(await opened.conveyor.call("thread.create", {"agent": NAME}, OWNER))
            threads.append(AgentThread(opened, str(created["thread_id"]), repo=repo, trees=trees))
        turns = [str((await thread.do(*steps, wait_sec=0))["turn_id"]) for thread in threads]  # type: ignore[arg-type]  # values of JSON
        for thread in threads:
            async for _ in opened.log.watch(streams={f"thread/{thread.thread_id}": 0}, heartbeat_sec=60):
                if "assistant.text_delta" in [event.type for event in await thread.events()]:
                    break
        for thread in threads[:2]:
            for number in _agents(thread.tree):
                # One of them may have ended with another.
                with suppress(ProcessLookupError):
                    os.kill(int(number), signal.SIGKILL)
        for thread, turn_id in zip(threads[:2], turns, strict=False):
            await thread.reached(turn_id, "FAILED")
            ended = result(await thread.ask("turn.show", turn_id=turn_id))
            assert ended["code"] == "OUTSIDE_AGENT_FAILED", ended
            assert (await thread.diff())["files"] == [{"path": "a.py", "change": "created"}]
            assert (await thread.do(["read", "a.py"]))["status"] == "COMPLETED"
        untouched = result(await threads[2].ask("turn.show", turn_id=turns[2]))
        assert untouched["status"] == "RUNNING" and len(_agents(threads[2].tree)) > 0
        await threads[2].ask("turn.cancel", turn_id=turns[2])
        assert _agents(threads[2].tree) == [] and not (repo / "a.py").exists()


async def test_a_newer_message_interrupts_it(tmp_path: Path) -> None:
    async with agent_thread(tmp_path, scripted()) as thread:
        first = await thread.do(["say", "I wait."], ["hang"], wait_sec=0)
        await thread.reached(str(first["turn_id"]), "RUNNING")
        second = await thread.do(["say", "Now this."], queue_mode="INTERRUPT_AFTER_CURRENT_TOOL")
        assert second["status"] == "COMPLETED"
        ended = result(await thread.ask("turn.show", turn_id=first["turn_id"]))
        assert (ended["status"], ended["code"]) == ("FAILED", "INTERRUPTED")


async def test_its_agent_being_taken_out_of_the_settings_fails_the_turn(tmp_path: Path) -> None:
    async with agent_thread(tmp_path, scripted()) as thread:
        thread.opened.work.agents.registry.replace({}, default="")
        await _failed(thread, "OUTSIDE_AGENT_UNKNOWN", "is not configured")


def test_a_server_that_is_killed_goes_on_with_the_turn_in_the_same_tree_and_applies_nothing_twice(
    tmp_path: Path,
) -> None:
    repo, trees = make_repo(tmp_path / "shop", FILES), tmp_path / "trees"
    overrides = [f"agents.acp={dumps({NAME: scripted('echo')})}", f"jobs.trees={trees}"]
    steps = [["write", "a.py", "a = 1\n"], ["signal", "mark"], ["read", "a.py"]]
    server = start(repo, overrides=overrides)
    try:
        client = server.client()
        thread_id = _result(client.call("thread.create", {"agent": NAME}))["thread_id"]
        sent = _result(client.call("turn.send", {"thread_id": thread_id, "user_text": dumps(steps)}))
        until(lambda: [*trees.glob("*/*/home/agent/mark")])
        server.kill()
        # The kernel ends it with the server.
        until(lambda: not _agents(next(trees.glob("*/*/tree"))))
        server = start(repo, overrides=overrides)
        client = server.client()

        def ended() -> JsonObject | None:
            turn = _result(client.call("turn.show", {"turn_id": sent["turn_id"]}))
            return turn if turn["status"] in ("COMPLETED", "FAILED") else None

        turn = until(ended)
        assert turn is not None and turn["status"] == "COMPLETED", turn
        answer = str(turn["assistant_message"])
        assert "You were cut off" in answer and "[again]" in answer and "a = 1" in answer
        applied = _result(client.call("thread.apply", {"thread_id": thread_id}))
        assert applied["mutation_id"] and (repo / "a.py").read_text() == "a = 1\n"
        assert _result(client.call("thread.apply", {"thread_id": thread_id}))["mutation_id"] == ""
    finally:
        server.kill()


def _result(envelope: JsonObject) -> JsonObject:
    found = envelope["result"]
    assert isinstance(found, dict), envelope
    return found


def _agents(tree: Path) -> list[str]:
    """The processes that work in a tree."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdecimal() and int(process.name) != os.getpid():
            try:
                if (process / "cwd").readlink() == tree and b"scripted_agent" in (process / "cmdline").read_bytes():
                    found.append(process.name)
            except OSError:
                continue
    return found
