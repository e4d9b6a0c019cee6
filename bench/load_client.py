"""One client of `bench.load`, in a process of its own; nothing but the standard library, so that 50 of them fit.

It reads its plan as a line of JSON, connects, prints `ready`, waits for a line, calls until its time is over, and
prints what each call took, how many bytes were answered, and some answers as a line of JSON.
"""

import json
import random
import socket
import sys
import time

from bench.mcp_client import HANDSHAKE, INITIALIZED, initialize

_RECEIVED = 65_536
_KEPT_ANSWERS = 40


class Connection:
    """Streamable HTTP of 2025-11-25 over one kept connection, read with as little work as possible."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=120)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._head = (
            f"POST /mcp?structured=1 HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
            f"Accept: application/json, text/event-stream\r\nMcp-Protocol-Version: {HANDSHAKE}\r\n"
        )
        head, _ = self.post(json.dumps(initialize()).encode())
        session = next(line for line in head.split("\r\n") if line.lower().startswith("mcp-session-id:"))
        self._head += session + "\r\n"
        self.post(json.dumps(INITIALIZED).encode())

    def post(self, body: bytes) -> tuple[str, bytes]:
        """The head and the whole body of the answer."""
        self._socket.sendall(f"{self._head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
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
    connection = Connection(plan["port"])
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
        params = json.dumps(template).replace("$client", str(client)).replace("$number", str(number))
        body = f'{{"jsonrpc":"2.0","id":{number},"method":"tools/call","params":{params}}}'.encode()
        began = time.perf_counter()
        try:
            head, answer = connection.post(body)
        except OSError as error:
            errors.append(f"{kind}: {error}")
            break
        taken[kind].append((time.perf_counter() - began) * 1000)
        if not head.startswith("HTTP/1.1 200") or b'"isError":true' in answer or b'"result"' not in answer:
            errors.append(f"{kind}: {head.partition(chr(13))[0]} {answer[-700:].decode('utf-8', 'replace')}")
        received += len(answer)
        if client == 0 and len(kept[kind]) < _KEPT_ANSWERS:
            kept[kind].append(answer.decode())
    print(json.dumps({"taken": taken, "errors": errors, "received": received, "answers": kept}), flush=True)


if __name__ == "__main__":
    main()
