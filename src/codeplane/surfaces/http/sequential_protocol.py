"""HTTP/1.1 that parses the next request of a connection once the one before it is answered.

uvicorn parses everything that was read at once, and queues a request for each 40 bytes of it. Here the bytes behind a
whole request wait as bytes, and nothing more is read while they do.
"""

import re
from typing import Any

from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from codeplane.surfaces.http.target import AddressedProtocol

# The end of a head, and of a chunked body.
_END = b"\r\n\r\n"
_BLANK_LINES = re.compile(rb"[\r\n]*")


class _HeldFlow(FlowControl):
    """Reads nothing while bytes wait, also when the application asks whether its client is still there."""

    _is_held = False

    def hold(self, is_held: bool) -> None:
        was_held, self._is_held = self._is_held, is_held
        if is_held:
            self.pause_reading()
        elif was_held and not self._transport.is_closing():
            self.resume_reading()

    def resume_reading(self) -> None:
        if not self._is_held:
            super().resume_reading()


class SequentialProtocol(AddressedProtocol):
    """One request under way; at most one more is parsed, where its head was read together with the end of a body."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._pending, self._offset = b"", 0
        self._is_whole = True
        self._is_upgraded = False
        # What is left of a body whose length is known.
        self._body_left = 0
        self._running: RequestResponseCycle | None = None

    def connection_made(self, transport: Any) -> None:
        """Take over the flow of what is read."""
        super().connection_made(transport)
        self.flow = self._held_flow = _HeldFlow(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell the request under way: uvicorn tells the one that was parsed last."""
        self._pending, self._offset = b"", 0
        if self._running is not None and not self._running.response_complete:
            self._running.disconnected = True
            self._running.message_event.set()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse what came, up to the end of the first request."""
        self._pending = self._pending[self._offset :] + data if self._has_pending else data
        self._offset = 0
        self._parse()

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self._is_whole = False

    def on_headers_complete(self) -> None:
        """Its body begins."""
        # The parser has refused lengths that are no numbers or contradict each other.
        lengths = [value for name, value in self.headers if name == b"content-length"]
        self._body_left = int(lengths[0]) if lengths else 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A part of its body."""
        self._body_left -= len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The request is whole."""
        self._is_whole, self._body_left = True, 0
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Go on with what waited."""
        super().on_response_complete()
        self._parse()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._running = cycle
        if (delay := self._request_delay()) > 0:
            self.loop.call_later(delay, self._start_late, cycle, app)
        else:
            super()._start_asgi_task(cycle, app)

    def _start_late(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        if not self.transport.is_closing():
            super()._start_asgi_task(cycle, app)

    def _request_delay(self) -> float:
        """How many seconds the next request has to wait for its turn."""
        return 0.0

    def _feed(self, piece: bytes) -> None:
        """Parse a piece that holds the end of at most one head."""
        super().data_received(piece)

    def _unsupported_upgrade_warning(self) -> None:
        """No HTTP follows a request for another protocol: it is answered, and that is the end."""
        self._is_upgraded = True
        self.cycle.keep_alive = False

    @property
    def _has_pending(self) -> bool:
        return self._offset < len(self._pending)

    @property
    def _is_busy(self) -> bool:
        """Whether a whole request waits for its answer."""
        is_answered = self._running is None or self._running.response_complete
        return bool(self.pipeline) or (self._is_whole and not is_answered)

    def _parse(self) -> None:
        while self._has_pending and not self._is_busy:
            if self._is_upgraded or self.transport.is_closing() or self.transport.get_protocol() is not self:
                self._pending, self._offset = b"", 0
                break
            if piece := self._next_piece():
                self._feed(piece)
        self._held_flow.hold(self._has_pending)

    def _next_piece(self) -> bytes:
        """The bytes up to where a request may end."""
        start = self._offset
        if self._is_whole and (blank := _BLANK_LINES.match(self._pending, start)):
            # Allowed before a request, and not worth a piece for every two of them.
            start = blank.end()
        if self._body_left > 0:
            end = start + self._body_left
        else:
            found = self._pending.find(_END, start)
            end = found + len(_END) if found >= 0 else len(self._pending)
        self._offset = min(end, len(self._pending))
        return self._pending[start : self._offset]
