"""`/acp`: ACP over a WebSocket, and over stdio by `cpl acp`."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from starlette.routing import WebSocketRoute
from structlog.typing import FilteringBoundLogger

from codeplane.kernel.client_servers import ServerOffers
from codeplane.kernel.conveyor import Conveyor
from codeplane.surfaces.acp.connection import AcpConnection
from codeplane.surfaces.acp.seed_llm import ModelQuestions
from codeplane.surfaces.json_rpc.peer import Peer
from codeplane.surfaces.json_rpc.socket import Connection, JsonRpcSocket


class AcpSurface:
    """Serves ACP clients."""

    def __init__(
        self,
        *,
        conveyor: Conveyor,
        root: Path,
        mode: str,
        context_tokens: int,
        on_disconnect: Callable[[str], None],
        offers: ServerOffers,
        reads_editor: bool,
        stopping: asyncio.Event,
        logger: FilteringBoundLogger,
    ) -> None:
        """`mode` is what the owner's settings ask about; a model is shown `context_tokens` at most; `offers` holds the
        MCP servers that clients bring along; `reads_editor` allows reading files from editors."""
        self._mode = mode
        self._context_tokens = context_tokens
        self._on_disconnect = on_disconnect
        self._offers = offers
        self._reads_editor = reads_editor
        self._questions = ModelQuestions()
        self._conveyor = conveyor
        self._root = root
        self._socket = JsonRpcSocket("/acp", self._open, stopping=stopping, logger=logger)

    def routes(self) -> list[WebSocketRoute]:
        """Return the route."""
        return self._socket.routes()

    def _open(self, connection: Connection, peer: Peer) -> AcpConnection:
        return AcpConnection(
            connection,
            peer,
            conveyor=self._conveyor,
            root=self._root,
            mode=self._mode,
            context_tokens=self._context_tokens,
            on_disconnect=self._on_disconnect,
            offers=self._offers,
            reads_editor=self._reads_editor,
            questions=self._questions,
        )
