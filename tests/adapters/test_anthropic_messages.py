"""Anthropic's Messages API."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.adapters.anthropic_messages import AnthropicMessages, _Answer
from codeplane.adapters.model_http import ModelEndpoint
from codeplane.kernel.json import JsonObject
from codeplane.kernel.model_provider import (
    Finished,
    ModelMessage,
    ModelRequest,
    ModelThinking,
    ModelTool,
    ModelToolCall,
    ProviderFault,
    StreamItem,
    TextDelta,
    ThinkingDelta,
    ThinkingKept,
    ToolCallPlanned,
)
from tests.interaction.requirements import requirement
from tests.work.models.scripted_provider import (
    ReceivedRequest,
    answer,
    anthropic_events,
    anthropic_text,
    raw,
    scripted_provider,
    status,
)

pytestmark = requirement("MODEL-05")

USER = ModelMessage(role="user", text="hello")
ASKED = ModelRequest(model="m", messages=(USER,))


async def asked(
    parts: list[bytes], request: ModelRequest = ASKED, thinking_budget: int = 0
) -> tuple[list[StreamItem], ReceivedRequest]:
    """What events are read as, and the request that was sent."""
    with scripted_provider(answer(parts)) as provider:
        messages = AnthropicMessages.at(provider.url, key="key-of-mine", thinking_budget=thinking_budget)
        try:
            return [item async for item in messages.stream(request)], provider.requests[0]
        finally:
            await messages.close()


def block(index: int, content: JsonObject, *deltas: JsonObject) -> list[JsonObject]:
    parts: list[JsonObject] = [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
    return [
        {"type": "content_block_start", "index": index, "content_block": content},
        *parts,
        {"type": "content_block_stop", "index": index},
    ]


def message(*blocks: list[JsonObject], stop: str, usage: JsonObject | None = None) -> list[bytes]:
    return anthropic_events(
        {"type": "message_start", "message": {"usage": {"input_tokens": 5, "output_tokens": 1}}},
        *(event for events in blocks for event in events),
        {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": usage or {"output_tokens": 9}},
        {"type": "message_stop"},
    )


TOOL = block(
    1,
    {"type": "tool_use", "id": "tu_1", "name": "read", "input": {}},
    {"type": "input_json_delta", "partial_json": '{"pa'},
    {"type": "input_json_delta", "partial_json": 'th": 1}'},
)


async def test_text_is_streamed_and_counted() -> None:
    items, request = await asked(anthropic_text("a", "b"))
    assert items == [
        TextDelta(text="a"),
        TextDelta(text="b"),
        Finished(reason="stop", input_tokens=12, output_tokens=7),
    ]
    assert request.path == "/v1/messages" and request.headers["x-api-key"] == "key-of-mine"
    assert request.headers["anthropic-version"] == "2023-06-01" and request.body["stream"] is True


async def test_a_tool_call_is_given_whole() -> None:
    items, _ = await asked(message(TOOL, stop="tool_use"))
    assert items[0] == ToolCallPlanned(tool_call=ModelToolCall(id="tu_1", name="read", arguments='{"path": 1}'))
    assert isinstance(items[-1], Finished) and items[-1].reason == "tool_calls"


@pytest.mark.parametrize(
    ("stop", "reason"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "refusal"),
        ("pause_turn", "stop"),
        ("something_new", "stop"),
        ("tool_use", "stop"),
    ],
)
async def test_reasons_to_stop(stop: str, reason: str) -> None:
    items, _ = await asked(anthropic_text("x", stop=stop))
    assert isinstance(items[-1], Finished) and items[-1].reason == reason


async def test_half_a_tool_call_at_the_limit_is_left_out() -> None:
    half = block(0, {"type": "tool_use", "id": "a", "name": "f"}, {"type": "input_json_delta", "partial_json": '{"x'})
    items, _ = await asked(message(half, stop="max_tokens"))
    assert len(items) == 1
    items, _ = await asked(message(half[:-1], TOOL, stop="max_tokens"))
    assert [type(item) for item in items] == [ToolCallPlanned, Finished]


async def test_thinking_is_a_summary_and_goes_back_as_it_came() -> None:
    thinking = block(
        0,
        {"type": "thinking", "thinking": ""},
        {"type": "thinking_delta", "thinking": "step by step"},
        {"type": "signature_delta", "signature": "sig"},
    )
    shut = block(2, {"type": "redacted_thinking", "data": "opaque"})
    items, request = await asked(
        message(thinking, TOOL, shut, stop="tool_use"), ModelRequest(model="m", messages=(USER,), reasoning="summary")
    )
    assert request.body["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert items[0] == ThinkingDelta(text="step by step", is_summary=True)
    kept = tuple(item.thinking for item in items if isinstance(item, ThinkingKept))
    assert kept == (ModelThinking(text="step by step", signature="sig"), ModelThinking(redacted="opaque"))
    call = ModelToolCall(id="tu_1", name="read", arguments='{"path": 1}')
    again = ModelRequest(
        model="m",
        messages=(
            ModelMessage(role="system", text="be brief"),
            USER,
            ModelMessage(role="assistant", text="reading", tool_calls=(call,), thinking=kept),
            ModelMessage(role="tool", text="one", tool_call_id="tu_1"),
            ModelMessage(role="user", text="go on"),
        ),
        reasoning="summary",
        max_output_tokens=2000,
    )
    _, request = await asked(anthropic_text("x"), again, thinking_budget=5000)
    assert request.body["thinking"] == {"type": "enabled", "budget_tokens": 1999, "display": "summarized"}
    cached = {"cache_control": {"type": "ephemeral"}}
    assert request.body["system"] == [{"type": "text", "text": "be brief"} | cached]
    assert request.body["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "hello"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "step by step", "signature": "sig"},
                {"type": "redacted_thinking", "data": "opaque"},
                {"type": "text", "text": "reading"},
                {"type": "tool_use", "id": "tu_1", "name": "read", "input": {"path": 1}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "tu_1", "content": "one"},
                {"type": "text", "text": "go on"} | cached,
            ],
        },
    ]


async def test_arguments_that_are_no_object_still_make_a_request() -> None:
    call = ModelToolCall(id="a", name="f", arguments='{"x')
    called = ModelMessage(role="assistant", tool_calls=(call,))
    request = ModelRequest(model="m", messages=(USER, called, ModelMessage(role="tool", tool_call_id="a")))
    _, sent = await asked(anthropic_text("x"), request)
    conversation = sent.body["messages"]
    assert isinstance(conversation, list)
    assert conversation[1]["content"][0]["input"] == {"invalid_arguments": '{"x'}


async def test_tools_and_schema_are_sent() -> None:
    schema: JsonObject = {"type": "object", "properties": {}}
    request = ModelRequest(
        model="m",
        messages=(USER,),
        tools=(ModelTool(name="f", description="does"),),
        response_schema=schema,
        temperature=1.5,
    )
    _, sent = await asked(anthropic_text("{}"), request)
    assert sent.body["tools"] == [{"name": "f", "description": "does", "input_schema": schema}]
    assert sent.body["output_config"] == {"format": {"type": "json_schema", "schema": schema}}
    assert sent.body["max_tokens"] == 8192 and sent.body["temperature"] == 1.0


async def test_tokens_read_from_and_written_to_the_cache_are_part_of_the_prompt() -> None:
    usage: JsonObject = {
        "input_tokens": 5,
        "cache_read_input_tokens": 100,
        "cache_creation_input_tokens": 20,
        "output_tokens": 9,
        "output_tokens_details": {"thinking_tokens": 4},
    }
    items, _ = await asked(message(stop="end_turn", usage=usage))
    assert items == [Finished(reason="stop", input_tokens=125, output_tokens=9, cached_tokens=100, reasoning_tokens=4)]


@pytest.mark.parametrize(
    ("parts", "kind"),
    [
        (anthropic_events({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}), "overloaded"),
        (anthropic_events({"type": "error", "error": {"type": "rate_limit_error"}}), "rate_limited"),
        (anthropic_events({"type": "error", "error": {"type": "authentication_error"}}), "unauthorized"),
        (anthropic_events({"type": "content_block_delta", "index": 3, "delta": {}}), "malformed"),
        (anthropic_text("x")[:-1], "cut_off"),
        (anthropic_text("x")[:-2], "cut_off"),
        ([], "cut_off"),
    ],
)
async def test_what_goes_wrong_in_a_stream(parts: list[bytes], kind: str) -> None:
    with pytest.raises(ProviderFault) as fault:
        await asked(parts)
    assert fault.value.kind == kind


async def test_a_refusal_says_why() -> None:
    refusal: JsonObject = {"type": "error", "error": {"type": "not_found_error", "message": "model: m"}}
    with scripted_provider(status(404, refusal)) as provider:
        messages = AnthropicMessages.at(provider.url, key="key-of-mine")
        with pytest.raises(ProviderFault) as fault:
            async for _ in messages.stream(ASKED):
                pass
        await messages.close()
    assert (fault.value.kind, fault.value.message) == ("not_found", "answered 404 (not_found_error: model: m)")


async def test_a_stream_that_is_cut_at_any_byte_gives_no_tool_call() -> None:
    whole = b"".join(message(TOOL, stop="tool_use"))
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n" % len(whole)
    with scripted_provider(raw(b"")) as provider:
        messages = AnthropicMessages.at(provider.url)
        for end in range(0, len(whole), 7):
            provider.script = [raw(head + whole[:end])]
            with pytest.raises(ProviderFault):
                async for item in messages.stream(ASKED):
                    assert not isinstance(item, ToolCallPlanned)
        await messages.close()


_WORDS = st.sampled_from(
    [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "ping",
        "error",
        "text_delta",
        "input_json_delta",
        "thinking_delta",
        "tool_use",
        "text",
    ]
)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | _WORDS,
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["type", "index", "delta", "usage", "text", "partial_json"]), inner, max_size=4
        )
    ),
    max_leaves=8,
)


@given(
    st.lists(
        st.fixed_dictionaries(
            {"type": _WORDS},
            optional={
                "index": _JSON,
                "delta": _JSON,
                "content_block": _JSON,
                "message": _JSON,
                "usage": _JSON,
                "error": _JSON,
            },
        ),
        max_size=6,
    )
)
def test_whatever_is_sent_is_an_answer_or_a_fault(sent: list[JsonObject]) -> None:
    reading = _Answer(endpoint=ModelEndpoint(base_url="http://127.0.0.1"))
    with suppress(ProviderFault):
        for event in sent:
            reading.read(event)
        reading.end()
