"""What models cost, by turn, thread and day, and the ceilings that refuse."""

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import pytest

from codeplane.kernel.actor import Actor, ActorKind, Caller, Origin
from codeplane.kernel.config import ModelCeilings, ModelPrice
from codeplane.kernel.json import JsonObject
from codeplane.kernel.model_provider import Finished
from codeplane.kernel.workspace import Workspace
from codeplane.ledger.projection import differences
from codeplane.wiring.app import Plane, load_workspace_config
from codeplane.work.models.usage import ModelUsage, Tokens, Used
from codeplane.work.models.usage_table import ModelUsageTable, day_of
from tests.interaction.requirements import requirement
from tests.kernel.plane import OWNER, ManualClock, events, running_here
from tests.work.models.model_plane import ask_model, model_plane, openai, providers
from tests.work.models.scripted_provider import (
    answer,
    chunks,
    hang,
    openai_chunk,
    openai_text,
    scripted_provider,
    status,
)

pytestmark = requirement("MODEL-04")

WELL = answer(openai_text("fine"))
PRICED: list[JsonObject] = [{"model": "small", "input": 1.0, "output": 2.0, "cached_input": 0.1}]
PERSON = Actor(kind=ActorKind.OWNER, actor_id="owner")


def step(thread: str, turn: str) -> Caller:
    """A step of a turn, as the plane itself calls."""
    origin = Origin(work_id=turn, thread_id=thread, turn_id=turn, on_behalf_of=PERSON)
    return Caller(surface="work", actor=Actor(kind=ActorKind.ASSISTANT, actor_id=turn), origin=origin)


async def rows(opened: Plane, scope: str) -> list[tuple[object, ...]]:
    await opened.log.flush()
    return list(
        await opened.log.select(
            "SELECT name, calls, failures, input_tokens, output_tokens, cost_micro_usd FROM model_usage"
            " WHERE scope = ? ORDER BY name",
            (scope,),
        )
    )


async def test_it_is_counted_by_turn_thread_and_day(tmp_path: Path) -> None:
    with scripted_provider(WELL) as provider:
        entry = openai("local", provider.url, prices=PRICED)
        async with model_plane(tmp_path, providers(entry), "models.retries=0") as opened:
            for caller in (step("thr_1", "trn_1"), step("thr_1", "trn_2"), step("thr_1", "trn_2"), OWNER):
                assert (await ask_model(opened, caller=caller))[1].error is None
            provider.script = [status(500)]
            await ask_model(opened, caller=step("thr_2", "trn_3"))
            assert (await rows(opened, "turn"))[:2] == [("trn_1", 1, 0, 10, 5, 20), ("trn_2", 2, 0, 20, 10, 40)]
            assert (await rows(opened, "thread"))[0] == ("thr_1", 3, 0, 30, 15, 60)
            ((_, calls, failures, *_),) = await rows(opened, "day")
            assert (calls, failures) == (5, 1)
            assert await opened.log.readers.run(lambda connection: differences(connection, ModelUsageTable())) == []


@pytest.mark.parametrize(
    ("ceiling", "value"),
    [
        ("turn_tokens", "30"),
        ("thread_tokens", "30"),
        ("day_tokens", "30"),
        ("turn_usd", "0.00004"),
        ("thread_usd", "0.00004"),
        ("day_usd", "0.00004"),
    ],
)
async def test_a_ceiling_refuses_further_calls(tmp_path: Path, ceiling: str, value: str) -> None:
    with scripted_provider(WELL) as provider:
        settings = (providers(openai("local", provider.url, prices=PRICED)), f"models.ceilings.{ceiling}={value}")
        async with model_plane(tmp_path, *settings) as opened:
            for _ in range(2):
                assert (await ask_model(opened, caller=step("thr_1", "trn_1")))[1].error is None
            _, outcome = await ask_model(opened, caller=step("thr_1", "trn_1"))
            assert outcome.error is not None and outcome.error.name == "MODEL_CEILING_REACHED"
            assert outcome.error.details["ceiling"] == f"models.ceilings.{ceiling}" and not outcome.error.retryable
            # What another turn or thread may, it still may.
            scope = ceiling.partition("_")[0]
            if other := {"turn": step("thr_1", "trn_2"), "thread": step("thr_2", "trn_2")}.get(scope):
                assert (await ask_model(opened, caller=other))[1].error is None
        assert len(provider.requests) == (2 if ceiling.startswith("day") else 3)


@asynccontextmanager
async def with_clock(root: Path, clock: ManualClock, *settings: str) -> AsyncIterator[Plane]:
    workspace = Workspace(root=root)
    loaded = load_workspace_config(workspace, settings, {}).without_terminal()
    async with running_here(workspace, loaded=loaded, clock=clock) as opened:
        yield opened


