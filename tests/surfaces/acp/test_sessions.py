"""Sessions of ACP: a session is a thread, a prompt a turn, answered from the index where there is no model."""

import asyncio
from pathlib import Path

import pytest

from tests.harness import Server
from tests.interaction.requirements import requirement
from tests.surfaces.acp.client import HELLO, AcpClient, AcpError, acp_client, prompt_params

pytestmark = requirement("ACP-05")


async def test_a_prompt_is_answered_from_the_index(plain_server: Server) -> None:
    async with acp_client(plain_server) as client:
        session = await client.open(plain_server.repo)
        answer = await client.prompt(session, "where is hello said to somebody?")
        assert answer["stopReason"] == "end_turn"
        assert "greeting.py" in client.text() and "No model is configured" in client.text()
        assert client.text("user_message_chunk") == ""
        # The thread is there for the owner, too.
        shown = plain_server.call("thread.show", thread_id=session)["result"]
        assert isinstance(shown, dict) and shown["messages"] == 2 and shown["created_by"] == "agent:tester"


async def test_a_link_to_no_address_is_taken_as_it_is(plain_server: Server) -> None:
    async with acp_client(plain_server) as client:
        session = await client.open(plain_server.repo)
        link = {"type": "resource_link", "uri": "file://[x", "name": "greeting"}
        answer = await client.call("session/prompt", {"sessionId": session, "prompt": [link]})
        assert answer["stopReason"] == "end_turn"


async def test_the_order_of_answers_and_updates(plain_server: Server) -> None:
    async with acp_client(plain_server) as client:
        await client.call("initialize", HELLO)
        opened = await client.start("session/new", {"cwd": str(plain_server.repo), "mcpServers": []})
        session = (await client.answer(opened))["sessionId"]
        prompted = await client.start("session/prompt", prompt_params(session, "greet"))
        await client.answer(prompted)
        await client.call("session/list")
        names = [
            message["params"]["update"]["sessionUpdate"] if "method" in message else message["id"]
            for message in client.heard
        ]
        assert names.index(opened) < names.index("available_commands_update")
        last = max(index for index, name in enumerate(names) if isinstance(name, str))
        assert last < names.index(prompted)


async def test_every_update_has_a_cursor_and_none_is_there_twice(plain_server: Server) -> None:
    async with acp_client(plain_server) as client:
        session = await client.open(plain_server.repo)
        for word in ("greet", "hello"):
            await client.prompt(session, word)
        cursors = [
            notice["_meta"]["codeplane"]["cursor"]
            for notice in client.notices
            if notice["update"]["sessionUpdate"] != "available_commands_update"
        ]
        assert len(cursors) == len(set(cursors)) and cursors == sorted(cursors, key=_place)


def _place(cursor: str) -> tuple[int, int]:
    sequence, _, update = cursor.partition(".")
    return int(sequence), int(update)


async def test_a_loaded_session_says_what_was_said(plain_server: Server) -> None:
    async with acp_client(plain_server) as client:
        session = await client.open(plain_server.repo)
        await client.prompt(session, "greet")
        streamed = [one for one in client.notices if one["update"]["sessionUpdate"] == "agent_message_chunk"]
    async with acp_client(plain_server) as again:
        await again.call("initialize", HELLO)
        loading = await again.start("session/load", _opening(plain_server, session))
        await again.answer(loading)
        assert again.text("user_message_chunk") == "greet"
        replayed = [one for one in again.notices if one["update"]["sessionUpdate"] == "agent_message_chunk"]
        assert replayed == streamed
        # All of it came before the answer.
        positions = [index for index, message in enumerate(again.heard) if message.get("id") == loading]
        assert all(one in [m.get("params") for m in again.heard[: positions[0]]] for one in replayed)
        assert (await again.prompt(session, "hello"))["stopReason"] == "end_turn"


