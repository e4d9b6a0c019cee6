"""Calls to models: streamed, retried, replaced by others, and bounded."""

from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, events
from tests.work.models.model_plane import ask_model, kinds, model_plane, openai, providers, text_of
from tests.work.models.scripted_provider import (
    Act,
    answer,
    chunks,
    cut,
    flood,
    hang,
    openai_chunk,
    openai_text,
    raw,
    scripted_provider,
    status,
)

pytestmark = requirement("MODEL-01")

WELL = answer(openai_text("It ", "works."))


async def test_an_answer_is_streamed_and_counted(tmp_path: Path) -> None:
    prices: list[JsonObject] = [{"model": "small", "input": 2.0, "output": 10.0}]
    with scripted_provider(WELL) as provider:
        async with model_plane(tmp_path, providers(openai("local", provider.url, prices=prices))) as opened:
            items, outcome = await ask_model(opened)
            assert outcome.error is None
            assert kinds(items) == ["text", "text", "finish"] and text_of(items) == "It works."
            finish = items[-1]
            assert (finish.reason, finish.model, finish.attempt) == ("stop", "local/small", 1)
            assert (finish.input_tokens, finish.output_tokens, finish.estimated) == (10, 5, False)
            assert finish.cost_usd == pytest.approx((10 * 2 + 5 * 10) / 1e6)
            (called,) = await events(opened, "model.called")
            assert called.payload["status"] == "ok" and called.payload["cost_micro_usd"] == 70
        (request,) = provider.requests
        assert request.path == "/v1/chat/completions" and request.body["model"] == "small"
        assert request.body["messages"] == [{"role": "user", "content": "say something"}]


FAILURES: dict[str, Act] = {
    "429": status(429, {"error": {"message": "slow down", "type": "rate_limit_error"}}, Retry_After="0"),
    "500": status(500, "<html>oops</html>"),
    "502": status(502),
    "503": status(503, {"error": "busy"}),
    "529": status(529, {"error": {"type": "overloaded_error"}}),
    "cut off": cut(chunks(openai_chunk({"content": "It "}))),
    "without an end": answer(chunks(openai_chunk({"content": "It "}))),
    "truncated JSON": answer(chunks('data: {"choices": [{"delta": {"content": "It\n\n')),
    "an array": answer(chunks("data: [1, 2]\n\n")),
    "an error in the stream": answer(chunks({"error": {"message": "the engine died", "type": "server_error"}})),
    "garbage": raw(b"garbage\r\n\r\n"),
    "closed at once": raw(b""),
}


