"""The streams of a typed method over every protocol that carries them, as messages and how they ended."""

import json
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar

import grpc
from google.protobuf.json_format import MessageToJson, Parse
from google.protobuf.message import Message

from codeplane._gen.error_pb2 import Error
from tests.harness import Server
from tests.surfaces.connect.wire import FRAMED, error_of, frame, open_response, raw_frames
from tests.surfaces.connect.wire import owner as owner_header
from tests.surfaces.grpc.channel import channel, detail_of, owner, refusal

M = TypeVar("M", bound=Message)
_END, _TRAILERS = 2, 0x80
_DETAILS = "grpc-status-details-bin"


@dataclass
class Stream(Generic[M]):
    """An open stream; `error` is known once it was read to its end, and empty where that was a good one."""

    messages: Iterator[M]
    error: str = ""
    cancel: Callable[[], object] = lambda: None

    def next(self, fits: Callable[[M], bool] = lambda _: True) -> M:
        """The next message that fits."""
        return next(message for message in self.messages if fits(message))


@contextmanager
def _http(
    server: Server, path: str, request: Message, kind: type[M], content_type: str, headers: Mapping[str, str]
) -> Iterator[Stream[M]]:
    in_json = content_type == FRAMED
    body = MessageToJson(request).encode() if in_json else request.SerializeToString()
    with open_response(
        server, path, frame(body), kind=content_type, headers={**owner_header(server), **headers}
    ) as found:

        def read() -> Iterator[M]:
            for flag, data in raw_frames(found):
                if flag == _END:
                    ended = json.loads(data)
                    stream.error = str(error_of(ended["error"])["error"]) if "error" in ended else ""
                elif flag == _TRAILERS:
                    stream.error = _trailing_error(data.decode())
                else:
                    yield Parse(data, kind()) if in_json else kind.FromString(data)

        stream: Stream[M] = Stream(iter(()))
        stream.messages = read()
        trailers_only = found.headers.get(_DETAILS)
        if trailers_only:
            stream.error = _decoded(trailers_only).error
        yield stream


def _trailing_error(trailers: str) -> str:
    fields = dict(line.split(":", 1) for line in trailers.strip().splitlines())
    found = {name.strip().lower(): value.strip() for name, value in fields.items()}
    return _decoded(found[_DETAILS]).error if _DETAILS in found else ""


def _decoded(value: str) -> Error:
    return detail_of(b64decode(value + "=" * (-len(value) % 4)))


@contextmanager
def _grpc(server: Server, path: str, request: Message, kind: type[M], timeout_sec: float) -> Iterator[Stream[M]]:
    with channel(server) as found:
        run = found.unary_stream(f"/{path}", type(request).SerializeToString, kind.FromString)
        call = run(request, metadata=owner(server), timeout=timeout_sec)

        def read() -> Iterator[M]:
            try:
                yield from call
            except grpc.RpcError as failed:
                stream.error = refusal(failed)[1].error

        stream: Stream[M] = Stream(iter(()), cancel=call.cancel)
        stream.messages = read()
        yield stream


WIRES = ("connect+json", "connect+proto", "grpc-web", "grpc")
_CONTENT_TYPES = {
    "connect+json": FRAMED,
    "connect+proto": "application/connect+proto",
    "grpc-web": "application/grpc-web+proto",
}


@contextmanager
def opened(
    wire: str,
    server: Server,
    path: str,
    request: Message,
    kind: type[M],
    *,
    headers: Mapping[str, str] | None = None,
    package: str = "codeplane.v1",
) -> Iterator[Stream[M]]:
    """A stream by the owner, over one of the wires."""
    path = f"{package}.{path}"
    if wire == "grpc":
        with _grpc(server, path, request, kind, 60) as stream:
            yield stream
        return
    with _http(server, path, request, kind, _CONTENT_TYPES[wire], headers or {}) as stream:
        yield stream