async def test_a_resumed_session_repeats_nothing(plain_server: Server) -> None:
    async with acp_client(plain_server) as client:
        session = await client.open(plain_server.repo)
        await client.prompt(session, "greet")
    async with acp_client(plain_server) as again:
        await again.call("initialize", HELLO)
        await again.call("session/resume", _opening(plain_server, session))
        await again.prompt(session, "hello")
        assert again.text().count("No model is configured") == 1 and again.text("user_message_chunk") == ""


async def test_resuming_at_a_cursor_goes_on_there(plain_server: Server) -> None:
    async with acp_client(plain_server) as client:
        session = await client.open(plain_server.repo)
        await client.prompt(session, "greet")
        await client.prompt(session, "hello")
        first, second = [one for one in client.notices if one["update"]["sessionUpdate"] == "agent_message_chunk"]
    for method in ("session/resume", "session/load"):
        async with acp_client(plain_server) as again:
            await again.call("initialize", HELLO)
            meta = {"_meta": {"codeplane": {"cursor": first["_meta"]["codeplane"]["cursor"]}}}
            await again.call(method, {**_opening(plain_server, session), **meta})
            await again.until_said(1)
            shown = [one for one in again.notices if one["update"]["sessionUpdate"] != "available_commands_update"]
            assert [one["update"]["sessionUpdate"] for one in shown] == ["user_message_chunk", "agent_message_chunk"]
            assert shown[1] == second


@pytest.mark.parametrize("cursor", ["x", "1.", ".1", "-1.0", "9" * 60, 7, "99999.0", "1.1.1", "٣.0"])
async def test_a_cursor_that_is_none_is_refused(plain_server: Server, cursor: object) -> None:
    async with acp_client(plain_server) as client:
        session = await client.open(plain_server.repo)
        with pytest.raises(AcpError) as refused:
            meta = {"_meta": {"codeplane": {"cursor": cursor}}}
            await client.call("session/resume", {**_opening(plain_server, session), **meta})
        assert refused.value.name == "INVALID_ARGUMENT"
        # The session that was open goes on.
        assert (await client.prompt(session, "greet"))["stopReason"] == "end_turn"


async def test_the_same_message_again_is_the_same_turn(plain_server: Server) -> None:
    async with acp_client(plain_server) as client:
        session = await client.open(plain_server.repo)
        first = await client.prompt(session, "greet", messageId="m1")
        second = await client.prompt(session, "greet", messageId="m1")
        assert first["_meta"]["codeplane"]["turnId"] == second["_meta"]["codeplane"]["turnId"]
        with pytest.raises(AcpError) as refused:
            await client.prompt(session, "something else", messageId="m1")
        assert refused.value.name == "IDEMPOTENCY_CONFLICT"
        assert client.text().count("No model is configured") == 1


async def test_sessions_are_listed_by_page_and_those_of_others_are_not(plain_server: Server) -> None:
    async with acp_client(plain_server) as client:
        opened = {await client.open(plain_server.repo)}
        for _ in range(3):
            opened.add(
                (await client.call("session/new", {"cwd": str(plain_server.repo), "mcpServers": []}))["sessionId"]
            )
        listed = await _all_sessions(client)
        assert opened <= {one["sessionId"] for one in listed}
        assert {one["cwd"] for one in listed} == {str(plain_server.repo)}
        assert (await client.call("session/list", {"cwd": "/somewhere/else"}))["sessions"] == []
    async with acp_client(plain_server) as other:
        await other.call("initialize", {**HELLO, "clientInfo": {"name": "stranger", "version": "1"}})
        assert not opened & {one["sessionId"] for one in await _all_sessions(other)}
        for method in ("session/load", "session/resume"):
            with pytest.raises(AcpError) as refused:
                await other.call(method, _opening(plain_server, next(iter(opened))))
            assert (refused.value.name, refused.value.code) == ("THREAD_NOT_FOUND", -32002)


