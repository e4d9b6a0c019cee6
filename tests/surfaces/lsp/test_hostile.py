"""Editors that send what nothing takes: addresses of no file, arguments of no operation, more than is kept."""

import json
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from codeplane.kernel.json import JsonObject
from codeplane.surfaces.cli.content_length import ContentLength
from codeplane.surfaces.lsp.documents import Documents
from tests.harness import CPL, Server, make_repo, start
from tests.interaction.requirements import requirement
from tests.query.navigation.written import Mark
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


async def test_addresses_that_no_file_has_end_no_connection(tmp_path: Path) -> None:
    async with serving(tmp_path) as server, talking(server) as client:
        (server.repo / "loop").symlink_to("loop")
        root = server.repo.as_uri()
        for uri in (f"{root}/loop/a.py", root, f"{root}/{'a/' * 3000}b.py", "file:///\ud800", f"{root}/%00", "\ud800"):
            item: JsonObject = {"uri": uri, "languageId": "python", "version": 1, "text": FILES["a.py"]}
            await client.notify("textDocument/didOpen", {"textDocument": item})
            await client.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [{"uri": uri}]}})
            place: JsonObject = {"textDocument": {"uri": uri}, "position": {"line": 4, "character": 0}}
            answer = await client.answer(await client.send("textDocument/definition", place))
            assert "INTERNAL" not in json.dumps(answer), answer
        known: JsonObject = {"textDocument": {"uri": f"{root}/a.py"}, "position": {"line": 4, "character": 0}}
        assert len(cast(list[JsonObject], await client.ask("textDocument/definition", known))) == 1


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("workspace/symbol", {"query": "\ud800"}),
        ("codeplane/ask", {"question": "\ud800"}),
        ("codeplane/cancelTask", {"taskId": ""}),
        ("codeplane/cancelTask", {"taskId": "x" * 5000}),
    ],
)
async def test_arguments_that_operations_do_not_take_are_refused_by_name(
    tmp_path: Path, method: str, params: JsonObject
) -> None:
    async with serving(tmp_path) as server, talking(server) as client:
        answer = await client.answer(await client.send(method, params))
        error = cast(JsonObject, answer["error"])
        assert error["code"] == -32602 and "INVALID_ARGUMENT" in str(error["message"])


def test_of_all_open_documents_together_so_much_is_kept() -> None:
    documents, text = Documents(), "x" * (4 * 1024 * 1024)
    for number in range(20):
        documents.open(f"file:///r/{number}.py", f"{number}.py", "", 1, text)
    kept = [document for document in documents.all() if document.text is not None]
    assert len(kept) == 16 and not documents.too_large("file:///r/3.py") and documents.too_large("file:///r/19.py")
    # What is not known is not guessed from a change, and known again when it is sent as a whole.
    documents.close("file:///r/3.py")
    start: JsonObject = {"line": 0, "character": 0}
    documents.change("file:///r/19.py", 2, [{"range": {"start": start, "end": start}, "text": "y"}], "utf-16")
    assert documents.too_large("file:///r/19.py")
    documents.change("file:///r/19.py", 3, [{"text": "y = 1\n"}], "utf-16")
    assert not documents.too_large("file:///r/19.py")
    assert [document.text for document in documents.overlay("", "19.py")][-1] == "y = 1\n"


async def test_a_document_too_many_is_told_of(tmp_path: Path) -> None:
    async with serving(tmp_path) as server, talking(server) as client:
        for number in range(1001):
            item: JsonObject = {"uri": f"untitled:{number}", "languageId": "python", "version": 1, "text": ""}
            await client.notify("textDocument/didOpen", {"textDocument": item})
        said = await client.until_told("window/showMessage")
        assert "untitled:1000 was not opened" in json.dumps(said)


async def test_an_open_document_that_no_operation_reads_spoils_no_other(tmp_path: Path) -> None:
    async with serving(tmp_path) as server, talking(server) as client:
        root = server.repo.as_uri()
        # As editors open them: a commit message, a file of a neighbour, a name that is no UTF-8.
        for path in (".git/COMMIT_EDITMSG", ".codeplane/x.py", "../b.py", "%ff.py"):
            item: JsonObject = {"uri": f"{root}/{path}", "languageId": "python", "version": 1, "text": "run()\n"}
            await client.notify("textDocument/didOpen", {"textDocument": item})
            place: JsonObject = {"textDocument": {"uri": f"{root}/{path}"}, "position": {"line": 0, "character": 0}}
            assert "INTERNAL" not in json.dumps(await client.answer(await client.send("textDocument/hover", place)))
        known: JsonObject = {"textDocument": {"uri": f"{root}/a.py"}, "position": {"line": 4, "character": 0}}
        assert len(cast(list[JsonObject], await client.ask("textDocument/definition", known))) == 1


async def test_a_document_larger_than_a_message_ends_no_editor(tmp_path: Path) -> None:
    async with serving(tmp_path) as server, editing(server.repo) as client:
        open_document(client, server.repo, "large.py", "x = 1\n" * 3_000_000)
        open_document(client, server.repo, "larger.py", "x = 1\n" * 6_000_000)
        start = types.Position(line=0, character=0)
        own = types.DefinitionParams(
            text_document=types.TextDocumentIdentifier(uri=(server.repo / "larger.py").as_uri()), position=start
        )
        with pytest.raises(JsonRpcException, match="larger than open documents may be"):
            await client.text_document_definition_async(own)
        place = types.DefinitionParams(**at(server.repo, Mark(path="a.py", line=5, column=1)))  # type: ignore[arg-type]  # a place
        assert len(cast(list[types.Location], await client.text_document_definition_async(place))) == 1


async def test_messages_that_are_no_utf_8_or_too_long_are_refused_and_end_no_connection(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        framing = ContentLength()
        sent = [
            b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}',
            *[b'{"jsonrpc":"2.0","id":%d,"method":"\xff\xed\xa0\x80"}' % number for number in range(2, 10)],
            b'{"jsonrpc":"2.0","id":"long","method":"codeplane/ask","params":{"question":"%b"}}' % (b"x" * 17_000_000),
            b'{"jsonrpc":"2.0","id":"end","method":"shutdown"}',
            b'{"jsonrpc":"2.0","method":"exit"}',
        ]
        done = subprocess.run(
            [CPL, "lsp", "--repo", str(server.repo)],
            input=b"".join(map(framing.join, sent)),
            capture_output=True,
            check=True,
        )
        answers = {each["id"]: each for each in map(json.loads, framing.split(iter([done.stdout]))) if "id" in each}
        assert [answers[number]["error"]["code"] for number in range(2, 10)] == [-32601] * 8
        assert "more than" in answers["long"]["error"]["message"] and answers["end"]["result"] is None
        assert b"connecting again" not in done.stderr
