"""One editor's connection: its lifecycle, its documents, and which feature answers which method."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path

from codeplane import __version__
from codeplane.kernel.actor import Caller
from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.errors import CodePlaneError, TooLarge
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.json_rpc.message import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    Notification,
    Request,
    RpcError,
)
from codeplane.surfaces.json_rpc.peer import Peer
from codeplane.surfaces.json_rpc.socket import Connection
from codeplane.surfaces.lsp.approvals import ask_about_call
from codeplane.surfaces.lsp.assistant import Assistant
from codeplane.surfaces.lsp.client_features import ClientFeatures
from codeplane.surfaces.lsp.commands import COMMANDS, Commands
from codeplane.surfaces.lsp.diagnostics import Diagnostics
from codeplane.surfaces.lsp.documents import Document
from codeplane.surfaces.lsp.editor import REQUEST_FAILED, Editor, uri_of
from codeplane.surfaces.lsp.folders import Folder, Folders
from codeplane.surfaces.lsp.index_progress import IndexProgress
from codeplane.surfaces.lsp.lenses import Lenses
from codeplane.surfaces.lsp.navigation import Navigation
from codeplane.surfaces.lsp.plane_calls import PlaneCalls
from codeplane.surfaces.lsp.rename import Rename
from codeplane.surfaces.lsp.structure import TOKEN_MODIFIERS, TOKEN_TYPES, Structure
from codeplane.surfaces.lsp.symbols import Symbols
from codeplane.surfaces.lsp.text import BadEdit

_NOT_INITIALIZED = -32002
_WARNING = 2
_INCREMENTAL = 2

Method = Callable[[JsonObject], Awaitable[JsonValue]]


class LspSession:
    """The state of one connection."""

    def __init__(self, connection: Connection, peer: Peer, *, conveyor: Conveyor, root: Path) -> None:
        self._connection = connection
        self._peer = peer
        self._conveyor = conveyor
        self._root = root
        self._editor: Editor | None = None
        self._methods: Mapping[str, Method] = {}
        self._is_shut_down = False
        self._diagnostics: Diagnostics | None = None
        self._assistant: Assistant | None = None
        self._index_progress: IndexProgress | None = None

    async def handle_request(self, request: Request) -> JsonValue:
        """Answer a request."""
        if request.method == "initialize":
            return await self._initialize(request.params)
        if self._editor is None:
            raise RpcError(_NOT_INITIALIZED, "`initialize` has to come first")
        if request.method == "shutdown":
            self._is_shut_down = True
            return None
        if self._is_shut_down:
            raise RpcError(INVALID_REQUEST, "the server was shut down")
        method = self._methods.get(request.method)
        if method is None:
            raise RpcError(METHOD_NOT_FOUND, f"there is no method {request.method[:100]!r}")
        return await method(request.params)

    async def handle_notification(self, notification: Notification) -> None:
        """Take note of what the client has opened, changed or cancelled."""
        if self._editor is None:
            # `initialize` may have come just before, and begins in the next round of the loop.
            await asyncio.sleep(0)
        params, editor = notification.params, self._editor
        if notification.method == "$/cancelRequest":
            request_id = params.get("id")
            if isinstance(request_id, int | str):
                self._peer.cancel(request_id)
        elif editor is None:
            return
        elif notification.method == "initialized":
            if self._index_progress is not None:
                self._index_progress.begin()
        elif notification.method == "textDocument/didOpen":
            await self._open(editor, params)
        elif notification.method == "textDocument/didChange":
            await self._change(editor, params)
        elif notification.method == "textDocument/didClose":
            editor.documents.close(uri_of(params))
            if self._diagnostics is not None:
                await self._diagnostics.clear(uri_of(params))
        elif notification.method == "workspace/didChangeWorkspaceFolders":
            await self._find_folders(editor, params)

    def error_of(self, error: CodePlaneError) -> RpcError:
        """Return an error as the protocol shows it."""
        code = INVALID_PARAMS if error.rpc == "invalid_argument" else REQUEST_FAILED
        return RpcError(code, f"{error.name}: {error.message}\nhint: {error.hint}", data=error.to_wire())

    async def end(self) -> None:
        """End what was looked at; tasks go on, and `cpl work` shows them."""
        if self._diagnostics is not None:
            await self._diagnostics.end()
        if self._assistant is not None:
            await self._assistant.end()
        if self._index_progress is not None:
            await self._index_progress.end()

    async def _initialize(self, params: JsonObject) -> JsonObject:
        if self._editor is not None:
            raise RpcError(INVALID_REQUEST, "`initialize` was sent before")
        features = ClientFeatures.of(params)
        caller = Caller(
            surface="lsp",
            connection_id=f"lsp:{self._connection.connection_id}",
            client=features.name,
            token=self._connection.token,
            client_secret=self._connection.client_secret,
        )
        asks = features.approves_tools
        editor = Editor(
            peer=self._peer,
            plane=PlaneCalls(self._conveyor, caller, partial(ask_about_call, self._peer) if asks else None),
            features=features,
            folders=Folders([Folder(root=self._root, workspace="")]),
        )
        navigation, symbols, structure = Navigation(editor), Symbols(editor), Structure(editor)
        renames, lenses = Rename(editor), Lenses(editor)
        self._diagnostics = diagnostics = Diagnostics(editor)
        commands = Commands(editor, diagnostics)
        self._assistant = assistant = Assistant(editor)
        self._index_progress = IndexProgress(editor)
        self._methods = {
            "textDocument/foldingRange": structure.folding_ranges,
            "textDocument/selectionRange": structure.selection_ranges,
            "textDocument/semanticTokens/full": structure.semantic_tokens,
            "textDocument/prepareRename": renames.prepare,
            "textDocument/rename": renames.rename,
            "textDocument/codeAction": commands.actions,
            "workspace/executeCommand": commands.execute,
            "textDocument/codeLens": lenses.lenses,
            "codeLens/resolve": lenses.resolve,
            "codeplane/ask": assistant.ask,
            "codeplane/executeTask": assistant.execute_task,
            "codeplane/cancelTask": assistant.cancel_task,
            "codeplane/list": assistant.list_rows,
            "textDocument/definition": navigation.definition,
            "textDocument/declaration": navigation.declaration,
            "textDocument/typeDefinition": navigation.type_definition,
            "textDocument/implementation": navigation.implementation,
            "textDocument/references": navigation.references,
            "textDocument/documentHighlight": navigation.highlight,
            "textDocument/hover": navigation.hover,
            "textDocument/documentSymbol": symbols.document_symbols,
            "workspace/symbol": symbols.workspace_symbols,
        }
        # Before anything is waited for: what the client sends next is for this editor already.
        self._editor = editor
        await self._find_folders(editor, params)
        return {"capabilities": _capabilities(features), "serverInfo": {"name": "CodePlane", "version": __version__}}

    async def _find_folders(self, editor: Editor, params: JsonObject) -> None:
        """Find the workspaces behind the client's folders; tell of those that are none."""
        listed = await editor.plane.call("workspace.list", {})
        workspaces = listed.get("workspaces")
        attached = [each for each in workspaces if isinstance(each, dict)] if isinstance(workspaces, list) else []
        editor.folders = Folders(
            [
                Folder(root=self._root, workspace=""),
                *(
                    Folder(root=Path(str(each["root"])), workspace=str(each["name"]))
                    for each in attached
                    if each.get("root")
                ),
            ]
        )
        event = params.get("event")
        named = event.get("added") if isinstance(event, dict) else params.get("workspaceFolders")
        for folder in named if isinstance(named, list) else ():
            uri = folder.get("uri") if isinstance(folder, dict) else None
            if isinstance(uri, str) and not editor.folders.covers(uri):
                note = f"{uri} is no workspace of this CodePlane: cpl call workspace.attach path=… adds it"
                await self._peer.notify("window/showMessage", {"type": _WARNING, "message": note})

    def _look_soon(self, document: Document | None) -> None:
        if document is not None and self._diagnostics is not None:
            self._diagnostics.look_soon(document)

    async def _open(self, editor: Editor, params: JsonObject) -> None:
        document = params.get("textDocument")
        text = document.get("text") if isinstance(document, dict) else None
        version = document.get("version") if isinstance(document, dict) else None
        if not isinstance(text, str):
            raise RpcError(INVALID_PARAMS, "`textDocument.text` has to be a text")
        uri = uri_of(params)
        place = editor.folders.place(uri)
        path, workspace = (place.path, place.workspace) if place is not None else (None, "")
        try:
            number = version if isinstance(version, int) else 0
            self._look_soon(editor.documents.open(uri, path, workspace, number, text))
        except TooLarge as error:
            note = f"{uri} was not opened, and its unsaved text is not seen: {error}"
            await self._peer.notify("window/showMessage", {"type": _WARNING, "message": note})

    async def _change(self, editor: Editor, params: JsonObject) -> None:
        uri, changes = uri_of(params), params.get("contentChanges")
        document = params.get("textDocument")
        version = document.get("version") if isinstance(document, dict) else None
        try:
            if not isinstance(changes, list):
                raise BadEdit("`contentChanges` has to be a list")
            number = version if isinstance(version, int) else 0
            self._look_soon(editor.documents.change(uri, number, changes, editor.features.encoding))
        except (BadEdit, TooLarge) as error:
            # Its text is not known any more: better none than a wrong one.
            editor.documents.close(uri)
            note = f"a change of {uri} was refused, and its unsaved text is not seen until it is opened again: {error}"
            await self._peer.notify("window/showMessage", {"type": _WARNING, "message": note})