async def _all_sessions(client: AcpClient) -> list[dict[str, str]]:
    found: list[dict[str, str]] = []
    params: dict[str, str] = {}
    while True:
        page = await client.call("session/list", params)
        found += page["sessions"]
        if "nextCursor" not in page:
            return found
        params = {"cursor": page["nextCursor"]}


async def test_a_closed_session_takes_no_prompts_and_a_deleted_one_is_not_listed(plain_server: Server) -> None:
    async with acp_client(plain_server) as client:
        session = await client.open(plain_server.repo)
        await client.call("session/close", {"sessionId": session})
        with pytest.raises(AcpError) as refused:
            await client.prompt(session, "greet")
        assert refused.value.code == -32002
        await client.call("session/delete", {"sessionId": session})
        assert session not in {one["sessionId"] for one in await _all_sessions(client)}
        # Nothing of it is lost.
        assert "result" in plain_server.call("thread.show", thread_id=session)


async def test_two_clients_in_one_session_see_the_same(plain_server: Server) -> None:
    async with acp_client(plain_server) as one, acp_client(plain_server) as two:
        session = await one.open(plain_server.repo)
        await two.call("initialize", HELLO)
        await two.call("session/load", _opening(plain_server, session))
        await asyncio.gather(one.prompt(session, "greet"), two.prompt(session, "hello"))
        for client, own, others in ((one, "greet", "hello"), (two, "hello", "greet")):
            await client.until_said(2)
            assert client.text("user_message_chunk") == others, own
        said = [one for one in one.notices if one["update"]["sessionUpdate"] == "agent_message_chunk"]
        assert said == [one for one in two.notices if one["update"]["sessionUpdate"] == "agent_message_chunk"]


@pytest.mark.parametrize("cwd", [None, 7, "", "relative", "./x", "/a\0b", "/\ud800"])
async def test_a_folder_that_is_none_is_refused(plain_server: Server, cwd: object) -> None:
    async with acp_client(plain_server) as client:
        await client.call("initialize", HELLO)
        with pytest.raises(AcpError) as refused:
            await client.call("session/new", {"cwd": cwd, "mcpServers": []})
        assert refused.value.code == -32602


async def test_a_folder_of_another_repository_is_refused_with_what_to_do(plain_server: Server) -> None:
    async with acp_client(plain_server) as client:
        await client.call("initialize", HELLO)
        for cwd in ("/", str(plain_server.repo.parent), f"{plain_server.repo}/../.."):
            with pytest.raises(AcpError, match="start `cpl acp`") as refused:
                await client.call("session/new", {"cwd": cwd, "mcpServers": []})
            assert refused.value.name == "WORKSPACE_NOT_FOUND"


async def test_without_a_token_a_program_cannot_open_sessions(plain_server: Server) -> None:
    async with acp_client(plain_server, token=None) as client:
        await client.call("initialize", HELLO)
        with pytest.raises(AcpError) as refused:
            await client.call("session/new", {"cwd": str(plain_server.repo), "mcpServers": []})
        assert refused.value.name == "CAPABILITY_DENIED"


async def test_mcp_servers_of_a_client_are_named_and_wait_for_a_person(plain_server: Server, tmp_path: Path) -> None:
    mark = tmp_path / "started"
    server = {"name": "theirs", "command": "/usr/bin/touch", "args": [str(mark)], "env": []}
    async with acp_client(plain_server) as client:
        await client.call("initialize", HELLO)
        new = await client.call("session/new", {"cwd": str(plain_server.repo), "mcpServers": [server]})
        assert new["_meta"]["codeplane"]["mcpServers"] == [{"name": "theirs", "state": "asked"}]
        await client.until(lambda: "theirs of the client waits for a person" in client.text("agent_thought_chunk"))
        assert (await client.prompt(new["sessionId"], "greet"))["stopReason"] == "end_turn"
        assert not mark.exists()


def _opening(server: Server, session: str) -> dict[str, object]:
    return {"sessionId": session, "cwd": str(server.repo), "mcpServers": []}
