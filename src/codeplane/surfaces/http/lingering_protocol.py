"""HTTP/1.1 that closes a connection so that a client that still sends sees the answer.

A socket that is closed with bytes unread resets the connection, and a client that is still sending may never read
the answer. Here the answer closes one direction, and the other is read and dropped unparsed, for a moment.
"""

import asyncio
from typing import Any

from codeplane.surfaces.http.sequential_protocol import SequentialProtocol

_LINGER_SEC = 2.0


class _AnswerTransport(asyncio.Transport):
    """A connection's transport as its answers see it: it leaves closing the connection to the protocol.

    The head of an answer waits until the loop's next turn for the body, which nearly always comes with it: sent by
    itself it would cost as much, and wake the client for nothing.
    """

    def __init__(self, protocol: "LingeringProtocol") -> None:
        super().__init__()
        self._protocol = protocol
        self._is_head = True
        self._head: bytes | bytearray | memoryview = b""

    def begin_answer(self) -> None:
        """Expect the head of the next answer."""
        self.flush()
        self._is_head = True

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if self._is_head:
            self._is_head, self._head = False, data
            self._protocol.loop.call_soon(self.flush)
        elif self._head:
            head, self._head = self._head, b""
            self._protocol.transport.write(b"".join((head, data)))
        else:
            self._protocol.transport.write(data)

    def flush(self) -> None:
        """Send the head that waits."""
        if self._head:
            head, self._head = self._head, b""
            self._protocol.transport.write(head)

    def is_closing(self) -> bool:
        return self._protocol.is_ended

    def close(self) -> None:
        self.flush()
        self._protocol.end()


class LingeringProtocol(SequentialProtocol):
    """Keeps reading for a moment when it closes a connection in the middle of a request."""

    def __init__(self, *args: Any, max_lingering_bytes: int, **options: Any) -> None:
        """At most `max_lingering_bytes` are dropped after the last answer."""
        super().__init__(*args, **options)
        self._lingering_bytes = max_lingering_bytes
        self._linger_timer: asyncio.TimerHandle | None = None
        self._is_shutting_down = False
        self._answers = _AnswerTransport(self)

    @property
    def is_ended(self) -> bool:
        """Whether no further request is answered."""
        return self._linger_timer is not None or super().is_ended

    def end(self) -> None:
        """Close the connection; of a request that is not whole yet, a little more is read."""
        if self.is_ended:
            return
        if self._is_whole or self._is_shutting_down:
            self.transport.close()
        else:
            self._linger()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timer."""
        if self._linger_timer is not None:
            self._linger_timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Drop the bytes that come after the last answer."""
        if self._linger_timer is None:
            super().data_received(data)
            return
        self._lingering_bytes -= len(data)
        if self._lingering_bytes < 0:
            self.transport.abort()

    def on_headers_complete(self) -> None:
        """Wrap the transport, so that the answer does not close the connection while the client still sends."""
        super().on_headers_complete()
        if self.cycle is not None:
            self.cycle.transport = self._answers

    def on_response_complete(self) -> None:
        """Ignore a next request after the last answer."""
        self._answers.begin_answer()
        if self._linger_timer is None:
            super().on_response_complete()
        else:
            self.server_state.total_requests += 1

    def shutdown(self) -> None:
        """Do not linger while the server stops."""
        self._is_shutting_down = True
        if self._linger_timer is not None:
            self.transport.abort()
        else:
            super().shutdown()

    def _linger(self) -> None:
        self._linger_timer = self.loop.call_later(_LINGER_SEC, self.transport.abort)
        self._unset_keepalive_if_required()
        self._drop_pending()
        self._held_flow.hold(False)
        self.flow.resume_reading()
        if self.transport.can_write_eof():
            self.transport.write_eof()
