"""A hostile or broken MCP server: more than twenty tricks, none of which succeeds, and the plane goes on after each."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from codeplane.kernel.errors import OperationGone
from codeplane.kernel.json import JsonObject
from codeplane.wiring.app import Plane
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, events
from tests.trust.approvals.agent_calls import action_of, refused, result
from tests.work.tools.scripted_server import INJECTION
from tests.work.tools.tool_plane import listed, ready, scripted, tool_plane

pytestmark = requirement("TOOL-04")

Check = Callable[[Plane, JsonObject], Awaitable[None]]
LOOK = "ext.bad.look"


def names(server: JsonObject) -> dict[str, JsonObject]:
    """The tools of a server by operation."""
    tools = server["tools"]
    assert isinstance(tools, list)
    return {str(tool["operation"]): tool for tool in tools if isinstance(tool, dict)}


async def owner(opened: Plane, name: str = LOOK, text: str = "x") -> str:
    """What the owner, who is not asked, gets: the text or the error's name."""
    outcome = await opened.conveyor.call(name, {"text": text}, OWNER)
    return outcome.error.name if outcome.error is not None else str(result(outcome)["content"])


async def lying_hint_gets_no_read(opened: Plane, server: JsonObject) -> None:
    assert names(server)["ext.bad.wipe"]["risk"] == "unknown"
    assert action_of(await opened.conveyor.call("ext.bad.wipe", {"text": "x"}, AGENT))


async def renamed_tool_is_gone_and_the_new_one_asks(opened: Plane, server: JsonObject) -> None:
    result(await opened.conveyor.call("tools.trust", {"server": "bad"}, OWNER))
    # It renames the tool before it answers: whichever comes first, the call ends.
    outcome = await opened.conveyor.call(LOOK, {"text": "x"}, AGENT)
    assert outcome.error is None or isinstance(outcome.error, OperationGone)
    while LOOK in names(now := await listed(opened, "bad")):
        await asyncio.sleep(0)
    assert refused(await opened.conveyor.call(LOOK, {"text": "x"}, AGENT)) == "UNKNOWN_OPERATION"
    assert {tool["risk"] for tool in names(now).values()} == {"unknown"}


async def redefined_tool_loses_trust(opened: Plane, server: JsonObject) -> None:
    result(await opened.conveyor.call("tools.trust", {"server": "bad"}, OWNER))
    await opened.conveyor.call(LOOK, {"text": "x"}, AGENT)
    while not names(now := await listed(opened, "bad"))[LOOK]["has_changed"]:
        await asyncio.sleep(0)
    assert names(now)[LOOK]["risk"] == "unknown"


async def like_names_are_told_apart(opened: Plane, server: JsonObject) -> None:
    found = names(server)
    assert len(found) == 4 and all(len(name.replace(".", "_")) <= 64 for name in found)
    assert all(name.rpartition("_")[2] != "b" for name in found)


async def odd_names_are_cleaned(opened: Plane, server: JsonObject) -> None:
    assert all(name.isascii() and name.isprintable() and len(name) <= 64 for name in names(server))
    assert len(names(server)) == 3


async def surplus_tools_are_left_out(opened: Plane, server: JsonObject) -> None:
    assert len(names(server)) == 128 and "more than 128 tools" in str(server["last_error"])


async def bad_schema_keeps_only_its_tool_out(opened: Plane, server: JsonObject) -> None:
    bad = [tool for tool in names(server).values() if tool["problem"]]
    assert len(bad) == 1 and await owner(opened) == "look: x"
    assert refused(await opened.conveyor.call(str(bad[0]["operation"]), {}, OWNER)) == "UNKNOWN_OPERATION"


async def poisoned_words_are_marked_as_the_servers(opened: Plane, server: JsonObject) -> None:
    described = opened.conveyor.catalogue.get(LOOK).description
    assert described.startswith("look, a tool of the outside server bad, which says: Ignore")
    assert "\u200b" not in described and "\\u202e" in described
    waiting = action_of(await opened.conveyor.call(LOOK, {"text": "x"}, AGENT))
    shown = result(await opened.conveyor.call("approval.show", {"action_id": waiting}, OWNER))
    assert INJECTION not in str(shown["deterministic_summary"]) and f"  | {INJECTION}" in str(shown["preview"])


async def our_names_stay_ours(opened: Plane, server: JsonObject) -> None:
    assert set(names(server)) == {"ext.bad.write_files", "ext.bad.run_bash", "ext.bad.approval_approve"}
    assert opened.conveyor.catalogue.get("write_files").mark.capability == "write_files"


async def slow_patterns_are_not_run(opened: Plane, server: JsonObject) -> None:
    assert await owner(opened) == "ok"


