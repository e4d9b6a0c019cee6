"""HTTP/1.1 with limits on a request's head, on its framing, and on the time both may take."""

import time
from enum import Enum
from typing import Any, NoReturn

from starlette.types import Scope
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import STATUS_LINE
from uvicorn.server import ServerState

from codeplane.kernel.config import ServerConfig
from codeplane.kernel.errors import CodePlaneError, HeadersTooLarge, MalformedRequest, RequestTooSlow
from codeplane.kernel.json import dumps
from codeplane.surfaces.connections.connections import Connection
from codeplane.surfaces.http.lingering_protocol import LingeringProtocol

KEEP_ALIVE_SEC = 75
_VERSIONS = frozenset({"1.0", "1.1"})
# Uploads that last as long as their client: once it has started to send, it may pause.
LASTING_UPLOADS = frozenset({"/mcp/stdio"})
# What a WebSocket finds in its state.
CONNECTION, HEADERS = "connection", "default_headers"
# A body has one second more for so many bytes of it that have come, up to so many times its timeout.
_BYTES_A_SEC = 500
_LONGEST_BODY = 30
# What chunks may take beside the body they hold, and a quarter of the body more.
_FRAMING_BYTES = 65_536
# After the answer, so much of an unread body is still parsed, for so long, in case its end is near.
_SURPLUS_BYTES = 16_384
_SURPLUS_SEC = 2.0
# So many times the largest body is read and dropped at the end, for the owner's programs to see that theirs was larger.
_OWN_LINGERING = 8


def connection_of(scope: Scope) -> Connection | None:
    """Return the connection of a request, if the server counts it."""
    connection = scope.get("state", {}).get(CONNECTION)
    return connection if isinstance(connection, Connection) else None


class _Stage(Enum):
    BETWEEN = "between two requests"
    HEAD = "in the head of one"
    BODY = "in its body"


