"""A pytest-lsp client, which parses every answer by the protocol's own types, on a running server."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from lsprotocol import types
from pytest_lsp import LanguageClient, client_capabilities
from pytest_lsp.client import make_test_lsp_client

from tests.harness import CPL
from tests.query.navigation.written import Mark


@asynccontextmanager
async def editing(
    root: Path,
    *,
    like: str = "visual-studio-code",
    folders: Sequence[Path] = (),
    encodings: Sequence[str] = (),
    greeting: "list[types.InitializeResult] | None" = None,
) -> AsyncIterator[LanguageClient]:
    """A client with the capabilities of a known editor, started as that editor would start it."""
    client = make_test_lsp_client()
    await client.start_io(CPL, "lsp", "--stdio", "--repo", str(root))
    capabilities = client_capabilities(like)
    if encodings:
        capabilities.general = types.GeneralClientCapabilities(
            position_encodings=[types.PositionEncodingKind(name) for name in encodings]
        )
    greeted = await client.initialize_session(
        types.InitializeParams(
            capabilities=capabilities,
            root_uri=root.as_uri(),
            workspace_folders=[
                types.WorkspaceFolder(uri=folder.as_uri(), name=folder.name) for folder in folders or (root,)
            ],
            client_info=types.ClientInfo(name="pytest-lsp"),
        )
    )
    if greeting is not None:
        greeting.append(greeted)
    try:
        yield client
    finally:
        await client.shutdown_session()


def open_document(client: LanguageClient, root: Path, path: str, text: str | None = None, *, version: int = 1) -> str:
    """Open a document as an editor does; its address."""
    uri = (root / path).as_uri()
    item = types.TextDocumentItem(
        uri=uri, language_id="python", version=version, text=(root / path).read_text() if text is None else text
    )
    client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=item))
    return uri


def at(root: Path, mark: Mark) -> dict[str, object]:
    """The place of a mark, as the protocol counts."""
    return {
        "text_document": types.TextDocumentIdentifier(uri=(root / mark.path).as_uri()),
        "position": types.Position(line=mark.line - 1, character=mark.column - 1),
    }


def spot(root: Path, location: types.Location) -> Mark:
    """The mark at which a location begins."""
    path = Path(location.uri.removeprefix("file://")).relative_to(root).as_posix()
    return Mark(path=path, line=location.range.start.line + 1, column=location.range.start.character + 1)
