"""Faults around explorations: nothing to explore, no index yet, far too many files, aborts, kills and bounds."""

from pathlib import Path

import pytest

from codeplane.kernel.event_log import EventQuery
from codeplane.work.explore.concurrency import Concurrency
from codeplane.work.explore.readme import opening
from codeplane.work.explore.typed_result import MAX_INLINE_BYTES, MAX_INLINE_LINES, bound_text
from tests.harness import Server, git, make_repo, start
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT
from tests.trust.approvals.agent_calls import refused, result
from tests.work.explore.explore_plane import SHOP, START, STATUS, ExplorePlane, explore_plane

pytestmark = requirement("EXR-05")

ABORT, SET = "orchestrate.explore.abort", "orchestrate.explore.setConcurrency"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "shop", SHOP)


async def test_a_repository_without_commits_is_explored_and_says_so(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    (tmp_path / "a.py").write_text("def main():\n    pass\n")
    async with explore_plane(tmp_path) as plane:
        explored = await plane.explore()
        explored.check_stream()
        assert explored.summary["languages"] == {"python": 2} and explored.summary["entrypoints"] == ["a.py:1 main"]
        assert explored.summary["gitStatus"]["headCommit"] is None  # type: ignore[index,call-overload]
        assert "make a first commit: there is none yet" in explored.summary["followups"]  # type: ignore[operator]


async def test_a_folder_without_git_is_explored(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("a = 1\n")
    async with explore_plane(tmp_path) as plane:
        (status,) = (await plane.explore()).results("gitStatus")
        assert isinstance(status, dict) and status["git"] is False


async def test_of_an_empty_repository_the_rest_of_the_plan_is_cancelled(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    async with explore_plane(tmp_path) as plane:
        explored = await plane.explore()
        explored.check_stream()
        cancelled = [op_id for snapshot in explored.snapshots for op_id in snapshot["cancelOps"]]  # type: ignore[union-attr]
        dropped = {str(error["opId"]) for error in explored.cases("error") if error["code"] == "ERR_OP_CANCELED"}
        assert dropped == set(cancelled) and len(dropped) == 4
        assert explored.summary["languages"] == {} and "no files" in str(explored.summary["followups"])
        shown = await plane.status(explored.session_id)
        assert shown["ops"]["canceled"] == 4  # type: ignore[index,call-overload]


async def test_the_first_snapshot_is_there_before_any_index(shop: Path) -> None:
    async with explore_plane(shop, starts=False) as plane:
        started = await plane.start()
        stream = plane.stream(started)
        cases = [next(reversed((await anext(stream))["envelope"]["payload"])) for _ in range(2)]  # type: ignore[index,call-overload,arg-type]
        assert cases == ["started", "planSnapshot"]
        assert (await plane.status(started["sessionId"]))["state"] == "queued"
        plane.opened.work.start_engine(plane.opened.conveyor)
        explored = await plane.watch(started)
        explored.check_stream()
        assert explored.summary["partial"] == []


async def test_aborted_in_every_state_and_nothing_follows(shop: Path) -> None:
    async with explore_plane(shop, starts=False) as plane:
        queued = await plane.start()
        assert result(await plane.ask(ABORT, explore_id=queued["sessionId"]))["state"] == "stopped"
        running = await plane.start()
        plane.opened.work.start_engine(plane.opened.conveyor)
        async for item in plane.stream(running):
            if item.get("cursor") == 3:
                break
        ended = result(await plane.ask(ABORT, explore_id=running["sessionId"], reason="enough"))
        assert (ended["state"], ended["reason"]) == ("stopped", "enough")
        for started, reason in ((queued, "aborted"), (running, "enough")):
            explored = await plane.watch(started)
            explored.check_stream()
            assert explored.cases("stopped") == [{"reason": reason, "error": None}]
            assert next(reversed(explored.payloads[-1])) == "stopped"
        again = result(await plane.ask(ABORT, explore_id=running["sessionId"]))
        assert again["reason"] == "enough"
        resumed = await plane.explore(resume=running["sessionId"])
        assert resumed.summary["repoName"] == "shop" and resumed.summary["entrypoints"]


async def test_a_resumed_exploration_takes_over_results_only_where_nothing_changed(shop: Path) -> None:
    async with explore_plane(shop) as plane:
        first = await plane.explore()
        calls = await _searches(plane)
        resumed = await plane.explore(resume=first.session_id)
        assert {key: value for key, value in resumed.summary.items() if key != "artifactId"} == {
            key: value for key, value in first.summary.items() if key != "artifactId"
        }
        assert await _searches(plane) - calls == 1
        (shop / "README.md").write_text("# Shop\n\nIt is quite another shop by now, and sells nothing at all.\n")
        changed = await plane.explore(resume=first.session_id)
        assert "quite another shop" in str(changed.summary["description"])
        assert "nothing was taken over" in str(changed.summary["partial"])


async def _searches(plane: ExplorePlane) -> int:
    await plane.opened.log.flush()
    found = await plane.opened.log.query(EventQuery(types=("call.finished",), limit=10_000))
    return sum(event.payload["operation"] == "search" for event in found)


def _watch_to_end(server: Server, session_id: str) -> list[str]:
    cases = []
    for item in server.client().stream("orchestrate.explore.watch", {"explore_id": session_id}):
        envelope = item.get("envelope")
        if isinstance(envelope, dict):
            payload = envelope["payload"]
            assert isinstance(payload, dict)
            cases.append(next(reversed(payload)))
            if cases[-1] == "stopped":
                assert payload["stopped"] == {"reason": "crash-recover", "error": "EXPLORE_INTERRUPTED"}
    return cases


def test_killed_explorations_are_stopped_and_can_be_resumed(tmp_path: Path) -> None:
    files = {f"pkg{number // 50}/m{number}.py": f"def f{number}():\n    return {number}\n" for number in range(1500)}
    repo = make_repo(tmp_path / "shop", {**SHOP, **files})
    server = start(repo)
    started = server.call(START)["result"]
    assert isinstance(started, dict)
    session_id = str(started["sessionId"])
    for item in server.client().stream("orchestrate.explore.watch", {"explore_id": session_id}):
        if item.get("cursor") == 4:
            break
    server.kill()
    server = start(repo)
    try:
        cases = _watch_to_end(server, session_id)
        assert cases[:2] == ["started", "planSnapshot"] and cases[-1] == "stopped"
        shown = server.call(STATUS, explore_id=session_id)["result"]
        assert isinstance(shown, dict) and (shown["state"], shown["reason"]) == ("stopped", "crash-recover")
        resumed = server.call(START, resume=session_id)["result"]
        assert isinstance(resumed, dict)
        assert _watch_to_end(server, str(resumed["sessionId"]))[-1] == "completed"
        verified = server.call("ledger.verify")["result"]
        assert isinstance(verified, dict) and verified["ok"]
    finally:
        server.stop()


async def test_concurrency_is_bounded_and_set_by_name(shop: Path) -> None:
    async with explore_plane(shop) as plane:
        changed = result(await plane.ask(SET, maxInFlightOps=1, opCaps={"grep.parallel": 1, "semantic.topK": 2}))
        assert changed["maxInFlightOps"] == 1
        explored = await plane.explore(goals=["money"])
        # One at a time: every command is followed by its own result.
        running = 0
        for payload, envelope in zip(explored.payloads, explored.envelopes, strict=True):
            running += (envelope["kind"] == "Cmd") - ("result" in payload or "error" in payload)
            assert 0 <= running <= 1
        (hits,) = explored.results("semantic")
        assert isinstance(hits, list) and len(hits) == 2
        for bad in ({"grep.parallel": 0}, {"semantic.topK": 201}, {"embed.batch": 5}, {"other": 1}):
            assert refused(await plane.ask(SET, op_caps=bad)) == "INVALID_ARGUMENT"
        assert refused(await plane.ask(SET, max_in_flight_ops=0)) == "INVALID_ARGUMENT"
        assert refused(await plane.ask(SET, max_in_flight_ops=2, explore_id=explored.session_id)) == "WORK_ENDED"
        plane.caller = AGENT
        assert refused(await plane.ask(SET, max_in_flight_ops=2)) == "INVALID_ARGUMENT"
    assert Concurrency.default().to_wire()["maxInFlightOps"] == 4


async def test_time_that_is_over_is_said_in_the_summary(shop: Path) -> None:
    async with explore_plane(shop, "explore.max_seconds=0.000001") as plane:
        explored = await plane.explore()
        explored.check_stream()
        assert "ended after" in str(explored.summary["partial"])
        assert {error["code"] for error in explored.cases("error")} == {"ERR_OP_CANCELED"}


async def test_what_nobody_can_follow_out_of_the_repository_is_not_read(shop: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("# Outside\n\nThis is outside of the repository and must not be shown.\n")
    (shop / "README.md").unlink()
    (shop / "README.md").symlink_to(tmp_path / "secret.md")
    async with explore_plane(shop) as plane:
        explored = await plane.explore()
        assert "must not be shown" not in str(explored.envelopes)
        assert refused(await plane.ask(START, root="../nothing-there")) in ("NOT_FOUND", "PATH_DENIED")


def test_inline_text_is_bounded_in_bytes_and_lines() -> None:
    assert bound_text("a\r\nb\rc") == ("a\nb\nc", False)
    for text in ("x" * 9000, "ä" * 9000, "x\n" * 500, "y" * MAX_INLINE_BYTES + "y", "z" * 68 * 120 + "\n" * 121):
        cut, truncated = bound_text(text)
        assert truncated and cut.endswith("…") and len(cut.encode()) <= MAX_INLINE_BYTES
        assert len(cut.split("\n")) <= MAX_INLINE_LINES
    assert bound_text("x\n" * MAX_INLINE_LINES) == ("x\n" * MAX_INLINE_LINES, False)


@pytest.mark.parametrize("root", ["~nobody-of-this-name/x", "x" * 4000, "a" + "/a" * 2000])
async def test_a_folder_that_cannot_be_is_not_found(shop: Path, root: str) -> None:
    async with explore_plane(shop, starts=False) as plane:
        assert refused(await plane.ask(START, root=root)) == "NOT_FOUND"


@pytest.mark.parametrize("sign", ["<", "[", "![", "[![", "[a](", "![a](", "[![a](b)]("])
def test_a_readme_of_brackets_takes_no_time(sign: str) -> None:
    # Hours, if each bracket were looked for an end.
    assert opening(f"# Title\n{sign * 300_000}\n")[0] == "Title"
