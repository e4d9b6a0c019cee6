"""Calls that a client sends one after the other on one gRPC stream."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import cast

from codeplane._gen import operations_pb2
from codeplane.kernel.errors import Cancelled, CodePlaneError, InvalidArgument, RequestTooSlow, ShuttingDown, TooLarge
from codeplane.surfaces.services.call_failure import CallFailed
from codeplane.surfaces.services.caller import Headers
from codeplane.surfaces.services.codec import DecodedRequest, EncodableResponse
from codeplane.surfaces.services.operation_call import OperationCall
from codeplane.surfaces.services.operation_response import OperationResponse

Requests = AsyncIterator[DecodedRequest]
CallOperation = Callable[[OperationCall, Headers], Awaitable[OperationResponse]]
# An answer that is not taken counts as under way, so that a client which does not read is not read either.
MAX_UNDER_WAY = 16
MAX_CALLS = 1000
_MAX_ANSWER_BYTES = 16 * 1024 * 1024
_IDLE_SEC = 300.0
_SHORTEST_SEC = 0.001


class Exchange:
    """Makes the calls of client-streaming methods; each passes all stages."""

    def __init__(self, call: CallOperation, *, stopping: asyncio.Event, idle_sec: float = _IDLE_SEC) -> None:
        """`idle_sec`: how long a client may send nothing while none of its calls is under way."""
        self._call = call
        self._stopping = stopping
        self._idle_sec = idle_sec

    async def call_all(self, requests: Requests, headers: Headers) -> AsyncGenerator[EncodableResponse, None]:
        """Make the calls one after the other, then answer once."""
        answers: list[operations_pb2.CallAnswer] = []
        began, size = _now(), 0
        async with aclosing(_Incoming(requests, self._stopping, self._idle_sec)) as incoming:
            async for request in incoming:
                if len(answers) == MAX_CALLS:
                    raise CallFailed(TooLarge(f"at most {MAX_CALLS} calls in one stream", hint="send the rest apart"))
                wanted = cast(operations_pb2.CallAllRequest, request).call
                answer = operations_pb2.CallAnswer()
                try:
                    answer.response.CopyFrom(await self._answer(wanted, _with_time_left(headers, began)))
                except CallFailed as failed:
                    answer.error.CopyFrom(failed.detail())
                answers.append(answer)
                size += answer.ByteSize()
                if size > _MAX_ANSWER_BYTES:
                    raise CallFailed(
                        TooLarge(
                            f"{len(answers)} calls were made; their answers take more than {_MAX_ANSWER_BYTES} bytes",
                            hint="use Exchange, which answers each by itself",
                        )
                    )
        yield operations_pb2.CallAllResponse(answers=answers)

    async def exchange(self, requests: Requests, headers: Headers) -> AsyncGenerator[EncodableResponse, None]:
        """Make calls as they come, at most MAX_UNDER_WAY at once, and give each answer when it is ready."""
        began = _now()
        under_way: dict[int, asyncio.Task[operations_pb2.ExchangeResponse]] = {}
        free = asyncio.Semaphore(MAX_UNDER_WAY)
        ready: asyncio.Queue[int | None] = asyncio.Queue()

        async def read() -> None:
            try:
                incoming = _Incoming(requests, self._stopping, self._idle_sec, busy=lambda: bool(under_way))
                async with aclosing(incoming):
                    async for given in incoming:
                        request = cast(operations_pb2.ExchangeRequest, given)
                        if request.cancel:
                            if request.id in under_way:
                                under_way[request.id].cancel()
                            continue
                        if request.id in under_way:
                            hint = "number the calls"
                            raise CallFailed(InvalidArgument(f"the call {request.id} is under way already", hint=hint))
                        await free.acquire()
                        task = asyncio.ensure_future(self._answer_numbered(request, _with_time_left(headers, began)))
                        under_way[request.id] = task
                        task.add_done_callback(lambda _, id=request.id: ready.put_nowait(id))  # type: ignore[misc]
            finally:
                ready.put_nowait(None)

        reader = asyncio.ensure_future(read())
        try:
            while not reader.done() or under_way:
                id = await ready.get()
                if id is None:
                    # Raises what was wrong with the requests, at once.
                    await reader
                    continue
                task = under_way.pop(id)
                yield _cancelled_response(id) if task.cancelled() else task.result()
                free.release()
            await reader
        finally:
            left = [reader, *under_way.values()]
            for task_left in left:
                task_left.cancel()
            await asyncio.gather(*left, return_exceptions=True)

    async def _answer_numbered(
        self, request: operations_pb2.ExchangeRequest, headers: Headers
    ) -> operations_pb2.ExchangeResponse:
        try:
            response = await self._answer(request.call, headers)
        except CallFailed as failed:
            return operations_pb2.ExchangeResponse(id=request.id, error=failed.detail())
        return operations_pb2.ExchangeResponse(id=request.id, response=response)

    async def _answer(self, wanted: operations_pb2.CallRequest, headers: Headers) -> operations_pb2.CallResponse:
        try:
            call = OperationCall.of_message(wanted)
        except CodePlaneError as error:
            raise CallFailed(error) from error
        answer = (await self._call(call, headers)).to_message()
        assert isinstance(answer, operations_pb2.CallResponse)
        return answer


class _Incoming(AsyncIterator[DecodedRequest]):
    """The requests of a client until it ends them; CallFailed when it is idle for too long, or the server stops."""

    def __init__(
        self, requests: Requests, stopping: asyncio.Event, idle_sec: float, busy: Callable[[], bool] = lambda: False
    ) -> None:
        self._requests = requests
        self._idle_sec = idle_sec
        self._busy = busy
        self._stopping = asyncio.ensure_future(stopping.wait())
        self._next: asyncio.Future[DecodedRequest] | None = None

    async def __anext__(self) -> DecodedRequest:
        self._next = asyncio.ensure_future(_next_request(self._requests))
        while not self._next.done():
            was_busy = self._busy()
            pending: set[asyncio.Future[object]] = {self._next, self._stopping}  # type: ignore[arg-type]  # only read
            done, _ = await asyncio.wait(pending, timeout=self._idle_sec, return_when=asyncio.FIRST_COMPLETED)
            if self._next.done():
                break
            if self._stopping.done():
                raise CallFailed(ShuttingDown("the server is ending"))
            if not done and not was_busy and not self._busy():
                raise CallFailed(RequestTooSlow(f"no call came for {self._idle_sec:.0f} s", hint="open another stream"))
        return self._next.result()

    async def aclose(self) -> None:
        """Stop reading."""
        self._stopping.cancel()
        if self._next is not None and not self._next.done():
            self._next.cancel()
            await asyncio.wait({self._next})


async def _next_request(requests: Requests) -> DecodedRequest:
    return await anext(requests)


def _cancelled_response(id: int) -> operations_pb2.ExchangeResponse:
    failed = CallFailed(Cancelled(f"the call {id} was cancelled by its caller"))
    return operations_pb2.ExchangeResponse(id=id, error=failed.detail())


def _with_time_left(headers: Headers, began: float) -> Headers:
    """Return the headers of a call within the time of the whole stream."""
    if headers.timeout_sec is None:
        return headers
    return replace(headers, timeout_sec=max(headers.timeout_sec - (_now() - began), _SHORTEST_SEC))


def _now() -> float:
    return asyncio.get_running_loop().time()
