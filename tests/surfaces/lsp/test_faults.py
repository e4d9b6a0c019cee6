"""Faults under a running editor: a killed server, two editors, cancelled requests, hostile documents."""

import json
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.cli.content_length import ContentLength
from codeplane.surfaces.cli.discovery import find_server
from codeplane.surfaces.cli.lsp_state import ClientState
from tests.harness import Server, make_repo, start, until
from tests.interaction.requirements import requirement
from tests.query.navigation.written import Mark
from tests.surfaces.cli.test_help import SLOW, imported
from tests.surfaces.lsp.client import at, editing, open_document
from tests.surfaces.lsp.raw_client import talking

pytestmark = requirement("LSP-05")

FILES = {"a.py": "def run():\n    pass\n\n\nrun()\n"}


@asynccontextmanager
async def serving(tmp_path: Path) -> AsyncIterator[Server]:
    server = start(make_repo(tmp_path / "repo", FILES).resolve())
    try:
        yield server
    finally:
        server.stop()


async def test_a_killed_server_is_started_again_and_knows_the_open_documents(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        async with editing(server.repo) as client:
            uri = open_document(client, server.repo, "a.py")
            client.text_document_did_change(
                types.DidChangeTextDocumentParams(
                    text_document=types.VersionedTextDocumentIdentifier(uri=uri, version=2),
                    content_changes=[
                        types.TextDocumentContentChangeWholeDocument(text="\n\ndef go():\n    pass\n\n\ngo()\n")
                    ],
                )
            )
            place = types.DefinitionParams(
                text_document=types.TextDocumentIdentifier(uri=uri), position=types.Position(line=6, character=0)
            )
            assert len(cast(list[types.Location], await client.text_document_definition_async(place))) == 1
            server.kill()
            # What was asked of the dead server fails by name, once; what is asked then is answered by the new one.
            found = await _persistent(lambda: client.text_document_definition_async(place))
            assert [location.range.start.line for location in cast(list[types.Location], found)] == [2]
            facts = until(lambda: find_server(server.workspace))
            assert facts is not None and facts.pid != server.facts["pid"]
        # By its pid, as the shim started it; and behind the shim, which would start another.
        os.kill(facts.pid, signal.SIGINT)


async def _persistent(ask: Callable[[], Awaitable[object]]) -> object:
    for _ in range(3):
        try:
            return await ask()
        except JsonRpcException as error:
            assert "ask again" in str(error)
    raise AssertionError("no answer after three questions")


async def test_two_editors_see_their_own_text(tmp_path: Path) -> None:
    async with serving(tmp_path) as server, editing(server.repo) as one, editing(server.repo) as other:
        open_document(one, server.repo, "a.py", "# first\n" + FILES["a.py"])
        open_document(other, server.repo, "a.py", "# first\n# second\n" + FILES["a.py"])
        for client, line in ((one, 1), (other, 2)):
            place = types.DefinitionParams(**at(server.repo, Mark(path="a.py", line=line + 5, column=1)))  # type: ignore[arg-type]  # a place
            (found,) = cast(list[types.Location], await client.text_document_definition_async(place))
            assert found.range.start.line == line


async def test_a_cancelled_request_is_answered_as_cancelled(tmp_path: Path) -> None:
    async with serving(tmp_path) as server, talking(server) as client:
        place: JsonObject = {
            "textDocument": {"uri": (server.repo / "a.py").as_uri()},
            "position": {"line": 0, "character": 4},
        }
        asked = await client.send("textDocument/hover", place)
        await client.notify("$/cancelRequest", {"id": asked})
        answer = await client.answer(asked)
        # It may have been answered just before.
        assert "result" in answer or cast(JsonObject, answer["error"])["code"] == -32800
        assert await client.ask("textDocument/hover", place) is not None


async def test_messages_out_of_order_are_refused(tmp_path: Path) -> None:
    async with serving(tmp_path) as server, talking(server) as client:
        again = await client.answer(await client.send("initialize", {"capabilities": {}}))
        assert cast(JsonObject, again["error"])["code"] == -32600
        below = {"textDocument": {"uri": (server.repo / "a.py").as_uri()}, "position": {"line": -1, "character": 0}}
        for params in ({}, {"textDocument": {"uri": 1}}, below):
            wrong = await client.answer(await client.send("textDocument/definition", cast(JsonObject, params)))
            assert cast(JsonObject, wrong["error"])["code"] == -32602
        assert await client.ask("shutdown", None) is None
        late = await client.answer(await client.send("textDocument/hover", {}))
        assert cast(JsonObject, late["error"])["code"] == -32600


async def test_hostile_documents(tmp_path: Path) -> None:
    async with serving(tmp_path) as server, editing(server.repo) as client:
        for text in ("x = '" + "a" * 10_000_000 + "'\n", "x = '" + "a" * 3_000_000 + "'\nrun()\n", "\ud800 = 1\n"[1:]):
            uri = open_document(client, server.repo, "a.py", text)
            place = types.DefinitionParams(
                text_document=types.TextDocumentIdentifier(uri=uri), position=types.Position(line=0, character=0)
            )
            try:
                assert not await client.text_document_definition_async(place)
            except JsonRpcException as error:
                assert "larger than open documents may be" in str(error)
        open_document(client, server.repo, "a.py")
        again = types.DefinitionParams(**at(server.repo, Mark(path="a.py", line=5, column=1)))  # type: ignore[arg-type]  # a place
        assert len(cast(list[types.Location], await client.text_document_definition_async(again))) == 1


async def test_a_change_that_is_none_drops_the_document(tmp_path: Path) -> None:
    async with serving(tmp_path) as server, talking(server) as client:
        uri = (server.repo / "a.py").as_uri()
        item: JsonObject = {"uri": uri, "languageId": "python", "version": 1, "text": "# first\n" + FILES["a.py"]}
        await client.notify("textDocument/didOpen", {"textDocument": item})
        wrong: JsonObject = {"range": {"start": {}}, "text": "x"}
        await client.notify(
            "textDocument/didChange", {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [wrong]}
        )
        place: JsonObject = {"textDocument": {"uri": uri}, "position": {"line": 4, "character": 0}}
        (found,) = cast(list[JsonObject], await client.ask("textDocument/definition", place))
        assert cast(JsonObject, found["range"])["start"] == {"line": 0, "character": 4}
        said = await client.until_told("window/showMessage")
        assert "was refused" in json.dumps(said)


async def test_edits_faster_than_parsing(tmp_path: Path) -> None:
    async with serving(tmp_path) as server, editing(server.repo) as client:
        uri = open_document(client, server.repo, "a.py")
        for version in range(2, 300):
            insert = types.TextDocumentContentChangePartial(
                range=types.Range(start=types.Position(line=0, character=0), end=types.Position(line=0, character=0)),
                text="# line\n",
            )
            client.text_document_did_change(
                types.DidChangeTextDocumentParams(
                    text_document=types.VersionedTextDocumentIdentifier(uri=uri, version=version),
                    content_changes=[insert],
                )
            )
        place = types.DefinitionParams(**at(server.repo, Mark(path="a.py", line=5 + 298, column=1)))  # type: ignore[arg-type]  # a place
        (found,) = cast(list[types.Location], await client.text_document_definition_async(place))
        assert found.range.start.line == 298


@pytest.mark.parametrize(
    "data", [b"hello\r\n\r\n", b"Content-Length: x\r\n\r\n", b"Content-Length: 99999999999\r\n\r\n", b"x" * 9000]
)
def test_what_has_no_length_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidArgument):
        list(ContentLength().split(iter([data])))


