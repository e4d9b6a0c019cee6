"""HTTP as tests need it: raw bytes where a library would be too polite, calls, frames and event streams."""

import json
import socket
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPResponse

from codeplane.kernel.json import JsonObject
from tests.harness import Server

CALL = "/codeplane.v1.OperationService/Call"
STREAM = "/codeplane.v1.OperationService/Stream"


def get_field(value: object, *path: str | int) -> object:
    """What is at a path of a JSON value, or None."""
    for key in path:
        if isinstance(value, list) and isinstance(key, int):
            value = value[key]
        else:
            value = value.get(key) if isinstance(value, dict) else None
    return value


def listed_events(answer: "Answer") -> list[JsonObject]:
    """The events of a page of the ledger."""
    events = answer.result["results"]
    assert isinstance(events, list)
    return events


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One answer, whole."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> JsonObject:
        decoded: JsonObject = json.loads(self.body)
        return decoded

    @property
    def error(self) -> JsonObject:
        """The error as the one table has it."""
        return error_of(self.json)

    @property
    def result(self) -> JsonObject:
        result = self.json["result"]
        assert isinstance(result, dict), self.json
        return result

    @property
    def meta(self) -> JsonObject:
        meta = self.json["meta"] if "meta" in self.json else self.error["meta"]
        assert isinstance(meta, dict)
        return meta


def error_of(body: JsonObject) -> JsonObject:
    """Our error in an answer of the server's own, or as the detail of a Connect error."""
    details = body.get("details")
    detail = details[0] if isinstance(details, list) and details else None
    error = detail["debug"] if isinstance(detail, dict) else body["error"]
    assert isinstance(error, dict)
    return error


def send(
    server: Server,
    method: str = "GET",
    path: str = "/health",
    *,
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """One exchange through http.client."""
    response, text = server.request(method, path, body=body, headers=headers)
    return Answer(status=response.status, headers={k.lower(): v for k, v in response.headers.items()}, body=text)


def raw(server: Server, request: bytes) -> Answer:
    """One exchange of bytes; the server, or the request, has to close the connection."""
    with socket.create_connection((server.host, server.port), timeout=30) as connection:
        connection.sendall(request)
        answer = b""
        while chunk := connection.recv(65_536):
            answer += chunk
    head, _, body = answer.partition(b"\r\n\r\n")
    first, *lines = head.split(b"\r\n")
    headers = {}
    for line in lines:
        name, _, value = line.partition(b":")
        headers[name.decode().lower()] = value.strip().decode("latin-1")
    return Answer(status=int(first.split()[1]), headers=headers, body=body)


def get(server: Server, path: str, *lines: str) -> Answer:
    """A GET with exactly these header lines."""
    text = "\r\n".join([f"GET {path} HTTP/1.1", *lines, "Connection: close", "", ""])
    return raw(server, text.encode("latin-1"))


def owner(server: Server) -> dict[str, str]:
    """The owner's header."""
    return {"authorization": f"Bearer {server.token}"}


def call(
    server: Server, operation: object, arguments: object = None, *, headers: Mapping[str, str] | None = None
) -> Answer:
    """`OperationService/Call` by the owner, unless the headers say otherwise."""
    body = json.dumps({"operation": operation, "arguments": arguments or {}}).encode()
    return send(server, "POST", CALL, body=body, headers=owner(server) if headers is None else headers)


@contextmanager
def send_request(server: Server, path: str, body: bytes) -> Iterator[HTTPConnection]:
    """A request by the owner whose answer nobody waits for yet."""
    connection = HTTPConnection(server.host, server.port, timeout=30)
    connection.request("POST", path, body=body, headers=owner(server))
    try:
        yield connection
    finally:
        connection.close()


@contextmanager
def open_response(
    server: Server, method: str, path: str, *, body: bytes | None = None, headers: Mapping[str, str] | None = None
) -> Iterator[HTTPResponse]:
    """An answer that is read while it comes."""
    connection = HTTPConnection(server.host, server.port, timeout=30)
    connection.request(method, path, body=body, headers=dict(owner(server) if headers is None else headers))
    response = connection.getresponse()
    try:
        yield response
    finally:
        response.close()
        connection.close()


@contextmanager
def send_stream_request(server: Server, operation: str, arguments: object = None) -> Iterator[HTTPConnection]:
    """`OperationService/Stream` by the owner, whose answer nobody waits for yet."""
    body = json.dumps({"operation": operation, "arguments": arguments or {}}).encode()
    headers = {**owner(server), "content-type": "application/connect+json"}
    connection = HTTPConnection(server.host, server.port, timeout=30)
    connection.request("POST", STREAM, body=struct.pack(">BI", 0, len(body)) + body, headers=headers)
    try:
        yield connection
    finally:
        connection.close()


@contextmanager
def stream(server: Server, operation: str, arguments: object = None) -> Iterator[HTTPResponse]:
    """The same, answered."""
    with send_stream_request(server, operation, arguments) as connection, connection.getresponse() as response:
        yield response


def frames(response: HTTPResponse) -> Iterator[tuple[int, JsonObject]]:
    """The frames of a Connect stream: flag and item, and at last how it ended."""
    while head := response.read(5):
        flag, length = struct.unpack(">BI", head)
        message = json.loads(response.read(length))
        yield flag, message.get("item", message)


@dataclass(frozen=True, kw_only=True)
class ServerSentEvent:
    """One event of an event stream."""

    kind: str
    data: JsonObject
    id: str | None


def events(response: HTTPResponse) -> Iterator[ServerSentEvent]:
    """The events of an open event stream, until it ends; comments and `retry` are skipped."""
    fields: dict[str, str] = {}
    while line := response.readline().decode():
        name, _, value = line.rstrip("\n").partition(": ")
        if name and value:
            fields[name] = value
        if line == "\n" and "data" in fields:
            yield ServerSentEvent(kind=fields["event"], data=json.loads(fields["data"]), id=fields.get("id"))
        if line == "\n":
            fields = {}
