"""LangGraph's turns: a graph of a model and a tool, a thread for each caller, every step checkpointed at once."""

import sqlite3
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from operator import add
from typing import Annotated, Any, Protocol, TypedDict, cast

import uvloop
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph

from bench.callers import as_tasks, as_threads
from bench.measure import Sample, Stopwatch
from bench.subjects import Load, Variant
from bench.subjects.turn_script import wanted

Message = tuple[str, str]


class State(TypedDict):
    """The conversation."""

    messages: Annotated[list[Message], add]


class Graph(Protocol):
    """What is used of a compiled graph."""

    def invoke(self, state: State, config: Mapping[str, object], *, durability: str) -> State: ...

    async def ainvoke(self, state: State, config: Mapping[str, object], *, durability: str) -> State: ...


def _answered(state: State) -> int:
    roles = [role for role, _ in state["messages"]]
    return roles[::-1][: roles[::-1].index("user")].count("tool")


def _model(state: State) -> State:
    argument = wanted(_answered(state))
    return {"messages": [("assistant", "It is done." if argument is None else f"bench_write {argument}")]}


def _tool(state: State) -> State:
    _, value = state["messages"][-1][1].split()
    return {"messages": [("tool", str(int(value) + 1))]}


async def _async_model(state: State) -> State:
    return _model(state)


async def _async_tool(state: State) -> State:
    return _tool(state)


def _builder(model: Any, tool: Any) -> "StateGraph[State]":
    builder = StateGraph(State)
    builder.add_node("model", model)
    builder.add_node("tool", tool)
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", lambda state: END if wanted(_answered(state)) is None else "tool")
    builder.add_edge("tool", "model")
    return builder


def _config(caller: int) -> dict[str, object]:
    return {"configurable": {"thread_id": f"thread-{caller}"}}


def _threads(load: Load) -> Sample:
    connection = sqlite3.connect(load.folder / "langgraph.db", check_same_thread=False)
    connection.execute("PRAGMA synchronous=FULL")
    saver = SqliteSaver(connection)
    saver.setup()
    graph = cast(Graph, _builder(_model, _tool).compile(checkpointer=saver))

    def turn(caller: int, number: int) -> None:
        answer = graph.invoke({"messages": [("user", f"go {number}")]}, _config(caller), durability="sync")
        assert answer["messages"][-1] in (("assistant", "It is done."), ["assistant", "It is done."])

    with ThreadPoolExecutor(load.callers) as executor:
        as_threads(executor, load.callers, load.callers, turn)
        with Stopwatch() as watch:
            latencies = as_threads(executor, load.callers, load.steps, turn)
    connection.close()
    return Sample.of(watch, latencies)


def _asyncio(load: Load) -> Sample:
    return uvloop.run(_asyncio_run(load))


async def _asyncio_run(load: Load) -> Sample:
    async with AsyncSqliteSaver.from_conn_string(str(load.folder / "langgraph.db")) as saver:
        await saver.conn.execute("PRAGMA synchronous=FULL")
        await saver.setup()
        graph = cast(Graph, _builder(_async_model, _async_tool).compile(checkpointer=saver))

        async def turn(caller: int, number: int) -> None:
            answer = await graph.ainvoke({"messages": [("user", f"go {number}")]}, _config(caller), durability="sync")
            assert answer["messages"][-1] in (("assistant", "It is done."), ["assistant", "It is done."])

        await as_tasks(load.callers, load.callers, turn)
        with Stopwatch() as watch:
            latencies = await as_tasks(load.callers, load.steps, turn)
        return Sample.of(watch, latencies)


VARIANTS = (
    Variant(name="threads", says="SqliteSaver, threads, durability sync", run=_threads),
    Variant(name="asyncio", says="AsyncSqliteSaver, durability sync", run=_asyncio),
)
