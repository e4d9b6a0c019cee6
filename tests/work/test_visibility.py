"""Who sees which tasks, sessions and mutations: an agent its own and its work's, people and whom they grant it all."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from codeplane.kernel.actor import Caller
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.wiring.app import Plane
from tests.harness import make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, plane
from tests.trust.approvals.agent_calls import refused, result

pytestmark = requirement("LOG-52")

OTHER = replace(AGENT, client="other", connection_id="c2")


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Plane]:
    """A plane in which two agents and the owner each wrote a file, and agents may start work."""
    root = make_repo(tmp_path / "repo", {"a.py": "x = 1\n"})
    async with plane(root, 'trust.agent_capabilities=["read_files", "write_files", "spawn_agents"]') as running:
        running.work.start_engine(running.conveyor)
        for caller, path in ((AGENT, "agent.txt"), (OTHER, "other.txt"), (OWNER, "owner.txt")):
            await write(running, caller, path)
        await running.log.flush()
        yield running


async def ask(opened: Plane, caller: Caller, name: str, /, **arguments: JsonValue) -> Outcome:
    return await opened.conveyor.call(name, arguments, caller)


async def write(opened: Plane, caller: Caller, path: str) -> str:
    done = result(await ask(opened, caller, "write_files", edits=[{"path": path, "content": "x\n"}]))
    delta = done["delta"]
    assert isinstance(delta, dict)
    return str(delta["mutation_id"])


async def rows(opened: Plane, caller: Caller, name: str, **arguments: JsonValue) -> list[JsonObject]:
    found = result(await ask(opened, caller, name, **arguments))
    listed = found.get("mutations") if name == "mutation.list" else found.get("results")
    assert isinstance(listed, list)
    return [row for row in listed if isinstance(row, dict)]


async def sharing(opened: Plane) -> None:
    """The owner shows the other agent everything."""
    granted: JsonObject = {"agent": "other", "without_token": True, "capabilities": ["context_sharing"]}
    result(await ask(opened, OWNER, "capability.grant", **granted))


async def ended(opened: Plane, work_id: str) -> None:
    """Wait until work has ended, as it should."""
    async for _ in opened.log.watch(streams={f"work/{work_id}": 0}):
        item = result(await ask(opened, OWNER, "work.show", work_id=work_id))
        if item["state"] not in ("QUEUED", "RUNNING"):
            assert item["state"] == "COMPLETED", item
            return


@pytest.mark.parametrize("name", ["task.board", "actor.list", "mutation.list"])
async def test_lists_show_an_agent_its_own(opened: Plane, name: str) -> None:
    async def actors(caller: Caller) -> set[str]:
        return {str(row["actor"]) for row in await rows(opened, caller, name)}

    assert await actors(OTHER) == {"agent:other"}
    assert await actors(AGENT) == {"agent:agent"}
    everyone = {"agent:agent", "agent:other", "owner:owner"}
    assert await actors(OWNER) >= everyone
    await sharing(opened)
    assert await actors(OTHER) >= everyone


async def test_tasks_are_listed_for_those_who_may_see_them(opened: Plane) -> None:
    every = {str(row["task_id"]) for row in await rows(opened, OWNER, "task.list")}
    own = {str(row["task_id"]) for row in await rows(opened, OTHER, "task.list")}
    assert len(own) == 1 and own < every
    listed = (await ask(opened, OTHER, "task.list")).result
    assert listed is not None and "only tasks of agent:other" in listed.text()
    for task_id in every:
        shown = await ask(opened, OTHER, "task.show", task=task_id)
        assert (shown.error is None) is (task_id in own)
        assert task_id in own or refused(shown) == "NOT_FOUND"
        assert (await ask(opened, OWNER, "task.show", task=task_id)).error is None


async def test_what_its_work_did_is_its_own_too(opened: Plane) -> None:
    inner: JsonObject = {"steps": [{"operation": "write_files", "arguments": _edit("child.txt")}]}
    steps: list[JsonValue] = [
        {"operation": "write_files", "arguments": _edit("work.txt")},
        {"operation": "work.start", "arguments": inner},
    ]
    work_id = str(result(await ask(opened, AGENT, "work.start", steps=steps))["work_id"])
    await ended(opened, work_id)
    [child] = await rows(opened, AGENT, "work.list", parent_id=work_id)
    assert (await ask(opened, AGENT, "work.show", work_id=child["work_id"])).error is None
    await ended(opened, str(child["work_id"]))
    jobs = {f"job:{work_id}", f"job:{child['work_id']}"}
    for name in ("task.board", "actor.list", "mutation.list"):
        seen = {str(row["actor"]) for row in await rows(opened, AGENT, name)}
        assert seen == {"agent:agent", *jobs}, name
        assert not jobs & {str(row["actor"]) for row in await rows(opened, OTHER, name)}, name
    await opened.log.flush()
    for caller, expected in ((AGENT, jobs), (OTHER, set())):
        events = await rows(opened, caller, "ledger.events", types=["call.finished"], limit=1000)
        assert jobs & {str(event["actor"]) for event in events} == expected
        traces = result(await ask(opened, caller, "trace.list", limit=100))["traces"]
        assert isinstance(traces, list)
        assert jobs & {str(trace["actor"]) for trace in traces if isinstance(trace, dict)} == expected
    for name in ("call.list", "audit.list"):
        for job in jobs:
            # By its name: what an agent did itself comes first.
            assert {str(row["actor"]) for row in await rows(opened, AGENT, name, actor=job)} == {job}
            assert {str(row["actor"]) for row in await rows(opened, OTHER, name, actor=job)} == {"agent:other"}
    assert await rows(opened, OTHER, "work.list") == []
    [mutation] = [row for row in await rows(opened, AGENT, "mutation.list") if row["actor"] == f"job:{work_id}"]
    assert refused(await ask(opened, OTHER, "undo", mutation_id=mutation["mutation_id"])) == "CANNOT_UNDO"
    assert (await ask(opened, AGENT, "undo", mutation_id=mutation["mutation_id"])).error is None


async def test_a_mutation_of_others_is_neither_shown_nor_taken_back(opened: Plane) -> None:
    [mutation] = await rows(opened, AGENT, "mutation.list")
    mutation_id = mutation["mutation_id"]
    hidden = await ask(opened, OTHER, "mutation.show", mutation_id=mutation_id)
    assert refused(hidden) == "NOT_FOUND" and hidden.error is not None and "not kept" in hidden.error.message
    for name in ("undo", "redo"):
        assert refused(await ask(opened, OTHER, name, mutation_id=mutation_id)) == "CANNOT_UNDO"
    # Not named either to a session that has nothing of its own.
    nothing = await ask(opened, replace(AGENT, client="third", connection_id="c3"), "undo")
    assert refused(nothing) == "CANNOT_UNDO" and nothing.error is not None
    assert "there is nothing to undo" in nothing.error.message and "mut_" not in str(nothing.error.hint)
    # A new session of the same agent finds it.
    again = await ask(opened, replace(AGENT, connection_id="c4"), "undo")
    assert again.error is not None and str(mutation_id) in again.error.message
    for caller in (AGENT, OWNER):
        assert (await ask(opened, caller, "mutation.show", mutation_id=mutation_id)).error is None
    await sharing(opened)
    assert (await ask(opened, OTHER, "mutation.show", mutation_id=mutation_id)).error is None
    assert (await ask(opened, OTHER, "undo", mutation_id=mutation_id)).error is None


async def test_of_a_shared_session_an_agent_sees_its_own_calls(opened: Plane) -> None:
    first = await ask(opened, AGENT, "session.create", description="find the leak")
    session_id = str(result(first)["session_id"])
    await ask(opened, AGENT, "read_files", session_id=session_id, paths=["a.py"])
    await ask(opened, OTHER, "git.status", session_id=session_id)
    await opened.log.flush()

    async def info(caller: Caller) -> tuple[str, list[str], JsonValue]:
        seen = result(await ask(opened, caller, "session.info", session_id=session_id))
        task = seen["task"]
        assert isinstance(task, dict) and isinstance(task["timeline"], list)
        calls = [str(call["op_type"]) for call in task["timeline"] if isinstance(call, dict)]
        return str(task["description"]), calls, seen["only"]

    description, calls, only = await info(OTHER)
    assert (description, only) == ("", "agent:other") and "read_files" not in calls and "git.status" in calls
    for caller in (AGENT, OWNER):
        description, calls, only = await info(caller)
        assert (description, only) == ("find the leak", None) and {"read_files", "git.status"} <= set(calls)
    for name, arguments in (("session.close", {}), ("session.configure", {"limits_delta": {"add_mutations": -1}})):
        denied = await ask(opened, OTHER, name, session_id=session_id, **arguments)
        assert refused(denied) == "POLICY_DENIED"
    assert (await ask(opened, AGENT, "session.close", session_id=session_id)).error is None


async def test_sessions_of_others_are_not_replayed(opened: Plane) -> None:
    await ask(opened, AGENT, "read_files", paths=["a.py"])
    session_id = (await ask(opened, AGENT, "git.status")).meta.session_id
    assert refused(await ask(opened, OTHER, "session.replay", in_session=session_id)) == "NOT_FOUND"
    for caller in (AGENT, OWNER):
        replayed = result(await ask(opened, caller, "session.replay", in_session=session_id))
        assert replayed["same"] == 2


async def test_figures_count_an_agents_own_calls(opened: Plane) -> None:
    own, every = [result(await ask(opened, caller, "call.figures"))["calls"] for caller in (OTHER, OWNER)]
    assert isinstance(own, int) and isinstance(every, int) and 0 < own < every


def _edit(path: str) -> JsonObject:
    return {"edits": [{"path": path, "content": "x\n"}]}
