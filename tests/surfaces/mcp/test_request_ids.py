"""Two requests of one session with one id at the same time: the later is refused at once, the first is answered."""

from __future__ import annotations

import asyncio
import json
from typing import cast

import httpx2 as httpx
import pytest

from codeplane.kernel.ids import new_id
from codeplane.kernel.json import JsonObject
from tests.harness import PATIENCE_SEC, Server
from tests.interaction.requirements import requirement

from .clients import ERAS, HANDSHAKE, INITIALIZE, MODERN, RawStream, call

ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


def text(answer: JsonObject) -> str:
    [content] = cast(list[JsonObject], cast(JsonObject, answer["result"])["content"])
    return str(content["text"])


def is_duplicate(answer: JsonObject, number: int | str) -> bool:
    error = cast(JsonObject, answer.get("error", {}))
    return answer["id"] == number and error.get("code") == -32600 and "under way" in str(error.get("message"))


@requirement("SRV-15")
@pytest.mark.parametrize("number", [7, "7"], ids=["the same", "spelt as text"])
@pytest.mark.parametrize("era", ERAS)
async def test_over_a_byte_stream(era: str, number: int | str, fixture_server: Server) -> None:
    stream = await RawStream.open(fixture_server, era=era)
    first, later = new_id("wait"), new_id("wait")
    await stream.send(call("fixture_wait", {"name": first}, number=7, era=era))
    assert (await stream.message())["method"] == "notifications/progress"

    await stream.send(call("fixture_wait", {"name": later}, number=number, era=era))
    assert is_duplicate(await stream.message(), number)

    await stream.send(call("fixture_release", {"name": first}, number=8, era=era))
    assert text(await stream.answer(7)) == f"{first} was released"
    # Once it is answered its id is free again.
    await stream.send(call("fixture_answer", {"size": 1}, number=7, era=era))
    assert text(await stream.answer(7)) == "x"
    stream.vanish()


@requirement("SRV-15")
@pytest.mark.parametrize("number", [7, "7"], ids=["the same", "spelt as text"])
async def test_in_a_session_over_http(number: int | str, fixture_server: Server) -> None:
    async with httpx.AsyncClient(base_url=fixture_server.url, timeout=PATIENCE_SEC) as client:
        hello = await client.post("/mcp", json=INITIALIZE, headers=ACCEPT)
        session = {**ACCEPT, "mcp-session-id": hello.headers["mcp-session-id"], "mcp-protocol-version": HANDSHAKE}
        name = new_id("wait")
        async with client.stream(
            "POST", "/mcp", json=call("fixture_wait", {"name": name}, number=7), headers=session
        ) as first:
            lines = first.aiter_lines()
            await _progress(lines)
            for _ in range(3):
                later = await client.post(
                    "/mcp", json=call("fixture_answer", {"size": 1}, number=number), headers=session
                )
                assert is_duplicate(later.json(), number)
            await client.post("/mcp", json=call("fixture_release", {"name": name}, number=8), headers=session)
            assert text(await _answer(lines)) == f"{name} was released"
        again = await client.post("/mcp", json=call("fixture_answer", {"size": 1}, number=7), headers=session)
        assert text(_message(again.text)) == "x"


@requirement("SRV-15")
async def test_an_id_stays_taken_when_its_client_left_and_its_call_goes_on(fixture_server: Server) -> None:
    async with httpx.AsyncClient(base_url=fixture_server.url, timeout=PATIENCE_SEC) as client:
        hello = await client.post("/mcp", json=INITIALIZE, headers=ACCEPT)
        session = {**ACCEPT, "mcp-session-id": hello.headers["mcp-session-id"], "mcp-protocol-version": HANDSHAKE}
        name = new_id("wait")
        wait = call("fixture_wait", {"name": name}, number=7)
        async with client.stream("POST", "/mcp", json=wait, headers=session) as first:
            await _progress(first.aiter_lines())
        again = await client.post("/mcp", json=call("fixture_answer", {"size": 1}, number=7), headers=session)
        assert is_duplicate(again.json(), 7)
        await client.post("/mcp", json=call("fixture_release", {"name": name}, number=8), headers=session)
        async with asyncio.timeout(PATIENCE_SEC):
            while "error" in (
                found := _message(
                    (
                        await client.post("/mcp", json=call("fixture_answer", {"size": 1}, number=7), headers=session)
                    ).text
                )
            ):
                assert is_duplicate(found, 7)
        assert text(found) == "x"