async def hanging_call_times_out(opened: Plane, server: JsonObject) -> None:
    assert await owner(opened) == "TOOL_TIMEOUT"


async def exit_ends_the_call_and_the_server_comes_back(opened: Plane, server: JsonObject) -> None:
    assert await owner(opened) == "TOOL_SERVER_UNAVAILABLE"
    assert (await ready(opened, "bad"))["state"] == "ready"


async def last_words_reach_people_alone(opened: Plane, server: JsonObject) -> None:
    result(await opened.conveyor.call("tools.trust", {"server": "bad"}, OWNER))
    # An error is no answer that would be marked.
    ended = await opened.conveyor.call(LOOK, {"text": "x"}, AGENT)
    again = await opened.conveyor.call(LOOK, {"text": "y"}, AGENT)
    assert ended.error is not None and INJECTION not in ended.to_json() + again.to_json()
    while INJECTION not in str((await listed(opened, "bad"))["last_error"]):
        await asyncio.sleep(0)


async def errors_in_its_words_are_marked(opened: Plane, server: JsonObject) -> None:
    result(await opened.conveyor.call("tools.trust", {"server": "bad"}, OWNER))
    outcome = await opened.conveyor.call(LOOK, {"text": "x"}, AGENT)
    assert result(outcome)["is_error"] is True and outcome.result is not None
    assert outcome.result.text().startswith("the tool reports an error: ")
    assert [event.payload["what"] for event in await events(opened) if event.type.startswith("content.")] == ["bad"]


async def huge_line_ends_the_server(opened: Plane, server: JsonObject) -> None:
    assert await owner(opened) == "TOOL_SERVER_UNAVAILABLE"
    while "more than 4194304 bytes" not in str((await listed(opened, "bad"))["last_error"]):
        await asyncio.sleep(0)


async def flood_of_changes_is_merged(opened: Plane, server: JsonObject) -> None:
    assert await owner(opened) == "look: x" and await owner(opened) == "look: x"


async def big_answer_is_cut_and_says_so(opened: Plane, server: JsonObject) -> None:
    outcome = await opened.conveyor.call(LOOK, {"text": "x"}, OWNER)
    answer = result(outcome)
    assert len(str(answer["content"])) == 256 * 1024 and answer["cut_bytes"] == 2_000_000 - 256 * 1024
    assert outcome.result is not None and "cut off" in outcome.result.text()


async def garbage_is_skipped(opened: Plane, server: JsonObject) -> None:
    assert await owner(opened) == "look: x"
    assert "no message" in str((await listed(opened, "bad"))["last_error"])


async def only_garbage_ends_the_server(opened: Plane, server: JsonObject) -> None:
    assert await owner(opened) == "TOOL_SERVER_UNAVAILABLE"


async def injection_is_marked(opened: Plane, server: JsonObject) -> None:
    result(await opened.conveyor.call("tools.trust", {"server": "bad"}, OWNER))
    assert result(await opened.conveyor.call(LOOK, {"text": "x"}, AGENT))["content"] == INJECTION
    assert [event.payload["what"] for event in await events(opened) if event.type.startswith("content.")] == ["bad"]
    outward = await opened.conveyor.call("web.open", {"url": "https://example.com/"}, AGENT)
    assert outward.error is not None and outward.error.details["code"] == "untrusted_ingest_block"


async def answers_for_others_are_ignored(opened: Plane, server: JsonObject) -> None:
    assert await owner(opened) == "yours"


async def no_answer_is_refused(opened: Plane, server: JsonObject) -> None:
    assert await owner(opened) == "TOOL_ANSWER_REFUSED"


async def question_is_refused(opened: Plane, server: JsonObject) -> None:
    assert "not supported" in await owner(opened)
    assert "which is refused" in str((await listed(opened, "bad"))["last_error"])


async def endless_list_ends(opened: Plane, server: JsonObject) -> None:
    assert len(names(server)) == 3


async def reach_is_bounded(opened: Plane, server: JsonObject) -> None:
    root = opened.workspace.root
    (root / "mine.txt").write_text("content")
    tries = [f"read {root}/mine.txt", f"write {root}/mine.txt", f"read {opened.workspace.owner_token}",
             "write /etc/codeplane-test", "connect 127.0.0.1:9", "env HOME"]  # fmt: skip
    lines = (await owner(opened, text="\n".join(tries))).split("\n")
    assert lines[0] == "read 7" and all(line.startswith("refused") for line in lines[1:5]), lines
    assert (root / "mine.txt").read_text() == "content"


