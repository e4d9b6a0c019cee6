"""Sessions: one a connection, made, joined, closed, left idle and crowded out."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from codeplane.kernel.actor import Actor, ActorKind, Caller
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.errors import Overloaded, SessionClosed, SessionNotFound
from codeplane.kernel.json import JsonObject
from codeplane.ledger.rows import Cell
from codeplane.wiring.app import Plane
from codeplane.work.session_models import SessionResult
from codeplane.work.task import TaskState
from tests.harness import git, make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, FixtureOps, ManualClock, events, plane
from tests.kernel.ports import exchange

OTHER = Caller(surface="mcp", client="agent", connection_id="c2")
OWNERS_ACTOR = Actor(kind=ActorKind.OWNER, actor_id="owner")


async def call(opened: Plane, name: str, arguments: JsonObject | None = None, caller: Caller = AGENT) -> Outcome:
    return await opened.conveyor.call(name, arguments or {}, caller)


async def session(
    opened: Plane, name: str, arguments: JsonObject | None = None, caller: Caller = AGENT
) -> SessionResult:
    outcome = await call(opened, name, arguments, caller)
    assert isinstance(outcome.result, SessionResult), outcome.error
    return outcome.result


async def tasks(opened: Plane) -> dict[Cell, tuple[Cell, ...]]:
    await opened.log.flush()
    found = await opened.log.select("SELECT task_id, state, reason, session_id, description FROM tasks")
    return {row[0]: row[1:] for row in found}


@requirement("TASK-01")
async def test_a_connection_has_one_session_and_another_has_another(tmp_path: Path) -> None:
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        found = [(await call(opened, "fixture.read", {}, caller)).meta for caller in (AGENT, OTHER, AGENT, OTHER)]
        assert found[0].session_id == found[2].session_id != found[1].session_id == found[3].session_id
        assert found[0].task_id == found[2].task_id != found[1].task_id
        assert len(opened.sessions) == 2
        await opened.log.flush()
        rows = await opened.log.select("SELECT surface, client, actor, closed_at FROM sessions")
        assert rows == [("mcp", "agent", "agent:agent", None)] * 2


async def test_without_a_connection_two_actors_share_no_session(tmp_path: Path) -> None:
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        alice, bob = (Actor(kind=ActorKind.DEVICE, actor_id=name) for name in ("alice", "bob"))
        callers = [Caller(surface="rpc", actor=who) for who in (alice, bob, alice)]
        found = [(await call(opened, "fixture.read", {}, caller)).meta.session_id for caller in callers]
        assert found[0] == found[2] != found[1]


async def test_without_a_connection_the_clients_name_is_what_stays_the_same(tmp_path: Path) -> None:
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        callers = [Caller(surface="mcp", client=name) for name in ("a", "b", "a")] + [Caller(surface="mcp")]
        found = [(await call(opened, "fixture.read", {}, caller)).meta.session_id for caller in callers]
        assert found[0] == found[2]
        assert len(set(found)) == 3


async def test_a_task_begins_at_a_commit_with_its_limits(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "repo")
    async with plane(repo, "limits.max_mutations=7", operations=[FixtureOps()]) as opened:
        await call(opened, "fixture.read")
        (event,) = await events(opened, "task.opened")
        assert event.payload["repo_head"] == git(repo, "rev-parse", "HEAD").strip()
        limits = event.payload["limits"]
        assert isinstance(limits, dict)
        assert limits["max_mutations"] == 7
        assert event.stream == f"task/{event.correlation.task_id}"


async def test_create_starts_another_and_uses_it_from_then_on(tmp_path: Path) -> None:
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        first = (await call(opened, "fixture.read")).meta
        limits: JsonObject = {"max_mutations": 3}
        made = await session(opened, "session.create", {"description": "fix it", "limits": limits})
        assert made.session_id != first.session_id
        assert made.task.description == "fix it"
        assert (made.task.limits.max_mutations, made.task.limits.max_test_runs) == (3, 200)
        assert (await call(opened, "fixture.read")).meta.session_id == made.session_id
        # The first is still there for whoever names it.
        joined = await call(opened, "fixture.read", {"session_id": first.session_id or ""}, OTHER)
        assert joined.meta.task_id == first.task_id
        assert "mutations 0/3" in made.text()


@requirement("TASK-01")
async def test_any_call_can_join_a_session_by_its_id(tmp_path: Path) -> None:
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        made = await session(opened, "session.create", {}, OWNER)
        wrote = await call(opened, "fixture.write", {"session_id": made.session_id}, AGENT)
        assert wrote.meta.task_id == made.task.task_id
        # It is that one call's: the connection keeps its own.
        assert (await call(opened, "fixture.read")).meta.session_id != made.session_id
        seen = await session(opened, "session.info", {"session_id": made.session_id})
        assert (seen.session_id, seen.task.counters.mutations) == (made.session_id, 1)
        assert [entry.op_type for entry in seen.task.timeline][-1] == "fixture.write"
        # To work in it is one thing, to end it or to raise its limits another.
        for name in ("session.close", "session.configure"):
            given: JsonObject = {"session_id": made.session_id, **({"limits_delta": {}} if "conf" in name else {})}
            ended = await call(opened, name, given, AGENT)
            assert ended.error is not None and ended.error.name == "POLICY_DENIED"


@requirement("TASK-01")
@pytest.mark.parametrize(
    ("reason", "state"),
    [("success", "CLOSED_SUCCESS"), ("failed", "CLOSED_FAILED"), ("abandoned", "CLOSED_INTERRUPTED")],
)
async def test_closing_ends_the_task_and_the_next_call_gets_a_new_one(tmp_path: Path, reason: str, state: str) -> None:
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        first = (await call(opened, "fixture.read")).meta
        closed = await session(opened, "session.close", {"reason": reason})
        assert (closed.action, closed.session_id, closed.task.state) == ("close", first.session_id, state)
        assert (await tasks(opened))[first.task_id][:2] == (state, reason)
        for name in ("fixture.read", "session.info", "session.close", "session.configure"):
            arguments: JsonObject = {"session_id": first.session_id or ""}
            if name == "session.configure":
                arguments["limits_delta"] = {"add_mutations": 1}
            refused = await call(opened, name, arguments)
            assert refused.error is not None
            assert refused.error.name == "SESSION_CLOSED"
        assert (await call(opened, "fixture.read")).meta.session_id != first.session_id
        assert (await tasks(opened))[first.task_id][0] == state


async def test_a_session_nobody_made_is_not_found(tmp_path: Path) -> None:
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        refused = await call(opened, "fixture.read", {"session_id": "sess_nobodys"})
        assert refused.error is not None
        assert refused.error.name == "SESSION_NOT_FOUND"
        assert len(opened.sessions) == 0


@requirement("TASK-05")
async def test_idle_sessions_close_and_busy_ones_stay(tmp_path: Path) -> None:
    clock = ManualClock()
    async with plane(tmp_path, "sessions.idle_timeout_sec=60", operations=[FixtureOps()], clock=clock) as opened:
        idle = (await call(opened, "fixture.read", {}, AGENT)).meta
        busy = (await call(opened, "fixture.read", {}, OTHER)).meta
        clock.advance(40)
        await call(opened, "fixture.read", {}, OTHER)
        assert opened.sessions.sweep() == 0
        clock.advance(21)
        assert opened.sessions.sweep() == 1
        found = await tasks(opened)
        assert found[idle.task_id][:2] == ("CLOSED_INTERRUPTED", "idle")
        assert found[busy.task_id][0] == "OPEN"
        refused = await call(opened, "fixture.read", {"session_id": idle.session_id or ""})
        assert refused.error is not None
        assert refused.error.name == "SESSION_CLOSED"


async def test_an_idle_session_is_not_continued_even_before_the_sweep(tmp_path: Path) -> None:
    clock = ManualClock()
    async with plane(tmp_path, "sessions.idle_timeout_sec=60", operations=[FixtureOps()], clock=clock) as opened:
        first = (await call(opened, "fixture.read")).meta
        named = await session(opened, "session.create", {}, OTHER)
        clock.advance(61)
        assert (await call(opened, "fixture.read")).meta.session_id != first.session_id
        refused = await call(opened, "fixture.read", {"session_id": named.session_id}, OTHER)
        assert refused.error is not None
        assert refused.error.name == "SESSION_CLOSED"


async def test_the_wall_clock_makes_nobody_idle(tmp_path: Path) -> None:
    clock = ManualClock()
    async with plane(tmp_path, operations=[FixtureOps()], clock=clock) as opened:
        first = (await call(opened, "fixture.read")).meta
        clock.jump(365 * 86_400)
        assert opened.sessions.sweep() == 0
        assert (await call(opened, "fixture.read")).meta.session_id == first.session_id


async def test_a_long_call_counts_as_activity_until_its_end(tmp_path: Path) -> None:
    clock, ops = ManualClock(), FixtureOps()
    async with plane(tmp_path, "sessions.idle_timeout_sec=60", operations=[ops], clock=clock) as opened:
        running = asyncio.ensure_future(call(opened, "fixture.slow_read"))
        await ops.started.wait()
        clock.advance(59)
        ops.release.set()
        first = (await running).meta
        clock.advance(59)
        assert opened.sessions.sweep() == 0
        assert (await call(opened, "fixture.read")).meta.session_id == first.session_id


async def test_the_longest_idle_is_crowded_out(tmp_path: Path) -> None:
    clock = ManualClock()
    async with plane(tmp_path, "sessions.max_open=3", operations=[FixtureOps()], clock=clock) as opened:
        callers = [replace(AGENT, connection_id=str(number)) for number in range(4)]
        found = []
        for caller in callers[:3]:
            clock.advance(1)
            found.append((await call(opened, "fixture.read", {}, caller)).meta)
        clock.advance(1)
        await call(opened, "fixture.read", {}, callers[0])
        await call(opened, "fixture.read", {}, callers[3])
        assert len(opened.sessions) == 3
        closed = {task for task, row in (await tasks(opened)).items() if row[1] == "crowded out"}
        assert closed == {found[1].task_id}


async def test_a_connection_that_ends_closes_all_the_sessions_it_opened(tmp_path: Path) -> None:
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        await call(opened, "fixture.read", {}, AGENT)
        await session(opened, "session.create", {}, AGENT)
        stays = (await call(opened, "fixture.read", {}, OTHER)).meta
        opened.sessions.disconnect("c1")
        opened.sessions.disconnect("never was")
        assert len(opened.sessions) == 1
        found = await tasks(opened)
        assert found.pop(stays.task_id)[0] == "OPEN"
        assert {row[:2] for row in found.values()} == {("CLOSED_INTERRUPTED", "disconnect")}
        assert await opened.log.select("SELECT count(*) FROM sessions WHERE closed_at IS NULL") == [(1,)]


async def test_at_the_end_every_session_is_closed(tmp_path: Path) -> None:
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        await call(opened, "fixture.read", {}, AGENT)
        await call(opened, "fixture.read", {}, OTHER)
    async with plane(tmp_path) as opened:
        assert {row[:2] for row in (await tasks(opened)).values()} == {("CLOSED_INTERRUPTED", "shutdown")}
        assert await events(opened, "task.opened") != []


class Somebody:
    """Identifies everyone as one person's device."""

    def __init__(self, owner_id: str) -> None:
        self._owner_id = owner_id

    def identify(self, caller: object, operation: str = "") -> Actor:
        return Actor(kind=ActorKind.DEVICE, actor_id="d", owner_id=self._owner_id)


