"""`/lsp`: the Language Server Protocol over a WebSocket, and over stdio by `cpl lsp`."""

import asyncio
from pathlib import Path

from starlette.routing import WebSocketRoute
from structlog.typing import FilteringBoundLogger

from codeplane.kernel.conveyor import Conveyor
from codeplane.surfaces.json_rpc.peer import Peer
from codeplane.surfaces.json_rpc.socket import Connection, JsonRpcSocket
from codeplane.surfaces.lsp.session import LspSession


class LspSurface:
    """Serves editors."""

    def __init__(
        self, *, conveyor: Conveyor, root: Path, stopping: asyncio.Event, logger: FilteringBoundLogger
    ) -> None:
        self._conveyor = conveyor
        self._root = root
        self._socket = JsonRpcSocket(
            "/lsp", self._open, stopping=stopping, logger=logger, cancel_by=("$/cancelRequest", "id")
        )

    def routes(self) -> list[WebSocketRoute]:
        """Return the route."""
        return self._socket.routes()

    def _open(self, connection: Connection, peer: Peer) -> LspSession:
        return LspSession(connection, peer, conveyor=self._conveyor, root=self._root)
