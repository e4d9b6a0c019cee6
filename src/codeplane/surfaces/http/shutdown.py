"""Ending open streams when the server stops."""

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from codeplane.kernel.errors import ShuttingDown
from codeplane.surfaces.http.responses import error_response
from codeplane.surfaces.http.sse import shutdown_message


class UntilShutdown:
    """Runs an ASGI application until an event is set; then sends `shutdown` on its stream and ends it."""

    def __init__(self, app: ASGIApp, event: asyncio.Event, *, announce: bool) -> None:
        self._app = app
        self._event = event
        self._announce = announce

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started, ended = False, False

        async def watch(message: Message) -> None:
            nonlocal started, ended
            started = True
            ended = message["type"] == "http.response.body" and not message.get("more_body")
            await send(message)

        serving = asyncio.ensure_future(self._app(scope, receive, watch))
        ending = asyncio.ensure_future(self._event.wait())
        try:
            await asyncio.wait({serving, ending}, return_when=asyncio.FIRST_COMPLETED)
            if serving.done():
                await serving
                return
            serving.cancel()
            await asyncio.wait({serving})
            if not started:
                await error_response(ShuttingDown("the server is ending"))(scope, receive, send)
            elif not ended:
                body = shutdown_message().encode() if self._announce else b""
                await send({"type": "http.response.body", "body": body, "more_body": False})
        finally:
            ending.cancel()
            if not serving.done():
                serving.cancel()
                await asyncio.wait({serving})
