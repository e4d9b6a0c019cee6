"""Connect as tests need it: JSON and binary bodies, frames, and errors as they are on the wire."""

import json
import struct
from base64 import b64decode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPResponse

from codeplane._gen.error_pb2 import Error
from codeplane.kernel.json import JsonObject
from tests.harness import Server

CALL = "OperationService/Call"
STREAM = "OperationService/Stream"
WATCH = "EventsService/Watch"
JSON = "application/json"
FRAMED = "application/connect+json"
HEAD = struct.Struct(">BI")


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
        """Ours, as JSON; the bytes beside it say the same."""
        return error_of(self.json)


def error_of(body: object) -> JsonObject:
    """Our error in the body of a Connect error."""
    assert isinstance(body, dict), body
    (detail,) = body["details"]
    assert detail["type"] == "codeplane.v1.Error"
    value = detail["value"]
    message = Error.FromString(b64decode(value + "=" * (-len(value) % 4)))
    shown: JsonObject = detail["debug"]
    assert (message.error, message.code, message.message) == (shown["error"], shown["code"], body["message"])
    return shown


def owner(server: Server) -> dict[str, str]:
    """The owner's header."""
    return {"authorization": f"Bearer {server.token}"}


def post(
    server: Server, method: str, body: bytes, *, kind: str | None = JSON, headers: Mapping[str, str] | None = None
) -> Answer:
    """One exchange, by the owner unless the headers say otherwise."""
    with open_response(server, method, body, kind=kind, headers=headers) as response:
        found = {name.lower(): value for name, value in response.headers.items()}
        return Answer(status=response.status, headers=found, body=response.read())


@contextmanager
def open_response(
    server: Server, method: str, body: bytes, *, kind: str | None = FRAMED, headers: Mapping[str, str] | None = None
) -> Iterator[HTTPResponse]:
    """An answer that is read while it comes."""
    connection = HTTPConnection(server.host, server.port, timeout=30)
    sent = {**({"content-type": kind} if kind else {}), **(owner(server) if headers is None else headers)}
    path = method if method.startswith("codeplane.") else f"codeplane.v1.{method}"
    connection.request("POST", f"/{path}", body=body, headers=sent)
    response = connection.getresponse()
    try:
        yield response
    finally:
        response.close()
        connection.close()


def call(
    server: Server, operation: object, arguments: object = None, *, headers: Mapping[str, str] | None = None
) -> Answer:
    """`OperationService/Call` in JSON."""
    body = json.dumps({"operation": operation, "arguments": arguments or {}}).encode()
    return post(server, CALL, body, headers=headers)


def frame(message: object) -> bytes:
    """The one message of a streaming request."""
    data = message if isinstance(message, bytes) else json.dumps(message).encode()
    return HEAD.pack(0, len(data)) + data


def frames(response: HTTPResponse) -> Iterator[tuple[int, JsonObject]]:
    """The frames of a stream in JSON: flag and message."""
    for flag, data in raw_frames(response):
        yield flag, json.loads(data)


def raw_frames(response: HTTPResponse) -> Iterator[tuple[int, bytes]]:
    """The frames of a stream: flag and bytes."""
    while head := response.read(HEAD.size):
        flag, length = HEAD.unpack(head)
        yield flag, response.read(length)