def test_messages_in_any_pieces() -> None:
    framing = ContentLength()
    whole = framing.join(b'{"a": 1}') + b"content-length: 2\r\nContent-Type: x\r\n\r\n{}" + framing.join("é".encode())
    for size in (1, 3, 7, len(whole)):
        pieces = [whole[at : at + size] for at in range(0, len(whole), size)]
        assert list(framing.split(iter(pieces))) == [b'{"a": 1}', b"{}", "é".encode()]


def test_a_new_server_is_told_what_the_one_before_knew() -> None:
    state = ClientState()
    document: JsonObject = {"uri": "file:///a.py", "languageId": "python", "version": 1, "text": "😀x\n"}
    for message in (
        {"id": 1, "method": "initialize", "params": {"capabilities": {}}},
        {"method": "initialized"},
        {"method": "textDocument/didOpen", "params": {"textDocument": document}},
        {"id": "q", "method": "textDocument/hover"},
    ):
        assert state.take_from_client(cast(JsonObject, message))
    assert state.take_from_server({"id": 1, "result": {"capabilities": {"positionEncoding": "utf-16"}}})
    span = {"start": {"line": 0, "character": 2}, "end": {"line": 0, "character": 3}}
    state.take_from_client(
        {
            "method": "textDocument/didChange",
            "params": {
                "textDocument": {"uri": "file:///a.py", "version": 2},
                "contentChanges": [{"range": span, "text": "y"}],
            },
        }
    )
    (lost,) = state.lost_answers()
    assert lost["id"] == "q" and "ask again" in json.dumps(lost)
    first, second, third = state.introduction()
    assert (first["method"], second["method"]) == ("initialize", "initialized") and first["id"] != 1
    assert cast(JsonObject, third["params"])["textDocument"] == {**document, "version": 2, "text": "😀y\n"}
    assert not state.take_from_server({"id": first["id"], "result": {}})
    assert not state.take_from_client({"id": 7, "result": None}), "nobody asked this any more"


