"""Budgets and convergence: finite, reopened only by saying so, and information otherwise."""

import asyncio
from pathlib import Path

from codeplane.kernel.actor import Actor, ActorKind
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.json import JsonObject
from codeplane.wiring.app import Plane
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, FixtureOps, ManualClock, events, of_call, plane


async def call(opened: Plane, name: str, arguments: JsonObject | None = None) -> Outcome:
    return await opened.conveyor.call(name, arguments or {}, AGENT)


async def error_of(opened: Plane, name: str, arguments: JsonObject | None = None) -> str | None:
    outcome = await call(opened, name, arguments)
    return outcome.error.name if outcome.error else None


async def given(opened: Plane, session_id: str | None, **delta: int) -> None:
    """A person gives a session more budget, or less."""
    arguments: JsonObject = {"session_id": session_id, "limits_delta": dict(delta)}
    assert (await opened.conveyor.call("session.configure", arguments, OWNER)).error is None


async def state(opened: Plane) -> object:
    await opened.log.flush()
    return (await opened.log.select("SELECT state, reason FROM tasks"))[0]


@requirement("TASK-02")
async def test_a_mutation_over_budget_is_refused_and_closes_the_task(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with plane(tmp_path, "limits.max_mutations=2", operations=[ops]) as opened:
        assert [await error_of(opened, "fixture.write") for _ in range(2)] == [None, None]
        assert await state(opened) == ("OPEN", None)
        refused = await call(opened, "fixture.write")
        assert refused.error is not None
        assert refused.error.name == "TASK_BUDGET_EXCEEDED"
        assert refused.error.details == {"budget_type": "mutations", "limit": 2, "current": 2}
        assert refused.error.message == "Mutations budget exceeded (2/2)"
        assert refused.meta.task_state == "CLOSED_FAILED"
        assert await state(opened) == ("CLOSED_FAILED", "budget")
        (ending,) = await of_call(opened, refused)
        assert (ending.payload["executed"], ending.payload["limit_triggered"]) == (False, "mutations")
        # Refused again, and closed only once; reads and test runs go on.
        assert await error_of(opened, "fixture.write") == "TASK_BUDGET_EXCEEDED"
        assert await error_of(opened, "fixture.read") is None
        assert await error_of(opened, "fixture.test") is None
        assert len(await events(opened, "task.closed")) == 1
        assert ops.ran == ["fixture.write", "fixture.write", "fixture.read", "fixture.test"]
        counted = await opened.log.select("SELECT mutation_count, test_run_count FROM tasks")
        assert counted == [(2, 1)]


@requirement("TASK-02")
async def test_only_saying_so_reopens_it(tmp_path: Path) -> None:
    async with plane(tmp_path, "limits.max_mutations=1", operations=[FixtureOps()]) as opened:
        for _ in range(2):
            session_id = (await call(opened, "fixture.write")).meta.session_id
        assert await state(opened) == ("CLOSED_FAILED", "budget")
        await given(opened, session_id, add_mutations=1)
        assert await state(opened) == ("OPEN", None)
        assert await error_of(opened, "fixture.write") is None
        assert await error_of(opened, "fixture.write") == "TASK_BUDGET_EXCEEDED"
        assert await state(opened) == ("CLOSED_FAILED", "budget")
        # Adding nothing does not open it.
        assert await error_of(opened, "session.configure", {"limits_delta": {}}) is None
        assert await state(opened) == ("CLOSED_FAILED", "budget")
        assert await error_of(opened, "fixture.write") == "TASK_BUDGET_EXCEEDED"
        assert [event.payload["limits"] for event in await events(opened, "task.configured")] == [
            {"max_mutations": 2, "max_test_runs": 200, "max_duration_sec": 86_400}
        ] * 2


async def test_nonsense_is_no_budget(tmp_path: Path) -> None:
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        for delta in ({"add_mutations": -(10**9)}, {"add_mutations": 10**9}, {"max_mutations": 5}):
            arguments: JsonObject = {"limits_delta": delta}
            assert await error_of(opened, "session.configure", arguments) == "INVALID_ARGUMENT"
        assert await error_of(opened, "session.create", {"limits": {"max_mutations": -1}}) == "INVALID_ARGUMENT"


async def test_a_task_that_failed_on_its_budget_stays_failed_when_it_is_closed(tmp_path: Path) -> None:
    async with plane(tmp_path, "limits.max_mutations=0", operations=[FixtureOps()]) as opened:
        assert await error_of(opened, "fixture.write") == "TASK_BUDGET_EXCEEDED"
        assert await error_of(opened, "session.close", {"reason": "success"}) is None
        assert await state(opened) == ("CLOSED_FAILED", "budget")


@requirement("TASK-02")
async def test_test_runs_are_refused_without_closing_the_task(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with plane(tmp_path, "limits.max_test_runs=1", operations=[ops]) as opened:
        assert await error_of(opened, "fixture.test") is None
        refused = await call(opened, "fixture.test")
        assert refused.error is not None
        assert refused.error.details["budget_type"] == "test_runs"
        assert await state(opened) == ("OPEN", None)
        assert await error_of(opened, "fixture.write") is None
        await given(opened, refused.meta.session_id, add_test_runs=1)
        assert await error_of(opened, "fixture.test") is None
        assert ops.ran == ["fixture.test", "fixture.write", "fixture.test"]


@requirement("TASK-02")
async def test_time_is_a_budget_too(tmp_path: Path) -> None:
    clock = ManualClock()
    settings = ("limits.max_duration_sec=100", "sessions.idle_timeout_sec=1000")
    async with plane(tmp_path, *settings, operations=[FixtureOps()], clock=clock) as opened:
        assert await error_of(opened, "fixture.write") is None
        clock.jump(10**6)
        clock.advance(99.9)
        assert await error_of(opened, "fixture.write") is None
        clock.advance(0.1)
        refused = await call(opened, "fixture.write")
        assert refused.error is not None
        assert refused.error.details == {"budget_type": "duration", "limit": 100, "current": 100}
        assert await error_of(opened, "fixture.test") == "TASK_BUDGET_EXCEEDED"
        assert await error_of(opened, "fixture.read") is None
        assert await state(opened) == ("CLOSED_FAILED", "budget")
        await given(opened, refused.meta.session_id, add_duration_sec=50)
        assert await error_of(opened, "fixture.write") is None


async def test_many_at_once_get_no_more_than_there_is(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with plane(tmp_path, "limits.max_mutations=5", operations=[ops]) as opened:
        outcomes = await asyncio.gather(*(call(opened, "fixture.write") for _ in range(20)))
        assert len([outcome for outcome in outcomes if outcome.error is None]) == 5
        assert len(ops.ran) == 5
        assert len(await events(opened, "call.started")) == 5


async def test_a_task_that_ended_while_a_call_waited_takes_no_mutation(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with plane(tmp_path, operations=[ops]) as opened:
        task = (await call(opened, "fixture.read")).meta.task_id
        session = next(iter(opened.sessions._by_id.values()))
        held = await opened.conveyor.ports.idempotency.claim(
            actor=Actor(kind=ActorKind.AGENT, actor_id="agent"),
            operation="fixture.write",
            key="k",
            arguments_hash="h",
        )
        waiting = asyncio.ensure_future(call(opened, "fixture.write", {"idempotency_key": "k"}))
        await asyncio.sleep(0)
        opened.sessions.disconnect("c1")
        held.release()
        outcome = await waiting
        assert outcome.error is not None
        assert outcome.error.name == "SESSION_CLOSED"
        assert outcome.meta.task_id == task == session.task.task_id
        assert ops.ran == ["fixture.read"]


def kinds(outcome: Outcome) -> list[object]:
    return [signal["kind"] for signal in outcome.meta.signals]


@requirement("TASK-03")
async def test_the_same_change_twice_is_a_no_op(tmp_path: Path) -> None:
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        output = [kinds(await call(opened, "fixture.write", {"text": text})) for text in ("x", "x", "y", "x", "x")]
        assert output == [[], ["no_op"], [], [], ["no_op"]]
        counted = await opened.log.select("SELECT mutation_count FROM tasks")
        assert counted == [(5,)]


@requirement("TASK-03")
async def test_the_same_failure_after_a_change_is_no_progress(tmp_path: Path) -> None:
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:

        async def failing(text: str) -> Outcome:
            return await call(opened, "fixture.test", {"text": text, "paths": ["t"]})

        assert kinds(await failing("boom at line 1")) == []
        # Without a change in between it is only the same run again.
        assert kinds(await failing("boom at line 2")) == []
        await call(opened, "fixture.write", {"text": "a"})
        repeated = await failing("boom at line 3")
        assert kinds(repeated) == ["non_progress"]
        assert repeated.meta.signals[0]["repeated_failure_count"] == 3
        assert repeated.error is None
        await call(opened, "fixture.write", {"text": "b"})
        assert kinds(await failing("something else")) == []
        view = (await call(opened, "session.info")).result
        assert view is not None
        prints = view.model_dump()["task"]["fingerprints"]
        assert prints["repeated_failure_count"] == 1
        assert prints["last_failure"] == (await failing("something else")).meta.fingerprints["failure"]  # type: ignore[index]  # there is one


async def test_errors_are_failures_with_fingerprints(tmp_path: Path) -> None:
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        first = await call(opened, "fixture.fail", {"text": "NOT_FOUND"})
        await call(opened, "fixture.write")
        again = await call(opened, "fixture.fail", {"text": "NOT_FOUND"})
        assert first.meta.fingerprints == again.meta.fingerprints
        assert kinds(again) == ["non_progress"]
        other = await call(opened, "fixture.crash")
        assert other.meta.fingerprints != first.meta.fingerprints
        assert kinds(other) == []


async def test_a_budget_that_is_nearly_used_is_said(tmp_path: Path) -> None:
    async with plane(tmp_path, "limits.max_mutations=10", operations=[FixtureOps()]) as opened:
        output = [kinds(await call(opened, "fixture.write", {"text": str(number)})) for number in range(10)]
        assert output == [[]] * 8 + [["budget"]] * 2
        last = await call(opened, "fixture.write")
        assert last.meta.signals[-1] == {"kind": "budget", "budget_type": "mutation", "used": 10, "limit": 10}
        assert kinds(await call(opened, "fixture.read")) == []
