"""Every operation over one generic service, in the Connect protocol's JSON form."""

import json
import struct
from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from codeplane.kernel.actor import Caller
from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.errors import CodePlaneError, MalformedRequest
from codeplane.kernel.json import JsonObject, dumps
from codeplane.surfaces.http.answers import json_answer

SERVICE = "/codeplane.v1.OperationService"
_END = 0b10


class OperationService:
    """`Call` answers with the envelope, `Stream` with one message an item and the envelope at the end."""

    def __init__(self, conveyor: Conveyor) -> None:
        self._conveyor = conveyor

    def routes(self) -> list[Route]:
        """Where it is."""
        return [
            Route(f"{SERVICE}/Call", self._call, methods=["POST"]),
            Route(f"{SERVICE}/Stream", self._stream, methods=["POST"]),
        ]

    async def _call(self, request: Request) -> Response:
        try:
            body = _decode(await request.body())
            outcome = await self._conveyor.call(_operation(body), _arguments(body), caller(request, body))
        except CodePlaneError as error:
            return json_answer(dumps(connect_error(error)), status=error.http)
        if outcome.error is not None:
            wire = connect_error(outcome.error)
            return json_answer({**wire, "meta": outcome.meta.to_wire()}, status=outcome.error.http)
        return json_answer(outcome.to_json(with_text=body.get("text") is True))

    async def _stream(self, request: Request) -> Response:
        try:
            raw = await request.body()
            body = _decode(raw[5:] if raw[:1] == b"\0" else raw)
            items = self._conveyor.stream(_operation(body), _arguments(body), caller(request, body))
        except CodePlaneError as error:
            return json_answer(connect_error(error), status=error.http)
        return StreamingResponse(_frames(items), media_type="application/connect+json")


async def _frames(items: AsyncIterator[object]) -> AsyncIterator[bytes]:
    async for item in items:
        if isinstance(item, Outcome):
            end: JsonObject = {"meta": item.meta.to_wire()}
            if item.error is not None:
                end["error"] = connect_error(item.error)
            yield frame(dumps({"metadata": {}, **end}), end=True)
        else:
            yield frame(item.model_dump_json(exclude_none=True))  # type: ignore[attr-defined]  # the conveyor yields results


def frame(text: str, *, end: bool = False) -> bytes:
    """One message of a Connect stream: a flag, its length, its bytes."""
    data = text.encode()
    return struct.pack(">BI", _END if end else 0, len(data)) + data


def connect_error(error: CodePlaneError) -> JsonObject:
    """An error in Connect's shape, with ours as its detail."""
    return {"code": error.rpc, "message": error.message, "error": error.to_wire()}


def caller(request: Request, body: JsonObject) -> Caller:
    """Who calls, as far as HTTP tells; the conveyor decides what that is worth."""
    header = request.headers.get("authorization", "")
    timeout = request.headers.get("connect-timeout-ms", "")
    connection = body.get("connection_id")
    return Caller(
        surface="connect",
        connection_id=str(connection) if connection else None,
        client=request.headers.get("user-agent", "")[:80] or None,
        token=header[7:].strip() if header.lower().startswith("bearer ") else None,
        timeout_sec=int(timeout) / 1000 if timeout.isdigit() else None,
    )


def _decode(raw: bytes) -> JsonObject:
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise MalformedRequest(f"the body is not JSON: {str(error)[:200]}") from error
    if not isinstance(body, dict):
        raise MalformedRequest("the body must be one JSON object with `operation` and `arguments`")
    return body


def _operation(body: JsonObject) -> str:
    name = body.get("operation")
    if not isinstance(name, str):
        raise MalformedRequest('`operation` must be a string, such as "status"')
    return name


def _arguments(body: JsonObject) -> JsonObject:
    arguments = body.get("arguments")
    if arguments is None:
        return {}
    if not isinstance(arguments, dict):
        raise MalformedRequest("`arguments` must be an object")
    return arguments
