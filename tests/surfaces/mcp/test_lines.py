"""Lines of a byte stream, however they are cut, and what is wrong with those that are no messages."""

from __future__ import annotations

import json
from itertools import pairwise

import mcp_types as types
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.types import Message

from codeplane.surfaces.mcp.lines import MalformedLine, parse_message, read_lines
from tests.interaction.requirements import requirement


def body(chunks: list[bytes]) -> Request:
    """A request whose body comes in these pieces."""
    left = iter(chunks)

    async def receive() -> Message:
        chunk = next(left, None)
        return {"type": "http.request", "body": chunk or b"", "more_body": chunk is not None}

    return Request({"type": "http", "method": "POST", "headers": []}, receive)


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted({place % (len(data) + 1) for place in places}), len(data)]
    return [data[start:end] for start, end in pairwise(edges)]


async def found(data: bytes, places: list[int], *, limit: int = 1000) -> list[bytes | None]:
    return [line async for line in read_lines(body(cut(data, places)), limit=limit)]


@given(
    wanted=st.lists(st.binary(min_size=1, max_size=30).filter(lambda line: b"\n" not in line and line == line.strip())),
    ends=st.sampled_from((b"\n", b"\r\n", b"\n\n", b" \n\t\n")),
    places=st.lists(st.integers(min_value=0, max_value=1000)),
    closed=st.booleans(),
)
async def test_lines_are_the_same_however_they_arrive(
    wanted: list[bytes], ends: bytes, places: list[int], closed: bool
) -> None:
    data = ends.join(wanted) + (ends if closed else b"")

    assert await found(data, places) == wanted


@requirement("MCP-11")
@given(
    sizes=st.lists(st.sampled_from((1, 5, 60, 500)), min_size=1, max_size=8),
    step=st.integers(min_value=1, max_value=40),
)
async def test_a_line_over_the_limit_is_dropped_alone(sizes: list[int], step: int) -> None:
    data = b"".join(b"x" * size + b"\n" for size in sizes)

    got = await found(data, list(range(0, len(data), step)), limit=100)

    assert got == [None if size == 500 else b"x" * size for size in sizes]


@pytest.mark.parametrize(
    ("line", "code", "request_id", "words"),
    (
        (b"{", -32700, None, "JSON"),
        (b"\xff\xfe", -32700, None, "UTF-8"),
        (b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', -32700, None, "UTF-8"),
        (b"[" * 100_000, -32700, None, "JSON"),
        (None, -32600, None, "16777216 bytes"),
        (b"[]", -32600, None, "batches"),
        (b"null", -32600, None, "no JSON-RPC 2.0 message"),
        (b'{"id":7,"method":"ping"}', -32600, 7, "no JSON-RPC 2.0 message"),
        (b'{"jsonrpc":"2.0","id":"seven","method":17}', -32600, "seven", "no JSON-RPC 2.0 message"),
        (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600, None, "no JSON-RPC 2.0 message"),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, None, "no JSON-RPC 2.0 message"),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600, None, "no JSON-RPC 2.0 message"),
    ),
    ids=range(12),
)
def test_what_is_no_message_is_explained_to_whoever_waits(
    line: bytes | None, code: int, request_id: int | str | None, words: str
) -> None:
    with pytest.raises(MalformedLine) as caught:
        parse_message(line)

    answer = caught.value.answer()
    assert (answer.error.code, answer.id) == (code, request_id)
    assert words in answer.error.message


def test_messages_are_told_apart() -> None:
    request, notification, answer = (
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"id": 1}},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
    )

    assert isinstance(parse_message(json.dumps(request).encode()), types.JSONRPCRequest)
    assert isinstance(parse_message(json.dumps(notification).encode()), types.JSONRPCNotification)
    assert isinstance(parse_message(json.dumps(answer).encode()), types.JSONRPCResponse)
