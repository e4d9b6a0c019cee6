"""CodePlane: appends to the log, and whole steps through the conveyor."""

import time
from collections.abc import Awaitable, Callable

import uvloop

from bench.callers import as_tasks
from bench.fixture import BenchOperations, scratch
from bench.measure import Sample, Stopwatch
from bench.subjects import Load, Variant
from codeplane.kernel.actor import Caller
from codeplane.kernel.call_record import CALL_FINISHED, CALL_STARTED
from codeplane.kernel.event import Correlation, Draft, Event
from codeplane.kernel.event_log import EventQuery
from codeplane.kernel.ids import new_id
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.wiring.app import Plane, run_plane
from codeplane.wiring.serve import settle_collector

Step = Callable[[int, int], Awaitable[None]]


def _measured(load: Load, make: Callable[[Plane], Step]) -> Sample:
    return uvloop.run(_run(load, make))


async def _run(load: Load, make: Callable[[Plane], Step]) -> Sample:
    workspace, loaded = scratch(load.folder)
    async with run_plane(workspace, loaded=loaded, operations=[BenchOperations()]) as plane:
        step, counters = make(plane), plane.log.counters
        await as_tasks(load.callers, load.callers, step)
        await plane.log.flush()
        events, commits = counters.events, counters.commits
        # As the server does once it is ready.
        settle_collector()
        with Stopwatch() as watch:
            latencies = await as_tasks(load.callers, load.steps, step)
        return Sample.of(watch, latencies, events=counters.events - events, commits=counters.commits - commits)


def _append(plane: Plane) -> Step:
    """One event that no table is interested in."""

    async def step(caller: int, turn: int) -> None:
        payload: JsonObject = {"turn": turn, "note": "x" * 200}
        await plane.log.append([Draft(stream=f"bench/{caller}", type="bench.fact", payload=payload)])

    return step


def _projected(plane: Plane) -> Step:
    """A call's intent and then its outcome, straight into the log: every table that follows calls takes them in."""
    common: JsonObject = {
        "operation": "bench.write",
        "mutates": True,
        "budget": "mutation",
        "arguments_hash": "0" * 64,
        "repo_before": "0" * 40,
    }
    outcome: JsonObject = {"duration_us": 100, "executed": True, "status": "ok", "result_hash": "0" * 64}

    async def step(caller: int, turn: int) -> None:
        ids = Correlation(call_id=new_id("call"), task_id=f"task_{caller}", session_id=f"sess_{caller}")
        stream = f"task/task_{caller}"
        await plane.log.append([Draft(stream=stream, type=CALL_STARTED, payload=common, correlation=ids)])
        finished = {**common, **outcome}
        await plane.log.append([Draft(stream=stream, type=CALL_FINISHED, payload=finished, correlation=ids)])

    return step


def _step(plane: Plane) -> Step:
    """A mutating operation through the conveyor."""
    return _call(plane, lambda caller, turn: {"value": turn})


def _keyed(plane: Plane) -> Step:
    """The same with an idempotency key: looked up before, and its result kept."""
    return _call(plane, lambda caller, turn: {"value": turn, "idempotency_key": new_id("key")})


def _call(plane: Plane, arguments: Callable[[int, int], JsonObject]) -> Step:
    async def step(caller: int, turn: int) -> None:
        who = Caller(surface="embedded", connection_id=f"caller-{caller}", client="bench")
        outcome = await plane.conveyor.call("bench.write", arguments(caller, turn), who)
        assert outcome.error is None, outcome.error

    return step


def _worked(load: Load) -> Sample:
    """As many work items as callers, each with its share of the steps, run by the engine."""
    return uvloop.run(_run_work(load))


async def _run_work(load: Load) -> Sample:
    workspace, loaded = scratch(load.folder)
    each = max(load.steps // load.callers, 1)
    steps: list[JsonValue] = [{"operation": "bench.write", "arguments": {"value": turn}} for turn in range(each)]
    async with run_plane(workspace, loaded=loaded, operations=[BenchOperations()]) as plane:
        work_ids = []
        for _ in range(load.callers):
            outcome = await plane.conveyor.call("work.start", {"steps": steps}, Caller(surface="embedded"))
            assert outcome.result is not None, outcome.error
            work_ids.append(str(outcome.result.model_dump()["work_id"]))
        await plane.log.flush()
        counters = plane.log.counters
        events, commits = counters.events, counters.commits
        # As the server does once it is ready.
        settle_collector()
        with Stopwatch() as watch:
            plane.work.start_engine(plane.conveyor)
            latencies = await _completed(plane, len(work_ids), each)
        return Sample.of(
            watch,
            latencies,
            events=counters.events - events,
            commits=counters.commits - commits,
        )


async def _completed(plane: Plane, items: int, steps: int) -> list[int]:
    """Wait for the end of the items, without reading what comes before; returns the nanoseconds that each step took on
    average."""
    began = time.perf_counter_ns()
    latencies: list[int] = []
    async for item in plane.log.follow(EventQuery(types=("work.completed", "work.failed", "work.waiting"))):
        if isinstance(item, Event):
            assert item.type == "work.completed", item.payload
            latencies += [(time.perf_counter_ns() - began) // steps] * steps
            if len(latencies) == items * steps:
                break
    return latencies


VARIANTS = (
    Variant(name="append", says="one bare event", run=lambda load: _measured(load, _append)),
    Variant(
        name="projected", says="intent and outcome into log and tables", run=lambda load: _measured(load, _projected)
    ),
    Variant(name="step", says="a mutation through the conveyor", run=lambda load: _measured(load, _step)),
    Variant(name="work", says="steps of work items, run by the engine", run=_worked),
    Variant(name="keyed", says="the same with an idempotency key", run=lambda load: _measured(load, _keyed)),
)
