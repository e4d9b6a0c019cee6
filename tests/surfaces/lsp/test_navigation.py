"""Navigation over `cpl lsp`, asked by pytest-lsp: an outside client that checks answers against the protocol."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tests.harness import Server, make_repo, start
from tests.interaction.requirements import requirement
from tests.query.navigation.written import PROGRAMS, USES, Mark, marked
from tests.surfaces.lsp.client import at, editing, open_document, spot

pytestmark = requirement("LSP-04")

FILES, MARKS = marked(
    {
        **{f"py/{path}": text for path, text in PROGRAMS["python"].items()},
        **{f"ts/{path}": text for path, text in PROGRAMS["typescript"].items()},
        "notes.txt": "plain text\n",
        "emoji.py": 'def «greet»greet():\n    return "😀"\n\n\nprint("😀", «greetuse»greet())\n',
        "returns.py": "def «crlf»first():\r\n    pass\r\n\r\n\r\n«crlfuse»first()\r\n",
        "unknown.py": "def run(thing):\n    thing.«save»save()\n",
    }
)
PYTHON = marked({f"py/{path}": text for path, text in PROGRAMS["python"].items()})[1]
TYPESCRIPT = marked({f"ts/{path}": text for path, text in PROGRAMS["typescript"].items()})[1]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    root = tmp_path_factory.mktemp("lsp") / "repo"
    files = {path: text.replace("from shop", "from py.shop") for path, text in FILES.items()}
    running = start(make_repo(root, {**files, "py/__init__.py": ""}).resolve())
    yield running
    running.stop()


def located(answer: object) -> list[types.Location]:
    return list(cast(Sequence[types.Location], answer))


async def test_it_says_what_it_can(server: Server) -> None:
    greeting: list[types.InitializeResult] = []
    async with editing(server.repo, greeting=greeting):
        offered = greeting[0].capabilities
        assert offered.position_encoding == "utf-16"
        assert offered.definition_provider and offered.references_provider and offered.hover_provider
        assert offered.call_hierarchy_provider is None
        assert "codeplane" in cast(dict[str, object], offered.experimental)


@pytest.mark.parametrize("marks", [PYTHON, TYPESCRIPT], ids=["python", "typescript"])
async def test_definitions(server: Server, marks: dict[str, Mark]) -> None:
    shift = len("py.") if marks is PYTHON else 0
    async with editing(server.repo) as client:
        for use, defined in USES.items():
            asked = marks[use]
            if use == "imported":
                asked = Mark(path=asked.path, line=asked.line, column=asked.column + shift)
            found = located(
                await client.text_document_definition_async(types.DefinitionParams(**at(server.repo, asked)))  # type: ignore[arg-type]  # a place
            )
            assert [spot(server.repo, location) for location in found] == [marks[defined]], use


async def test_references_hover_and_highlights(server: Server) -> None:
    async with editing(server.repo) as client:
        place = at(server.repo, PYTHON["adduse"])
        every = located(
            await client.text_document_references_async(
                types.ReferenceParams(**place, context=types.ReferenceContext(include_declaration=True))  # type: ignore[arg-type]  # a place
            )
        )
        assert [spot(server.repo, location) for location in every] == [PYTHON["add"], PYTHON["adduse"]]
        uses = located(
            await client.text_document_references_async(
                types.ReferenceParams(**place, context=types.ReferenceContext(include_declaration=False))  # type: ignore[arg-type]  # a place
            )
        )
        assert [spot(server.repo, location) for location in uses] == [PYTHON["adduse"]]
        hover = await client.text_document_hover_async(types.HoverParams(**place))  # type: ignore[arg-type]  # a place
        assert hover is not None and isinstance(hover.contents, types.MarkupContent)
        assert "def add(self, item)" in hover.contents.value and "strong" in hover.contents.value
        local = at(server.repo, PYTHON["localuse"])
        marked_places = await client.text_document_document_highlight_async(types.DocumentHighlightParams(**local))  # type: ignore[arg-type]  # a place
        assert [mark.range.start.line for mark in marked_places or ()] == [4, 5]


async def test_symbols(server: Server) -> None:
    async with editing(server.repo) as client:
        document = types.TextDocumentIdentifier(uri=(server.repo / "py/shop/cart.py").as_uri())
        (cart,) = (
            await client.text_document_document_symbol_async(types.DocumentSymbolParams(text_document=document)) or ()
        )
        assert isinstance(cart, types.DocumentSymbol) and cart.kind is types.SymbolKind.Class
        assert [child.name for child in cart.children or ()] == ["add", "total"]
        found = await client.workspace_symbol_async(types.WorkspaceSymbolParams(query="greet"))
        assert [symbol.name for symbol in found or ()] == ["greet"]
        assert list(await client.workspace_symbol_async(types.WorkspaceSymbolParams(query="")) or ()) == []


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
async def test_columns_behind_an_emoji(server: Server, encoding: str) -> None:
    text = (server.repo / "emoji.py").read_text().split("\n")[MARKS["greetuse"].line - 1]
    before = text[: MARKS["greetuse"].column - 1]
    width = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
    column = len(before.encode({"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}[encoding])) // width
    greeting: list[types.InitializeResult] = []
    async with editing(server.repo, encodings=[encoding], greeting=greeting) as client:
        place = Mark(path="emoji.py", line=MARKS["greetuse"].line, column=column + 1)
        assert greeting[0].capabilities.position_encoding == encoding
        found = located(await client.text_document_definition_async(types.DefinitionParams(**at(server.repo, place))))  # type: ignore[arg-type]  # a place
        assert [spot(server.repo, location) for location in found] == [MARKS["greet"]]
        back = located(
            await client.text_document_references_async(
                types.ReferenceParams(
                    **at(server.repo, MARKS["greet"]),  # type: ignore[arg-type]  # a place
                    context=types.ReferenceContext(include_declaration=False),
                )
            )
        )
        assert [spot(server.repo, location) for location in back] == [place]


async def test_carriage_returns(server: Server) -> None:
    async with editing(server.repo) as client:
        found = located(
            await client.text_document_definition_async(types.DefinitionParams(**at(server.repo, MARKS["crlfuse"])))  # type: ignore[arg-type]  # a place
        )
        assert [spot(server.repo, location) for location in found] == [MARKS["crlf"]]


async def test_unsaved_edits_count(server: Server) -> None:
    async with editing(server.repo) as client:
        uri = open_document(client, server.repo, "emoji.py")
        place = types.DefinitionParams(**at(server.repo, MARKS["greet"]))  # type: ignore[arg-type]  # a place
        changes = [
            types.TextDocumentContentChangePartial(
                range=types.Range(start=types.Position(line=0, character=0), end=types.Position(line=0, character=0)),
                text="# 😀 a new line\n",
            ),
            types.TextDocumentContentChangePartial(
                range=types.Range(start=types.Position(line=1, character=4), end=types.Position(line=1, character=9)),
                text="hello",
            ),
            types.TextDocumentContentChangePartial(
                range=types.Range(start=types.Position(line=5, character=12), end=types.Position(line=5, character=17)),
                text="hello",
            ),
        ]
        client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                text_document=types.VersionedTextDocumentIdentifier(uri=uri, version=2), content_changes=changes
            )
        )
        moved = types.DefinitionParams(
            text_document=types.TextDocumentIdentifier(uri=uri), position=types.Position(line=5, character=13)
        )
        (found,) = located(await client.text_document_definition_async(moved))
        assert found.range.start == types.Position(line=1, character=4)
        client.text_document_did_close(
            types.DidCloseTextDocumentParams(text_document=types.TextDocumentIdentifier(uri=uri))
        )
        (saved,) = located(await client.text_document_definition_async(place))
        assert saved.range.start == types.Position(line=0, character=4)


async def test_what_is_not_there_is_no_failure(server: Server) -> None:
    async with editing(server.repo) as client:
        for place in [
            Mark(path="notes.txt", line=1, column=1),
            Mark(path="py/shop/cart.py", line=500, column=1),
            Mark(path="py/shop/cart.py", line=1, column=5000),
            Mark(path="gone.py", line=1, column=1),
            MARKS["save"],
        ]:
            assert not await client.text_document_definition_async(types.DefinitionParams(**at(server.repo, place)))  # type: ignore[arg-type]  # a place
        outside = types.DefinitionParams(
            text_document=types.TextDocumentIdentifier(uri="untitled:Untitled-1"),
            position=types.Position(line=0, character=0),
        )
        assert await client.text_document_definition_async(outside) is None
        with pytest.raises(JsonRpcException):
            await client.text_document_prepare_call_hierarchy_async(
                types.CallHierarchyPrepareParams(**at(server.repo, MARKS["greet"]))  # type: ignore[arg-type]  # a place
            )


async def test_a_document_that_was_never_saved(server: Server) -> None:
    async with editing(server.repo) as client:
        uri = open_document(client, server.repo, "new.py", "from emoji import greet\n\ngreet()\n")
        place = types.DefinitionParams(
            text_document=types.TextDocumentIdentifier(uri=uri), position=types.Position(line=2, character=1)
        )
        (found,) = located(await client.text_document_definition_async(place))
        assert spot(server.repo, found) == MARKS["greet"]


async def test_a_folder_that_is_no_workspace_is_said(server: Server, tmp_path: Path) -> None:
    async with editing(server.repo, folders=[server.repo, tmp_path]) as client:
        await client.workspace_symbol_async(types.WorkspaceSymbolParams(query="x"))
        assert ["workspace.attach" in message.message for message in client.messages] == [True]