async def test_a_new_day_begins_anew_and_old_days_are_dropped_with_the_log(tmp_path: Path) -> None:
    clock = ManualClock()
    with scripted_provider(WELL) as provider:
        settings = (providers(openai("local", provider.url)), "models.ceilings.day_tokens=10")
        async with with_clock(tmp_path, clock, *settings) as opened:
            assert (await ask_model(opened))[1].error is None
            _, outcome = await ask_model(opened)
            assert outcome.error is not None and outcome.error.name == "MODEL_CEILING_REACHED"
            clock.advance(86_400)
            assert (await ask_model(opened))[1].error is None
            assert len(await rows(opened, "day")) == 2
            clock.advance(89.5 * 86_400)
            await opened.retention.apply()
            assert len(await rows(opened, "day")) == 1
            assert await opened.log.readers.run(lambda connection: differences(connection, ModelUsageTable())) == []


@pytest.mark.parametrize("reads_first", [False, True])
async def test_sums_that_go_on_in_memory_are_those_of_the_table(tmp_path: Path, reads_first: bool) -> None:
    places = [("turn", "trn_1"), ("turn", "trn_2"), ("thread", "thr_1"), ("day", day_of(ManualClock().now_ns()))]

    async def sums(usage: ModelUsage) -> list[Used]:
        return [await usage.usage_of(*place) for place in places]

    with scripted_provider(WELL) as provider:
        entry = openai("local", provider.url, prices=PRICED)
        async with with_clock(tmp_path, clock := ManualClock(), providers(entry), "models.retries=0") as opened:
            usage = ModelUsage(log=opened.log, clock=clock, ceilings=ModelCeilings())
            if reads_first:
                assert await sums(usage) == [Used()] * 4
            for number in range(6):
                provider.script = [status(500) if number == 4 else WELL]
                await ask_model(opened, caller=step("thr_1", f"trn_{1 + number % 2}"))
                table = ModelUsage(log=opened.log, clock=clock, ceilings=ModelCeilings())
                assert await sums(usage) == await sums(table)
            assert (await sums(usage))[2] == Used(calls=6, failures=1, tokens=75, micro_usd=100)
            clock.advance(200 * 86_400)
            await opened.retention.apply()
            assert await sums(usage) == [Used()] * 4


async def test_a_call_that_its_caller_gives_up_is_counted_by_estimate(tmp_path: Path) -> None:
    with scripted_provider(hang(chunks(openai_chunk({"content": "four letters"})))) as provider:
        async with model_plane(tmp_path, providers(openai("local", provider.url))) as opened:
            asked: JsonObject = {"messages": [{"role": "user", "text": "x" * 400}]}
            async with aclosing(opened.conveyor.stream("model.call", asked, OWNER)) as items:  # type: ignore[type-var]  # a generator
                async for _ in items:
                    break
            (called,) = await events(opened, "model.called")
            assert (called.payload["status"], called.payload["estimated"]) == ("CANCELLED", True)
            assert (called.payload["input_tokens"], called.payload["output_tokens"]) == (100, 3)


async def test_a_provider_that_counts_nothing_is_estimated_and_says_so(tmp_path: Path) -> None:
    with scripted_provider(answer(openai_text("fine", usage=None))) as provider:
        async with model_plane(tmp_path, providers(openai("local", provider.url))) as opened:
            items, _ = await ask_model(opened)
            assert (items[-1].estimated, items[-1].output_tokens, items[-1].cost_usd) == (True, 1, None)


async def test_what_the_provider_says_it_cost_counts_before_a_price(tmp_path: Path) -> None:
    usage: JsonObject = {"id": "c", "choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5, "cost": 0.25}}
    with scripted_provider(answer(chunks(openai_chunk({"content": "x"}, "stop"), usage))) as provider:
        async with model_plane(tmp_path, providers(openai("local", provider.url, prices=PRICED))) as opened:
            items, _ = await ask_model(opened)
            assert items[-1].cost_usd == 0.25


def test_cached_tokens_have_their_own_price() -> None:
    finished = Finished(reason="stop", input_tokens=1000, output_tokens=100, cached_tokens=600)
    tokens = Tokens.of(finished, prompt_chars=0, output_chars=0)
    assert tokens.micro_usd(ModelPrice(model="m", input=3, output=15, cached_input=0.3)) == 400 * 3 + 180 + 1500
    assert tokens.micro_usd(ModelPrice(model="m", input=3, output=15)) == 3000 + 1500
    assert tokens.micro_usd(None) is None
