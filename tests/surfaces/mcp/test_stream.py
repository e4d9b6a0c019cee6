"""`/mcp/stdio`: one byte stream each way, and every way in which it can end."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import cast

import anyio.to_thread
import pytest

from codeplane.kernel.ids import new_id
from codeplane.kernel.json import JsonObject
from tests.harness import Server, start
from tests.interaction.requirements import requirement

from .clients import (
    ERAS,
    LEGACY,
    MODERN,
    RawStream,
    call,
    connect_client,
    request,
    text_of,
    wait_for_close,
    wait_for_event,
)


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def text(answer: JsonObject) -> str:
    """What the model reads of an answer."""
    result = cast(JsonObject, answer["result"])
    [content] = cast(list[JsonObject], result["content"])
    return str(content["text"])


def session(answer: JsonObject) -> str:
    result = cast(JsonObject, answer["result"])
    return str(cast(JsonObject, cast(JsonObject, result["_meta"])["codeplane/meta"])["session_id"])


async def wait_begun(stream: RawStream, name: str, *, era: str, number: int) -> None:
    """Have a call under way on a stream."""
    await stream.send(call("fixture_wait", {"name": name}, number=number, era=era))
    message = await stream.message()
    assert message["method"] == "notifications/progress", message


async def how_it_ended(server: Server, name: str) -> str:
    async with connect_client(server) as client:
        return await text_of(client, "fixture_ended", name=name)


async def test_both_eras_are_spoken(era: str, codeplane_server: Server) -> None:
    stream = await RawStream.open(codeplane_server, era=era)

    await stream.send(call("status", era=era), request("tools/list", number=2, era=era))

    assert str(codeplane_server.repo) in text(await stream.answer(1))
    await stream.close_input()
    stream.vanish()


async def test_the_other_era_is_refused_once_one_is_chosen(codeplane_server: Server) -> None:
    stream = await RawStream.open(codeplane_server, era=LEGACY)
    await stream.send(call("status", era=MODERN))
    assert cast(JsonObject, (await stream.answer(1))["error"])["code"] == -32600
    await stream.send(call("status", number=2))
    assert "result" in await stream.answer(2)
    stream.vanish()


@requirement("MCP-11")
async def test_malformed_lines_are_answered_and_the_stream_goes_on(era: str, codeplane_server: Server) -> None:
    stream = await RawStream.open(codeplane_server, era=era)
    for line, code, number in (
        (b"{\n", -32700, None),
        (b"\xff\xfe\n", -32700, None),
        (b"[]\n", -32600, None),
        (b'{"id":"mine","method":"ping"}\n', -32600, "mine"),
        (b"[" * 200_000 + b"\n", -32700, None),
    ):
        await stream.write(line)
        answer = await stream.message()
        assert answer["id"] == number
        assert cast(JsonObject, answer["error"])["code"] == code
    await stream.write(b"\n \r\n\n")
    await stream.send(call("status", number=2, era=era))

    assert "result" in await stream.message()
    stream.vanish()


async def test_malformed_lines_before_anything_else_do_no_harm(era: str, codeplane_server: Server) -> None:
    stream = await RawStream.open(codeplane_server, era=None)
    for _ in range(20):
        await stream.write(b"nonsense\n")
        assert cast(JsonObject, (await stream.message())["error"])["code"] == -32700
    if era == MODERN:
        await stream.send(call("status", era=MODERN))
        assert "result" in await stream.answer(1)
    stream.vanish()


async def test_a_last_malformed_line_is_answered_too(codeplane_server: Server) -> None:
    stream = await RawStream.open(codeplane_server)
    await stream.write(b"nonsense")
    await stream.close_input()

    [answer] = await stream.rest()
    assert cast(JsonObject, answer["error"])["code"] == -32700


async def test_a_line_over_the_limit_is_dropped_and_the_stream_goes_on(era: str, codeplane_server: Server) -> None:
    stream = await RawStream.open(codeplane_server, era=era)
    megabyte = b"x" * (1024 * 1024)
    for _ in range(18):
        await stream.write(megabyte)
    answer = await stream.message()
    assert answer["id"] is None
    assert "16777216 bytes" in str(cast(JsonObject, answer["error"])["message"])

    await stream.write(b"more of it\n")
    await stream.send(call("status", number=2, era=era))
    assert "result" in await stream.message()
    stream.vanish()


async def test_lines_may_be_cut_anywhere(era: str, codeplane_server: Server) -> None:
    stream = await RawStream.open(codeplane_server, era=era)
    for byte in json.dumps(call("status", era=era)).encode() + b"\r\n":
        await stream.write(bytes([byte]))

    assert "result" in await stream.answer(1)
    stream.vanish()


async def test_many_requests_at_once_are_each_answered(era: str, fixture_server: Server) -> None:
    stream = await RawStream.open(fixture_server, era=era)
    await wait_begun(stream, new_id("slow"), era=era, number=0)
    await stream.send(*(call("fixture_answer", {"size": size}, number=size, era=era) for size in range(1, 301)))

    answers = {}
    for _ in range(300):
        message = await stream.message()
        answers[message["id"]] = text(message)

    assert answers == {size: "x" * size for size in range(1, 301)}
    stream.vanish()


async def test_large_answers_arrive_whole(era: str, fixture_server: Server) -> None:
    stream = await RawStream.open(fixture_server, era=era)
    sizes = {1: 1_000_000, 2: 3_000_000, 3: 1_000_000}
    await stream.send(
        *(call("fixture_answer", {"size": size, "char": "ä"}, number=n, era=era) for n, size in sizes.items())
    )

    for _ in sizes:
        message = await stream.message()
        assert text(message) == "ä" * sizes[int(str(message["id"]))]
    stream.vanish()


async def test_a_cancelled_request_is_not_answered_and_holds_nothing_up(era: str, fixture_server: Server) -> None:
    stream = await RawStream.open(fixture_server, era=era)
    name = new_id("wait")
    await wait_begun(stream, name, era=era, number=1)
    await stream.send(
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
        call("fixture_ended", {"name": name}, number=2, era=era),
    )
    assert text(await stream.message()) == "cancelled"

    await stream.close_input()
    async with asyncio.timeout(5):
        assert await stream.rest() == []


async def test_a_client_that_has_said_its_last_gets_its_answers(era: str, fixture_server: Server) -> None:
    stream = await RawStream.open(fixture_server, era=era)
    name = new_id("wait")
    await wait_begun(stream, name, era=era, number=1)
    await stream.close_input()
    async with connect_client(fixture_server) as client:
        await text_of(client, "fixture_release", name=name)

    [answer] = await stream.rest()
    assert text(answer) == f"{name} was released"


async def test_a_client_that_vanishes_takes_its_calls_and_its_session_with_it(era: str, fixture_server: Server) -> None:
    stream = await RawStream.open(fixture_server, era=era)
    await stream.send(call("session_info", number=1, era=era))
    own = session(await stream.answer(1))
    name = new_id("wait")
    await wait_begun(stream, name, era=era, number=2)

    stream.vanish()

    assert await how_it_ended(fixture_server, name) == "cancelled"
    await anyio.to_thread.run_sync(
        lambda: wait_for_event(fixture_server, "call.finished", status="CANCELLED", arguments={"name": name})
    )
    assert await wait_for_close(fixture_server, own) == {"reason": "disconnect"}


async def test_a_client_that_vanishes_after_its_last_word_is_noticed(era: str, fixture_server: Server) -> None:
    stream = await RawStream.open(fixture_server, era=era)
    name = new_id("wait")
    await wait_begun(stream, name, era=era, number=1)
    await stream.close_input()

    stream.vanish()

    async with asyncio.timeout(10):
        assert await how_it_ended(fixture_server, name) == "cancelled"


async def test_a_shim_that_is_killed_ends_its_calls(fixture_server: Server) -> None:
    name = new_id("wait")
    with subprocess.Popen(fixture_server.stdio, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as shim:
        assert shim.stdin is not None
        assert shim.stdout is not None
        shim.stdin.write(json.dumps(call("fixture_wait", {"name": name}, era=MODERN)).encode() + b"\n")
        shim.stdin.flush()
        assert b"notifications/progress" in await anyio.to_thread.run_sync(shim.stdout.readline)
        shim.kill()

    assert await how_it_ended(fixture_server, name) == "cancelled"


async def test_streams_do_not_keep_a_server_from_ending(era: str, repo: Path) -> None:
    program = (sys.executable, "-m", "tests.clients.fixture_server")
    own = start(repo, program=program, overrides=["server.shutdown_timeout_sec=1"])
    try:
        quiet, busy = await RawStream.open(own, era=era), await RawStream.open(own, era=era)
        await wait_begun(busy, "for ever", era=era, number=1)
    finally:
        code = await anyio.to_thread.run_sync(own.stop)

    assert code == 0
    assert await quiet.rest() == []
    assert all("result" not in message for message in await busy.rest())


@pytest.mark.parametrize("method", ("GET", "PUT", "DELETE", "HEAD"))
def test_only_post_opens_a_stream(method: str, codeplane_server: Server) -> None:
    response, _ = codeplane_server.request(method, "/mcp/stdio", headers={"content-type": "application/x-ndjson"})

    assert response.status == 405
    assert response.headers["allow"] == "POST"


@pytest.mark.parametrize("content_type", ("text/plain", "application/json", ""))
def test_only_lines_of_json_open_a_stream(content_type: str, codeplane_server: Server) -> None:
    response, body = codeplane_server.request("POST", "/mcp/stdio", body=b"", headers={"content-type": content_type})

    assert response.status == 415
    assert b"application/x-ndjson" in body
