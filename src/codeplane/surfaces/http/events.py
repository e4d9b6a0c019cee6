"""The ledger as server-sent events, resumable by `Last-Event-ID`."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from codeplane.kernel.actor import Caller
from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.http.call_stream import CallStream
from codeplane.surfaces.http.responses import error_response
from codeplane.surfaces.http.sse import message, shutdown_message
from codeplane.surfaces.services.caller import bearer, check_filters

_FILTERS = ("stream", "task_id", "call_id", "in_session")
# A refusal is there at once; a stream in which nothing happens must not keep its reader waiting for the headers.
_REFUSAL_SEC = 0.1
_MAX_NAME = 80


class EventStream:
    """`GET /events`: the log as it grows; a `shutdown` event says that the server ends."""

    def __init__(self, *, conveyor: Conveyor, stopping: asyncio.Event) -> None:
        self._conveyor = conveyor
        self._stopping = stopping

    def routes(self) -> list[Route]:
        """Return the route."""
        return [Route("/events", self._events, methods=["GET"])]

    async def _events(self, request: Request) -> Response:
        try:
            check_filters(request.query_params, (*_FILTERS, "type", "after"))
        except InvalidArgument as error:
            return error_response(error)
        arguments: JsonObject = {name: request.query_params[name] for name in _FILTERS if name in request.query_params}
        if types := request.query_params.getlist("type"):
            arguments["types"] = types
        resume = request.headers.get("last-event-id") or request.query_params.get("after")
        arguments |= {"after": resume} if resume else {"from_now": True}
        arguments["heartbeat_sec"] = 15
        items = self._conveyor.stream("ledger.watch", arguments, _caller_of(request))
        following = CallStream(items, self._stopping)
        first = await following.first(_REFUSAL_SEC)
        if isinstance(first, Outcome) and first.error is not None:
            await following.close()
            return error_response(first.error)
        if request.method == "HEAD":
            await following.close()
            return Response(media_type="text/event-stream")
        return StreamingResponse(
            _lines(following),
            media_type="text/event-stream",
            headers={"cache-control": "no-store", "x-accel-buffering": "no"},
        )


async def _lines(following: CallStream) -> AsyncIterator[str]:
    yield "retry: 1000\n\n"
    async with aclosing(following.rest()) as items:
        async for item in items:
            if item is None:
                yield shutdown_message()
            elif not isinstance(item, Outcome):
                yield _as_event(item)
            elif item.error is not None:
                yield message("error", item.error.to_wire())


def _as_event(item: object) -> str:
    event = getattr(item, "event", None)
    if event is not None:
        return message("event", event, position=event["position"])
    gap = getattr(item, "stream_gap", None)
    if gap is not None:
        return message("stream_gap", gap)
    return f": alive at {getattr(item, 'heartbeat', '')}\n\n"


def _caller_of(request: Request) -> Caller:
    """Return the caller of a request; Unauthorized when it has more than one token."""
    client = "".join(char if char.isprintable() else "?" for char in request.headers.get("user-agent", "")[:_MAX_NAME])
    return Caller(
        surface="connect",
        client=client or None,
        token=bearer(request.headers.getlist("authorization")),
        request_id=request.state.request_id,
        traceparent=request.headers.get("traceparent"),
    )
