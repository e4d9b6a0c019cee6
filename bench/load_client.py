"""One client of `bench.load`, in a process of its own; nothing but the standard library, so that 50 of them fit.

It reads its plan as a line of JSON, connects, prints `ready`, waits for a line, calls until its time is over, and
prints what each call took, how many bytes were answered, and some answers as a line of JSON.
"""

import json
import random
import socket
import sys
import time

from bench.mcp_client import HANDSHAKE, INITIALIZED, MODERN, initialize, modern_meta

_RECEIVED = 65_536
_KEPT_ANSWERS = 40
_SUCCESS = "HTTP/1.1 200"


class Connection:
    """Streamable HTTP over one kept connection, read with as little work as possible."""

    def __init__(self, port: int, *, modern: bool = False, client: int = 0) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=120)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._modern = modern
        self._head = (
            f"POST /mcp?structured=1 HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
            "Accept: application/json, text/event-stream\r\n"
            f"Mcp-Protocol-Version: {MODERN if modern else HANDSHAKE}\r\n"
        )
        if modern:
            self._head += f"Mcp-Method: tools/call\r\nX-Codeplane-Connection: load-{client}\r\n"
            return
        head, _ = self.post(json.dumps(initialize()).encode())
        session = next(line for line in head.split("\r\n") if line.lower().startswith("mcp-session-id:"))
        self._head += session + "\r\n"
        self.post(json.dumps(INITIALIZED).encode())

    def call(self, number: int, name: str, params: str) -> tuple[str, bytes]:
        """The head and the answer of a tool call."""
        body = f'{{"jsonrpc":"2.0","id":{number},"method":"tools/call","params":{params}}}'.encode()
        return self.post(body, more=f"Mcp-Name: {name}\r\n" if self._modern else "")

    def post(self, body: bytes, *, more: str = "") -> tuple[str, bytes]:
        """The head and the whole body of the answer."""
        self._socket.sendall(f"{self._head}{more}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        data = b""
        while (end := data.find(b"\r\n\r\n")) < 0:
            data += self._more()
        head, data = data[:end].decode("latin-1"), data[end + 4 :]
        lowered = head.lower()
        if "transfer-encoding: chunked" in lowered:
            while not data.endswith(b"0\r\n\r\n"):
                data += self._more()
        elif "content-length:" in lowered:
            length = int(lowered.partition("content-length:")[2].partition("\r\n")[0])
            while len(data) < length:
                data += self._more()
        return head, data

    def _more(self) -> bytes:
        if not (data := self._socket.recv(_RECEIVED)):
            raise ConnectionError("the server closed the connection")
        return data


class Stdio:
    """The byte stream that `cpl mcp` copies to and from: lines in chunks over one connection."""

    def __init__(self, port: int, *, modern: bool) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=120)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.sendall(
            f"POST /mcp/stdio?structured=1 HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/x-ndjson\r\n"
            "Transfer-Encoding: chunked\r\n\r\n".encode()
        )
        self._answers = self._socket.makefile("rb")
        while self._answers.readline().strip():
            pass
        self._rest = b""
        if not modern:
            self._send(json.dumps(initialize()).encode())
            self._line()
            self._send(json.dumps(INITIALIZED).encode())

    def call(self, number: int, name: str, params: str) -> tuple[str, bytes]:
        """An answer that stands for a success by its head, and the line of a tool call's answer."""
        self._send(f'{{"jsonrpc":"2.0","id":{number},"method":"tools/call","params":{params}}}'.encode())
        while b'"id":%d' % number not in (line := self._line()):
            pass
        return _SUCCESS, line

    def _send(self, line: bytes) -> None:
        self._socket.sendall(b"%x\r\n%b\n\r\n" % (len(line) + 1, line))

    def _line(self) -> bytes:
        while b"\n" not in self._rest:
            if not (size := int(self._answers.readline(), 16)):
                raise ConnectionError("the server ended the stream")
            self._rest += self._answers.read(size)
            self._answers.readline()
        line, _, self._rest = self._rest.partition(b"\n")
        return line


def _connect(plan: dict[str, object], client: int) -> Connection | Stdio:
    transport, _, era = str(plan["way"]).partition("-")
    port, modern = int(str(plan["port"])), era == "modern"
    return Stdio(port, modern=modern) if transport == "stdio" else Connection(port, modern=modern, client=client)


def _calls(plan: dict[str, object], client: int) -> list[tuple[str, dict[str, object]]]:
    """One round of calls, by kind, in an order of the client's own."""
    chance = random.Random(client)
    calls: list[tuple[str, dict[str, object]]] = []
    for kind, templates in plan["calls"].items():  # type: ignore[attr-defined]  # the plan is the parent's own JSON
        calls += [(kind, template) for template in templates]
    chance.shuffle(calls)
    return calls


def main() -> None:
    """Serve one plan."""
    plan = json.loads(sys.stdin.readline())
    client = plan["client"]
    connection = _connect(plan, client)
    meta = {"_meta": modern_meta()} if plan["way"].endswith("modern") else {}
    calls = _calls(plan, client)
    taken: dict[str, list[float]] = {kind: [] for kind in plan["calls"]}
    errors: list[str] = []
    kept: dict[str, list[str]] = {kind: [] for kind in plan["calls"]}
    received = 0
    print("ready", flush=True)
    sys.stdin.readline()
    until, number = time.monotonic() + plan["seconds"], 0
    while time.monotonic() < until:
        kind, template = calls[number % len(calls)]
        number += 1
        params = json.dumps({**template, **meta}).replace("$client", str(client)).replace("$number", str(number))
        began = time.perf_counter()
        try:
            head, answer = connection.call(number, str(template["name"]), params)
        except OSError as error:
            errors.append(f"{kind}: {error}")
            break
        taken[kind].append((time.perf_counter() - began) * 1000)
        if not head.startswith(_SUCCESS) or b'"isError":true' in answer or b'"result"' not in answer:
            errors.append(f"{kind}: {head.partition(chr(13))[0]} {answer[-700:].decode('utf-8', 'replace')}")
        received += len(answer)
        if client == 0 and len(kept[kind]) < _KEPT_ANSWERS:
            kept[kind].append(answer.decode())
    print(json.dumps({"taken": taken, "errors": errors, "received": received, "answers": kept}), flush=True)


if __name__ == "__main__":
    main()
