"""All services, as a table of methods for the protocols."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import cast

from google.protobuf.descriptor import FileDescriptor, ServiceDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from codeplane._gen import (
    approvals_pb2,
    auth_pb2,
    devices_pb2,
    events_pb2,
    jobs_pb2,
    operations_pb2,
    schedules_pb2,
    system_pb2,
    threads_pb2,
    turns_pb2,
    work_pb2,
)
from codeplane._gen.search import search_pb2
from codeplane.kernel.actor import Caller, Progress
from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.errors import CodePlaneError, OperationDisabled, UnknownOperation
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Result
from codeplane.surfaces.services.call_failure import CallFailed
from codeplane.surfaces.services.call_stream import CallStream, ProgressSlot
from codeplane.surfaces.services.caller import Headers
from codeplane.surfaces.services.codec import DecodedRequest, EncodableResponse
from codeplane.surfaces.services.exchange import Exchange, Requests
from codeplane.surfaces.services.field_mapping import PACKAGE
from codeplane.surfaces.services.operation_call import OperationCall
from codeplane.surfaces.services.operation_response import OperationResponse
from codeplane.surfaces.services.stream_mapping import StreamMethod
from codeplane.surfaces.services.typed_methods import METHODS, TypedMethod
from codeplane.surfaces.services.typed_streams import STREAMS

# A refusal is there at once; a watch in which nothing happens must not keep its reader waiting for a first word.
_REFUSAL_SEC = 0.1
_SHORTEST_SEC = 0.001
_CALL = f"/{PACKAGE}.OperationService/Call"
_WITHOUT_TOKEN = "pairing.bind"

FILES: tuple[FileDescriptor, ...] = (
    approvals_pb2.DESCRIPTOR,
    auth_pb2.DESCRIPTOR,
    devices_pb2.DESCRIPTOR,
    events_pb2.DESCRIPTOR,
    operations_pb2.DESCRIPTOR,
    schedules_pb2.DESCRIPTOR,
    search_pb2.DESCRIPTOR,
    system_pb2.DESCRIPTOR,
    threads_pb2.DESCRIPTOR,
    turns_pb2.DESCRIPTOR,
    jobs_pb2.DESCRIPTOR,
    work_pb2.DESCRIPTOR,
)
SERVICES: tuple[ServiceDescriptor, ...] = tuple(service for file in FILES for service in file.services_by_name.values())

Handler = Callable[[DecodedRequest, Headers], AsyncGenerator[EncodableResponse, None]]
Conversation = Callable[[Requests, Headers], AsyncGenerator[EncodableResponse, None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A method of a service; a unary one gives exactly one answer."""

    service: str
    name: str
    request: type[Message]
    response: type[Message]
    streams: bool
    handle: Handler
    # What it calls; of a method that calls anything, what can be called without a token.
    operation: str

    @property
    def path(self) -> str:
        """The path of the method, over HTTP and gRPC."""
        return f"/{self.service}/{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientStreamMethod:
    """A method that takes a stream of requests, which only gRPC carries; one that does not stream answers once."""

    service: str
    name: str
    request: type[Message]
    streams: bool
    converse: Conversation
    # It needs a token before anything is read.
    operation: str = ""

    @property
    def path(self) -> str:
        """The path of the method."""
        return f"/{self.service}/{self.name}"


