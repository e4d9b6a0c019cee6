"""The port for gRPC clients: each connection is admitted, then relayed to a gRPC server.

The library accepts connections itself, without a limit and without distinguishing accounts. So its servers listen on
sockets in a folder that only this account can enter, one for the owner's account and one for all others: what others
leave unfinished cannot use up the calls that the owner may make.
"""

import asyncio
import time
from typing import cast

from codeplane.surfaces.connections.connections import Connection

_HIGH_WATER = 256 * 1024
_QUIET_SEC = float("inf")


class Relay(asyncio.Protocol):
    """Relays one client's bytes to a gRPC server and back."""

    def __init__(self, connection: Connection, *, own: str, others: str, first_bytes_sec: float) -> None:
        """`own` and `others` are the sockets of the two servers."""
        self._connection = connection
        self._target = own if connection.is_own else others
        self._first_bytes_sec = first_bytes_sec
        self._client: asyncio.Transport | None = None
        self._server: asyncio.Transport | None = None
        self._connecting: asyncio.Task[None] | None = None
        self._early = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Expect the client's first bytes."""
        self._client = cast(asyncio.Transport, transport)
        self._client.set_write_buffer_limits(_HIGH_WATER)
        self._connection.close = self._connection.expire = self._client.abort
        self._connection.wait_until(time.monotonic() + self._first_bytes_sec)

    def data_received(self, data: bytes) -> None:
        """Pass the bytes on; buffer them and pause reading until the server is connected."""
        # It can lose its place to others while it is quiet, the longest quiet first.
        self._connection.wait_until(_QUIET_SEC)
        if self._server is not None:
            self._server.write(data)
            return
        self._early += data
        if self._connecting is None and self._client is not None:
            self._client.pause_reading()
            self._connecting = asyncio.ensure_future(self._connect())

    def connection_lost(self, exc: Exception | None) -> None:
        """Close both sides when the client disconnects."""
        self._connection.release()
        if self._connecting is not None:
            self._connecting.cancel()
        if self._server is not None:
            # Not `close`: the server may not read on before its answers are taken, and nothing takes them now.
            self._server.abort()

    def abort(self) -> None:
        """Abort the connection on both sides."""
        if self._client is not None:
            self._client.abort()

    def pause_writing(self) -> None:
        """Pause the other side when the client reads too slowly."""
        if self._server is not None:
            self._server.pause_reading()

    def resume_writing(self) -> None:
        """Resume the other side when the client reads again."""
        if self._server is not None:
            self._server.resume_reading()

    async def _connect(self) -> None:
        assert self._client is not None
        try:
            server, _ = await asyncio.get_running_loop().create_unix_connection(
                lambda: _Answers(self._client, self._connection), self._target
            )
        except OSError:
            self._client.abort()
            return
        server.set_write_buffer_limits(_HIGH_WATER)
        server.write(bytes(self._early))
        self._server, self._early = server, bytearray()
        if not self._client.is_closing():
            self._client.resume_reading()


class _Answers(asyncio.Protocol):
    """The direction from the gRPC server to the client."""

    def __init__(self, client: asyncio.Transport | None, connection: Connection) -> None:
        assert client is not None
        self._client = client
        self._connection = connection

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if self._client.is_closing():
            cast(asyncio.Transport, transport).abort()

    def data_received(self, data: bytes) -> None:
        self._connection.wait_until(_QUIET_SEC)
        self._client.write(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._client.close()

    def pause_writing(self) -> None:
        self._client.pause_reading()

    def resume_writing(self) -> None:
        if not self._client.is_closing():
            self._client.resume_reading()
