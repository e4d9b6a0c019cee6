"""Prompts and keys are written nowhere: not to the log, to traces, to errors or to any file below .codeplane."""

import json
from pathlib import Path

from codeplane.wiring.app import Plane
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, events
from tests.trust.approvals.agent_calls import result
from tests.work.models.model_plane import ask_model, model_plane, openai, providers
from tests.work.models.scripted_provider import (
    Act,
    ScriptedProvider,
    Send,
    answer,
    openai_text,
    scripted_provider,
    status,
)

pytestmark = requirement("MODEL-03")

KEY = "kq7-not-shaped-like-any-known-key"
PROMPT = "the emerald heron sings at four in the morning"
SHORT = "umbrella?"


def echoing(code: int) -> Act:
    """Refuse a request with an error that repeats its key and its prompt."""

    def act(provider: ScriptedProvider, send: Send) -> None:
        request = provider.requests[-1]
        key = request.headers["authorization"].removeprefix("Bearer ")
        said = f"key {key} may not ask {json.dumps(request.body['messages'])}"
        status(code, {"error": {"message": said, "type": "invalid_request_error"}})(provider, send)

    return act


def files_with(folder: Path, text: str) -> list[str]:
    """The files that hold a text, as it is or as UTF-16."""
    spellings = (text.encode(), text.encode("utf-16-le"))
    found = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        data = path.read_bytes()
        if any(spelling in data for spelling in spellings):
            found.append(path.name)
    return found


async def test_nothing_below_codeplane_and_no_answer_holds_the_key_or_the_prompt(tmp_path: Path) -> None:
    with scripted_provider(answer(openai_text("fine"))) as provider:
        entry = openai("local", provider.url, api_key_env="LOCAL_KEY", calls_per_minute=0)
        answers: list[str] = []
        settings = (providers(entry), "models.retries=1", "logging.level=DEBUG")
        async with model_plane(tmp_path, *settings, environ={"LOCAL_KEY": KEY}) as opened:
            for act in (answer(openai_text("fine")), echoing(400), echoing(401), echoing(500), echoing(429)):
                for caller in (OWNER, AGENT):
                    for prompt in (PROMPT, SHORT):
                        provider.script = [act]
                        items, outcome = await ask_model(opened, prompt, caller=caller)
                        answers += [item.model_dump_json() for item in items] + [outcome.to_json(with_text=True)]
                        assert provider.requests[-1].headers["authorization"] == f"Bearer {KEY}"
            # Arguments that do not fit are quoted in no record either.
            _, outcome = await ask_model(opened, PROMPT, reasoning="none")
            assert outcome.error is not None and outcome.error.name == "INVALID_ARGUMENT"
            for name, arguments in (
                ("model.list", {}),
                ("trace.list", {"operation": "model.call"}),
                ("ledger.events", {"limit": 100}),
                ("settings.show", {}),
            ):
                answers.append((await opened.conveyor.call(name, arguments, OWNER)).to_json(with_text=True))
            for trace in await traces_of(opened):
                shown = await opened.conveyor.call("trace.show", {"call_id": trace}, OWNER)
                answers.append(shown.to_json(with_text=True))
            called = await events(opened, "model.called")
            assert len(called) == 28
            ends = await events(opened, "call.finished")
            finished = [event.payload for event in ends if event.payload["operation"] == "model.call"]
            assert len(finished) == 20
            for payload in finished:
                assert "arguments" not in payload and payload["arguments_bytes"] and payload["arguments_hash"]
            assert all(str(event.payload["prompt_hash"]).startswith("sha256:") for event in called)
            seen = str(called[0].payload["prompt_hash"])
            files = tmp_path / ".codeplane"
            for secret in (KEY, PROMPT, SHORT):
                assert files_with(files, secret) == []
        # What should be there is found by the same search: the hash of the prompt.
        assert files_with(files, seen) != []
        for secret in (KEY, PROMPT, SHORT):
            assert files_with(files, secret) == []
            assert [text for text in answers if secret in text] == []


async def traces_of(opened: Plane) -> list[str]:
    rows = result(await opened.conveyor.call("trace.list", {"operation": "model.call"}, OWNER))["traces"]
    assert isinstance(rows, list) and rows
    return [str(row["call_id"]) for row in rows if isinstance(row, dict)]


async def test_the_span_of_a_call_has_what_telemetry_names_and_no_prompt(tmp_path: Path) -> None:
    with scripted_provider(answer(openai_text("fine"))) as provider:
        async with model_plane(tmp_path, providers(openai("local", provider.url))) as opened:
            await ask_model(opened, PROMPT)
            (call_id,) = await traces_of(opened)
            shown = await opened.conveyor.call("trace.show", {"call_id": call_id}, OWNER)
            text = shown.to_json(with_text=True)
    assert "chat small" in text
    for name, value in {
        "gen_ai.operation.name": '"chat"',
        "gen_ai.provider.name": '"openai"',
        "gen_ai.request.model": '"small"',
        "gen_ai.usage.input_tokens": "10",
        "gen_ai.usage.output_tokens": "5",
        "gen_ai.response.finish_reasons": '"stop"',
        "server.address": '"127.0.0.1"',
    }.items():
        assert f'"{name}":{value}' in text.replace(": ", ":"), name
    assert PROMPT not in text


async def test_a_key_that_is_not_set_is_named_by_its_variable(tmp_path: Path) -> None:
    with scripted_provider(answer(openai_text("fine"))) as provider:
        entry = openai("local", provider.url, api_key_env="LOCAL_KEY")
        async with model_plane(tmp_path, providers(entry)) as opened:
            _, outcome = await ask_model(opened)
            assert outcome.error is not None and outcome.error.name == "PROVIDER_REJECTED"
            assert "LOCAL_KEY is not set" in outcome.error.message and "LOCAL_KEY" in outcome.error.hint
        assert provider.requests == []