async def test_failures_that_pass_are_retried_and_supersede_what_came_before(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    with scripted_provider(WELL) as provider:
        async with model_plane(tmp_path, providers(openai("local", provider.url, calls_per_minute=0))) as opened:
            seen = 0
            for name, failure in FAILURES.items():
                with subtests.test(name):
                    provider.script = [failure, failure, WELL]
                    items, outcome = await ask_model(opened)
                    assert outcome.error is None and text_of(items) == "It works."
                    retries = [item for item in items if item.kind == "retry"]
                    assert [item.attempt for item in retries] == [2, 3] and all(item.reason for item in retries)
                    assert items[-1].attempt == 3
                    called = (await events(opened, "model.called"))[seen:]
                    assert [event.payload["status"] == "ok" for event in called] == [False, False, True]
                    seen += 3


async def test_failures_that_stay_are_not_retried(tmp_path: Path, subtests: pytest.Subtests) -> None:
    with scripted_provider(WELL) as provider:
        async with model_plane(tmp_path, providers(openai("local", provider.url))) as opened:
            for code in (400, 401, 403, 404, 422):
                with subtests.test(str(code)):
                    provider.requests.clear()
                    provider.script = [status(code, {"error": {"message": "no", "type": "nope"}}), WELL]
                    items, outcome = await ask_model(opened)
                    assert items == [] and outcome.error is not None
                    assert outcome.error.name == "PROVIDER_REJECTED" and not outcome.error.retryable
                    assert outcome.error.details["status"] == code and "nope" in outcome.error.message
                    assert len(provider.requests) == 1


async def test_a_spent_account_is_not_retried_though_it_answers_429(tmp_path: Path) -> None:
    spent = status(429, {"error": {"message": "you exceeded your quota", "code": "insufficient_quota"}})
    with scripted_provider(spent) as provider:
        async with model_plane(tmp_path, providers(openai("local", provider.url))) as opened:
            _, outcome = await ask_model(opened)
            assert outcome.error is not None and outcome.error.name == "PROVIDER_REJECTED"
        assert len(provider.requests) == 1


async def test_attempts_end_with_an_error_that_can_be_retried_later(tmp_path: Path) -> None:
    with scripted_provider(status(503)) as provider:
        async with model_plane(tmp_path, providers(openai("local", provider.url)), "models.retries=2") as opened:
            items, outcome = await ask_model(opened)
            assert kinds(items) == ["retry", "retry"] and outcome.error is not None
            assert outcome.error.name == "PROVIDER_UNAVAILABLE" and outcome.error.retryable
            assert outcome.error.details["attempts"] == 3
        assert len(provider.requests) == 3


async def test_a_provider_that_asks_for_a_long_wait_is_not_waited_for(tmp_path: Path) -> None:
    with scripted_provider(status(429, Retry_After="3600")) as provider:
        async with model_plane(tmp_path, providers(openai("local", provider.url))) as opened:
            _, outcome = await ask_model(opened)
            assert outcome.error is not None and outcome.error.name == "PROVIDER_UNAVAILABLE"
            assert outcome.error.details["retry_after_sec"] == 3600
        assert len(provider.requests) == 1


@pytest.mark.parametrize(
    ("act", "limit", "said"),
    [
        (hang(), "first_token_sec", "no word"),
        (hang([]), "first_token_sec", "no word"),
        (hang(chunks(openai_chunk({"content": "It "}))), "between_tokens_sec", "no further word"),
        (hang(chunks(openai_chunk({"content": "It "}))), "total_sec", "took longer"),
    ],
    ids=["no head", "no word", "in the middle", "in all"],
)
async def test_a_provider_that_hangs_is_given_up(tmp_path: Path, act: Act, limit: str, said: str) -> None:
    with scripted_provider(act) as provider:
        settings = (providers(openai("local", provider.url)), f"models.{limit}=0.2", "models.retries=1")
        async with model_plane(tmp_path, *settings) as opened:
            _, outcome = await ask_model(opened)
            assert outcome.error is not None and outcome.error.name == "PROVIDER_UNAVAILABLE"
            assert said in outcome.error.message
            attempts = await events(opened, "model.called")
            assert [event.payload["status"] for event in attempts] == ["timeout"] * (1 if limit == "total_sec" else 2)


async def test_nothing_that_listens_is_said_as_such(tmp_path: Path) -> None:
    with scripted_provider(WELL) as provider:
        pass
    async with model_plane(tmp_path, providers(openai("local", provider.url)), "models.retries=0") as opened:
        _, outcome = await ask_model(opened)
        assert outcome.error is not None and outcome.error.name == "PROVIDER_UNAVAILABLE"
        assert "cannot be reached" in outcome.error.message


async def test_a_million_tokens_are_cut(tmp_path: Path) -> None:
    (word,) = chunks(openai_chunk({"content": "word " * 20}))
    with scripted_provider(flood(word, 1_000_000)) as provider:
        settings = (providers(openai("local", provider.url)), "models.max_output_tokens=1000")
        async with model_plane(tmp_path, *settings) as opened:
            items, outcome = await ask_model(opened)
            assert outcome.error is None
            finish = items[-1]
            assert (finish.kind, finish.reason, finish.truncated, finish.estimated) == ("finish", "length", True, True)
            assert len(text_of(items)) <= 8000
            assert provider.requests[0].body["max_tokens"] == 1000
        # The connection is closed, so that the provider stops.
        assert provider.dropped.wait(60)


async def test_a_tool_call_without_end_is_refused(tmp_path: Path) -> None:
    part: JsonObject = {"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": "x" * 10_000}}]}
    (piece,) = chunks(openai_chunk(part))
    with scripted_provider(flood(piece, 100_000)) as provider:
        async with model_plane(tmp_path, providers(openai("local", provider.url))) as opened:
            items, outcome = await ask_model(opened)
            assert items == [] and outcome.error is not None and outcome.error.name == "PROVIDER_REJECTED"


