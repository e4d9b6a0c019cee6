"""The client's end of a WebSocket to the server of this repository; standard library only, to keep shims fast."""

import base64
import hashlib
import os
import socket
import threading
from collections.abc import Mapping
from io import BufferedReader
from types import TracebackType

from codeplane.kernel.errors import ServerUnreachable
from codeplane.kernel.workspace import INSTANCE_HEADER
from codeplane.surfaces.cli.discovery import ServerFacts

_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_CONTINUATION, _TEXT, _BINARY, _CLOSE, _PING = 0x0, 0x1, 0x2, 0x8, 0x9
_PONG = 0xA
_LAST, _MASKED, _LENGTH = 0x80, 0x80, 0x7F
_MAX_ERROR = 2000
NORMAL = 1000


class WebSocketEnd(Exception):
    """The server has closed the connection, with a code and a reason."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(f"{code} {reason}".strip())
        self.code = code
        self.reason = reason


class ClientSocket:
    """One connection; several threads may send, one receives."""

    def __init__(self, facts: ServerFacts, path: str, headers: Mapping[str, str]) -> None:
        """Connect and shake hands; ServerUnreachable when the server refuses or another one answers."""
        self._sending = threading.Lock()
        try:
            self._socket = socket.create_connection((facts.host, facts.port))
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._input = self._socket.makefile("rb")
            key = base64.b64encode(os.urandom(16)).decode()
            self._socket.sendall(_head(facts, path, {**headers, "Sec-WebSocket-Key": key}))
            _check_answer(self._input, facts, key)
        except OSError as error:
            raise ServerUnreachable(f"the server at {facts.url} does not answer: {error}") from error

    def __enter__(self) -> "ClientSocket":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()

    def send(self, message: bytes) -> None:
        """Send a text message."""
        self._send_frame(_TEXT, message)

    def receive(self) -> bytes:
        """Return the next message; WebSocketEnd when there is none any more."""
        parts: list[bytes] = []
        while True:
            kind, is_last, data = self._read_frame()
            if kind == _PING:
                self._send_frame(_PONG, data)
            elif kind == _CLOSE:
                raise WebSocketEnd(int.from_bytes(data[:2]) if data else 1005, data[2:].decode("utf-8", "replace"))
            elif kind in (_TEXT, _BINARY, _CONTINUATION):
                parts.append(data)
                if is_last:
                    return b"".join(parts)

    def _read_frame(self) -> tuple[int, bool, bytes]:
        first, second = self._read(2)
        length = second & _LENGTH
        if length >= 126:
            length = int.from_bytes(self._read(2 if length == 126 else 8))
        return first & 0x0F, bool(first & _LAST), self._read(length)

    def _read(self, size: int) -> bytes:
        data = self._input.read(size)
        if len(data) < size:
            raise WebSocketEnd(1006, "the connection was cut")
        return data

    def _send_frame(self, kind: int, data: bytes) -> None:
        size = len(data)
        if size < 126:
            length = bytes([_MASKED | size])
        elif size < 65_536:
            length = bytes([_MASKED | 126]) + size.to_bytes(2)
        else:
            length = bytes([_MASKED | 127]) + size.to_bytes(8)
        mask = os.urandom(4)
        with self._sending:
            self._socket.sendall(bytes([_LAST | kind]) + length + mask + _masked(data, mask))


def _masked(data: bytes, mask: bytes) -> bytes:
    """XOR as one large number: byte by byte it would take seconds for some megabytes."""
    pad = (mask * (len(data) // 4 + 1))[: len(data)]
    return (int.from_bytes(data) ^ int.from_bytes(pad)).to_bytes(len(data))


def _head(facts: ServerFacts, path: str, headers: Mapping[str, str]) -> bytes:
    host = f"[{facts.host}]" if ":" in facts.host else facts.host
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", **headers}
    lines = [f"GET {path} HTTP/1.1", f"Host: {host}:{facts.port}"]
    lines += [f"{name}: {value}" for name, value in upgrade.items()]
    return "\r\n".join([*lines, "", ""]).encode()


def _check_answer(answer: BufferedReader, facts: ServerFacts, key: str) -> None:
    status = answer.readline().split(b" ", 2)
    headers: dict[bytes, bytes] = {}
    while (line := answer.readline().strip()) != b"":
        name, _, value = line.partition(b":")
        headers[name.lower()] = value.strip()
    if headers.get(INSTANCE_HEADER.encode()) != facts.instance.encode():
        raise ServerUnreachable("what answers is not the server of this repository")
    if status[1:2] != [b"101"]:
        body = answer.read(min(int(headers.get(b"content-length", b"0")), _MAX_ERROR)).decode("utf-8", "replace")
        refusal = b" ".join(status[1:]).strip().decode("utf-8", "replace")
        raise ServerUnreachable(f"the server refused the connection: {refusal} {body}".strip())
    # The handshake's own hash, no protection of anything.
    wanted = base64.b64encode(hashlib.sha1(f"{key}{_GUID}".encode(), usedforsecurity=False).digest())
    if headers.get(b"sec-websocket-accept") != wanted:
        raise ServerUnreachable("what answers speaks no WebSocket")