@requirement("SRV-16")
async def test_an_answer_that_comes_at_once_needs_no_event_stream(fixture_server: Server) -> None:
    async with httpx.AsyncClient(base_url=fixture_server.url, timeout=PATIENCE_SEC) as client:
        hello = await client.post("/mcp", json=INITIALIZE, headers=ACCEPT)
        session = {**ACCEPT, "mcp-session-id": hello.headers["mcp-session-id"], "mcp-protocol-version": HANDSHAKE}
        quick = await client.post("/mcp", json=call("fixture_answer", {"size": 3}), headers=session)
        assert quick.headers["content-type"] == "application/json"
        assert quick.headers["mcp-session-id"] == session["mcp-session-id"]
        assert text(quick.json()) == "xxx"
        # What is said before the answer has to come before it.
        name = new_id("wait")
        wait = call("fixture_wait", {"name": name}, number=2)
        async with client.stream("POST", "/mcp", json=wait, headers=session) as slow:
            assert slow.headers["content-type"].startswith("text/event-stream")
            lines = slow.aiter_lines()
            await _progress(lines)
            await client.post("/mcp", json=call("fixture_release", {"name": name}, number=3), headers=session)
            assert text(await _answer(lines)) == f"{name} was released"
        refused = await client.post("/mcp", json=call("no_such_tool", number=4), headers=session)
        assert refused.json()["error"]["code"] == -32602


@requirement("SRV-15")
async def test_requests_without_a_session_are_told_apart_whatever_their_ids(fixture_server: Server) -> None:
    headers = {**ACCEPT, "mcp-protocol-version": MODERN, "mcp-method": "tools/call", "x-codeplane-connection": "one"}
    async with httpx.AsyncClient(base_url=fixture_server.url, timeout=PATIENCE_SEC) as client:

        async def ask(tool: str, **arguments: object) -> str:
            body = call(tool, cast(JsonObject, arguments), number=7, era=MODERN)
            answer = await client.post("/mcp", json=body, headers={**headers, "mcp-name": tool})
            return text(_message(answer.text))

        name = new_id("wait")
        waiting = asyncio.ensure_future(ask("fixture_wait", name=name))
        sizes = [await ask("fixture_answer", size=size) for size in (1, 2, 3)]
        assert sizes == ["x", "xx", "xxx"]
        await ask("fixture_release", name=name)
        assert await waiting == f"{name} was released"


async def _progress(lines: object) -> None:
    async for line in lines:  # type: ignore[attr-defined]  # httpx gives an async iterator
        if line.startswith("data:") and "notifications/progress" in line:
            return
    raise AssertionError("no progress came")


async def _answer(lines: object) -> JsonObject:
    async for line in lines:  # type: ignore[attr-defined]  # httpx gives an async iterator
        if line.startswith("data:") and line[5:].strip() and "method" not in (found := json.loads(line[5:])):
            return cast(JsonObject, found)
    raise AssertionError("no answer came")


def _message(body: str) -> JsonObject:
    """The answer in a body, of either kind."""
    if body.startswith("{"):
        return cast(JsonObject, json.loads(body))
    found = [json.loads(line[5:]) for line in body.splitlines() if line.startswith("data:") and line[5:].strip()]
    return cast(JsonObject, next(one for one in found if "method" not in one))
