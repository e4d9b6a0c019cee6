"""WebSockets with limits on a client's frames, on their size, and on unsent pongs.

A reader says hello, and then answers pings at most; but a frame may be as small as six bytes, and uvicorn parses all
that was read at once, some 40,000 of them. Here so many are taken at once and so many a second; beyond, the connection
ends. A conversation may send more and longer ones: only clients whom the guard has identified have one.
"""

from dataclasses import dataclass
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from codeplane.kernel.errors import MalformedRequest
from codeplane.surfaces.http.protocol import CONNECTION, HEADERS, refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameLimits:
    """What a client may send; frames are of any kind, whether they hold something or not."""

    message_bytes: int
    burst: int
    frames_a_sec: int
    # What is parsed before frames are counted: of 512 bytes, at most 86 of them.
    piece_bytes: int


_READER = FrameLimits(message_bytes=16_384, burst=32, frames_a_sec=5, piece_bytes=512)
_CONVERSATION = FrameLimits(message_bytes=16 * 1024 * 1024, burst=4096, frames_a_sec=1000, piece_bytes=16_384)
# The paths that carry conversations; the guard identifies their clients before anything else is read.
CONVERSATIONS = frozenset({"/acp", "/lsp", "/app-server"})
MAX_MESSAGE_BYTES = _READER.message_bytes
_INVALID_TEXT, _POLICY = 1007, 1008
# For a client that takes nothing to take why it was ended.
_LAST_BYTES_SEC = 2.0


class BoundedWebSocket(WebSocketsSansIOProtocol):
    """A WebSocket counted among the connections; it can be evicted until its client sends something."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._limits = _READER
        self._frames_left = float(_READER.burst)
        self._counted_at = self.loop.time()
        self._late_pong = b""

    def connection_made(self, transport: Any) -> None:
        """Keep the deadline until the application has identified the client."""
        super().connection_made(transport)
        self.default_headers = self.app_state[HEADERS]
        self.app_state[CONNECTION].wait_until(float("inf"))

    def data_received(self, data: bytes) -> None:
        """Parse what came until there are too many frames; the first is the head of the upgrade."""
        if not self.handshake_initiated:
            # Before the parser takes the head: it fixes the size of the first message then.
            if _path(data) in CONVERSATIONS:
                self.conn.max_message_size = _CONVERSATION.message_bytes
            super().data_received(data)
            if not self.handshake_initiated:
                self._refuse_head()
            return
        piece_bytes = self._limits.piece_bytes
        self.app_state[CONNECTION].serve()
        for start in range(0, len(data), piece_bytes):
            if self.transport.is_closing():
                return
            super().data_received(data[start : start + piece_bytes])

    def handle_events(self) -> None:
        """Handle the frames of a chunk, unless they are too many."""
        now = self.loop.time()
        refilled = min(self._limits.burst, self._frames_left + (now - self._counted_at) * self._limits.frames_a_sec)
        self._counted_at, self._frames_left = now, refilled - len(self.conn.events)
        if self._frames_left < 0:
            self._fail(_POLICY, "too many frames")
        else:
            super().handle_events()

    async def send(self, message: Any) -> None:
        """Send a message; one that accepts a conversation widens what its client may send."""
        if message["type"] == "websocket.accept" and self.scope["path"] in CONVERSATIONS:
            self._limits = _CONVERSATION
            self._frames_left = float(_CONVERSATION.burst)
        await super().send(message)

    def handle_ping(self) -> None:
        """Send a pong; keep only the last ones for a client that does not read."""
        if self.writable.is_set():
            super().handle_ping()
        else:
            self._late_pong = b"".join(self.conn.data_to_send()) or self._late_pong

    def resume_writing(self) -> None:
        """Resume when the client reads again."""
        super().resume_writing()
        if self._late_pong and not self.transport.is_closing():
            self.transport.write(self._late_pong)
        self._late_pong = b""

    def send_receive_event_to_app(self) -> None:
        """Pass a message on, unless it is invalid UTF-8."""
        if self.curr_msg_data_type == "text" and not _is_utf8(b"".join(self.frames)):
            self.logger.debug("a WebSocket message is not UTF-8")
            self._fail(_INVALID_TEXT, "the text is not UTF-8")
        else:
            super().send_receive_event_to_app()

    def connection_lost(self, exc: Exception | None) -> None:
        """Release the connection's place."""
        self.app_state[CONNECTION].release()
        super().connection_lost(exc)

    def _refuse_head(self) -> None:
        """Answer a head that is valid HTTP but not a valid WebSocket request, such as a very long header."""
        error = MalformedRequest("the request for a WebSocket has too many or too long headers")
        self.transport.write(refusal(error, self.default_headers))
        self.transport.close()

    def _fail(self, code: int, reason: str) -> None:
        """Close the connection, with the reason if the handshake was answered."""
        if not self.handshake_complete:
            self.transport.abort()
            return
        self.conn.fail(code, reason)
        self.handle_parser_exception()
        self.loop.call_later(_LAST_BYTES_SEC, self.transport.abort)


def _path(head: bytes) -> str:
    """The path that the head of a request asks for."""
    target = head.partition(b" ")[2].partition(b" ")[0]
    return target.partition(b"?")[0].decode("latin-1")


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True