class Services:
    """The methods of all services: translate and call the conveyor."""

    def __init__(self, conveyor: Conveyor, *, stopping: asyncio.Event) -> None:
        """Endless streams end when `stopping` is set."""
        self._conveyor = conveyor
        self._stopping = stopping
        exchange = Exchange(self._answer, stopping=stopping)
        handlers: dict[str, Handler] = {
            _CALL: self._call,
            f"/{PACKAGE}.OperationService/Stream": self._stream,
            **{_path(typed): self._stream_handler(typed) for typed in STREAMS},
            **{_path(typed): self._typed_handler(typed) for typed in METHODS},
        }
        conversations: dict[str, Conversation] = {
            f"/{PACKAGE}.OperationService/Exchange": exchange.exchange,
            f"/{PACKAGE}.OperationService/CallAll": exchange.call_all,
        }
        self.methods: Mapping[str, Method] = {
            method.path: method for service in SERVICES for method in _methods(service, handlers)
        }
        self.conversations: Mapping[str, ClientStreamMethod] = {
            method.path: method for service in SERVICES for method in _client_streams(service, conversations)
        }

    async def refusal(self, method: "Method | ClientStreamMethod", headers: Headers) -> CallFailed | None:
        """Return why a caller is refused by its headers alone, or None."""
        try:
            outcome = await self._conveyor.refusal(headers.surface, headers.caller(), method.operation)
        except CodePlaneError as error:
            return CallFailed(error)
        if outcome is None or outcome.error is None:
            return None
        return CallFailed(outcome.error, outcome.meta.to_wire())

    async def _call(self, asked: DecodedRequest, headers: Headers) -> AsyncGenerator[EncodableResponse, None]:
        yield await self._answer(cast(OperationCall, asked), headers)

    async def _answer(self, wanted: OperationCall, headers: Headers) -> OperationResponse:
        outcome = await self._conveyor.call(wanted.operation, wanted.arguments, _caller(headers, wanted))
        meta = _meta_or_raise(outcome)
        text = outcome.result.text() if wanted.with_text and outcome.result is not None else None
        return OperationResponse(
            streamed=False, result_json=outcome.result_json, meta=meta, text=text, exact=wanted.exact
        )

    async def _stream(self, asked: DecodedRequest, headers: Headers) -> AsyncGenerator[EncodableResponse, None]:
        wanted = cast(OperationCall, asked)
        # A unary call may finish; an endless one ends with the server.
        stopping = self._stopping if self._streams(wanted.operation) else asyncio.Event()
        progress, caller = ProgressSlot(), _caller(headers, wanted)
        if wanted.with_progress:
            caller = replace(caller, on_progress=progress.put)
        stream = self._open_stream(wanted.operation, wanted.arguments, caller, stopping)
        items = progress.beside(stream) if wanted.with_progress else stream
        async with aclosing(stream):
            async for item in items:
                if isinstance(item, Progress):
                    yield OperationResponse(streamed=True, progress=item)
                elif isinstance(item, Outcome):
                    yield OperationResponse(streamed=True, meta=_meta_or_raise(item))
                else:
                    yield OperationResponse(
                        streamed=True,
                        result_json=item.model_dump_json(exclude_none=True),
                        text=item.text() if wanted.with_text else None,
                        exact=wanted.exact,
                    )

    def _typed_handler(self, typed: TypedMethod) -> Handler:
        async def handle(asked: DecodedRequest, headers: Headers) -> AsyncGenerator[EncodableResponse, None]:
            arguments = typed.arguments(cast(Message, asked))
            outcome = await self._conveyor.call(typed.operation, arguments, _caller(headers))
            _meta_or_raise(outcome)
            yield typed.answer(outcome.result_json)

        return handle

    def _stream_handler(self, typed: StreamMethod) -> Handler:
        async def handle(asked: DecodedRequest, headers: Headers) -> AsyncGenerator[EncodableResponse, None]:
            request, caller = cast(Message, asked), _caller(headers)
            answered: JsonObject = {}
            if typed.first is not None:
                began = asyncio.get_running_loop().time()
                outcome = await self._conveyor.call(typed.first.operation, typed.first.arguments(request), caller)
                _meta_or_raise(outcome)
                answered = json.loads(outcome.result_json)
                caller = _with_time_left(caller, asyncio.get_running_loop().time() - began)
            opened = typed.open(request, answered)
            stream = self._open_stream(opened.operation, opened.arguments, caller, self._stopping)
            async with aclosing(stream) as items:
                opening = opened.items.opening()
                if opening is not None and await items.is_quiet(_REFUSAL_SEC):
                    yield opening
                async for item in items:
                    if isinstance(item, Outcome):
                        if item.error is None or not opened.items.is_end(item.error):
                            _meta_or_raise(item)
                        return
                    value = item.model_dump(mode="json", exclude_none=True)
                    yield opened.items.message(value)
                    if opened.items.is_last(value):
                        return

        return handle

    def _open_stream(
        self, operation: str, arguments: JsonObject, caller: Caller, stopping: asyncio.Event
    ) -> CallStream[Result | Outcome]:
        items = self._conveyor.stream(operation, arguments, caller)
        return CallStream(cast(AsyncGenerator[Result | Outcome, None], items), stopping)

    def _streams(self, operation: str) -> bool:
        try:
            return self._conveyor.catalogue.get(operation).streaming
        except (UnknownOperation, OperationDisabled):
            return False


def _path(row: TypedMethod | StreamMethod) -> str:
    return f"/{row.package}.{row.service}/{row.method}"


_OPERATIONS = (
    {_CALL: _WITHOUT_TOKEN}
    | {_path(row): row.operation for row in METHODS}
    | {_path(row): row.operation for row in STREAMS}
)


def _methods(service: ServiceDescriptor, handlers: Mapping[str, Handler]) -> list[Method]:
    return [
        Method(
            service=service.full_name,
            name=method.name,
            request=GetMessageClass(method.input_type),
            response=GetMessageClass(method.output_type),
            streams=method.server_streaming,
            handle=handlers[f"/{service.full_name}/{method.name}"],
            operation=_OPERATIONS.get(f"/{service.full_name}/{method.name}", ""),
        )
        for method in service.methods
        if not method.client_streaming
    ]


def _client_streams(service: ServiceDescriptor, conversations: Mapping[str, Conversation]) -> list[ClientStreamMethod]:
    return [
        ClientStreamMethod(
            service=service.full_name,
            name=method.name,
            request=GetMessageClass(method.input_type),
            streams=method.server_streaming,
            converse=conversations[f"/{service.full_name}/{method.name}"],
        )
        for method in service.methods
        if method.client_streaming
    ]


def _caller(headers: Headers, wanted: OperationCall | None = None) -> Caller:
    try:
        return headers.caller(wanted.connection_id if wanted is not None else None)
    except CodePlaneError as error:
        raise CallFailed(error) from error


def _with_time_left(caller: Caller, used_sec: float) -> Caller:
    """Return the caller of a second call within the time of both."""
    if caller.timeout_sec is None:
        return caller
    return replace(caller, timeout_sec=max(caller.timeout_sec - used_sec, _SHORTEST_SEC))


def _meta_or_raise(outcome: Outcome) -> JsonObject:
    """Return the meta of a successful call, or raise CallFailed."""
    meta = outcome.meta.to_wire()
    if outcome.error is not None:
        raise CallFailed(outcome.error, meta)
    if outcome.result is not None and (unmet := outcome.result.unmet()):
        meta["unmet"] = unmet
    return meta
