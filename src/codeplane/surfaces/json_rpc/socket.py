"""A WebSocket that carries JSON-RPC, one message a frame."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState
from structlog.typing import FilteringBoundLogger

from codeplane.kernel.ids import new_id
from codeplane.surfaces.json_rpc.message import RpcError, error_text
from codeplane.surfaces.json_rpc.peer import CANCEL_BY, Handler, Peer
from codeplane.surfaces.services.caller import bearer

CLIENT_HEADER = "x-codeplane-client"
# One message that is not taken in this time, and the connection ends: its client resumes where it was.
TAKE_SEC = 30.0
# For answers that are under way when the client has sent everything.
LAST_ANSWERS_SEC = 30.0
_CLOSE_SEC = 1.0
_NORMAL, _GOING_AWAY, _TRY_AGAIN = 1000, 1001, 1013
_BINARY = RpcError(-32600, "a message has to be a text frame")


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """The opener of a socket, and how it was opened."""

    connection_id: str
    token: str | None
    client_secret: str | None
    query: dict[str, str]


class Session(Handler, Protocol):
    """The state of one connection."""

    async def end(self) -> None:
        """Release what the connection holds; it has ended."""
        ...


class JsonRpcSocket:
    """Serves one protocol at one path."""

    def __init__(
        self,
        path: str,
        open_session: Callable[[Connection, Peer], Session],
        *,
        stopping: asyncio.Event,
        logger: FilteringBoundLogger,
        last_answers_sec: float = LAST_ANSWERS_SEC,
        needs_version: bool = True,
        cancel_by: tuple[str, str] = CANCEL_BY,
    ) -> None:
        """`needs_version` is whether messages have to say the version of JSON-RPC; `cancel_by` is as for Peer."""
        self._cancel_by = cancel_by
        self._path = path
        self._open_session = open_session
        self._stopping = stopping
        self._logger = logger
        self._last_answers_sec = last_answers_sec
        self._needs_version = needs_version

    def routes(self) -> list[WebSocketRoute]:
        """Return the route."""
        return [WebSocketRoute(self._path, self._serve)]

    async def _serve(self, socket: WebSocket) -> None:
        # The guard has checked it before.
        connection = Connection(
            connection_id=new_id("conn"),
            token=bearer(socket.headers.getlist("authorization")),
            client_secret=socket.headers.get(CLIENT_HEADER),
            query=dict(socket.query_params),
        )
        await socket.accept()
        outlet = _Outlet(socket)
        peer = Peer(
            outlet.send, log_failure=self._log_failure, needs_version=self._needs_version, cancel_by=self._cancel_by
        )
        session = self._open_session(connection, peer)
        reading = asyncio.ensure_future(self._read(socket, peer, session))
        stopping = asyncio.ensure_future(self._stopping.wait())
        slow = asyncio.ensure_future(outlet.is_stuck.wait())
        ends: set[asyncio.Future[object]] = {reading, stopping, slow}  # type: ignore[arg-type]  # only read here
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for end in ends:
                end.cancel()
            await asyncio.wait(ends)
            await peer.close()
            await session.end()
        if outlet.is_stuck.is_set():
            await _close(socket, _TRY_AGAIN, "too slow; go on where you were")
        elif self._stopping.is_set():
            await _close(socket, _GOING_AWAY, "the server is ending")
        else:
            await _close(socket, _NORMAL, "")

    async def _read(self, socket: WebSocket, peer: Peer, session: Session) -> None:
        """Take messages until the client has left, or says by an empty one that there are no more."""
        while (message := await socket.receive())["type"] != "websocket.disconnect":
            text = message.get("text")
            if text is None:
                await socket.send_text(error_text(None, _BINARY))
            elif not text:
                await peer.drain(self._last_answers_sec)
                return
            else:
                await peer.receive(text, session)

    def _log_failure(self, method: str, error: Exception) -> None:
        self._logger.error("a request failed", path=self._path, method=method[:100], exc_info=error)


class _Outlet:
    """Sends messages, and notices a client that takes none."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket
        self.is_stuck = asyncio.Event()

    async def send(self, text: str) -> None:
        if not _is_open(self._socket):
            return
        try:
            async with asyncio.timeout(TAKE_SEC):
                await self._socket.send_text(text)
        except TimeoutError:
            self.is_stuck.set()
        except (WebSocketDisconnect, RuntimeError, OSError):
            return


def _is_open(socket: WebSocket) -> bool:
    return WebSocketState.DISCONNECTED not in (socket.application_state, socket.client_state)


async def _close(socket: WebSocket, code: int, reason: str) -> None:
    if _is_open(socket):
        try:
            async with asyncio.timeout(_CLOSE_SEC):
                await socket.close(code, reason)
        except (TimeoutError, WebSocketDisconnect, RuntimeError, OSError):
            return
