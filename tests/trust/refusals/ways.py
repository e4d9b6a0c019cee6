"""Every way to make a call, each with the one question: under which name was it refused?"""

import asyncio
import json
import struct
import subprocess
import threading
import time
from base64 import b64decode
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Protocol, TypeVar, cast

import grpc
from google.protobuf.json_format import MessageToDict
from typer.testing import CliRunner

from codeplane._gen.error_pb2 import Error
from codeplane._gen.operations_pb2 import CallRequest, CallResponse, StreamRequest, StreamResponse
from codeplane.kernel.actor import Caller
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.commands import app
from codeplane.surfaces.http.protocol import KEEP_ALIVE_SEC
from codeplane.wiring.app import Plane, load_workspace_config
from tests.harness import Server
from tests.kernel.plane import running_here
from tests.surfaces.connect.wire import error_of
from tests.surfaces.grpc.channel import detail_of
from tests.surfaces.mcp.clients import HANDSHAKE, INITIALIZE, INITIALIZED, LEGACY, MODERN, call, request
from tests.trust.refusals.callers import STREAMS
from tests.trust.refusals.witness import WitnessOperations

T = TypeVar("T")
SECONDS = 60.0
CALL, STREAM = "/codeplane.v1.OperationService/Call", "/codeplane.v1.OperationService/Stream"
AGENT = "tester"
_FRAME = struct.Struct(">BI")
_TRAILERS = 0x80


