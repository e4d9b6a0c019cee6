"""The ledger as server-sent events, resumable by `Last-Event-ID`."""

import asyncio
from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.json import JsonObject, JsonValue, dumps
from codeplane.kernel.operation import Result
from codeplane.surfaces.http.rpc import caller

_FILTERS = ("stream", "task_id", "call_id", "in_session")


class EventStream:
    """`GET /events`: the log as it grows; a `shutdown` event says that the server ends."""

    def __init__(self, *, conveyor: Conveyor, stopping: asyncio.Event) -> None:
        self._conveyor = conveyor
        self._stopping = stopping

    def routes(self) -> list[Route]:
        """Where it is."""
        return [Route("/events", self._events, methods=["GET"])]

    async def _events(self, request: Request) -> Response:
        arguments: JsonObject = {name: request.query_params[name] for name in _FILTERS if name in request.query_params}
        if types := request.query_params.getlist("type"):
            arguments["types"] = types
        resume = request.headers.get("last-event-id") or request.query_params.get("after")
        arguments |= {"after": resume} if resume else {"from_now": True}
        arguments["heartbeat_sec"] = 15
        return StreamingResponse(
            self._lines(request, arguments),
            media_type="text/event-stream",
            headers={"cache-control": "no-store", "x-accel-buffering": "no"},
        )

    async def _lines(self, request: Request, arguments: JsonObject) -> AsyncIterator[str]:
        items = self._conveyor.stream("ledger.watch", arguments, caller(request, {}))
        stopping = asyncio.ensure_future(self._stopping.wait())
        following: asyncio.Future[Result | Outcome] | None = None
        yield "retry: 1000\n\n"
        try:
            while True:
                following = asyncio.ensure_future(anext(items))
                pending: set[asyncio.Future[object]] = {following, stopping}  # type: ignore[arg-type]  # futures are read here, so covariance is safe
                await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                if not following.done():
                    yield message("shutdown", {"reason": "the server is ending"})
                    return
                item = following.result()
                if isinstance(item, Outcome):
                    if item.error is not None:
                        yield message("error", item.error.to_wire())
                    return
                yield _as_event(item)
        except StopAsyncIteration:
            return
        finally:
            stopping.cancel()
            if following is not None and not following.done():
                following.cancel()
                await asyncio.wait({following})
            await items.aclose()  # type: ignore[attr-defined]  # the conveyor's stream is an async generator


def _as_event(item: object) -> str:
    event = getattr(item, "event", None)
    if event is not None:
        return message("event", event, position=event["position"])
    gap = getattr(item, "stream_gap", None)
    if gap is not None:
        return message("stream_gap", gap)
    return f": alive at {getattr(item, 'heartbeat', '')}\n\n"


def message(kind: str, data: JsonValue, *, position: JsonValue = None) -> str:
    """One server-sent event."""
    head = f"id: {position}\n" if position is not None else ""
    return f"{head}event: {kind}\ndata: {dumps(data)}\n\n"
