"""`GET /ws/events`: the log as it grows, over a WebSocket, resumable by position."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import cast

from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.errors import CodePlaneError, MalformedRequest, Unauthorized
from codeplane.kernel.json import JsonObject, dumps
from codeplane.kernel.operation import Result
from codeplane.surfaces.ws.hello import Hello

HELLO_SEC = 10.0
# A reader that does not take a message in this time is disconnected; it can resume where it was.
TAKE_SEC = 30.0
_CLOSE_SEC = 1.0
_MAX_MESSAGE = 16_384
_GOING_AWAY, _INTERNAL, _TRY_AGAIN = 1001, 1011, 1013
# Of the range that applications may use: 4000 and the HTTP status.
_REFUSED = 4000
_GAP = 4410

Items = AsyncGenerator[Result | Outcome, None]


class EventSocket:
    """Sends events one by one as fast as they are read, without queueing them."""

    def __init__(
        self, *, conveyor: Conveyor, stopping: asyncio.Event, hello_sec: float = HELLO_SEC, take_sec: float = TAKE_SEC
    ) -> None:
        self._conveyor = conveyor
        self._stopping = stopping
        self._hello_sec = hello_sec
        self._take_sec = take_sec

    def routes(self) -> list[WebSocketRoute]:
        """Return the route."""
        return [WebSocketRoute("/ws/events", self._serve)]

    async def _serve(self, socket: WebSocket) -> None:
        await socket.accept()
        try:
            hello = await self._hello(socket)
        except CodePlaneError as error:
            await self._refuse(socket, error)
            return
        except WebSocketDisconnect:
            return
        watched = self._conveyor.stream("ledger.watch", hello.arguments(), hello.caller(socket))
        sending = asyncio.ensure_future(self._send_all(socket, cast(Items, watched)))
        leaving = asyncio.ensure_future(_wait_for_close(socket))
        stopping = asyncio.ensure_future(self._stopping.wait())
        ends: set[asyncio.Future[object]] = {sending, leaving, stopping}  # type: ignore[arg-type]  # only read here
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for end in ends:
                end.cancel()
            await asyncio.wait(ends)
        if stopping.done() and not stopping.cancelled():
            await self._say(socket, {"type": "shutdown", "reason": "the server is ending"})
            await _close(socket, _GOING_AWAY, "the server is ending")
        elif not sending.cancelled() and sending.exception() is not None:
            await _close(socket, _INTERNAL, "reading the log failed")

    async def _hello(self, socket: WebSocket) -> Hello:
        """Return the reader's introduction, from the first message if the headers have no token."""
        hello = Hello.of_address(socket)
        if hello.token is not None:
            return hello
        try:
            async with asyncio.timeout(self._hello_sec):
                message = await socket.receive()
        except TimeoutError as error:
            raise Unauthorized(
                f"no token came within {self._hello_sec:g} s", hint='send {"token": "…"} as the first message'
            ) from error
        if message["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(int(message.get("code", 1005)))
        text = message.get("text")
        if not isinstance(text, str) or len(text) > _MAX_MESSAGE:
            raise MalformedRequest(f"the first message has to be text of at most {_MAX_MESSAGE} characters")
        return hello.complete(text)

    async def _send_all(self, socket: WebSocket, watched: Items) -> None:
        async with aclosing(watched) as items:
            async for item in items:
                if isinstance(item, Outcome):
                    if item.error is not None:
                        await self._refuse(socket, item.error)
                elif not await self._say(socket, _message(item)):
                    await _close(socket, _TRY_AGAIN, "too slow; go on after the last position")
                    return

    async def _refuse(self, socket: WebSocket, error: CodePlaneError) -> None:
        await self._say(socket, {"type": "error", "error": error.to_wire()})
        await _close(socket, _GAP if error.name == "STREAM_GAP" else _REFUSED + error.http, error.message)

    async def _say(self, socket: WebSocket, message: JsonObject) -> bool:
        """Send a message; return whether the reader took it in time."""
        if not _is_open(socket):
            return True
        try:
            # Not `wait_for`: it can lose a cancellation, and the loop would go on for a reader that has left.
            async with asyncio.timeout(self._take_sec):
                await socket.send_text(dumps(message))
        except TimeoutError:
            return False
        except (WebSocketDisconnect, RuntimeError, OSError):
            return True
        return True


def _message(item: Result) -> JsonObject:
    event = getattr(item, "event", None)
    if event is not None:
        return {"type": "event", "position": event["position"], "event": event}
    gap = getattr(item, "stream_gap", None)
    if gap is not None:
        return {"type": "stream_gap", "stream_gap": gap}
    return {"type": "heartbeat", "position": getattr(item, "heartbeat", None)}


async def _wait_for_close(socket: WebSocket) -> None:
    """Return when the reader has disconnected; ignore its further messages."""
    while (await socket.receive())["type"] != "websocket.disconnect":
        pass


def _is_open(socket: WebSocket) -> bool:
    return WebSocketState.DISCONNECTED not in (socket.application_state, socket.client_state)


async def _close(socket: WebSocket, code: int, reason: str) -> None:
    if _is_open(socket):
        try:
            # A close frame holds 123 bytes.
            async with asyncio.timeout(_CLOSE_SEC):
                await socket.close(code, reason.encode()[:120].decode("utf-8", "ignore"))
        except (TimeoutError, WebSocketDisconnect, RuntimeError, OSError):
            return
