"""OpenAI's chat completions as its many servers speak them."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.adapters.model_http import ModelEndpoint
from codeplane.adapters.openai_chat import OpenAIChat, _Answer
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.model_provider import (
    Finished,
    ModelMessage,
    ModelRequest,
    ModelThinking,
    ModelTool,
    ModelToolCall,
    ProviderFault,
    Reasoning,
    StreamItem,
    TextDelta,
    ThinkingDelta,
    ThinkingKept,
    ToolCallPlanned,
)
from tests.interaction.requirements import requirement
from tests.work.models.scripted_provider import (
    DONE,
    ReceivedRequest,
    answer,
    chunks,
    openai_chunk,
    openai_text,
    raw,
    scripted_provider,
    status,
)

pytestmark = requirement("MODEL-05")

USER = ModelMessage(role="user", text="hello")


async def asked(
    *events: JsonObject | str, reasoning: Reasoning = "off", request: ModelRequest | None = None, **options: bool
) -> tuple[list[StreamItem], ReceivedRequest]:
    """What a server's events are read as, and the request that it got."""
    with scripted_provider(answer(chunks(*events))) as provider:
        chat = OpenAIChat.at(provider.url, **options)  # type: ignore[arg-type]  # flags
        wanted = request or ModelRequest(model="m", messages=(USER,), reasoning=reasoning)
        try:
            return [item async for item in chat.stream(wanted)], provider.requests[0]
        finally:
            await chat.close()


def call_part(index: int | None, arguments: JsonValue, *, id: str | None = None, name: str | None = None) -> JsonObject:
    part: JsonObject = {"function": {"arguments": arguments} | ({"name": name} if name else {})}
    part |= {} if index is None else {"index": index}
    return openai_chunk({"tool_calls": [part | ({"id": id} if id else {})]})


def calls(items: list[StreamItem]) -> list[tuple[str, str, str]]:
    return [
        (item.tool_call.id, item.tool_call.name, item.tool_call.arguments)
        for item in items
        if isinstance(item, ToolCallPlanned)
    ]


def finished(items: list[StreamItem]) -> Finished:
    assert isinstance(items[-1], Finished)
    return items[-1]


async def test_a_tool_call_is_put_together_from_its_pieces() -> None:
    items, _ = await asked(
        call_part(0, "", id="a", name="read"),
        call_part(0, '{"pa'),
        call_part(1, "{}", id="b", name="list"),
        call_part(0, 'th": 1}'),
        openai_chunk(finish="tool_calls"),
        DONE,
    )
    assert calls(items) == [("a", "read", '{"path": 1}'), ("b", "list", "{}")]
    assert finished(items).reason == "tool_calls"


QUIRKS: dict[str, tuple[list[JsonObject | str], list[tuple[str, str, str]], str]] = {
    "whole calls that are all number 0": (
        [call_part(0, "{}", id="a", name="f"), call_part(0, "{}", id="b", name="g"), openai_chunk(finish="stop"), DONE],
        [("a", "f", "{}"), ("b", "g", "{}")],
        "tool_calls",
    ),
    "no numbers": (
        [call_part(None, "{", id="a", name="f"), call_part(None, "}"), openai_chunk(finish="tool_calls"), DONE],
        [("a", "f", "{}")],
        "tool_calls",
    ),
    "no ids": (
        [call_part(0, "{}", name="f"), openai_chunk(finish="tool_calls")],
        [("call_0", "f", "{}")],
        "tool_calls",
    ),
    "arguments as an object": (
        [call_part(0, {"x": 1}, id="a", name="f"), openai_chunk(finish="tool_calls")],
        [("a", "f", '{"x":1}')],
        "tool_calls",
    ),
    "no arguments": (
        [call_part(0, None, id="a", name="f"), openai_chunk(finish="tool_calls")],
        [("a", "f", "{}")],
        "tool_calls",
    ),
    "the name again with every piece": (
        [call_part(0, "{", id="a", name="f"), call_part(0, "}", id="a", name="f"), openai_chunk(finish="tool_calls")],
        [("a", "f", "{}")],
        "tool_calls",
    ),
    "half a call at the limit": (
        [
            call_part(0, "{}", id="a", name="f"),
            call_part(1, '{"x', id="b", name="g"),
            openai_chunk(finish="length"),
        ],
        [("a", "f", "{}")],
        "length",
    ),
    "bad JSON that the model ended itself": (
        [call_part(0, '{"x', id="a", name="f"), openai_chunk(finish="tool_calls")],
        [("a", "f", '{"x')],
        "tool_calls",
    ),
    "tool calls announced and none made": ([openai_chunk(finish="tool_calls")], [], "stop"),
    "an unknown reason": ([openai_chunk({"content": "x"}, "eos")], [], "stop"),
    "filtered": ([openai_chunk({"content": "x"}, "content_filter")], [], "refusal"),
    "refused": ([openai_chunk({"refusal": "I can't"}), openai_chunk(finish="stop")], [], "refusal"),
    "comments, other fields and carriage returns": (
        [": waiting\r\n\r\n", "id: 4\r\nretry: 10\r\nevent: x\r\n\r\n", openai_chunk({"content": "x"}, "stop")],
        [],
        "stop",
    ),
    "null for what is not there": (
        [openai_chunk({"content": None, "tool_calls": None, "reasoning": None}, "stop", usage=None)],
        [],
        "stop",
    ),
}


