"""The Connect surface: one ASGI application for all services."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, cast

from connectrpc.errors import ConnectError
from connectrpc.method import IdempotencyLevel, MethodInfo, StreamType
from connectrpc.request import Headers as RequestHeaders
from connectrpc.request import RequestContext
from connectrpc.server import ConnectASGIApplication, Endpoint
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.errors import CodePlaneError, Internal, MalformedRequest, Unauthorized, UnknownOperation
from codeplane.surfaces.connect.codecs import BinaryCodec, JsonCodec
from codeplane.surfaces.connect.errors import connect_error, plain_answer, with_detail
from codeplane.surfaces.connect.request import ASKED_SEC, REQUEST_ID, content_type_hint, prepare_scope
from codeplane.surfaces.services.call_failure import CallFailed
from codeplane.surfaces.services.caller import APPROVAL_WAIT, Headers, bearer
from codeplane.surfaces.services.codec import DecodedRequest, EncodableResponse
from codeplane.surfaces.services.services import Method, Services

if TYPE_CHECKING:
    from connectrpc._server_shared import EndpointServerStream, EndpointUnary

    AnyEndpoint = (
        EndpointUnary[DecodedRequest, EncodableResponse] | EndpointServerStream[DecodedRequest, EncodableResponse]
    )

PREFIX = "/codeplane."
Context = RequestContext[DecodedRequest, EncodableResponse]
# A pairing code and a name, from a client without a token.
_MOST_WITHOUT_TOKEN = 16 * 1024
# Why the request that is being answered is refused.
_refusal: ContextVar[CallFailed | None] = ContextVar("refusal", default=None)


class ConnectSurface:
    """Every service of the protos at `/PACKAGE.SERVICE/METHOD`, in JSON and binary, as Connect and as gRPC-Web."""

    def __init__(self, conveyor: Conveyor, *, stopping: asyncio.Event, max_message_bytes: int) -> None:
        self._services = Services(conveyor, stopping=stopping)
        self._methods = self._services.methods
        self._application = _Application(self._methods, max_message_bytes=max_message_bytes)

    def routes(self) -> list[Route]:
        """Return the route."""
        return [Route(f"{PREFIX}{{method:path}}", self)]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["path"] in self._services.conversations:
            error = UnknownOperation(
                f"{scope['path']} takes a stream of requests", hint="call it over gRPC: cpl status"
            )
            await plain_answer(error, status=404)(scope, receive, send)
            return
        method = self._methods.get(scope["path"])
        refused = _unsupported_request(scope, method)
        if method is None or refused is not None:
            await (refused or _not_found(scope))(scope, receive, send)
            return

        fit = prepare_scope(scope, streams=method.streams)
        # By the headers alone: the body of a refused caller is not read.
        headers = _headers(RequestHeaders([(name.decode(), value.decode()) for name, value in fit["headers"]]))
        failed = await self._services.refusal(method, headers)
        body = b""
        try:
            if failed is None:
                # Whole before the library sees any of it: a body that the guard finds too large is answered by the
                # guard, which reads on, while the library would answer in the middle of it.
                body = await _read_body(receive, most=None if bearer(headers.authorization) else _MOST_WITHOUT_TOKEN)
        except CodePlaneError as error:
            await plain_answer(error, status=error.http)(scope, receive, send)
            return
        _refusal.set(failed)
        await self._application(fit, _replay_body(body, receive), send)


async def _read_body(receive: Receive, *, most: int | None) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while (message := await receive())["type"] == "http.request":
        pieces.append(message.get("body", b""))
        size += len(pieces[-1])
        if most is not None and size > most:
            raise Unauthorized(f"without a token at most {most} bytes are read")
        if not message.get("more_body"):
            break
    return b"".join(pieces)


def _replay_body(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives the body at once, then further messages."""
    given = False

    async def rest() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return rest


