"""HTTP/1.1 that parses a connection's next request only when the one before is answered.

uvicorn parses everything that was read at once, and queues a request for each 40 bytes of it. Here the bytes behind a
whole request wait as bytes, and so do those of a body that nobody takes; nothing more is read while they do.
Connections take turns: what one turn parses is bounded.
"""

import asyncio
import re
from collections.abc import Callable
from typing import Any

from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT, FlowControl
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from codeplane.surfaces.http.request_target import TargetHostProtocol

# The end of a head, and of a chunked body.
_END = b"\r\n\r\n"
_BLANK_LINES = re.compile(rb"[\r\n]*")
# A turn ends after so many parts of bodies and pieces of what was read. Where chunks may be as small as a byte, a piece
# is short enough for them to be few.
_TURN_PARTS = 256
_MAX_CHUNKED_PIECE = 4096


class _HeldFlow(FlowControl):
    """Flow control that pauses reading while bytes wait, even when the application checks for a disconnect."""

    _is_held = False

    def __init__(self, transport: asyncio.Transport, on_resume: Callable[[], None]) -> None:
        """`on_resume` is called when the application asks for more while bytes wait."""
        super().__init__(transport)
        self._on_resume = on_resume

    def hold(self, is_held: bool) -> None:
        was_held, self._is_held = self._is_held, is_held
        if is_held:
            self.pause_reading()
        elif was_held and not self._transport.is_closing():
            self.resume_reading()

    def resume_reading(self) -> None:
        if self._is_held:
            self._on_resume()
        else:
            super().resume_reading()


class SequentialProtocol(TargetHostProtocol):
    """Handles one request at a time; at most one more is parsed, if it was read with the end of a body."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._pending, self._offset = b"", 0
        self._is_whole = True
        self._is_upgraded = False
        # What is left of a body whose length is known.
        self._body_left = 0
        self._running: RequestResponseCycle | None = None
        self._is_delayed = False
        self._turn_parts = 0
        self._next_turn: asyncio.Handle | None = None

    @property
    def is_ended(self) -> bool:
        """Whether no further request is answered."""
        return self.transport.is_closing()

    def connection_made(self, transport: Any) -> None:
        """Take over the flow control."""
        super().connection_made(transport)
        self.flow = self._held_flow = _HeldFlow(transport, self._schedule_turn)

    def connection_lost(self, exc: Exception | None) -> None:
        """Notify the request in progress; uvicorn would notify the one parsed last."""
        self._drop_pending()
        if self._running is not None and not self._running.response_complete:
            self._running.disconnected = True
            self._running.message_event.set()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse what came, up to the end of the first request or of a turn."""
        self._pending = self._pending[self._offset :] + data if self._has_pending else data
        self._offset = 0
        self._parse()

    def on_message_begin(self) -> None:
        """Handle the start of a request."""
        super().on_message_begin()
        self._is_whole = False

    def on_headers_complete(self) -> None:
        """Handle the end of a head."""
        self._body_left = self._body_length
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Handle a part of the body."""
        self._body_left -= len(body)
        self._turn_parts += 1
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Handle the end of a request."""
        self._is_whole, self._body_left = True, 0
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Continue with the pending bytes."""
        super().on_response_complete()
        self._parse()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._running = cycle
        if (delay := self._request_delay()) > 0:
            self._is_delayed = True
            self.loop.call_later(delay, self._start_late, cycle, app)
        else:
            super()._start_asgi_task(cycle, app)

    def _start_late(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._is_delayed = False
        if not self.is_ended:
            super()._start_asgi_task(cycle, app)
            self._parse()

    def _request_delay(self) -> float:
        """Return how many seconds the next request has to wait."""
        return 0.0

    def _feed(self, piece: bytes) -> None:
        """Parse a piece that holds the end of at most one head."""
        super().data_received(piece)

    def _unsupported_upgrade_warning(self) -> None:
        """Close the connection after a request for another protocol."""
        self._is_upgraded = True
        self.cycle.keep_alive = False

    @property
    def _body_length(self) -> int:
        """Return the body length in the head; the parser has refused invalid ones."""
        return next((int(value) for name, value in self.headers if name == b"content-length"), 0)

    @property
    def _has_pending(self) -> bool:
        return self._offset < len(self._pending)

    @property
    def _is_busy(self) -> bool:
        """Whether a complete request waits for its answer."""
        is_answered = self._running is None or self._running.response_complete
        return bool(self.pipeline) or (self._is_whole and not is_answered)

    @property
    def _is_body_held(self) -> bool:
        """Whether a body waits because its request has not started or does not read."""
        cycle = self.cycle
        is_outrun = cycle is not None and not cycle.response_complete and len(cycle.body) > HIGH_WATER_LIMIT
        return is_outrun or self._is_delayed

    def _parse(self) -> None:
        """Parse what waits, as far as one turn goes."""
        self._turn_parts = 0
        while self._has_pending and not self._is_busy and not self._is_body_held:
            if self._is_upgraded or self.is_ended or self.transport.get_protocol() is not self:
                self._drop_pending()
            elif self._turn_parts >= _TURN_PARTS:
                self._schedule_turn()
                break
            elif piece := self._next_piece():
                self._turn_parts += 1
                self._feed(piece)
        self._held_flow.hold(not self.is_ended and (self._has_pending or self._is_body_held))

    def _schedule_turn(self) -> None:
        if self._next_turn is None:
            self._next_turn = self.loop.call_soon(self._take_turn)

    def _take_turn(self) -> None:
        self._next_turn = None
        self._parse()

    def _drop_pending(self) -> None:
        self._pending, self._offset = b"", 0

    def _next_piece(self) -> bytes:
        """Return the bytes up to where a request may end."""
        start = self._offset
        if self._is_whole and (blank := _BLANK_LINES.match(self._pending, start)):
            # Allowed before a request, and not worth a piece for every two of them.
            start = blank.end()
        if self._body_left > 0:
            end = start + self._body_left
        else:
            longest = start + _MAX_CHUNKED_PIECE
            found = self._pending.find(_END, start, longest)
            end = found + len(_END) if found >= 0 else longest
        self._offset = min(end, len(self._pending))
        return self._pending[start : self._offset]
