"""MCP messages over HTTP: every answer bounded, nothing packed, and no request to where the server alone points."""

import asyncio
import ipaddress
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from codeplane.adapters.mcp_client import OpenTransport, QuestionLimit
from codeplane.kernel.errors import ToolAnswerRefused, ToolServerUnavailable
from codeplane.kernel.external_tool import ToolListener

if TYPE_CHECKING:
    import httpx2
    from mcp.client._transport import ReadStream, Transport, TransportStreams
    from mcp.shared.message import SessionMessage

_CONNECT_SEC = 30.0
_READ_SEC = 300.0
_EVENTS = "text/event-stream"


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpServer:
    """A server over HTTP, with its secrets filled in."""

    url: str
    headers: Mapping[str, str]
    # Adds a token to requests; None where a header does.
    auth: "httpx2.Auth | None" = None


def http_transport(find: Callable[[], HttpServer], *, max_bytes: int) -> OpenTransport:
    """Messages over HTTP; `find` says where to, and may block."""

    def open_transport(listener: ToolListener, ended: "asyncio.Future[str]") -> "Transport":
        return _http_streams(find, max_bytes, listener, ended)

    return open_transport


@asynccontextmanager
async def _http_streams(
    find: Callable[[], HttpServer], max_bytes: int, listener: ToolListener, ended: "asyncio.Future[str]"
) -> "AsyncIterator[TransportStreams]":
    import anyio
    import httpx2
    import mcp_types as types
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared.message import SessionMessage

    server = await asyncio.to_thread(find)
    client = httpx2.AsyncClient(
        transport=_bounded_transport(server.url, max_bytes),
        # A small packed answer can be huge once it is unpacked.
        headers={"Accept-Encoding": "identity", **server.headers},
        auth=server.auth,
        timeout=httpx2.Timeout(_CONNECT_SEC, read=_READ_SEC),
    )
    to_session, counted = anyio.create_memory_object_stream[SessionMessage | Exception]()

    async def forward(from_server: "ReadStream[SessionMessage | Exception]") -> None:
        questions = QuestionLimit(listener)
        try:
            async for message in from_server:
                if isinstance(message, SessionMessage) and isinstance(message.message, types.JSONRPCRequest):
                    questions.take(message.message.method)
                await to_session.send(message)
        except ToolAnswerRefused as error:
            if not ended.done():
                ended.set_result(error.message)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return
        to_session.close()

    opened = streamable_http_client(server.url, http_client=client, max_sse_event_size=max_bytes)
    async with client, opened as (from_server, to_server):
        forwarding = asyncio.ensure_future(forward(from_server))
        try:
            yield counted, to_server
        finally:
            forwarding.cancel()
            await asyncio.wait({forwarding})
            to_session.close()
            counted.close()


def is_within_reach(url: str, server_url: str) -> bool:
    """Whether a request may go to an address: the server's own host, or another one by TLS that is no private address.

    The server says where to get a token and where to send a secret for it.
    """
    parts, own = urlsplit(url), urlsplit(server_url)
    if parts.hostname is None or parts.hostname == own.hostname:
        return parts.hostname is not None
    try:
        is_public = ipaddress.ip_address(parts.hostname).is_global
    except ValueError:
        is_public = parts.hostname != "localhost" and not parts.hostname.endswith((".localhost", ".local", ".internal"))
    return parts.scheme == "https" and is_public


def _bounded_transport(server_url: str, max_bytes: int) -> "httpx2.AsyncBaseTransport":
    import httpx2

    class Bounded(httpx2.AsyncBaseTransport):
        """Refuses requests out of reach, packed answers and those that are too long."""

        def __init__(self) -> None:
            self._inner = httpx2.AsyncHTTPTransport()

        async def handle_async_request(self, request: "httpx2.Request") -> "httpx2.Response":
            if not is_within_reach(str(request.url), server_url):
                raise ToolServerUnavailable(f"the server points to {request.url.host}, where nothing is sent")
            response = await self._inner.handle_async_request(request)
            if response.headers.get("content-encoding", "identity") != "identity":
                await response.aclose()
                raise ToolAnswerRefused("the answer is packed, though that was not asked for")
            if not response.headers.get("content-type", "").startswith(_EVENTS):
                assert isinstance(response.stream, httpx2.AsyncByteStream)
                response.stream = BoundedStream(response.stream)
            return response

        async def aclose(self) -> None:
            await self._inner.aclose()

    class BoundedStream(httpx2.AsyncByteStream):
        """A body that ends with an error once it is too long; events are bounded one by one elsewhere."""

        def __init__(self, inner: "httpx2.AsyncByteStream") -> None:
            self._inner = inner

        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for part in self._inner:
                size += len(part)
                if size > max_bytes:
                    raise ToolAnswerRefused(f"an answer has more than {max_bytes} bytes")
                yield part

        async def aclose(self) -> None:
            await self._inner.aclose()

    return Bounded()