def _unsupported_request(scope: Scope, method: Method | None) -> Response | None:
    """Return our refusal of what the library would refuse without an explanation."""
    if method is None:
        return _not_found(scope)
    if scope["method"] != "POST":
        refusal = MalformedRequest(f"{scope['method']} is not for {method.path}", hint="use POST")
        return plain_answer(refusal, status=405, allow="POST")
    if (hint := content_type_hint(scope, streams=method.streams)) is not None:
        refusal = MalformedRequest("the content type is not one that is understood here", hint=hint)
        return plain_answer(refusal, status=415)
    return None


def _not_found(scope: Scope) -> Response:
    return plain_answer(UnknownOperation(f"nothing is at {scope['path']}", hint="see proto/codeplane"), status=404)


class _RefusalInterceptor:
    """Makes the library send a refusal in the request's own protocol before it reads the body."""

    async def on_start(self, _: Context) -> None:
        """Raise the refusal of a request, given its headers."""
        if (failed := _refusal.get()) is not None:
            raise connect_error(failed) from failed

    async def on_end(self, token: None, context: Context, error: Exception | None) -> None:
        """Give an error that the library raised one of ours as its detail."""
        if isinstance(error, ConnectError) and (ours := with_detail(error)) is not error:
            raise ours from error


class _Application(ConnectASGIApplication[Mapping[str, Method]]):
    """The library's application, with an endpoint for each method."""

    def __init__(self, methods: Mapping[str, Method], *, max_message_bytes: int) -> None:
        super().__init__(
            service=methods,
            endpoints=_endpoints,
            read_max_bytes=max_message_bytes,
            codecs=[JsonCodec(), BinaryCodec()],
            interceptors=[_RefusalInterceptor()],
        )

    async def _handle_error(self, exc: Exception, *rest: Any) -> bool:  # the rest is the library's own
        return await super()._handle_error(with_detail(exc) if isinstance(exc, ConnectError) else exc, *rest)

    @property
    def path(self) -> str:
        """The common prefix of the paths."""
        return PREFIX


def _endpoints(methods: Mapping[str, Method]) -> "Mapping[str, AnyEndpoint]":
    return {path: _endpoint(method) for path, method in methods.items()}


def _endpoint(method: Method) -> "AnyEndpoint":
    information = MethodInfo(
        name=method.name,
        service_name=method.service,
        # The codecs give and take more than messages.
        input=cast(type[DecodedRequest], method.request),
        output=cast(type[EncodableResponse], method.response),
        # Nothing is done by GET: a link must not be able to call.
        idempotency_level=IdempotencyLevel.UNKNOWN,
        stream_type=StreamType.SERVER_STREAM if method.streams else StreamType.UNARY,
    )
    if method.streams:
        return Endpoint.server_stream(information, _StreamEndpoint(method))
    return Endpoint.unary(information, _UnaryEndpoint(method))


class _UnaryEndpoint:
    """A unary method."""

    def __init__(self, method: Method) -> None:
        self._method = method

    async def __call__(self, asked: DecodedRequest, context: Context) -> EncodableResponse:
        async with aclosing(_answers(self._method, asked, context)) as answers:
            return await anext(answers)


class _StreamEndpoint:
    """A server-streaming method."""

    def __init__(self, method: Method) -> None:
        self._method = method

    def __call__(self, asked: DecodedRequest, context: Context) -> AsyncIterator[EncodableResponse]:
        return _answers(self._method, asked, context)


async def _answers(method: Method, asked: DecodedRequest, context: Context) -> AsyncGenerator[EncodableResponse, None]:
    try:
        async with aclosing(method.handle(asked, _headers(context.request_headers))) as answers:
            async for answer in answers:
                yield answer
    except CallFailed as failed:
        raise connect_error(failed) from failed
    except Exception as error:
        crashed = Internal(f"{method.path} failed: {type(error).__name__}")
        raise connect_error(CallFailed(crashed)) from error


def _headers(given: RequestHeaders) -> Headers:
    return Headers(
        surface="connect",
        authorization=given.getall("authorization"),
        user_agent=given.get("user-agent", ""),
        request_id=given.get(REQUEST_ID),
        timeout_sec=min(map(float, given.getall(ASKED_SEC)), default=None),
        traceparent=given.get("traceparent"),
        approval_wait=given.getall(APPROVAL_WAIT),
    )