async def test_an_index_that_is_not_ready_never_answers_with_nothing(tmp_path: Path) -> None:
    modules = {f"m{number}.py": f"def run_{number}():\n    return {number}\n\n\n" * 20 for number in range(400)}
    server = start(make_repo(tmp_path / "repo", {**FILES, **modules}).resolve(), overrides=["index.wait_sec=0.01"])
    try:
        async with talking(server) as client:
            uri = (server.repo / "a.py").as_uri()
            place: JsonObject = {"textDocument": {"uri": uri}, "position": {"line": 4, "character": 0}}
            context: JsonObject = {**place, "context": {"includeDeclaration": True}}
            for method, asked, count in (
                ("textDocument/definition", place, 1),
                ("textDocument/references", context, 2),
            ):
                answer = await client.answer(await client.send(method, asked))
                for _ in range(5_000):
                    if "result" in answer:
                        break
                    assert cast(JsonObject, answer["error"])["code"] == -32803, answer
                    answer = await client.answer(await client.send(method, asked))
                assert len(cast(list[JsonObject], answer["result"])) == count
    finally:
        server.stop()


async def test_the_person_sees_how_far_the_index_is(tmp_path: Path) -> None:
    modules = {f"m{number}.py": f"def run_{number}():\n    return {number}\n\n\n" * 20 for number in range(1200)}
    server = start(make_repo(tmp_path / "repo", {**FILES, **modules}).resolve())
    try:
        async with talking(server, capabilities={"window": {"workDoneProgress": True}}) as client:
            created = await client.until_told("window/workDoneProgress/create")
            await client.reply(created["id"], None)
            token = cast(JsonObject, created["params"])["token"]
            kinds: list[str] = []
            while "end" not in kinds:
                params = cast(JsonObject, (await client.until_told("$/progress"))["params"])
                value = cast(JsonObject, params["value"])
                assert params["token"] == token
                kinds.append(str(value["kind"]))
                assert kinds[-1] != "begin" or "reads the repository" in str(value["title"])
                assert kinds[-1] != "report" or "answers are partial" in str(value["message"])
            assert kinds[0] == "begin" and kinds.count("report") >= 1
        # One that comes later has nothing to wait for.
        async with talking(server, capabilities={"window": {"workDoneProgress": True}}) as client:
            await client.ask("workspace/symbol", {"query": "run_7"})
            assert not any(message.get("method") == "window/workDoneProgress/create" for message in client.told)
    finally:
        server.stop()


def test_the_shim_imports_nothing_slow() -> None:
    modules = imported("lsp", "--help")
    assert "codeplane.surfaces.cli.lsp_shim" in modules
    slow = {*SLOW, "lsprotocol", "pygls", "rich", "asyncio", "uvicorn", "pygit2", "typer", "click"}
    assert not modules & slow