async def test_another_owners_session_cannot_be_seen(tmp_path: Path) -> None:
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        mine = exchange(opened, identity=Somebody("me"))
        theirs = exchange(opened, identity=Somebody("they"))
        first = (await mine.call("fixture.read", {}, AGENT)).meta
        named: JsonObject = {"session_id": first.session_id or ""}
        for name in ("fixture.read", "session.info", "session.close"):
            refused = await theirs.call(name, named, AGENT)
            assert refused.error is not None
            assert refused.error.name == "SESSION_NOT_FOUND"
        # Nor by coming over a connection of the same name.
        assert (await theirs.call("fixture.read", {}, AGENT)).meta.session_id != first.session_id
        assert (await mine.call("session.info", named, AGENT)).error is None
        await mine.call("session.close", named, AGENT)
        gone = await theirs.call("fixture.read", named, AGENT)
        closed = await mine.call("fixture.read", named, AGENT)
        assert gone.error is not None
        assert closed.error is not None
        assert (gone.error.name, closed.error.name) == ("SESSION_NOT_FOUND", "SESSION_CLOSED")


async def test_what_the_log_cannot_take_is_not_done_either(tmp_path: Path) -> None:
    class Full:
        def append_soon(self, drafts: object) -> bool:
            return False

    async with plane(tmp_path) as opened:
        sessions = opened.sessions
        kept = sessions.open(AGENT, OWNERS_ACTOR)
        log, sessions._log = sessions._log, Full()  # type: ignore[assignment]  # full for a while
        with pytest.raises(Overloaded):
            sessions.open(OTHER, OWNERS_ACTOR)
        with pytest.raises(Overloaded):
            sessions.close(kept, TaskState.CLOSED_SUCCESS, reason="success")
        with pytest.raises(Overloaded):
            sessions.configure(kept, sessions.default_limits.model_copy(update={"max_mutations": 1}))
        sessions._log = log
        assert len(sessions) == 1
        assert kept.task.state is TaskState.OPEN
        assert kept.task.limits == sessions.default_limits
        assert sessions.find(kept.session_id, OWNERS_ACTOR) is kept
        sessions.close(kept, TaskState.CLOSED_SUCCESS, reason="success")
        with pytest.raises(SessionClosed):
            sessions.find(kept.session_id, OWNERS_ACTOR)
        with pytest.raises(SessionClosed):
            sessions.of(kept.task)
        with pytest.raises(SessionNotFound):
            sessions.find("sess_none", OWNERS_ACTOR)


