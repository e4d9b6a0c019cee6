"""LangGraph with its SQLite checkpointers: a graph of one node is a step, with a thread of its own."""

import sqlite3
from collections.abc import Awaitable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Protocol, TypedDict, cast

import uvloop
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph

from bench.callers import as_tasks, as_threads
from bench.measure import Sample, Stopwatch
from bench.subjects import Load, Variant


class State(TypedDict):
    """A number."""

    value: int


class Graph(Protocol):
    """What is used of a compiled graph; its own types are not here when LangGraph is not installed."""

    def invoke(self, state: State, config: Mapping[str, object], *, durability: str) -> State: ...

    def ainvoke(self, state: State, config: Mapping[str, object], *, durability: str) -> Awaitable[State]: ...


def _node(state: State) -> State:
    return {"value": state["value"] + 1}


async def _async_node(state: State) -> State:
    return _node(state)


def _config(warm: bool, caller: int, turn: int) -> dict[str, object]:
    return {"configurable": {"thread_id": f"{'warm' if warm else 'run'}-{caller}-{turn}"}}


def _threads(durability: str, load: Load) -> Sample:
    connection = sqlite3.connect(load.folder / "langgraph.db", check_same_thread=False)
    connection.execute("PRAGMA synchronous=FULL")
    saver = SqliteSaver(connection)
    saver.setup()
    builder = StateGraph(State)
    builder.add_node("step", _node)
    builder.add_edge(START, "step")
    builder.add_edge("step", END)
    graph = cast(Graph, builder.compile(checkpointer=saver))

    def step(caller: int, turn: int, warm: bool = False) -> None:
        answer = graph.invoke({"value": turn}, _config(warm, caller, turn), durability=durability)
        assert answer["value"] == turn + 1

    with ThreadPoolExecutor(load.callers) as executor:
        as_threads(executor, load.callers, load.callers, partial(step, warm=True))
        with Stopwatch() as watch:
            latencies = as_threads(executor, load.callers, load.steps, step)
    connection.close()
    return Sample.of(watch, latencies)


def _asyncio(durability: str, load: Load) -> Sample:
    return uvloop.run(_asyncio_run(durability, load))


async def _asyncio_run(durability: str, load: Load) -> Sample:
    async with AsyncSqliteSaver.from_conn_string(str(load.folder / "langgraph.db")) as saver:
        await saver.conn.execute("PRAGMA synchronous=FULL")
        await saver.setup()
        builder = StateGraph(State)
        builder.add_node("step", _async_node)
        builder.add_edge(START, "step")
        builder.add_edge("step", END)
        graph = cast(Graph, builder.compile(checkpointer=saver))

        async def step(caller: int, turn: int, warm: bool = False) -> None:
            answer = await graph.ainvoke({"value": turn}, _config(warm, caller, turn), durability=durability)
            assert answer["value"] == turn + 1

        await as_tasks(load.callers, load.callers, partial(step, warm=True))
        with Stopwatch() as watch:
            latencies = await as_tasks(load.callers, load.steps, step)
        return Sample.of(watch, latencies)


def _long_graph(load: Load) -> Sample:
    """One graph a caller that comes back to its node for every step: the input is checkpointed once, not each time."""
    each = max(load.steps // load.callers, 1)
    connection = sqlite3.connect(load.folder / "langgraph.db", check_same_thread=False)
    connection.execute("PRAGMA synchronous=FULL")
    saver = SqliteSaver(connection)
    saver.setup()
    builder = StateGraph(State)
    builder.add_node("step", _node)
    builder.add_edge(START, "step")
    builder.add_conditional_edges("step", lambda state: "step" if state["value"] < each else END)
    graph = cast(Graph, builder.compile(checkpointer=saver))

    def step(caller: int, turn: int) -> None:
        config = {**_config(False, caller, turn), "recursion_limit": each + 10}
        assert graph.invoke({"value": 0}, config, durability="sync")["value"] == each

    with ThreadPoolExecutor(load.callers) as executor, Stopwatch() as watch:
        latencies = as_threads(executor, load.callers, load.callers, step)
    connection.close()
    return Sample.of(watch, [latency // each for latency in latencies for _ in range(each)])


VARIANTS = (
    Variant(name="threads-sync", says="SqliteSaver, threads, durability sync", run=partial(_threads, "sync")),
    Variant(name="threads-async", says="SqliteSaver, threads, durability async", run=partial(_threads, "async")),
    Variant(name="asyncio-sync", says="AsyncSqliteSaver, durability sync", run=partial(_asyncio, "sync")),
    Variant(name="asyncio-async", says="AsyncSqliteSaver, durability async", run=partial(_asyncio, "async")),
    Variant(
        name="threads-exit",
        says="SqliteSaver, threads, durability exit: no intent, only the end state",
        run=partial(_threads, "exit"),
        comparable=False,
    ),
    Variant(
        name="long-graph",
        says="SqliteSaver, threads, one graph a caller that loops over its node",
        run=_long_graph,
        comparable=False,
    ),
)
