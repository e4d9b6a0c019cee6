"""Live updates of open pages, as resumable server-sent events."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing

from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from codeplane.kernel.envelope import Outcome
from codeplane.kernel.errors import RateLimited, StreamGap
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.operation import Result
from codeplane.surfaces.web.json_fields import get_field, get_number
from codeplane.surfaces.web.page_request import PageRequest
from codeplane.surfaces.web.pages.activity import activity_filter
from codeplane.surfaces.web.pages.threads import folded_until, render_block
from codeplane.surfaces.web.security_headers import PRIVATE, SECURITY
from codeplane.surfaces.web.sign_ins import SignIns

_HEARTBEAT_SEC = 10.0
_DECIDED = ("action.created", "action.approved", "action.rejected")
_THREAD_DECISIONS = tuple(f"thread.{kind}" for kind in _DECIDED)
_RUNS = ("call.started", "call.finished")
_WORK = (
    *(
        f"work.{what}"
        for what in ("created", "leased", "stepped", "waiting", "resumed", "completed", "failed", "cancelled")
    ),
    # The steps of turns.
    *("model.answered", "tool.answered", "tool.finished"),
)
# A page holds one; more than these are not pages that anyone looks at.
MAX_PER_SESSION, MAX_STREAMS = 20, 100
_RETRY_SEC = 30
# A page that missed more events than this is reloaded.
_BACKLOG = 2000

Shown = Callable[[JsonObject], str]


class LiveUpdates:
    """The event streams of open pages."""

    def __init__(self, sign_ins: SignIns, stopping: asyncio.Event) -> None:
        self._sign_ins = sign_ins
        self._stopping = stopping
        self._open: Counter[str] = Counter()

    async def signals(self, request: PageRequest) -> Response:
        """Stream `approvals` when an action waits or is decided; on request `runs` when a change starts or ends, and
        `work` when a work item moves."""
        after, knew = await self._start_position(request, _resume_position(request))
        types = _DECIDED + (_RUNS if "runs" in request.query else ()) + (_WORK if "work" in request.query else ())
        arguments: JsonObject = {"types": list(types), "after": after, **_watch_options(request)}

        def shown(item: JsonObject) -> str:
            event = item.get("event")
            if not isinstance(event, dict):
                return ": alive\n\n"
            name = event.get("type")
            kind = "approvals" if name in _DECIDED else "work" if name in _WORK else "runs"
            if kind == "runs" and not get_field(event, "payload", "mutates"):
                return ""
            return _message("changed", event=kind, position=event.get("position"))

        # A page that does not know its place in the log may have missed something before it got here. What happens
        # while it looks again gets it too: its position is from before it was asked to look.
        first = _refresh_on_reconnect(request) if knew else _message("changed", event="approvals", position=after)
        return self._stream(request, request.stream("ledger.watch", arguments), shown, first)

    async def calls(self, request: PageRequest) -> Response:
        """Stream the rows of the activity list; a row with a known id replaces the earlier one."""
        arguments: JsonObject = {
            **activity_filter(request.query),
            **_resume_position(request),
            **_watch_options(request),
        }

        def shown(item: JsonObject) -> str:
            row, position = item.get("row"), item.get("position")
            waits = _CHANGED if item.get("decides") else ""
            if not isinstance(row, dict):
                return f"id: {position}\n: alive\n\n{waits}"
            return _message(request.render_text("activity_row.html", row=row, fresh=True), position=position) + waits

        return self._stream(request, request.stream("call.watch", arguments), shown, _refresh_on_reconnect(request))

    async def thread(self, request: PageRequest) -> Response:
        """Stream the blocks of a conversation; a block with a known id replaces the earlier one."""
        thread_id = request.path_param("thread")
        after = int(get_number(_resume_position(request), "after") or 0)
        blocks = await folded_until(request, thread_id, after)
        arguments: JsonObject = {"thread_id": thread_id, "from_sequence": after, "heartbeat_sec": _HEARTBEAT_SEC}

        def shown(item: JsonObject) -> str:
            event = item.get("event")
            if not isinstance(event, dict):
                return ": alive\n\n"
            changed = blocks.take(event)
            waits = _CHANGED if event.get("type") in _THREAD_DECISIONS else ""
            if not changed:
                return f"id: {event.get('sequence')}\n: seen\n\n{waits}"
            text = "\n".join(render_block(request, thread_id, block) for block in changed)
            return _message(text, position=event.get("sequence")) + waits

        return self._stream(request, request.stream("thread.watch", arguments), shown)

    async def _start_position(self, request: PageRequest, asked: JsonObject) -> tuple[int, bool]:
        """Return the position to start from, and whether it is the requested one: not when none was requested, nor when
        it is so far back that telling everything would take long."""
        last = get_number(await request.call("ledger.events", {"newest": True, "limit": 1}), "last_position") or 0
        after = get_number(asked, "after")
        return (int(after), True) if after is not None and last - after <= _BACKLOG else (int(last), False)

    def _stream(
        self, request: PageRequest, items: AsyncIterator[Result | Outcome], shown: Shown, first: str = ""
    ) -> Response:
        who = request.sign_in.seal
        if self._open[who] >= MAX_PER_SESSION or self._open.total() >= MAX_STREAMS:
            refused = RateLimited("too many pages are followed at once", hint="close some of them")
            wait = {"retry-after": str(_RETRY_SEC)}
            return Response(
                f"{refused.name} {refused.message}\n", status_code=refused.http, headers={**SECURITY, **PRIVATE, **wait}
            )
        self._open[who] += 1
        return _CountedStream(
            self._lines(request, items, shown, first),
            ended=lambda: self._stream_ended(who),
            headers={**SECURITY, **PRIVATE, "x-accel-buffering": "no"},
        )

    def _stream_ended(self, who: str) -> None:
        self._open[who] -= 1
        if not self._open[who]:
            del self._open[who]

    async def _lines(
        self, request: PageRequest, items: AsyncIterator[Result | Outcome], shown: Shown, first: str
    ) -> AsyncIterator[str]:
        yield f"retry: 1000\n\n{first}"
        async with aclosing(_until_stopped(items, self._stopping)) as open_items:
            async for item in open_items:
                if self._sign_ins.find_seal(request.sign_in.seal) is None:
                    # Signed out elsewhere; the next request has to sign in.
                    yield _message("signed out", event="ended")
                    return
                if isinstance(item, Outcome):
                    if isinstance(item.error, StreamGap):
                        # What the page has not seen is gone, so all of it has to be loaded again. Whatever else ended
                        # the stream, such as a server that stops, is over when the page reconnects.
                        yield _message("the stream has a gap", event="ended")
                    return
                if message := shown(json.loads(item.model_dump_json())):
                    yield message


class _CountedStream(StreamingResponse):
    """A streaming response that reports its end, even if it never started."""

    def __init__(self, lines: AsyncIterator[str], *, ended: Callable[[], None], headers: dict[str, str]) -> None:
        super().__init__(lines, media_type="text/event-stream", headers=headers)
        self._ended = ended

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._ended()


async def _until_stopped(
    items: AsyncIterator[Result | Outcome], stopping: asyncio.Event
) -> AsyncGenerator[Result | Outcome, None]:
    """Yield the items until the server stops."""
    ending = asyncio.ensure_future(stopping.wait())
    following: asyncio.Future[Result | Outcome] | None = None
    try:
        while True:
            following = asyncio.ensure_future(_next_item(items))
            waiting: set[asyncio.Future[object]] = {following, ending}  # type: ignore[arg-type]  # only read here
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            if not following.done():
                return
            try:
                yield following.result()
            except StopAsyncIteration:
                return
    finally:
        ending.cancel()
        if following is not None and not following.done():
            following.cancel()
            await asyncio.wait({following})
        await items.aclose()  # type: ignore[attr-defined]  # the conveyor's stream is an async generator


async def _next_item(items: AsyncIterator[Result | Outcome]) -> Result | Outcome:
    return await anext(items)


def _resume_position(request: PageRequest) -> JsonObject:
    """Return the position to resume from: the browser's last event, or the page's."""
    last = request.http.headers.get("last-event-id") or request.query.get("after", "")
    return {"after": int(last)} if last.isdecimal() and len(last) < 17 else {}


def _watch_options(request: PageRequest) -> JsonObject:
    """Return the options of a watch."""
    return {"heartbeat_sec": _HEARTBEAT_SEC, "resumed": _is_reconnect(request)}


def _is_reconnect(request: PageRequest) -> bool:
    return "last-event-id" in request.http.headers


def _refresh_on_reconnect(request: PageRequest) -> str:
    """Return a refresh event after a reconnect, because the page's last requests may have been lost."""
    return _CHANGED if _is_reconnect(request) else ""


def _message(data: str, *, event: str | None = None, position: JsonValue = None) -> str:
    head = f"id: {position}\n" if position is not None else ""
    named = f"event: {event}\n" if event else ""
    body = "".join(f"data: {line}\n" for line in data.splitlines() or [""])
    return f"{head}{named}{body}\n"


_CHANGED = _message("changed", event="approvals")
