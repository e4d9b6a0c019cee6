"""The client of `bench.overhead`, in a process of its own: `python -m bench.mcp_client HOST PORT WAY CALLS TOKEN`.

It says `ready` once its connection stands and is warm, waits for a line, makes its calls, and says `done`.
"""

import json
import socket
import sys
from collections.abc import Callable
from http.client import HTTPConnection

MODERN = "2026-07-28"
HANDSHAKE = "2025-11-25"
WARM = 50
_CLIENT = {"name": "bench", "version": "1"}


def tool_call(number: int, *, modern: bool) -> dict[str, object]:
    """A `tools/call` of the operation that does nothing."""
    params: dict[str, object] = {"name": "bench_read", "arguments": {"value": number}}
    if modern:
        params["_meta"] = modern_meta()
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def modern_meta() -> dict[str, object]:
    """What every request of 2026-07-28 says of its client."""
    return {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": _CLIENT,
        "io.modelcontextprotocol/clientCapabilities": {},
    }


def initialize() -> dict[str, object]:
    """The first message of the handshake era."""
    params = {"protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": _CLIENT}
    return {"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": params}


INITIALIZED: dict[str, object] = {"jsonrpc": "2.0", "method": "notifications/initialized"}


class Http:
    """Streamable HTTP over one connection that is kept."""

    def __init__(self, host: str, port: int, *, modern: bool) -> None:
        self._connection = HTTPConnection(host, port, timeout=60)
        self._modern = modern
        version = MODERN if modern else HANDSHAKE
        self._headers = {
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": version,
        }
        if modern:
            self._headers |= {"mcp-method": "tools/call", "mcp-name": "bench_read", "x-codeplane-connection": "bench"}
        else:
            self._post(initialize())
            self._post(INITIALIZED)

    def call(self, number: int) -> bytes:
        """One call's answer."""
        return self._post(tool_call(number, modern=self._modern))

    def _post(self, message: dict[str, object]) -> bytes:
        self._connection.request("POST", "/mcp", json.dumps(message).encode(), self._headers)
        response = self._connection.getresponse()
        if session := response.headers.get("mcp-session-id"):
            self._headers["mcp-session-id"] = session
        return response.read()


class Stdio:
    """The byte stream that `cpl mcp` copies to and from."""

    def __init__(self, host: str, port: int, *, modern: bool) -> None:
        self._modern = modern
        self._socket = socket.create_connection((host, port), timeout=60)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.sendall(
            f"POST /mcp/stdio HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/x-ndjson\r\n"
            "Transfer-Encoding: chunked\r\n\r\n".encode()
        )
        self._answers = self._socket.makefile("rb")
        while self._answers.readline().strip():
            pass
        if not modern:
            self._send(initialize())
            self._chunk()
            self._send(INITIALIZED)

    def call(self, number: int) -> bytes:
        """One call's answer."""
        self._send(tool_call(number, modern=self._modern))
        return self._chunk()

    def _send(self, message: dict[str, object]) -> None:
        line = json.dumps(message).encode() + b"\n"
        self._socket.sendall(b"%x\r\n%b\r\n" % (len(line), line))

    def _chunk(self) -> bytes:
        size = int(self._answers.readline(), 16)
        data = self._answers.read(size)
        self._answers.readline()
        return data


class Rpc:
    """The generic service of programs, for comparison."""

    def __init__(self, host: str, port: int, *, token: str) -> None:
        self._connection = HTTPConnection(host, port, timeout=60)
        self._headers = {"content-type": "application/json", "authorization": f"Bearer {token}"}

    def call(self, number: int) -> bytes:
        """One call's answer."""
        body = json.dumps({"operation": "bench.read", "arguments": {"value": number}}).encode()
        self._connection.request("POST", "/codeplane.v1.OperationService/Call", body, self._headers)
        return self._connection.getresponse().read()


def connect(way: str, host: str, port: int, token: str) -> Callable[[int], bytes]:
    """How a call is made on the given way."""
    if way == "rpc":
        return Rpc(host, port, token=token).call
    transport, _, era = way.partition("-")
    kind = Http if transport == "http" else Stdio
    return kind(host, port, modern=era == "modern").call


def main(host: str, port: str, way: str, calls: str, token: str) -> None:
    """Make the calls when told to."""
    call = connect(way, host, int(port), token)
    for number in range(WARM):
        answer = call(number)
        assert str(number + 1).encode() in answer, answer
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(int(calls)):
        answer = call(number)
        assert b'"isError":true' not in answer and b'"error"' not in answer, answer
    print("done", flush=True)
    sys.stdin.readline()


if __name__ == "__main__":
    main(*sys.argv[1:])