@pytest.mark.parametrize("name", QUIRKS)
async def test_quirks_of_servers(name: str) -> None:
    events, planned, reason = QUIRKS[name]
    items, _ = await asked(*events)
    assert calls(items) == planned and finished(items).reason == reason


async def test_both_names_of_reasoning_are_read_and_never_twice() -> None:
    items, _ = await asked(
        openai_chunk({"reasoning_content": "", "reasoning": ""}),
        openai_chunk({"reasoning": "a"}),
        openai_chunk({"reasoning_content": "b"}),
        openai_chunk({"reasoning": "c", "reasoning_content": "c"}),
        openai_chunk({"content": "x"}, "stop"),
        DONE,
    )
    assert [item.text for item in items if isinstance(item, ThinkingDelta)] == ["a", "b", "c"]


async def test_reasoning_goes_back_only_where_it_may_be_seen_or_is_sealed() -> None:
    thought = openai_chunk({"reasoning_content": "raw"})
    sealed: JsonObject = {"type": "reasoning.encrypted", "data": "opaque"}
    shut = openai_chunk({"reasoning_details": [sealed]})
    ending = (call_part(0, "{}", id="a", name="f"), openai_chunk(finish="tool_calls"), DONE)
    for events, reasoning, kept in (
        ((thought,), "summary", []),
        ((thought,), "raw", [ModelThinking(text="raw", signature="reasoning_content")]),
        ((shut,), "summary", [ModelThinking(redacted=json.dumps([sealed], separators=(",", ":")))]),
    ):
        items, _ = await asked(*events, *ending, reasoning=reasoning)  # type: ignore[arg-type]  # literals
        assert [item.thinking for item in items if isinstance(item, ThinkingKept)] == kept
        message = ModelMessage(
            role="assistant", tool_calls=(ModelToolCall(id="a", name="f", arguments="{}"),), thinking=tuple(kept)
        )
        again = ModelRequest(model="m", messages=(USER, message, ModelMessage(role="tool", text="1", tool_call_id="a")))
        _, request = await asked(openai_chunk({"content": "x"}, "stop"), request=again)
        sent = request.body["messages"]
        assert isinstance(sent, list) and sent[2] == {"role": "tool", "tool_call_id": "a", "content": "1"}
        assert sent[1]["tool_calls"] == [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
        assert sent[1].get("reasoning_content") == ("raw" if reasoning == "raw" else None)
        assert sent[1].get("reasoning_details") == ([sealed] if events == (shut,) else None)


async def test_what_is_counted_is_read() -> None:
    usage: JsonObject = {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "prompt_tokens_details": {"cached_tokens": 60},
        "completion_tokens_details": {"reasoning_tokens": 8},
    }
    items, _ = await asked(openai_chunk({"content": "x"}, "stop"), {"choices": [], "usage": usage}, DONE)
    assert finished(items) == Finished(
        reason="stop", input_tokens=100, output_tokens=20, cached_tokens=60, reasoning_tokens=8
    )
    wrong: JsonObject = {"prompt_tokens": -1, "completion_tokens": "many"}
    items, _ = await asked(openai_chunk({"content": "x"}, "stop", usage=wrong))
    assert finished(items) == Finished(reason="stop")


async def test_a_request_has_tools_schema_and_limit() -> None:
    schema: JsonObject = {"type": "object", "properties": {"x": {"type": "string"}}}
    request = ModelRequest(
        model="m",
        messages=(ModelMessage(role="system", text="be brief"), USER),
        tools=(ModelTool(name="f", description="does", parameters=schema), ModelTool(name="g")),
        max_output_tokens=99,
        temperature=1.5,
        response_schema=schema,
    )
    _, sent = await asked(openai_chunk({"content": "{}"}, "stop"), request=request)
    assert (sent.body["max_tokens"], sent.body["temperature"]) == (99, 1.5)
    assert sent.body["stream_options"] == {"include_usage": True}
    empty = {"type": "object", "properties": {}}
    assert sent.body["tools"] == [
        {"type": "function", "function": {"name": "f", "description": "does", "parameters": schema}},
        {"type": "function", "function": {"name": "g", "description": "", "parameters": empty}},
    ]
    wanted = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": True}}
    assert sent.body["response_format"] == wanted
    _, sent = await asked(openai_chunk({"content": "{}"}, "stop"), request=request, has_structured_output=False)
    assert "response_format" not in sent.body


async def test_the_key_goes_to_no_other_address() -> None:
    with scripted_provider(answer(openai_text("x"))) as elsewhere:
        moved = status(307, Location=f"{elsewhere.url}/chat/completions")
        with scripted_provider(moved) as provider:
            chat = OpenAIChat.at(provider.url, key="secret-key-of-mine")
            with pytest.raises(ProviderFault) as refused:
                async for _ in chat.stream(ModelRequest(model="m", messages=(USER,))):
                    pass
            await chat.close()
            assert (refused.value.kind, refused.value.status) == ("rejected", 307)
            assert provider.requests[0].headers["authorization"] == "Bearer secret-key-of-mine"
        assert elsewhere.requests == []


async def test_models_are_listed() -> None:
    listing = json.dumps({"data": [{"id": "a"}, {"id": "b"}, 3]})
    with scripted_provider(status(200, listing), status(200, "[]"), status(404)) as provider:
        chat = OpenAIChat.at(provider.url)
        assert await chat.models() == ["a", "b"]
        for kind in ("malformed", "not_found"):
            with pytest.raises(ProviderFault) as refused:
                await chat.models()
            assert refused.value.kind == kind
        await chat.close()


WHOLE = b"".join(chunks(openai_chunk({"content": "héllo"}), call_part(0, '{"x": 1}', id="a", name="f")))
WHOLE += b"".join(chunks(openai_chunk(finish="tool_calls"), DONE))


async def test_a_stream_that_is_cut_at_any_byte_is_a_fault_or_the_whole_answer() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n" % len(WHOLE)
    with scripted_provider(raw(b"")) as provider:
        chat = OpenAIChat.at(provider.url)
        for end in range(0, len(WHOLE) + 1, 3):
            provider.script = [raw(head + WHOLE[:end])]
            items: list[StreamItem] = []
            with suppress(ProviderFault):
                async for item in chat.stream(ModelRequest(model="m", messages=(USER,))):
                    items.append(item)
            if any(isinstance(item, ToolCallPlanned) for item in items):
                assert calls(items) == [("a", "f", '{"x": 1}')] and finished(items).reason == "tool_calls"
                # The reason was there: nothing of the answer is missing.
                assert b'"finish_reason": "tool_calls"' in WHOLE[:end]
        await chat.close()


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
        ["choices", "delta", "content", "tool_calls", "function", "arguments", "name", "id", "index", "usage", "error",
         "reasoning", "reasoning_details", "finish_reason", "type", "prompt_tokens", "prompt_tokens_details", "refusal"]
    ), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(st.lists(st.dictionaries(st.sampled_from(["choices", "usage", "error"]), _JSON, max_size=3), max_size=4))
def test_whatever_is_sent_is_an_answer_or_a_fault(sent: list[JsonObject]) -> None:
    reading = _Answer(endpoint=ModelEndpoint(base_url="http://127.0.0.1"), keeps_raw=True)
    with suppress(ProviderFault):
        for chunk in sent:
            reading.read({"choices": [chunk], **chunk})
        reading.end()


async def test_text_comes_as_it_is_sent() -> None:
    items, _ = await asked(*[openai_chunk({"content": part}) for part in ("a", "", "b")], openai_chunk(finish="stop"))
    assert [item.text for item in items if isinstance(item, TextDelta)] == ["a", "b"]
