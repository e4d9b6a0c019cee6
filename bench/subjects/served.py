"""CodePlane as people run it: `cpl up` in a process of its own, asked over RPC and over MCP."""

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

from bench.mcp_client import INITIALIZED, initialize, tool_call
from bench.subjects.processes import as_installed, cpu
from codeplane.kernel.json import JsonObject

CPL = str(Path(sys.executable).with_name("cpl"))
_PATIENCE_SEC = 3600.0


class Served:
    """A running server: operations by name, tools as clients call them, and what its processes took."""

    def __init__(self, *, process: int, port: int, root: Path) -> None:
        self.process = process
        self.root = root
        self.port = port
        self._rpc = HTTPConnection("127.0.0.1", port, timeout=300)
        token = (root / ".codeplane/owner.token").read_text().strip()
        self._headers = {"content-type": "application/json", "authorization": f"Bearer {token}"}
        self._stdio = _Stdio(port)

    def ask(self, operation: str, /, **arguments: object) -> JsonObject:
        """An operation's envelope, error or not."""
        body = json.dumps({"operation": operation, "arguments": arguments}).encode()
        self._rpc.request("POST", "/codeplane.v1.OperationService/Call", body, self._headers)
        envelope: JsonObject = json.loads(self._rpc.getresponse().read())
        return envelope

    def result(self, operation: str, /, **arguments: object) -> JsonObject:
        """An operation's result; an error is raised."""
        envelope = self.ask(operation, **arguments)
        found = envelope.get("result")
        if not isinstance(found, dict):
            raise RuntimeError(str(envelope))
        return found

    def tool(self, name: str, **arguments: object) -> bytes:
        """A tool's answer as it comes over the stream that `cpl mcp` copies, not taken apart."""
        return self._stdio.call(name, arguments)

    def text(self, name: str, **arguments: object) -> str:
        """The text of a tool's answer: what an agent reads, errors included."""
        answer = json.loads(self.tool(name, **arguments))
        return "\n".join(part["text"] for part in answer["result"]["content"])

    def complete(self, **arguments: object) -> bool:
        """Whether a search is answered from everything there is."""
        found = self.ask("search", limit=1, **arguments).get("result")
        return isinstance(found, dict) and not found.get("partial")

    def wait(self, **arguments: object) -> None:
        """Wait until a search is answered from everything there is; the server itself makes most of the wait."""
        deadline = time.monotonic() + _PATIENCE_SEC
        while not self.complete(**arguments):
            if time.monotonic() > deadline:
                raise RuntimeError(f"never complete: {arguments}")
            time.sleep(0.05)

    def cpu(self) -> float:
        """CPU seconds of the server and its workers so far."""
        return cpu(self.process)


class _Stdio:
    """MCP as `cpl mcp` passes it on: lines in chunks over one connection."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=300)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.sendall(
            f"POST /mcp/stdio HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/x-ndjson\r\n"
            "Transfer-Encoding: chunked\r\n\r\n".encode()
        )
        self._answers = self._socket.makefile("rb")
        while self._answers.readline().strip():
            pass
        self._rest = b""
        self._number = 0
        self._send(initialize())
        self._line()
        self._send(INITIALIZED)

    def call(self, name: str, arguments: dict[str, object]) -> bytes:
        """One call's answer; notifications before it are passed over."""
        self._number += 1
        message = tool_call(self._number, modern=False)
        self._send({**message, "params": {"name": name, "arguments": arguments}})
        while b'"id":' not in (line := self._line())[:60] and b'"result"' not in line:
            pass
        return line

    def _send(self, message: dict[str, object]) -> None:
        line = json.dumps(message).encode() + b"\n"
        self._socket.sendall(b"%x\r\n%b\r\n" % (len(line), line))

    def _line(self) -> bytes:
        while b"\n" not in self._rest:
            size = int(self._answers.readline(), 16)
            if not size:
                raise RuntimeError("the server ended the stream")
            self._rest += self._answers.read(size)
            self._answers.readline()
        line, _, self._rest = self._rest.partition(b"\n")
        return line


@contextmanager
def serving(root: Path, *settings: str) -> Iterator[Served]:
    """A server for a repository, for as long as the block runs."""
    chosen = [word for setting in settings for word in ("--set", setting)]
    command = [CPL, "up", "--json", "--repo", str(root), *chosen]
    process = subprocess.Popen(command, cwd=root, env=as_installed(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        if not line:
            raise RuntimeError("the server did not start")
        yield Served(process=process.pid, port=json.loads(line)["port"], root=root)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(120)
        process.stdout.close()