class BoundedProtocol(LingeringProtocol):
    """Closes a connection whose client is too slow or sends too long a head."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        *,
        connection: Connection,
        bounds: ServerConfig,
        own_headers: list[tuple[bytes, bytes]],
    ) -> None:
        """`own_headers` are added to answers for the owner's account."""
        headers = [*server_state.default_headers, *(own_headers if connection.is_own else ())]
        state = {**app_state, CONNECTION: connection, HEADERS: headers}
        lingering = bounds.max_body_bytes * (_OWN_LINGERING if connection.is_own else 1)
        super().__init__(config, server_state, state, max_lingering_bytes=lingering)
        self._default_headers = headers
        self._connection = connection
        self._bounds = bounds
        self._stage, self._since = _Stage.HEAD, time.monotonic()
        self._head_bytes = self._partial_head_bytes = self._body_bytes = self._framing_bytes = 0
        self._surplus_bytes = 0
        self._refusal: CodePlaneError | None = None

    def connection_made(self, transport: Any) -> None:
        """Expect the first head."""
        super().connection_made(transport)
        self._connection.expire = self._expire
        self._connection.close = transport.abort
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """Release the connection's place."""
        self._connection.release()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self) -> None:
        """Become a WebSocket, which counts until it ends and waits its turn as a request does."""
        self._connection.close = self._connection.expire = self.transport.abort
        # Nothing may come before the answer.
        self._is_upgraded = True
        if (delay := self._request_delay()) > 0:
            self.loop.call_later(delay, self._upgrade)
        else:
            self._upgrade()

    def on_message_begin(self) -> None:
        """Start the deadline of a request's head."""
        super().on_message_begin()
        self._enter(_Stage.HEAD)
        self._head_bytes = self._partial_head_bytes = self._body_bytes = self._framing_bytes = 0
        self._surplus_bytes = 0

    def on_url(self, url: bytes) -> None:
        """Count a part of the target."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count a header; ignore trailers, because the request is already being served."""
        if self._stage is _Stage.BODY:
            self._count(len(name) + len(value) + 4)
            return
        if len(self.headers) >= self._bounds.max_headers:
            self._refuse_head(f"the request has more than {self._bounds.max_headers} headers", "server.max_headers")
        self._count(len(name) + len(value) + 4)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Check the complete head."""
        self._check_framing()
        self._enter(_Stage.BODY)
        super().on_headers_complete()
        if self.cycle is not None:
            self.cycle.default_headers = self._default_headers

    def on_body(self, body: bytes) -> None:
        """Handle a part of the body."""
        self._body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Handle the end of a request."""
        self._enter(_Stage.BETWEEN)
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Expect the next request, once this one is complete."""
        if self._is_surplus:
            self._since = time.monotonic()
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """Answer a request that cannot be parsed or is too long."""
        if self._refusal is None and self._partial_head_bytes > self._bounds.max_header_bytes:
            self._refusal = self._head_too_long()
        self._refuse(self._refusal or MalformedRequest(msg))

    def _upgrade(self) -> None:
        if not self.is_ended:
            super().handle_websocket_upgrade()

    def _request_delay(self) -> float:
        return self._connection.request_delay()

    def _parse(self) -> None:
        super()._parse()
        self._look()

    def _feed(self, piece: bytes) -> None:
        was_in_body, body_bytes = self._stage is _Stage.BODY, self._body_bytes
        super()._feed(piece)
        self._partial_head_bytes = self._partial_head_bytes + len(piece) if self._stage is _Stage.HEAD else 0
        if self.is_ended:
            return
        if self._partial_head_bytes > self._bounds.max_header_bytes:
            self.send_400_response("")
        elif was_in_body and self._stage is _Stage.BODY:
            self._count_body(len(piece), framing=len(piece) - self._body_bytes + body_bytes)

    def _count_body(self, size: int, *, framing: int) -> None:
        self._framing_bytes += framing
        if self._is_surplus:
            self._surplus_bytes += size
            if self._surplus_bytes > _SURPLUS_BYTES:
                self.end()
        elif self._framing_bytes > _FRAMING_BYTES + self._body_bytes / 4 and not self._is_lasting_upload:
            self._refuse(
                MalformedRequest("the chunks of the body are too small", hint="send the body in fewer, larger chunks")
            )

    def _linger(self) -> None:
        super()._linger()
        # It can be evicted.
        self._connection.wait_until(float("inf"))

    def _enter(self, stage: _Stage) -> None:
        self._stage, self._since = stage, time.monotonic()

    def _look(self) -> None:
        """Set what is expected from the client, and the deadline."""
        if self.is_ended or self.transport.get_protocol() is not self:
            return
        cycle, bounds = self.cycle, self._bounds
        is_served = bool(self.pipeline) or (cycle is not None and not cycle.response_complete)
        if self._is_surplus:
            self._connection.wait_until(self._since + _SURPLUS_SEC)
        elif self._stage is _Stage.BODY and not self.pipeline and not (is_served and self._lasts):
            allowed_sec = bounds.body_timeout_sec + self._body_bytes / _BYTES_A_SEC
            self._connection.wait_until(self._since + min(allowed_sec, bounds.body_timeout_sec * _LONGEST_BODY))
        elif is_served:
            self._connection.serve()
        elif self._stage is _Stage.HEAD:
            self._connection.wait_until(self._since + bounds.header_timeout_sec)
        else:
            self._connection.wait_until(time.monotonic() + KEEP_ALIVE_SEC)

    @property
    def _lasts(self) -> bool:
        return self._body_bytes > 0 and self._is_lasting_upload

    @property
    def _is_lasting_upload(self) -> bool:
        return self.scope.get("path") in LASTING_UPLOADS

    @property
    def _is_surplus(self) -> bool:
        """Return whether the request is answered while its body is still arriving."""
        return self._stage is _Stage.BODY and self.cycle is not None and self.cycle.response_complete

    def _expire(self) -> None:
        """End a late client, unless it was the server that did not read."""
        if self.is_ended or self._is_surplus:
            self.transport.abort()
        elif self._stage is _Stage.BODY and self._is_body_held:
            self._since = time.monotonic()
            self._look()
        elif self._stage is _Stage.BETWEEN or (self._stage is _Stage.HEAD and self._partial_head_bytes == 0):
            self.transport.close()
        else:
            part = self._stage.name.lower()
            setting = "server.header_timeout_sec" if self._stage is _Stage.HEAD else "server.body_timeout_sec"
            self._refuse(
                RequestTooSlow(f"the {part} of the request did not come in time", details={"setting": setting})
            )

    def _count(self, size: int) -> None:
        self._head_bytes += size
        if self._head_bytes > self._bounds.max_header_bytes:
            self._raise(self._head_too_long())

    def _refuse_head(self, message: str, setting: str) -> None:
        self._raise(HeadersTooLarge(message, details={"setting": setting}))

    def _check_framing(self) -> None:
        """Refuse a head with unsupported framing."""
        version = self.parser.get_http_version()
        if version not in _VERSIONS:
            self._raise(MalformedRequest(f"HTTP/{version} is not spoken here", hint="send HTTP/1.1"))
        codings = [value.strip(b" \t").lower() for name, value in self.headers if name == b"transfer-encoding"]
        if codings not in ([], [b"chunked"]):
            self._raise(
                MalformedRequest("the body has a transfer coding that is not known here", hint="send it as chunked")
            )
        if self._should_upgrade() and (codings or self._body_length):
            self._raise(
                MalformedRequest("a request for a WebSocket has a body", hint="send GET without a Content-Length")
            )

    def _raise(self, error: CodePlaneError) -> NoReturn:
        """Leave the parser's callback with an error to answer."""
        self._refusal = error
        raise error

    def _head_too_long(self) -> CodePlaneError:
        limit = self._bounds.max_header_bytes
        return HeadersTooLarge(f"the head is over {limit} bytes", details={"setting": "server.max_header_bytes"})

    def _refuse(self, error: CodePlaneError) -> None:
        """Answer with an error if nothing was answered yet, and close the connection."""
        cycle = self.cycle
        if cycle is not None and not cycle.response_complete:
            cycle.disconnected = True
            cycle.message_event.set()
            if cycle.response_started:
                self.transport.abort()
                return
        self.transport.write(refusal(error, self._default_headers))
        self.end()


def refusal(error: CodePlaneError, headers: list[tuple[bytes, bytes]]) -> bytes:
    """Return an error as a complete HTTP response that closes the connection."""
    body = dumps({"error": error.to_wire()}).encode()
    lines = [b"%b: %b\r\n" % header for header in headers]
    lines.append(b"content-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n" % len(body))
    return b"".join([STATUS_LINE[error.http], *lines, body])