async def test_tasks_are_listed_newest_first_in_pages(tmp_path: Path) -> None:
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        await call(opened, "fixture.read", {}, OWNER)
        for number in range(5):
            await session(opened, "session.create", {"description": f"d{number}"})
            await call(opened, "fixture.fail", {"text": "NOT_FOUND"})
        await session(opened, "session.close", {"reason": "success"})
        await opened.log.flush()
        listed: list[str] = []
        cursor: str | None = None
        while True:
            outcome = await call(opened, "task.list", {"limit": 2, "cursor": cursor}, OWNER)
            result = outcome.result
            assert result is not None
            wire = result.model_dump()
            listed += [row["description"] for row in wire["results"]]
            cursor = wire["pagination"]["next_cursor"]
            if cursor is None:
                break
            assert f"more: cursor={cursor}" in result.text()
            other = await call(opened, "task.list", {"limit": 2, "cursor": cursor, "state": "OPEN"}, OWNER)
            assert other.error is not None
            assert other.error.name == "CURSOR_INVALID"
        # The implicit ones, of the owner and of the agent, are the oldest.
        assert listed == ["d4", "d3", "d2", "d1", "d0", "", ""]
        closed = (await call(opened, "task.list", {"state": "CLOSED_SUCCESS"}, OWNER)).result
        assert closed is not None
        (row,) = closed.model_dump()["results"]
        assert (row["description"], row["failures"], row["mutations"]) == ("d4", 1, 1)
        assert "CLOSED_SUCCESS" in closed.text()
        none = (await call(opened, "task.list", {"state": "CLOSED_FAILED"}, OWNER)).result
        assert none is not None
        assert none.text() == "no tasks"
