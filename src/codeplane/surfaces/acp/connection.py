"""One ACP connection: the handshake, and then the dialect that it has chosen."""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from codeplane import __version__
from codeplane.kernel.client_servers import ServerOffers
from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.errors import CodePlaneError, NotInitialized
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.acp.door import AcpDoor
from codeplane.surfaces.acp.editor_files import EditorFiles
from codeplane.surfaces.acp.errors import rpc_error, seed_error
from codeplane.surfaces.acp.methods_v1 import MethodsV1
from codeplane.surfaces.acp.methods_v2 import MethodsV2
from codeplane.surfaces.acp.options import SessionOptions
from codeplane.surfaces.acp.requests import Initialize, parse
from codeplane.surfaces.acp.seed_dialect import SeedDialect
from codeplane.surfaces.acp.seed_llm import ModelQuestions
from codeplane.surfaces.json_rpc.message import Notification, Request, RpcError
from codeplane.surfaces.json_rpc.peer import Answer, Peer
from codeplane.surfaces.json_rpc.socket import Connection

INFO: JsonObject = {"name": "codeplane", "title": "CodePlane", "version": __version__}


class Dialect(Protocol):
    """A version of the protocol, once it is agreed on."""

    async def handle_request(self, request: Request) -> JsonValue | Answer:
        """Answer a request."""
        ...

    async def handle_notification(self, notification: Notification) -> None:
        """Take note of something."""
        ...

    async def end(self) -> None:
        """Release what the connection holds."""
        ...


class AcpConnection:
    """The state of one client's connection."""

    def __init__(
        self,
        connection: Connection,
        peer: Peer,
        *,
        conveyor: Conveyor,
        root: Path,
        mode: str,
        context_tokens: int,
        on_disconnect: Callable[[str], None],
        offers: ServerOffers,
        reads_editor: bool,
        questions: ModelQuestions,
    ) -> None:
        self._peer = peer
        self._root = root
        self._mode = mode
        self._reads_editor = reads_editor
        self._questions = questions
        self._context_tokens = context_tokens
        self._on_disconnect = on_disconnect
        self._door = AcpDoor(conveyor, connection, offers)
        self._offers_v2 = connection.query.get("v2") == "true"
        self._dialect: Dialect | None = None

    async def handle_request(self, request: Request) -> JsonValue | Answer:
        """Answer a request; the first one has to be `initialize`."""
        if request.method == "initialize":
            if self._dialect is not None:
                raise NotInitialized("this connection is initialized already")
            return await self._initialize(request.params)
        if self._dialect is None:
            raise NotInitialized(f"{request.method[:100]} came before initialize")
        return await self._dialect.handle_request(request)

    async def handle_notification(self, notification: Notification) -> None:
        """Take note of something; before the handshake, of nothing."""
        if self._dialect is not None:
            await self._dialect.handle_notification(notification)

    def error_of(self, error: CodePlaneError) -> RpcError:
        """Return an error as ACP shows it."""
        return seed_error(error) if isinstance(self._dialect, SeedDialect) else rpc_error(error)

    async def end(self) -> None:
        """Release what the connection holds; threads and turns go on."""
        if self._dialect is not None:
            await self._dialect.end()
        self._on_disconnect(self._door.connection_id)

    async def _initialize(self, params: JsonObject) -> JsonValue | Answer:
        options = SessionOptions(self._door, mode=self._mode)
        if "protocol_version" in params:
            seed = SeedDialect(self._door, self._peer, root=self._root, options=options, questions=self._questions)
            try:
                seed.agree(params)
            except CodePlaneError as error:
                raise seed.error_of(error) from None
            # Before anything is waited for: the client's next request may be here already.
            self._dialect = seed
            return await seed.greeting(INFO)
        asked = parse(Initialize, params)
        self._door.set_client(asked.client_name)
        # A draft: only for clients that ask for it, where the connection's starter offers it.
        if self._offers_v2 and asked.protocol_version >= 2:
            second = MethodsV2(
                self._door, self._peer, root=self._root, options=options, context_tokens=self._context_tokens
            )
            self._dialect = second
            return second.initialized(INFO)
        # In version 2 clients have no files to offer.
        is_read = self._reads_editor and asked.client_capabilities.fs.read_text_file
        self._dialect = methods = MethodsV1(
            self._door,
            self._peer,
            root=self._root,
            options=options,
            context_tokens=self._context_tokens,
            files=EditorFiles(self._door, self._peer, root=self._root) if is_read else None,
        )
        return methods.initialized(INFO)
