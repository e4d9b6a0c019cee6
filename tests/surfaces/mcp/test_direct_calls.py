"""Calls that do not pass the SDK's message loop are answered as those that do."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

import httpx2 as httpx
import pytest

from codeplane.kernel.ids import new_id
from codeplane.kernel.json import JsonObject
from tests.harness import PATIENCE_SEC, Server
from tests.interaction.requirements import requirement

from .clients import HANDSHAKE, INITIALIZE, call

pytestmark = requirement("SRV-18")

ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
FORMS: JsonObject = {"elicitation": {}}
# What differs from call to call.
OWN = ("request_id", "timestamp_ms", "call_id", "session_id", "task_id")


class Session:
    """A session over HTTP with the raw answers to its requests."""

    def __init__(self, client: httpx.AsyncClient, headers: dict[str, str], query: str) -> None:
        self.client = client
        self.headers = headers
        self.url = f"/mcp{query}"

    async def post(self, message: JsonObject) -> httpx.Response:
        return await self.client.post(self.url, json=message, headers=self.headers)

    async def end(self) -> None:
        assert (await self.client.delete("/mcp", headers=self.headers)).status_code == 200


@asynccontextmanager
async def open_session(
    server: Server, *, capabilities: JsonObject | None = None, query: str = ""
) -> AsyncIterator[Session]:
    params = {**cast(JsonObject, INITIALIZE["params"]), "capabilities": capabilities or {}}
    async with httpx.AsyncClient(base_url=server.url, timeout=PATIENCE_SEC) as client:
        hello = await client.post(f"/mcp{query}", json={**INITIALIZE, "params": params}, headers=ACCEPT)
        named = {"mcp-session-id": hello.headers["mcp-session-id"], "mcp-protocol-version": HANDSHAKE}
        yield Session(client, {**ACCEPT, **named}, query)


def without_own(answer: JsonObject) -> JsonObject:
    result = cast(JsonObject, answer.get("result", {}))
    meta = cast(JsonObject, cast(JsonObject, result.get("_meta", {})).get("codeplane/meta", {}))
    for name in OWN:
        meta.pop(name, None)
    return answer


@pytest.mark.parametrize("query", ["", "?structured=1", "?structured=true&toolset=all", "?structured=no"])
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("fixture_answer", {"size": 3, "char": "é"}),
        ("fixture_answer", {"size": "many"}),
        ("fixture_answer", {"unknown": 1}),
        ("fixture_old", {}),
        ("no_such_tool", {}),
        ("read_files", {"paths": ["no/such/file"]}),
    ],
)
async def test_the_answer_is_the_same(tool: str, arguments: JsonObject, query: str, fixture_server: Server) -> None:
    answers = []
    # A client that shows questions needs the SDK for every call.
    for capabilities in ({}, FORMS):
        async with open_session(fixture_server, capabilities=capabilities, query=query) as session:
            response = await session.post(call(tool, arguments, number=5))
            assert response.status_code == 200
            assert response.headers["content-type"] == "application/json"
            assert response.headers["mcp-session-id"] == session.headers["mcp-session-id"]
            answers.append(without_own(response.json()))
    assert answers[0] == answers[1]
    assert list(answers[0]) == list(answers[1])


@pytest.mark.parametrize(
    "wrong",
    [
        {"params": {"name": 5}},
        {"params": {"name": "fixture_answer", "arguments": []}},
        {"params": {"name": "fixture_answer", "arguments": {}, "_meta": {"progressToken": [1]}}},
        {"params": {"arguments": {}}},
        {"jsonrpc": "1.0"},
        {"params": None},
        {"method": "tools/no_such_method"},
    ],
    ids=str,
)
async def test_a_malformed_call_is_refused_in_the_same_way(wrong: JsonObject, fixture_server: Server) -> None:
    answers = []
    for capabilities in ({}, FORMS):
        async with open_session(fixture_server, capabilities=capabilities) as session:
            response = await session.post({**call("fixture_answer", {"size": 1}), **wrong})
            assert "error" in response.json()
            answers.append((response.status_code, response.json()))
    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    ("name", "value", "status"),
    [
        ("accept", "text/html", 406),
        ("content-type", "text/plain", 400),
        ("mcp-protocol-version", "1999-01-01", 400),
        ("mcp-session-id", "no-such-session", 404),
    ],
)
async def test_wrong_headers_are_refused(name: str, value: str, status: int, fixture_server: Server) -> None:
    async with open_session(fixture_server) as session:
        body = json.dumps(call("fixture_answer", {"size": 1})).encode()
        refused = await session.client.post("/mcp", content=body, headers={**session.headers, name: value})
        assert refused.status_code == status
        assert (await session.post(call("fixture_answer", {"size": 1}))).status_code == 200


@pytest.mark.parametrize("progress", [True, False], ids=["with progress", "silent"])
async def test_a_cancelled_call_is_stopped_and_answered(progress: bool, fixture_server: Server) -> None:
    async with open_session(fixture_server) as session:
        name = new_id("wait")
        message = call("fixture_wait", {"name": name}, number=7)
        if not progress:
            cast(JsonObject, message["params"]).pop("_meta", None)
        async with session.client.stream("POST", "/mcp", json=message, headers=session.headers) as waiting:
            assert waiting.headers["content-type"].startswith("text/event-stream")
            params: JsonObject = {"requestId": 7, "reason": "not needed"}
            cancel: JsonObject = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
            assert (await session.post(cancel)).status_code == 202
            body = "".join([text async for text in waiting.aiter_text()])
        assert '"id":7' in body and "-32800" in body
        ended = await session.post(call("fixture_ended", {"name": name}, number=8))
        assert "cancelled" in ended.text


async def test_a_session_that_ends_stops_its_calls(fixture_server: Server) -> None:
    async with open_session(fixture_server) as session, open_session(fixture_server) as other:
        name = new_id("wait")
        message = call("fixture_wait", {"name": name}, number=7)
        async with session.client.stream("POST", "/mcp", json=message, headers=session.headers) as waiting:
            texts = waiting.aiter_text()
            # It has begun once it reports progress.
            begun = await anext(texts)
            assert "notifications/progress" in begun
            await session.end()
            rest = "".join([text async for text in texts])
        assert '"id":7' not in rest
        assert (await session.post(call("fixture_answer", {"size": 1}))).status_code == 404
        assert "cancelled" in (await other.post(call("fixture_ended", {"name": name}))).text


async def test_a_client_that_opens_its_session_again_as_another_is_asked_questions(fixture_server: Server) -> None:
    async with open_session(fixture_server) as session:
        params = {**cast(JsonObject, INITIALIZE["params"]), "capabilities": FORMS}
        again = await session.client.post("/mcp", json={**INITIALIZE, "params": params}, headers=session.headers)
        assert again.status_code == 200
        assert (await session.post(call("fixture_answer", {"size": 1}))).json()["result"]["isError"] is False