@dataclass(frozen=True, kw_only=True)
class Credential:
    """What a caller shows: header values as they are sent, and what it calls itself."""

    authorization: tuple[str, ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    query: str = ""
    client: str = AGENT
    # Which surface it counts as where there is no wire.
    surface: str = "connect"

    @property
    def token(self) -> str | None:
        """The one token, where there is one."""
        return self.authorization[0].removeprefix("Bearer ") if len(self.authorization) == 1 else None


@dataclass(frozen=True, kw_only=True)
class Answer:
    """How a call ended: the error's name, or None; with its details, and the result where the way gives one."""

    error: str | None = None
    said: str = ""


class Way(Protocol):
    """One way in."""

    name: str

    def call(self, shown: Credential, operation: str, arguments: JsonObject) -> Answer:
        """Make one call."""
        ...

    def close(self) -> None:
        """Be gone."""
        ...


class Http:
    """One connection that is kept, and lets a header be sent twice."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._connection = HTTPConnection(server.host, server.port, timeout=SECONDS)
        self._used = time.monotonic()

    def post(
        self, path: str, body: bytes, kind: str, shown: Credential, more: Mapping[str, str] | None = None
    ) -> tuple[int, Mapping[str, str], bytes]:
        """One exchange."""
        connection = self._connection
        if time.monotonic() - self._used > KEEP_ALIVE_SEC / 2:
            # The server ends what was idle for long; the next request opens another.
            connection.close()
        given = dict(shown.headers)
        connection.putrequest("POST", path + shown.query, skip_host="host" in given, skip_accept_encoding=True)
        for name, value in (*shown.headers, *(more or {}).items()):
            connection.putheader(name, value)
        for value in shown.authorization:
            connection.putheader("authorization", value.encode("latin-1"))
        connection.putheader("content-type", kind)
        connection.putheader("user-agent", shown.client)
        connection.putheader("content-length", str(len(body)))
        connection.endheaders(body)
        response = connection.getresponse()
        answer = response.read()
        self._used = time.monotonic()
        return response.status, {name.lower(): value for name, value in response.getheaders()}, answer

    def close(self) -> None:
        self._connection.close()


class ConnectJson:
    """Connect in JSON; streams as framed JSON."""

    name = "connect-json"

    def __init__(self, server: Server) -> None:
        self._http = Http(server)

    def call(self, shown: Credential, operation: str, arguments: JsonObject) -> Answer:
        message = json.dumps({"operation": operation, "arguments": arguments}).encode()
        if operation in STREAMS:
            framed = _FRAME.pack(0, len(message)) + message
            status, _, body = self._http.post(STREAM, framed, "application/connect+json", shown)
            if status == 200:
                *_, (_, end) = frames(body)
                found = json.loads(end)
                return _of(error_of(found["error"])) if "error" in found else Answer()
        else:
            status, _, body = self._http.post(CALL, message, "application/json", shown)
        return _connect_answer(status, body)

    def close(self) -> None:
        self._http.close()


class ConnectBinary:
    """Connect in protobuf."""

    name = "connect-binary"

    def __init__(self, server: Server) -> None:
        self._http = Http(server)

    def call(self, shown: Credential, operation: str, arguments: JsonObject) -> Answer:
        message = CallRequest(operation=operation, arguments_json=json.dumps(arguments)).SerializeToString()
        status, _, body = self._http.post(CALL, message, "application/proto", shown)
        if status == 200:
            CallResponse.FromString(body)
            return Answer()
        return _connect_answer(status, body)

    def close(self) -> None:
        self._http.close()


class GrpcWeb:
    """gRPC as browsers speak it."""

    name = "grpc-web"

    def __init__(self, server: Server) -> None:
        self._http = Http(server)

    def call(self, shown: Credential, operation: str, arguments: JsonObject) -> Answer:
        message = CallRequest(operation=operation, arguments_json=json.dumps(arguments)).SerializeToString()
        framed = _FRAME.pack(0, len(message)) + message
        status, headers, body = self._http.post(CALL, framed, "application/grpc-web+proto", shown)
        if status != 200:
            return _connect_answer(status, body)
        reported = dict(headers)
        for flag, data in frames(body):
            if flag & _TRAILERS:
                lines = [line.partition(":") for line in data.decode().split("\r\n") if line]
                reported |= {name.strip().lower(): value.strip() for name, _, value in lines}
        if reported["grpc-status"] == "0":
            return Answer()
        raw = reported["grpc-status-details-bin"]
        return _of(MessageToDict(detail_of(b64decode(raw + "=" * (-len(raw) % 4))), preserving_proto_field_name=True))

    def close(self) -> None:
        self._http.close()


class Grpc:
    """gRPC's own client on its own port."""

    name = "grpc"

    def __init__(self, server: Server) -> None:
        self._channel = grpc.insecure_channel(f"127.0.0.1:{server.facts['grpc_port']}")
        self._call = self._channel.unary_unary(CALL, CallRequest.SerializeToString, CallResponse.FromString)
        self._stream = self._channel.unary_stream(STREAM, StreamRequest.SerializeToString, StreamResponse.FromString)

    def call(self, shown: Credential, operation: str, arguments: JsonObject) -> Answer:
        metadata = tuple(("authorization", value) for value in shown.authorization)
        text = json.dumps(arguments)
        try:
            if operation in STREAMS:
                list(self._stream(StreamRequest(operation=operation, arguments_json=text), metadata=metadata))
            else:
                self._call(CallRequest(operation=operation, arguments_json=text), metadata=metadata, timeout=SECONDS)
        except grpc.RpcError as error:
            trailing = dict(cast(tuple[tuple[str, bytes], ...], error.trailing_metadata() or ()))
            if "grpc-status-details-bin" not in trailing:
                return Answer(error=f"grpc {error.code()}", said=str(error.details()))
            found: Error = detail_of(trailing["grpc-status-details-bin"])
            return Answer(error=found.error, said=found.message)
        return Answer()

    def close(self) -> None:
        self._channel.close()


class McpModern:
    """MCP without sessions, a request at a time."""

    name = "mcp-http-modern"

    def __init__(self, server: Server) -> None:
        self._http = Http(server)

    def call(self, shown: Credential, operation: str, arguments: JsonObject) -> Answer:
        tool = operation.replace(".", "_")
        body = call(tool, arguments, era=MODERN)
        envelope = cast(dict[str, JsonObject], cast(JsonObject, body["params"])["_meta"])
        envelope["io.modelcontextprotocol/clientInfo"] = {"name": shown.client, "version": "1"}
        headers = {
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": MODERN,
            "mcp-method": "tools/call",
            "mcp-name": tool,
        }
        status, _, answer = self._http.post("/mcp", json.dumps(body).encode(), "application/json", shown, headers)
        return _mcp_answer(status, answer)

    def close(self) -> None:
        self._http.close()


class McpLegacy:
    """MCP with a handshake; a session for each caller."""

    name = "mcp-http-legacy"

    def __init__(self, server: Server) -> None:
        self._http = Http(server)
        self._sessions: dict[Credential, str] = {}

    def call(self, shown: Credential, operation: str, arguments: JsonObject) -> Answer:
        headers = {"accept": "application/json, text/event-stream", "mcp-protocol-version": HANDSHAKE}
        if shown not in self._sessions:
            params: JsonObject = {
                "protocolVersion": HANDSHAKE,
                "capabilities": {},
                "clientInfo": {"name": shown.client, "version": "1"},
            }
            hello = json.dumps(request("initialize", params, number=0)).encode()
            status, reported, answer = self._http.post("/mcp", hello, "application/json", shown, headers)
            if status != 200:
                return _mcp_answer(status, answer)
            self._sessions[shown] = reported["mcp-session-id"]
        headers["mcp-session-id"] = self._sessions[shown]
        body = json.dumps(call(operation.replace(".", "_"), arguments, era=LEGACY)).encode()
        status, _, answer = self._http.post("/mcp", body, "application/json", shown, headers)
        return _mcp_answer(status, answer)

    def close(self) -> None:
        self._http.close()


class McpStdio:
    """`cpl mcp`, as clients start it."""

    name = "mcp-stdio"

    def __init__(self, server: Server) -> None:
        self._process = subprocess.Popen(server.stdio, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._number = 0
        self._send({**INITIALIZE})
        self._answer(0)
        self._send(INITIALIZED)

    def call(self, shown: Credential, operation: str, arguments: JsonObject) -> Answer:
        self._number += 1
        self._send(call(operation.replace(".", "_"), arguments, number=self._number))
        return _mcp_message(self._answer(self._number))

    def _send(self, message: JsonObject) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def _answer(self, number: int) -> JsonObject:
        assert self._process.stdout is not None
        while line := self._process.stdout.readline():
            message: JsonObject = json.loads(line)
            if "method" not in message and message.get("id") == number:
                return message
        raise AssertionError("cpl mcp ended")

    def close(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(SECONDS)
        self._process.stdout.close()


class Cli:
    """`cpl call … --json`, the command itself in this process."""

    name = "cli"
    # It borrows the process's own stdin and stdout.
    _one = threading.Lock()

    def __init__(self, server: Server) -> None:
        self._repo = str(server.repo)
        self._runner = CliRunner()

    def call(self, shown: Credential, operation: str, arguments: JsonObject) -> Answer:
        given = ["call", operation, "--repo", self._repo, "--json", "--input", "-"]
        with self._one:
            done = self._runner.invoke(app, given, input=json.dumps(arguments))
        envelope = json.loads(done.stdout)
        failed = "error" in envelope
        assert failed <= (done.exit_code == 1), (done.exit_code, envelope)
        return _of(envelope["error"]) if failed else Answer(said=done.stdout)

    def close(self) -> None:
        return None


class Embedded:
    """A CodePlane in this process, called without any wire; with a loop of its own in a thread."""

    name = "embedded"

    def __init__(self, root: Path, overrides: Sequence[str]) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._stack = AsyncExitStack()
        self.plane: Plane = self._run(self._opened(root, overrides))

    async def _opened(self, root: Path, overrides: Sequence[str]) -> Plane:
        workspace = Workspace(root=root.resolve())
        loaded = load_workspace_config(workspace, [*overrides, "logging.outputs=[]"], {})
        plane = await self._stack.enter_async_context(
            running_here(workspace, loaded=loaded, operations=[WitnessOperations()])
        )
        # As a server does.
        plane.work.start_engine(plane.conveyor)
        return plane

    def call(self, shown: Credential, operation: str, arguments: JsonObject) -> Answer:
        caller = Caller(surface=shown.surface, client=shown.client, token=shown.token)
        outcome = self.outcome(operation, arguments, caller)
        return Answer() if outcome.error is None else Answer(error=outcome.error.name, said=outcome.error.message)

    def outcome(self, operation: str, arguments: Mapping[str, JsonValue], caller: Caller) -> Outcome:
        """How a call ends at the door itself."""
        return self._run(self._outcome(operation, arguments, caller))

    async def _outcome(self, operation: str, arguments: Mapping[str, JsonValue], caller: Caller) -> Outcome:
        if operation not in STREAMS:
            return await self.plane.conveyor.call(operation, arguments, caller)
        last: object = None
        async for item in self.plane.conveyor.stream(operation, arguments, caller):
            last = item
        assert isinstance(last, Outcome)
        return last

    def _run(self, work: Coroutine[object, object, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(SECONDS)

    def close(self) -> None:
        self._run(self._stack.aclose())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(SECONDS)
        self._loop.close()


SERVED: tuple[Callable[[Server], Way], ...] = (
    McpModern,
    McpLegacy,
    McpStdio,
    ConnectJson,
    ConnectBinary,
    GrpcWeb,
    Grpc,
    Cli,
)


def frames(body: bytes) -> list[tuple[int, bytes]]:
    """The frames of a whole body."""
    found, at = [], 0
    while at < len(body):
        flag, length = _FRAME.unpack_from(body, at)
        found.append((flag, body[at + _FRAME.size : at + _FRAME.size + length]))
        at += _FRAME.size + length
    return found


def _connect_answer(status: int, body: bytes) -> Answer:
    if status == 200:
        return Answer(said=body.decode())
    found = json.loads(body)
    # Before any protocol the guard answers with our error as it is.
    return _of(found["error"] if isinstance(found.get("error"), dict) else error_of(found))


def _mcp_answer(status: int, body: bytes) -> Answer:
    text = body.decode()
    if status != 200:
        return _mcp_message(json.loads(text))
    messages = [json.loads(line[5:]) for line in text.splitlines() if line.startswith("data:") and line[5:].strip()]
    return _mcp_message(next(one for one in messages or [json.loads(text)] if "method" not in one))


def _mcp_message(message: JsonObject) -> Answer:
    error, result = message.get("error"), message.get("result")
    if isinstance(error, dict):
        data = error.get("data")
        return _of(data if isinstance(data, dict) else error)
    assert isinstance(result, dict)
    output = result["content"][0]["text"]
    if not result.get("isError"):
        return Answer(said=str(output))
    return Answer(error=str(output).partition(":")[0], said=str(output))


def _of(error: object) -> Answer:
    assert isinstance(error, dict), error
    return Answer(error=str(error.get("error", error)), said=str(error.get("message", "")))