async def test_others_are_asked_in_the_order_of_the_settings_and_the_log_says_so(tmp_path: Path) -> None:
    with (
        scripted_provider(cut(chunks(openai_chunk({"content": "half"})))) as first,
        scripted_provider(status(401, {"error": {"message": "bad key"}})) as second,
        scripted_provider(WELL) as third,
    ):
        entries = [openai("one", first.url), openai("two", second.url), openai("three", third.url)]
        chain = 'models.fallbacks={"one/small": ["two/small", "three/small"]}'
        async with model_plane(tmp_path, providers(*entries), chain, "models.retries=1") as opened:
            items, outcome = await ask_model(opened)
            assert outcome.error is None and text_of(items) == "It works."
            falls = [item for item in items if item.kind == "fallback"]
            assert [(item.from_, item.to) for item in falls] == [
                ("one/small", "two/small"),
                ("two/small", "three/small"),
            ]
            assert items[-1].model == "three/small" and items[-1].attempt == 4
            fell = await events(opened, "model.fell_back")
            assert [(event.payload["from"], event.payload["to"], event.payload["status"]) for event in fell] == [
                ("one/small", "two/small", "cut_off"),
                ("two/small", "three/small", "unauthorized"),
            ]
        assert [len(provider.requests) for provider in (first, second, third)] == [2, 1, 1]


async def test_a_request_that_is_wrong_falls_back_on_nobody(tmp_path: Path) -> None:
    with (
        scripted_provider(status(400, {"error": {"message": "bad schema"}})) as first,
        scripted_provider(WELL) as second,
    ):
        entries = [openai("one", first.url), openai("two", second.url)]
        chain = 'models.fallbacks={"one/small": ["two/small"]}'
        async with model_plane(tmp_path, providers(*entries), chain) as opened:
            _, outcome = await ask_model(opened)
            assert outcome.error is not None and outcome.error.name == "PROVIDER_REJECTED"
        assert second.requests == []


async def test_no_tool_call_of_an_answer_that_was_cut_off_is_given(tmp_path: Path) -> None:
    call: JsonObject = {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": '{"x": 1}'}}]}
    with scripted_provider(cut(chunks(openai_chunk(call)))) as provider:
        async with model_plane(tmp_path, providers(openai("local", provider.url)), "models.retries=0") as opened:
            items, outcome = await ask_model(opened)
            assert items == [] and outcome.error is not None and outcome.error.name == "PROVIDER_UNAVAILABLE"
    with scripted_provider(answer(chunks(openai_chunk(call), openai_chunk(finish="tool_calls")))) as provider:
        async with model_plane(tmp_path, providers(openai("local", provider.url))) as opened:
            items, outcome = await ask_model(opened)
            assert kinds(items) == ["tool_call", "finish"] and items[0].arguments == '{"x": 1}'


async def test_calls_beyond_the_cap_are_refused_with_the_time_to_wait(tmp_path: Path) -> None:
    with scripted_provider(WELL) as provider:
        settings = (providers(openai("local", provider.url, calls_per_minute=2)), "models.max_wait_sec=0")
        async with model_plane(tmp_path, *settings) as opened:
            for _ in range(2):
                _, outcome = await ask_model(opened)
                assert outcome.error is None
            _, outcome = await ask_model(opened, caller=AGENT)
            assert outcome.error is not None and outcome.error.name == "RATE_LIMITED"
            wait = outcome.error.details["retry_after_sec"]
            assert isinstance(wait, float) and 0 < wait <= 60
        assert len(provider.requests) == 2


async def test_bad_conversations_are_refused_before_anybody_is_asked(tmp_path: Path) -> None:
    with scripted_provider(WELL) as provider:
        async with model_plane(tmp_path, providers(openai("local", provider.url))) as opened:
            for messages in (
                [{"role": "system", "text": "be kind"}],
                [{"role": "user", "text": "x"}, {"role": "tool", "text": "y"}],
                [{"role": "user", "text": "x", "tool_call_id": "a"}],
                [],
            ):
                _, outcome = await ask_model(opened, messages=messages)
                assert outcome.error is not None and outcome.error.name == "INVALID_ARGUMENT"
        settings = (providers(openai("local", provider.url)), "models.max_prompt_kb=1")
        async with model_plane(tmp_path, *settings) as opened:
            _, outcome = await ask_model(opened, "x" * 2000)
            assert outcome.error is not None and outcome.error.name == "TOO_LARGE"
        assert provider.requests == []
