"""A timeout for gRPC calls whose request does not arrive."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeVar

import grpc

from codeplane.kernel.errors import RequestTooSlow
from codeplane.surfaces.grpc.errors import grpc_status
from codeplane.surfaces.services.call_failure import CallFailed

Request = TypeVar("Request")
Response = TypeVar("Response")
_OURS = "/codeplane."
# The library shows a message when all of it is there, so its size cannot be counted on the way.
_BYTES_A_SEC = 65_536


class SlowRequests(grpc.aio.ServerInterceptor):
    """Reads the request of every call with a time limit, which the library has only for the whole call."""

    def __init__(self, *, timeout_sec: float, max_bytes: int) -> None:
        self._timeout_sec = timeout_sec + max_bytes / _BYTES_A_SEC

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Any]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Any:
        """Return the method's handler as one for a stream of requests, which is the same on the wire."""
        handler = await continuation(handler_call_details)
        if handler is None:
            return None
        codecs = {
            "request_deserializer": handler.request_deserializer,
            "response_serializer": handler.response_serializer,
        }
        if handler.request_streaming and handler_call_details.method.startswith(_OURS):
            # A client may think between its calls; how long is the method's to decide.
            return handler
        if handler.request_streaming:
            return grpc.stream_stream_rpc_method_handler(self._stream_stream(handler.stream_stream), **codecs)
        if handler.response_streaming:
            return grpc.stream_stream_rpc_method_handler(self._server_stream(handler.unary_stream), **codecs)
        return grpc.stream_unary_rpc_method_handler(self._unary(handler.unary_unary), **codecs)

    def _unary(self, behavior: Callable[..., Awaitable[object]]) -> Callable[..., Awaitable[object]]:
        async def answer(requests: AsyncIterator[object], context: Any) -> object:
            return await behavior(await self._only(requests, context), context)

        return answer

    def _server_stream(self, behavior: Callable[..., Any]) -> Callable[..., Awaitable[None]]:
        async def answer(requests: AsyncIterator[object], context: Any) -> None:
            answers = behavior(await self._only(requests, context), context)
            if inspect.isawaitable(answers):
                await answers
                return
            try:
                async for item in answers:
                    await context.write(item)
            finally:
                await answers.aclose()

        return answer

    def _stream_stream(self, behavior: Callable[..., AsyncIterator[object]]) -> Callable[..., AsyncIterator[object]]:
        async def time_requests(requests: AsyncIterator[object], context: Any) -> AsyncIterator[object]:
            while True:
                try:
                    async with asyncio.timeout(self._timeout_sec):
                        request = await anext(requests)
                except StopAsyncIteration:
                    return
                except TimeoutError:
                    await self._refuse(context)
                yield request

        async def answers(requests: AsyncIterator[object], context: Any) -> AsyncIterator[object]:
            async for response in behavior(time_requests(aiter(requests), context), context):
                yield response

        return answers

    async def _only(self, requests: AsyncIterator[object], context: Any) -> object:
        try:
            async with asyncio.timeout(self._timeout_sec):
                return await anext(aiter(requests))
        except StopAsyncIteration:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "the call has no request")
        except TimeoutError:
            await self._refuse(context)
        raise AssertionError("abort raises")

    async def _refuse(self, context: Any) -> None:
        error = RequestTooSlow("the request did not come in time", details={"setting": "server.body_timeout_sec"})
        await context.abort(*grpc_status(CallFailed(error)))
