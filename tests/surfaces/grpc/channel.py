"""gRPC's own client: a channel, methods by their paths, and errors with ours inside."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar, cast

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import Message

from codeplane._gen.error_pb2 import Error
from tests.harness import Server

M = TypeVar("M", bound=Message)
Metadata = tuple[tuple[str, str], ...]
_SEC = 30


@contextmanager
def channel(server: Server) -> Iterator[grpc.Channel]:
    """A channel to the server's gRPC port."""
    opened = grpc.insecure_channel(f"127.0.0.1:{server.facts['grpc_port']}")
    try:
        yield opened
    finally:
        opened.close()


def owner(server: Server) -> Metadata:
    """The owner's token."""
    return (("authorization", f"Bearer {server.token}"),)


def call(
    server: Server,
    method: str,
    request: Message,
    answer: type[M],
    *,
    metadata: Metadata | None = None,
    sec: float = _SEC,
) -> M:
    """One call, by the owner unless the metadata says otherwise."""
    with channel(server) as found:
        run = found.unary_unary(f"/codeplane.v1.{method}", type(request).SerializeToString, answer.FromString)
        given = owner(server) if metadata is None else metadata
        return run(request, metadata=given, timeout=sec)


def raw_bytes(data: bytes) -> bytes:
    """Bytes for bytes, where a message would be too polite."""
    return data


def refusal(error: grpc.RpcError) -> tuple[grpc.StatusCode, Error]:
    """The status and our own error of a call that failed."""
    trailing = cast(tuple[tuple[str, bytes], ...], error.trailing_metadata())
    return error.code(), detail_of(dict(trailing)["grpc-status-details-bin"])


def detail_of(status: bytes) -> Error:
    """Our error in a google.rpc.Status: what follows the type's name is the whole of the Any."""
    found = AnyMessage()
    # Field 3 is the last one, and its length is in front of it.
    at = status.index(b"\x1a", status.index(b"\x12"))
    while True:
        length, width = _varint(status[at + 1 :])
        if at + 1 + width + length == len(status):
            found.ParseFromString(status[at + 1 + width :])
            return Error.FromString(found.value)
        at = status.index(b"\x1a", at + 1)


def _varint(data: bytes) -> tuple[int, int]:
    value = 0
    for width, byte in enumerate(data[:5]):
        value |= (byte & 0x7F) << 7 * width
        if byte < 0x80:
            return value, width + 1
    return -1, 1
