"""The caller of an MCP request."""

from collections.abc import Mapping, Sequence

from mcp.server.context import ServerRequestContext
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from starlette.requests import Request

from codeplane.kernel.actor import Caller, Progress, ProgressSink

# Sent by `cpl mcp --client NAME`, or set by the user in a client's own settings.
CLIENT_HEADER = "x-codeplane-client"
CONNECTION_HEADER = "x-codeplane-connection"
SESSION_HEADER = "mcp-session-id"
STREAM = "codeplane.mcp.stream"
_MAX_NAME = 80
_MAX_CONNECTION = 200

Context = ServerRequestContext[dict[str, object], Request]


def caller_of(ctx: Context) -> Caller:
    """Return the caller of a request."""

    async def report(progress: Progress) -> None:
        await ctx.session.report_progress(progress.done, progress.total, progress.message)

    client = ctx.session.client_params
    return Caller(
        surface="mcp",
        connection_id=_connection(ctx),
        client=printable_name(client.client_info.name) if client else None,
        token=_credential(ctx.request),
        client_secret=ctx.request.headers.get(CLIENT_HEADER) if ctx.request is not None else None,
        request_id=_request_id(ctx.request),
        on_progress=report,
        traceparent=_traceparent(ctx),
    )


def session_caller(
    headers: Mapping[bytes, bytes],
    credentials: Sequence[str],
    *,
    session_id: str,
    client: str | None,
    request_id: str | None,
    traceparent: str | None,
    on_progress: ProgressSink | None = None,
    reads_structure: bool = False,
) -> Caller:
    """Return the caller of a request in an HTTP session, from its headers; `credentials` are all it sent."""
    secret = headers.get(CLIENT_HEADER.encode())
    if traceparent is None and (sent := headers.get(b"traceparent")) is not None:
        traceparent = sent.decode("latin-1")
    return Caller(
        surface="mcp",
        connection_id=http_session(session_id),
        client=client,
        token=_token(credentials),
        client_secret=secret.decode("latin-1") if secret is not None else None,
        request_id=request_id,
        traceparent=traceparent,
        on_progress=on_progress,
        reads_structure=reads_structure,
    )


def _traceparent(ctx: Context) -> str | None:
    """Return the client's trace context: the request's own before the HTTP exchange's."""
    own = ctx.meta.get("traceparent") if ctx.meta else None
    if isinstance(own, str):
        return own
    request = ctx.request
    return request.headers.get("traceparent") if request is not None and STREAM not in request.scope else None


def http_session(session_id: str) -> str:
    """Return the connection id of a session of the older protocol."""
    return f"mcp-session:{session_id}"


def byte_stream(stream_id: str) -> str:
    """Return the connection id of a byte stream."""
    return f"mcp-stream:{stream_id}"


def _connection(ctx: Context) -> str | None:
    """Return the id that a client's requests share, or None."""
    if ctx.request is None:
        return None
    stream = ctx.request.scope.get(STREAM)
    if isinstance(stream, str):
        return byte_stream(stream)
    # In the modern protocol no server issues this header, so the client made it up.
    session_id = None if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS else ctx.request.headers.get(SESSION_HEADER)
    if session_id:
        return http_session(session_id)
    named = ctx.request.headers.get(CONNECTION_HEADER)
    return f"mcp-connection:{named[:_MAX_CONNECTION]}" if named else None


def _credential(request: Request | None) -> str | None:
    """Return the bearer token; any other credential counts as a wrong token, not as none."""
    return _token(request.headers.getlist("authorization") if request is not None else [])


def _token(credentials: Sequence[str]) -> str | None:
    if not credentials:
        return None
    scheme, _, token = credentials[0].partition(" ")
    return token.strip() if scheme.lower() == "bearer" and len(credentials) == 1 else ""


def _request_id(request: Request | None) -> str | None:
    """Return the HTTP request id, if the exchange holds only this request."""
    if request is None or STREAM in request.scope:
        return None
    named = getattr(request.state, "request_id", None)
    return named if isinstance(named, str) else None


def printable_name(name: str) -> str | None:
    """Return a client's name, made safe for a log."""
    return "".join(char if char.isprintable() else "?" for char in name[:_MAX_NAME]) or None
