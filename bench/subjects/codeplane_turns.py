"""CodePlane's turns: a thread for each caller, a model in this process that wants five tools and then answers."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import uvloop

from bench.callers import as_tasks
from bench.fixture import BenchOperations, scratch
from bench.measure import Sample, Stopwatch
from bench.subjects import Load, Variant
from bench.subjects.turn_script import TOOLS
from codeplane.kernel.actor import Caller
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.model_provider import (
    Finished,
    ModelRequest,
    ModelToolCall,
    StreamItem,
    TextDelta,
    ToolCallPlanned,
)
from codeplane.wiring.app import Plane, run_plane
from codeplane.wiring.serve import settle_collector

_WHO = Caller(surface="embedded", client="bench")
_WATCHERS, _WORDS, _PAUSE_SEC = 100, 30, 0.06


class CountingModel:
    """Wants a tool until five have answered in this turn."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamItem, None]:
        """The next answer."""
        answered = 0
        for message in reversed(request.messages):
            if message.role == "user":
                break
            answered += message.role == "tool"
        if answered == TOOLS:
            yield TextDelta(text="It is done.")
        else:
            arguments = json.dumps({"value": answered})
            yield ToolCallPlanned(
                tool_call=ModelToolCall(id=f"call_{answered}", name="bench_write", arguments=arguments)
            )
        yield Finished(reason="stop" if answered == TOOLS else "tool_calls", input_tokens=10, output_tokens=5)

    async def models(self) -> Sequence[str]:
        """The one model that there is."""
        return ["default"]

    async def close(self) -> None:
        """Nothing is open."""


class TalkingModel(CountingModel):
    """Says numbered words with pauses, and notes when it said each."""

    def __init__(self) -> None:
        self.said_ns: dict[int, int] = {}
        self.may_talk = asyncio.Event()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamItem, None]:
        """Word by word."""
        await self.may_talk.wait()
        for number in range(_WORDS):
            self.said_ns[number] = time.perf_counter_ns()
            yield TextDelta(text=f"word{number} ")
            await asyncio.sleep(_PAUSE_SEC)
        yield Finished(reason="stop", input_tokens=10, output_tokens=5)


@asynccontextmanager
async def _plane(load: Load, model: CountingModel) -> AsyncIterator[Plane]:
    workspace, loaded = scratch(load.folder)
    at_once = {"max_running": max(load.callers, 1)}
    config = loaded.config
    config = config.model_copy(
        update={"work": config.work.model_copy(update=at_once), "turns": config.turns.model_copy(update=at_once)}
    )
    loaded = replace(loaded, config=config)
    async with run_plane(workspace, loaded=loaded, operations=[BenchOperations()], models={"bench": model}) as plane:
        plane.work.start_engine(plane.conveyor)
        yield plane


async def _call(plane: Plane, operation: str, **arguments: JsonValue) -> JsonObject:
    outcome = await plane.conveyor.call(operation, arguments, _WHO)
    assert outcome.result is not None, outcome.error
    return outcome.result.model_dump(mode="json")


def _turns(load: Load) -> Sample:
    return uvloop.run(_run_turns(load))


async def _run_turns(load: Load) -> Sample:
    async with _plane(load, CountingModel()) as plane:
        threads = [str((await _call(plane, "thread.create"))["thread_id"]) for _ in range(load.callers)]

        async def turn(caller: int, number: int) -> None:
            sent = await _call(plane, "turn.send", thread_id=threads[caller], user_text=f"go {number}", wait_sec=300)
            assert (sent["status"], sent["assistant_message"]) == ("COMPLETED", "It is done."), sent

        await as_tasks(load.callers, load.callers, turn)
        await plane.log.flush()
        counters = plane.log.counters
        events, commits = counters.events, counters.commits
        # As the server does once it is ready.
        settle_collector()
        with Stopwatch() as watch:
            latencies = await as_tasks(load.callers, load.steps, turn)
        return Sample.of(watch, latencies, events=counters.events - events, commits=counters.commits - commits)


def _words(load: Load) -> Sample:
    return uvloop.run(_run_words(load))


async def _run_words(load: Load) -> Sample:
    """From a word of the model to each of the watchers of its thread."""
    model = TalkingModel()
    first: list[int] = []
    later: list[int] = []
    async with _plane(load, model) as plane:
        thread_id = str((await _call(plane, "thread.create"))["thread_id"])
        sent = await _call(plane, "turn.send", thread_id=thread_id, user_text="go")

        async def watch() -> None:
            asked: JsonObject = {"thread_id": thread_id, "turn_id": str(sent["turn_id"])}
            async for item in plane.conveyor.stream("thread.watch", asked, _WHO):
                event = getattr(item, "event", None)
                if event is None or event["type"] != "assistant.text_delta":
                    continue
                now = time.perf_counter_ns()
                for word in str(event["payload"]["delta"]).split():
                    number = int(word.removeprefix("word"))
                    (later if number else first).append(now - model.said_ns[number])

        with Stopwatch() as stopwatch:
            watching = [asyncio.ensure_future(watch()) for _ in range(_WATCHERS)]
            await asyncio.sleep(1)
            model.may_talk.set()
            await asyncio.gather(*watching)
    assert len(first) == _WATCHERS and len(later) == _WATCHERS * (_WORDS - 1)
    first.sort()
    extra = {"first_p50_ms": first[len(first) // 2] / 1e6, "first_p95_ms": first[len(first) * 95 // 100] / 1e6}
    return Sample.of(stopwatch, later, **extra)


VARIANTS = (
    Variant(name="turn", says="turns through the whole door", run=_turns),
    Variant(name="words", says="words to 100 watchers", run=_words, comparable=False),
)
