"""`/app-server`: Codex's thread, turn and item protocol over a WebSocket, and over stdio by `cpl app-server`."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from starlette.routing import WebSocketRoute
from structlog.typing import FilteringBoundLogger

from codeplane.kernel.conveyor import Conveyor
from codeplane.surfaces.app_server.connection import AppServerConnection
from codeplane.surfaces.app_server.thread_methods import ThreadMethods
from codeplane.surfaces.app_server.turn_methods import TurnMethods
from codeplane.surfaces.json_rpc.peer import Peer
from codeplane.surfaces.json_rpc.socket import Connection, JsonRpcSocket


class AppServerSurface:
    """Serves clients of Codex's app server."""

    def __init__(
        self,
        *,
        conveyor: Conveyor,
        root: Path,
        stopping: asyncio.Event,
        logger: FilteringBoundLogger,
        disconnect: Callable[[str], None],
    ) -> None:
        """`disconnect` receives the id of a connection that has ended."""
        self._conveyor = conveyor
        self._root = root
        self._disconnect = disconnect
        self._socket = JsonRpcSocket("/app-server", self._open, stopping=stopping, logger=logger, needs_version=False)

    def routes(self) -> list[WebSocketRoute]:
        """Return the route."""
        return self._socket.routes()

    def _open(self, connection: Connection, peer: Peer) -> AppServerConnection:
        opened = AppServerConnection(
            connection, peer, conveyor=self._conveyor, root=self._root, disconnect=self._disconnect
        )
        opened.methods |= ThreadMethods(opened).methods | TurnMethods(opened).methods
        return opened
