"""The Connect protocol in JSON, over the standard library's HTTP."""

import hashlib
import json
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection

from codeplane.client.errors import error_of_body
from codeplane.kernel.errors import ServerUnreachable, Unauthorized
from codeplane.kernel.json import JsonObject, dumps

_END = 0b10
_HEAD = struct.Struct(">BI")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A message or an error; `end` is the last frame of a stream."""

    message: JsonObject | None = None
    error: JsonObject | None = None
    meta: JsonObject | None = None
    end: bool = False


class ConnectionHandle:
    """Ends the connections of one call or stream from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._socket: socket.socket | None = None

    def is_closed(self) -> bool:
        """Return whether nothing more is wanted."""
        return self._closed.is_set()

    def wait(self, sec: float) -> None:
        """Wait so long, or until it is closed."""
        self._closed.wait(sec)

    def hold(self, connected: socket.socket | None) -> None:
        """Take the socket that is open now; end it at once if the handle is closed."""
        with self._lock:
            self._socket = connected
            if self.is_closed():
                self._shut_down()

    def close(self) -> None:
        """End the open connection; a thread that reads from it gets an error."""
        with self._lock:
            self._closed.set()
            self._shut_down()

    def _shut_down(self) -> None:
        # Closing alone would not wake a thread that waits for data.
        if self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """The address of a server and the caller's headers."""

    host: str
    port: int
    token: str | None
    user_agent: str
    tls: ssl.SSLContext | None = None
    # The SHA-256 of the server's certificate; another one is shown no token.
    fingerprint: str = ""
    # Where the server is when a connection is made, instead of `host` and `port`.
    locate: Callable[[], tuple[str, int]] | None = None
    handle: ConnectionHandle | None = None

    def unary(self, path: str, message: JsonObject, *, timeout_sec: float | None) -> Reply:
        """Send one message and return the reply."""
        with self._post(path, dumps(message).encode(), "application/json", timeout_sec) as response:
            body = _object(response.read())
        if response.status == 200:
            return Reply(message=body)
        error, meta = error_of_body(body, response.status)
        return Reply(error=error, meta=meta)

    def stream(self, path: str, message: JsonObject, *, silence_sec: float | None = None) -> Iterator[Reply]:
        """Send one message and yield the replies; the last one says how it ended.

        A server that sends nothing for `silence_sec` counts as unreachable.
        """
        data = dumps(message).encode()
        with self._post(path, _HEAD.pack(0, len(data)) + data, "application/connect+json", silence_sec) as response:
            if response.status != 200:
                error, meta = error_of_body(_object(response.read()), response.status)
                yield Reply(error=error, meta=meta, end=True)
                return
            while len(head := response.read(_HEAD.size)) == _HEAD.size:
                flag, length = _HEAD.unpack(head)
                found = _object(response.read(length))
                if not flag & _END:
                    yield Reply(message=found)
                    continue
                failed = found.get("error")
                if isinstance(failed, dict):
                    error, meta = error_of_body(failed, response.status)
                    yield Reply(error=error, meta=meta, end=True)
                else:
                    yield Reply(end=True)
                return
        raise ServerUnreachable("the server ended", hint="start it again (cpl up), then go on from where you were")

    @contextmanager
    def _post(self, path: str, body: bytes, kind: str, timeout_sec: float | None) -> Iterator[HTTPResponse]:
        host, port = (self.host, self.port) if self.locate is None else self.locate()
        connection = (
            HTTPConnection(host, port, timeout=timeout_sec)
            if self.tls is None
            else HTTPSConnection(host, port, timeout=timeout_sec, context=self.tls)
        )
        headers = {"content-type": kind, "connect-protocol-version": "1", "user-agent": self.user_agent}
        if self.token is not None:
            headers["authorization"] = f"Bearer {self.token}"
        try:
            connection.connect()
            self._check_certificate(connection)
            if self.handle is not None:
                self.handle.hold(connection.sock)
            connection.request("POST", path, body, headers)
            yield connection.getresponse()
        except (OSError, HTTPException, ValueError) as error:
            # An answer that breaks off is no JSON either.
            raise ServerUnreachable(f"{host}:{port} does not answer: {error}") from error
        finally:
            if self.handle is not None:
                self.handle.hold(None)
            connection.close()

    def _check_certificate(self, connection: HTTPConnection) -> None:
        """Raise Unauthorized unless the certificate is the expected one."""
        if not self.fingerprint:
            return
        shown = connection.sock.getpeercert(binary_form=True) if isinstance(connection.sock, ssl.SSLSocket) else None
        expected = self.fingerprint.replace(":", "").lower()
        if hashlib.sha256(shown or b"").hexdigest() != expected:
            raise Unauthorized(
                "the server shows another certificate than expected",
                hint="compare the fingerprint that cpl status shows on the server's machine",
            )


def _object(raw: bytes) -> JsonObject:
    value = json.loads(raw)
    if not isinstance(value, dict):
        raise ValueError("the answer is not an object")
    return value