def _capabilities(features: ClientFeatures) -> JsonObject:
    return {
        "positionEncoding": features.encoding,
        "textDocumentSync": {"openClose": True, "change": _INCREMENTAL, "save": {"includeText": False}},
        "definitionProvider": True,
        "declarationProvider": True,
        "typeDefinitionProvider": True,
        "implementationProvider": True,
        "referencesProvider": True,
        "documentHighlightProvider": True,
        "hoverProvider": True,
        "documentSymbolProvider": True,
        "workspaceSymbolProvider": True,
        "foldingRangeProvider": True,
        "selectionRangeProvider": True,
        "renameProvider": {"prepareProvider": True},
        "codeActionProvider": {"codeActionKinds": ["refactor", "refactor.move", "refactor.rewrite", "source"]},
        "executeCommandProvider": {"commands": list(COMMANDS)},
        "codeLensProvider": {"resolveProvider": True},
        "semanticTokensProvider": {
            "legend": {"tokenTypes": list(TOKEN_TYPES), "tokenModifiers": list(TOKEN_MODIFIERS)},
            "full": True,
        },
        "workspace": {"workspaceFolders": {"supported": True, "changeNotifications": True}},
        "experimental": {
            "codeplane": {
                "version": __version__,
                "methods": ["codeplane/ask", "codeplane/executeTask", "codeplane/cancelTask", "codeplane/list"],
                "notifications": ["$/codeplane/partial", "$/codeplane/unknown", "$/codeplane/taskProgress"],
                "asks": ["codeplane/approveTool"],
            }
        },
    }
