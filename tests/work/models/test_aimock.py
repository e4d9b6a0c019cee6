"""Models played from fixtures by a third party's server (aimock), asked over OpenAI's and Anthropic's wire."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject, JsonValue
from tests.clients.scripted_model import ScriptedModel, scripted_model
from tests.interaction.requirements import requirement
from tests.work.models.model_plane import ask_model, kinds, model_plane, providers, text_of

pytestmark = requirement("MODEL-05")

TOOLS: list[JsonValue] = [
    {"name": "read_file", "description": "reads", "parameters": {"type": "object", "properties": {"path": {}}}}
]
FIXTURES: list[dict[str, object]] = [
    {"match": {"userMessage": "greet"}, "response": {"content": "Good morning to you."}},
    {
        "match": {"userMessage": "look", "hasToolResult": False},
        "response": {"toolCalls": [{"id": "call_1", "name": "read_file", "arguments": {"path": "a.py"}}]},
    },
    {"match": {"userMessage": "look", "hasToolResult": True}, "response": {"content": "It says one."}},
    {"match": {"userMessage": "think"}, "response": {"content": "Forty-two.", "reasoning": "six times seven"}},
    {
        "match": {"userMessage": "busy", "sequenceIndex": 0},
        "response": {"error": {"message": "Rate limited", "type": "rate_limit_error"}, "status": 429},
    },
    {"match": {"userMessage": "busy"}, "response": {"content": "Here now."}},
    {
        "match": {"userMessage": "break"},
        "response": {"content": "This is going to be cut off in the middle of it."},
        "truncateAfterChunks": 2,
    },
    {
        "match": {"userMessage": "wrong"},
        "response": {"error": {"message": "Incorrect API key", "type": "authentication_error"}, "status": 401},
    },
]


@pytest.fixture(scope="module")
def aimock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScriptedModel]:
    """One server for all tests of this file."""
    with scripted_model(tmp_path_factory.mktemp("aimock"), FIXTURES) as model:
        yield model


def settings(kind: str, model: ScriptedModel) -> tuple[str, ...]:
    suffix = "/v1" if kind == "openai" else ""
    entry: JsonObject = {"name": "mock", "kind": kind, "base_url": model.url + suffix, "models": ["gpt-5"]}
    return providers({**entry, "calls_per_minute": 0}), "models.retries=1"


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
async def test_a_whole_conversation(tmp_path: Path, aimock: ScriptedModel, kind: str) -> None:
    async with model_plane(tmp_path, *settings(kind, aimock)) as opened:
        items, outcome = await ask_model(opened, "greet me", reasoning="off")
        assert outcome.error is None, outcome.error
        assert text_of(items) == "Good morning to you."
        assert items[-1].reason == "stop" and items[-1].input_tokens is not None

        items, outcome = await ask_model(opened, "look there", tools=TOOLS, reasoning="off")
        assert outcome.error is None and kinds(items)[-2:] == ["tool_call", "finish"]
        call = items[-2]
        assert (call.name, call.arguments) == ("read_file", '{"path":"a.py"}') and items[-1].reason == "tool_calls"
        planned: JsonObject = {"id": call.id, "name": call.name, "arguments": call.arguments}
        messages: list[JsonValue] = [
            {"role": "system", "text": "be brief"},
            {"role": "user", "text": "look there"},
            {"role": "assistant", "tool_calls": [planned]},
            {"role": "tool", "text": "one", "tool_call_id": call.id},
        ]
        items, outcome = await ask_model(opened, messages=messages, tools=TOOLS, reasoning="off")
        assert outcome.error is None and text_of(items) == "It says one."


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
async def test_failures(tmp_path: Path, aimock: ScriptedModel, kind: str) -> None:
    async with model_plane(tmp_path, *settings(kind, aimock)) as opened:
        items, outcome = await ask_model(opened, "break it", reasoning="off")
        assert outcome.error is not None and outcome.error.name == "PROVIDER_UNAVAILABLE"
        assert kinds(items).count("retry") == 1 and "finish" not in kinds(items)
        _, outcome = await ask_model(opened, "wrong key", reasoning="off")
        assert outcome.error is not None and outcome.error.name == "PROVIDER_REJECTED"
        assert "Incorrect API key" in outcome.error.message
        _, outcome = await ask_model(opened, "something without a fixture", reasoning="off")
        assert outcome.error is not None


async def test_a_busy_provider_is_asked_again(tmp_path: Path, aimock: ScriptedModel) -> None:
    async with model_plane(tmp_path, *settings("openai", aimock)) as opened:
        items, outcome = await ask_model(opened, "busy?", reasoning="off")
        assert outcome.error is None and text_of(items) == "Here now." and items[-1].attempt == 2


@pytest.mark.parametrize(("kind", "is_redacted"), [("openai", True), ("anthropic", None)])
async def test_reasoning(tmp_path: Path, aimock: ScriptedModel, kind: str, is_redacted: bool | None) -> None:
    async with model_plane(tmp_path, *settings(kind, aimock)) as opened:
        items, outcome = await ask_model(opened, "think of it")
        assert outcome.error is None and text_of(items) == "Forty-two."
        thoughts = [item for item in items if item.kind == "thinking"]
        assert thoughts and thoughts[0].redacted is is_redacted
        shown = "".join(item.delta or "" for item in thoughts)
        assert shown == ("" if is_redacted else "six times seven")
