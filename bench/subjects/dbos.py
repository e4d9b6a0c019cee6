"""DBOS with SQLite: a workflow of one step is a step."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import uvloop
from dbos import DBOS

from bench.callers import as_tasks, as_threads
from bench.measure import Sample, Stopwatch
from bench.subjects import Load, Variant

_FULL = 2


def _next(value: int) -> int:
    return value + 1


async def _async_next(value: int) -> int:
    return value + 1


def prepare(load: Load, *, wal: bool) -> None:
    """DBOS leaves SQLite's defaults alone: FULL, and a rollback journal unless the file already has a WAL."""
    path = load.folder / "dbos.db"
    connection = sqlite3.connect(path)
    (level,) = connection.execute("PRAGMA synchronous").fetchone()
    assert level == _FULL, f"this SQLite defaults to synchronous={level}: DBOS would not be as durable as the others"
    if wal:
        connection.execute("PRAGMA journal_mode=WAL")
    connection.close()
    DBOS(
        config={
            "name": "bench",
            "system_database_url": f"sqlite:///{path}",
            "log_level": "ERROR",
        }
    )


def _threads(wal: bool, load: Load) -> Sample:
    prepare(load, wal=wal)
    durable = DBOS.step()(_next)

    def workflow(value: int) -> int:
        answer: int = durable(value)
        return answer

    start = DBOS.workflow()(workflow)

    def step(caller: int, turn: int) -> None:
        assert start(turn) == turn + 1

    DBOS.launch()
    with ThreadPoolExecutor(load.callers) as executor:
        as_threads(executor, load.callers, load.callers, step)
        with Stopwatch() as watch:
            latencies = as_threads(executor, load.callers, load.steps, step)
    DBOS.destroy()
    return Sample.of(watch, latencies)


def _asyncio(wal: bool, load: Load) -> Sample:
    return uvloop.run(_asyncio_run(wal, load))


async def _asyncio_run(wal: bool, load: Load) -> Sample:
    prepare(load, wal=wal)
    durable = DBOS.step()(_async_next)

    async def workflow(value: int) -> int:
        answer: int = await durable(value)
        return answer

    start = DBOS.workflow()(workflow)

    async def step(caller: int, turn: int) -> None:
        assert await start(turn) == turn + 1

    DBOS.launch()
    await as_tasks(load.callers, load.callers, step)
    with Stopwatch() as watch:
        latencies = await as_tasks(load.callers, load.steps, step)
    DBOS.destroy()
    return Sample.of(watch, latencies)


def _long_workflow(load: Load) -> Sample:
    """One workflow a caller with all of its steps: DBOS records each step's outcome, and no intent."""
    each = max(load.steps // load.callers, 1)
    prepare(load, wal=True)
    durable = DBOS.step()(_next)

    def workflow(steps: int) -> int:
        value = 0
        for _ in range(steps):
            value = durable(value)
        return value

    start = DBOS.workflow()(workflow)

    def step(caller: int, turn: int) -> None:
        assert start(each) == each

    DBOS.launch()
    with ThreadPoolExecutor(load.callers) as executor, Stopwatch() as watch:
        latencies = as_threads(executor, load.callers, load.callers, step)
    DBOS.destroy()
    return Sample.of(watch, [latency // each for latency in latencies for _ in range(each)])


VARIANTS = (
    Variant(name="threads-wal", says="threads, file in WAL mode", run=partial(_threads, True)),
    Variant(name="threads-stock", says="threads, as it comes (rollback journal)", run=partial(_threads, False)),
    Variant(name="asyncio-wal", says="asyncio, file in WAL mode", run=partial(_asyncio, True)),
    Variant(name="asyncio-stock", says="asyncio, as it comes (rollback journal)", run=partial(_asyncio, False)),
    Variant(
        name="long-workflow",
        says="threads, WAL, one workflow a caller with all its steps: no intents",
        run=_long_workflow,
        comparable=False,
    ),
)