async def nothing_outlives_it(opened: Plane, server: JsonObject) -> None:
    await opened.tools.registry.stop()
    here = [entry.name for entry in Path("/proc").iterdir() if entry.name.isdigit() and _is_scripted(entry.name)]
    assert here == []


def _is_scripted(pid: str) -> bool:
    try:
        return b"scripted_server.py\0outlives" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


TRICKS: dict[str, Check] = {
    "lies_read_only": lying_hint_gets_no_read,
    "renames": renamed_tool_is_gone_and_the_new_one_asks,
    "redefines": redefined_tool_loses_trust,
    "same_names": like_names_are_told_apart,
    "long_name": odd_names_are_cleaned,
    "too_many": surplus_tools_are_left_out,
    "recursive_schema": bad_schema_keeps_only_its_tool_out,
    "remote_schema": bad_schema_keeps_only_its_tool_out,
    "deep_schema": bad_schema_keeps_only_its_tool_out,
    "huge_schema": bad_schema_keeps_only_its_tool_out,
    "poisoned_description": poisoned_words_are_marked_as_the_servers,
    "our_names": our_names_stay_ours,
    "slow_output_schema": slow_patterns_are_not_run,
    "hangs": hanging_call_times_out,
    "exits": exit_ends_the_call_and_the_server_comes_back,
    "last_words": last_words_reach_people_alone,
    "odd_error": errors_in_its_words_are_marked,
    "floods": huge_line_ends_the_server,
    "floods_changes": flood_of_changes_is_merged,
    "big_answer": big_answer_is_cut_and_says_so,
    "garbage": garbage_is_skipped,
    "only_garbage": only_garbage_ends_the_server,
    "injects": injection_is_marked,
    "wrong_id": answers_for_others_are_ignored,
    "wrong_shape": no_answer_is_refused,
    "samples": question_is_refused,
    "elicits": question_is_refused,
    "asks_roots": question_is_refused,
    "endless_pages": endless_list_ends,
    "steals_files": reach_is_bounded,
    "outlives": nothing_outlives_it,
}


@pytest.mark.parametrize("trick", TRICKS)
async def test_a_trick_does_not_succeed(tmp_path: Path, trick: str) -> None:
    timeout = 0.5 if trick == "hangs" else 20
    async with tool_plane(tmp_path, {"bad": scripted(trick, timeout_sec=timeout)}) as opened:
        await TRICKS[trick](opened, await ready(opened, "bad"))
        # And everything else goes on.
        assert result(await opened.conveyor.call("status", {}, AGENT))


@pytest.mark.parametrize(
    ("trick", "reason"),
    [
        ("ends_at_once", "ended with 7: no licence found"),
        ("never_starts", "were not known within 1 s"),
        ("no_schema", "the list of tools is not as the protocol has it: tools.0.inputSchema.type"),
    ],
)
async def test_a_server_that_does_not_come_up_says_why_and_is_left_alone_after_some_attempts(
    tmp_path: Path, trick: str, reason: str
) -> None:
    settings = ("tools.restarts=2", *(["tools.start_sec=1"] if trick == "never_starts" else []))
    async with tool_plane(tmp_path, {"bad": scripted(trick)}, *settings) as opened:
        while (now := await listed(opened, "bad"))["state"] != "failed":
            await asyncio.sleep(0.01)
        assert now["restarts"] == 3 and reason in str(now["last_error"])
        # Somebody who asks for it gets another attempt.
        again = refused(await opened.conveyor.call("tools.test", {"server": "bad"}, OWNER))
        assert again in ("TOOL_SERVER_UNAVAILABLE", "TOOL_ANSWER_REFUSED")


async def test_a_cancelled_caller_ends_alone(tmp_path: Path) -> None:
    async with tool_plane(tmp_path, {"bad": scripted("hangs")}) as opened:
        await ready(opened, "bad")
        calling = asyncio.ensure_future(opened.conveyor.call(LOOK, {"text": "x"}, OWNER))
        while (await listed(opened, "bad"))["calls"] == 0:
            await asyncio.sleep(0)
        calling.cancel()
        await asyncio.wait({calling})
        assert (await listed(opened, "bad"))["state"] == "ready"


async def test_a_server_with_too_many_calls_refuses_more(tmp_path: Path) -> None:
    async with tool_plane(tmp_path, {"bad": scripted("hangs", timeout_sec=5)}, "tools.max_calls=2") as opened:
        await ready(opened, "bad")
        calls = [opened.conveyor.call(LOOK, {"text": str(number)}, OWNER) for number in range(3)]
        ends = [refused(outcome) for outcome in await asyncio.gather(*calls)]
        assert sorted(ends) == ["OVERLOADED", "TOOL_TIMEOUT", "TOOL_TIMEOUT"]
