"""Every operation over one generic service, in the Connect protocol's JSON form."""

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import aclosing

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from codeplane.kernel.actor import Caller
from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.errors import CodePlaneError, ShuttingDown, UnknownOperation
from codeplane.kernel.json import JsonObject, dumps
from codeplane.surfaces.http.answers import json_answer
from codeplane.surfaces.http.body import OperationBody, unframed
from codeplane.surfaces.http.following import Following

SERVICE = "/codeplane.v1.OperationService"
_END = 0b10
_TIMEOUT_DIGITS = 10


class OperationService:
    """`Call` answers with the envelope, `Stream` with one message an item and the envelope at the end."""

    def __init__(self, conveyor: Conveyor, *, stopping: asyncio.Event) -> None:
        self._conveyor = conveyor
        self._stopping = stopping

    def routes(self) -> list[Route]:
        """Where it is."""
        return [
            Route(f"{SERVICE}/Call", self._call, methods=["POST"]),
            Route(f"{SERVICE}/Stream", self._stream, methods=["POST"]),
        ]

    async def _call(self, request: Request) -> Response:
        try:
            body = OperationBody.of(await request.body())
        except CodePlaneError as error:
            return json_answer(connect_error(error), status=error.http)
        outcome = await self._conveyor.call(body.operation, body.arguments, caller(request, body.connection_id))
        if outcome.error is not None:
            wire = connect_error(outcome.error)
            return json_answer({**wire, "meta": outcome.meta.to_wire()}, status=outcome.error.http)
        return json_answer(outcome.to_json(with_text=body.with_text))

    async def _stream(self, request: Request) -> Response:
        try:
            body = OperationBody.of(unframed(await request.body()))
        except CodePlaneError as error:
            return json_answer(connect_error(error), status=error.http)
        items = self._conveyor.stream(body.operation, body.arguments, caller(request, body.connection_id))
        # A call that answers once is let finish; one that could go on for ever ends with the server.
        stopping = self._stopping if self._streams(body.operation) else asyncio.Event()
        return StreamingResponse(_frames(Following(items, stopping)), media_type="application/connect+json")

    def _streams(self, operation: str) -> bool:
        try:
            return self._conveyor.catalogue.get(operation).streaming
        except UnknownOperation:
            return False


async def _frames(following: Following) -> AsyncIterator[bytes]:
    async with aclosing(following.rest()) as items:
        async for item in items:
            if item is None:
                yield _end_frame({"error": connect_error(ShuttingDown("the server is ending"))})
            elif isinstance(item, Outcome):
                error: JsonObject = {"error": connect_error(item.error)} if item.error is not None else {}
                yield _end_frame({"meta": item.meta.to_wire(), **error})
            else:
                yield frame(item.model_dump_json(exclude_none=True))


def _end_frame(end: JsonObject) -> bytes:
    return frame(dumps({"metadata": {}, **end}), end=True)


def frame(text: str, *, end: bool = False) -> bytes:
    """One message of a Connect stream: a flag, its length, its bytes."""
    data = text.encode()
    return struct.pack(">BI", _END if end else 0, len(data)) + data


def connect_error(error: CodePlaneError) -> JsonObject:
    """An error in Connect's shape, with ours as its detail."""
    return {"code": error.rpc, "message": error.message, "error": error.to_wire()}


def caller(request: Request, connection_id: str | None = None) -> Caller:
    """Who calls, as far as HTTP tells; the conveyor decides what that is worth."""
    header = request.headers.get("authorization", "")
    return Caller(
        surface="connect",
        connection_id=connection_id,
        client=_printable(request.headers.get("user-agent", "")) or None,
        token=header[7:].strip() if header.lower().startswith("bearer ") else None,
        request_id=request.state.request_id,
        timeout_sec=_timeout_sec(request.headers.get("connect-timeout-ms", "")),
    )


def _timeout_sec(milliseconds: str) -> float | None:
    # The header comes as Latin-1, where ² is a digit too, and a number can be as long as a header.
    sane = milliseconds.isascii() and milliseconds.isdigit() and len(milliseconds) <= _TIMEOUT_DIGITS
    return int(milliseconds) / 1000 if sane else None


def _printable(name: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in name[:80])
