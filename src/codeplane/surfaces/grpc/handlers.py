"""gRPC handlers for the table of methods."""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable
from contextlib import aclosing
from typing import Protocol, TypeAlias, TypeVar, cast

import grpc

from codeplane.kernel.errors import CodePlaneError, Internal
from codeplane.surfaces.grpc.errors import grpc_status
from codeplane.surfaces.services.call_failure import CallFailed
from codeplane.surfaces.services.caller import APPROVAL_WAIT, Headers, bearer
from codeplane.surfaces.services.codec import DecodedRequest, EncodableResponse, from_binary, to_binary
from codeplane.surfaces.services.services import ClientStreamMethod, Method, Services

Request = TypeVar("Request")
Response = TypeVar("Response")
Context: TypeAlias = "grpc.aio.ServicerContext[bytes, bytes]"
Found: TypeAlias = "grpc.RpcMethodHandler[Request, Response] | None"
_LONGEST_SEC = 1e9


class CallActivity(Protocol):
    """Counts calls in progress, so that a busy server does not end as idle."""

    def begin(self) -> None:
        """Count a started call."""
        ...

    def end(self) -> None:
        """Count an ended call."""
        ...


class Handlers(grpc.GenericRpcHandler):
    """Finds the handler of a path."""

    def __init__(self, services: Services, busy: CallActivity | None = None) -> None:
        self._services = services
        self._busy = busy

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> "Found[bytes, bytes]":
        """Return the handler of a path; None leaves it to the next one."""
        conversation = self._services.conversations.get(handler_call_details.method)
        if conversation is not None:
            streaming = _ClientStreamHandler(conversation, self._services, self._busy)
            if conversation.streams:
                return grpc.stream_stream_rpc_method_handler(streaming.answers)
            return grpc.stream_unary_rpc_method_handler(streaming.answer)
        method = self._services.methods.get(handler_call_details.method)
        if method is None:
            return None
        if method.streams:
            return grpc.unary_stream_rpc_method_handler(_StreamHandler(method, self._busy).answers)
        return grpc.unary_unary_rpc_method_handler(_UnaryHandler(method, self._busy).answer)


class SingleTokenCheck(grpc.aio.ServerInterceptor):
    """Refuses a request with more than one token before any service reads it."""

    async def intercept_service(
        self,
        continuation: "Callable[[grpc.HandlerCallDetails], Awaitable[Found[Request, Response]]]",
        handler_call_details: grpc.HandlerCallDetails,
    ) -> "Found[Request, Response]":
        """Return the method's own handler, or one that refuses."""
        try:
            bearer(_authorization(handler_call_details.invocation_metadata))
        except CodePlaneError as error:
            return cast(
                "Found[Request, Response]",
                grpc.unary_unary_rpc_method_handler(_RefusingHandler(CallFailed(error)).answer),
            )
        return await continuation(handler_call_details)


class _RefusingHandler:
    def __init__(self, failed: CallFailed) -> None:
        self._failed = failed

    async def answer(self, asked: bytes, context: Context) -> bytes:
        await _abort(context, self._failed)
        return b""


class _UnaryHandler:
    """A unary method."""

    def __init__(self, method: Method, busy: CallActivity | None) -> None:
        self._method = method
        self._busy = busy

    async def answer(self, asked: bytes, context: Context) -> bytes:
        async with aclosing(_answers(self._method, self._busy, asked, context)) as answers:
            async for answer in answers:
                return answer
        return b""


class _StreamHandler:
    """A server-streaming method."""

    def __init__(self, method: Method, busy: CallActivity | None) -> None:
        self._method = method
        self._busy = busy

    async def answers(self, asked: bytes, context: Context) -> AsyncGenerator[bytes, None]:
        async with aclosing(_answers(self._method, self._busy, asked, context)) as answers:
            async for answer in answers:
                yield answer


class _ClientStreamHandler:
    """A method that takes a stream of requests."""

    def __init__(self, method: ClientStreamMethod, services: Services, busy: CallActivity | None) -> None:
        self._method = method
        self._services = services
        self._busy = busy

    async def answers(self, asked: AsyncIterator[bytes], context: Context) -> AsyncGenerator[bytes, None]:
        async with aclosing(self._converse(asked, context)) as conversation:
            async for answer in _encode_answers(self._method.path, self._busy, conversation, context):
                yield answer

    async def answer(self, asked: AsyncIterator[bytes], context: Context) -> bytes:
        async with aclosing(self.answers(asked, context)) as answers:
            async for answer in answers:
                return answer
        return b""

    async def _converse(self, asked: AsyncIterator[bytes], context: Context) -> AsyncGenerator[EncodableResponse, None]:
        headers = _headers(context)
        if (refused := await self._services.refusal(self._method, headers)) is not None:
            raise refused
        async with aclosing(self._method.converse(self._decode_requests(asked), headers)) as answers:
            async for answer in answers:
                yield answer

    async def _decode_requests(self, asked: AsyncIterator[bytes]) -> AsyncIterator[DecodedRequest]:
        async for request in asked:
            yield from_binary(request, self._method.request)


async def _answers(
    method: Method, busy: CallActivity | None, asked: bytes, context: Context
) -> AsyncGenerator[bytes, None]:
    async with aclosing(_handle(method, asked, context)) as answers:
        async for answer in _encode_answers(method.path, busy, answers, context):
            yield answer


async def _handle(method: Method, asked: bytes, context: Context) -> AsyncGenerator[EncodableResponse, None]:
    async with aclosing(method.handle(from_binary(asked, method.request), _headers(context))) as answers:
        async for answer in answers:
            yield answer


async def _encode_answers(
    path: str, busy: CallActivity | None, answers: AsyncIterator[EncodableResponse], context: Context
) -> AsyncGenerator[bytes, None]:
    """Encode answers; a failure ends the call with our error as its status."""
    if busy is not None:
        busy.begin()
    try:
        async for answer in answers:
            yield to_binary(answer)
        return
    except CallFailed as failed:
        refusal = failed
    except Exception as error:
        refusal = CallFailed(Internal(f"{path} failed: {type(error).__name__}"))
        refusal.__cause__ = error
    finally:
        if busy is not None:
            busy.end()
    await _abort(context, refusal)


async def _abort(context: Context, failed: CallFailed) -> None:
    code, message, metadata = grpc_status(failed)
    await context.abort(code, message, metadata)


def _headers(context: Context) -> Headers:
    metadata = tuple(context.invocation_metadata() or ())
    named = [str(value) for key, value in metadata if key == "user-agent"]
    traced = [str(value) for key, value in metadata if key == "traceparent"]
    left_sec = context.time_remaining()
    return Headers(
        surface="grpc",
        authorization=_authorization(metadata),
        user_agent=named[0] if named else "",
        traceparent=traced[0] if len(traced) == 1 else None,
        approval_wait=[str(value) for key, value in metadata if key == APPROVAL_WAIT],
        timeout_sec=max(left_sec, 0.001) if left_sec is not None and left_sec < _LONGEST_SEC else None,
    )


def _authorization(metadata: Iterable[tuple[str, str | bytes]] | None) -> list[str]:
    return [
        value.decode("latin-1") if isinstance(value, bytes) else value
        for key, value in metadata or ()
        if key == "authorization"
    ]
