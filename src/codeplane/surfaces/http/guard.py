"""Checks of every HTTP request: host, origin, body size, and a request id."""

import re
from collections.abc import Awaitable, Callable, Sequence

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from codeplane.kernel.actor import Actor, Caller
from codeplane.kernel.binding import address
from codeplane.kernel.config import ServerConfig
from codeplane.kernel.errors import CodePlaneError, OriginDenied, Overloaded, Unauthorized
from codeplane.kernel.ids import new_id
from codeplane.surfaces.connections.session_holder import HOLDER, SessionHolder
from codeplane.surfaces.http.activity import Activity
from codeplane.surfaces.http.body_limit import LimitedBody
from codeplane.surfaces.http.protocol import LASTING_UPLOADS, connection_of
from codeplane.surfaces.http.responses import error_response, json_response

_REQUEST_ID = b"x-request-id"
_MAX_REQUEST_ID = 128
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
# Where callers without a token are taken for the owner's agents: the beginnings of paths, and their surfaces.
_MCP = "/mcp"
_AGENT_PATHS = {_MCP: "mcp", "/acp": "acp", "/lsp": "lsp", "/app-server": "app-server"}
_SERVER_ERROR = -32000
# What the connections in reserve are for, beside the owner's token.
_VITAL = frozenset({"/health", "/ready"})
# A name or an address and perhaps a port; no user, path or query that another parser would read differently.
_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9_.-]+))(?::[0-9]{1,5})?")


class Guard:
    """ASGI middleware that refuses wrong requests before anything else sees them."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        config: ServerConfig,
        host: str,
        ports: Sequence[int],
        activity: Activity,
        is_owner: Callable[[str], bool],
        identify: Callable[[Caller], Actor],
        record_refusal: Callable[[str, Caller, CodePlaneError], Awaitable[object]],
    ) -> None:
        """`is_owner` returns whether a token is the owner's; `identify` refuses and records a false one."""
        self._app = app
        self._config = config
        # The address of all addresses is no name: a page that calls it means whatever listens on this machine.
        own = {address(config.host)} - {"0.0.0.0", "::"}  # nosec B104  # taken out, not bound
        self._hosts = LOOPBACK | {host, *own} | {name.lower() for name in config.allowed_hosts}
        self._origins = _own_origins(self._hosts, ports) | {origin.lower() for origin in config.allowed_origins}
        self._activity = activity
        self._is_owner = is_owner
        self._identify = identify
        self._record_refusal = record_refusal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self._socket(scope, receive, send)
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # httptools keeps the optional white space after a value, which RFC 9110 says is not part of it.
        headers = scope["headers"] = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
        named = scope.setdefault("state", {})["request_id"] = _request_id(headers)
        body = LimitedBody(receive, self._config.max_body_bytes)
        started = False

        async def send_named(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                closing = [(b"connection", b"close")] if body.refused else []
                message = {**message, "headers": [*message.get("headers", ()), (_REQUEST_ID, named.encode()), *closing]}
            await send(message)

        self._activity.begin()
        try:
            self._check_reserve(scope, headers)
            self._check(headers)
            await self._check_agent(scope, headers)
            body.check_length(_first(headers, b"content-length"))
            await self._app(scope, receive if scope["path"] in LASTING_UPLOADS else body.receive, send_named)
        except CodePlaneError as error:
            if started:
                raise
            is_mcp_refusal = error.http == Unauthorized.http and scope["path"].startswith(_MCP)
            answer = mcp_refusal(error) if is_mcp_refusal else error_response(error)
            await answer(scope, receive, send_named)
        finally:
            self._activity.end()

    async def _socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a WebSocket too: a foreign page can open one without the browser asking first."""
        self._activity.begin()
        try:
            try:
                self._check_reserve(scope, scope["headers"])
                self._check(scope["headers"])
                await self._check_agent(scope, scope["headers"])
            except CodePlaneError as error:
                await error_response(error)(scope, receive, send)
                return
            await self._app(scope, receive, send)
        finally:
            self._activity.end()

    def _check(self, headers: list[tuple[bytes, bytes]]) -> None:
        hosts = [value.decode("latin-1") for name, value in headers if name == b"host"]
        if len(hosts) != 1 or _hostname(hosts[0]) not in self._hosts:
            raise OriginDenied(
                f"the Host header is {_quote_values(hosts)}, which is not this server",
                hint="talk to 127.0.0.1 or localhost; for another name of this machine the owner adds it to "
                "server.allowed_hosts and restarts: cpl down, cpl up",
            )
        origins = [value.decode("latin-1") for name, value in headers if name == b"origin"]
        if any(origin.lower() not in self._origins for origin in origins):
            raise OriginDenied(
                f"the Origin {_quote_values(origins)} may not call this server",
                hint="pages of other sites may not call CodePlane; one that should is added to server.allowed_origins",
            )

    def _check_reserve(self, scope: Scope, headers: list[tuple[bytes, bytes]]) -> None:
        """Allow reserved connections only for health checks and the owner's programs."""
        connection = connection_of(scope)
        if connection is None or not connection.is_reserved or scope["path"] in _VITAL:
            return
        scheme, _, token = _first(headers, b"authorization").decode("latin-1").partition(" ")
        if scheme.lower() != "bearer" or not self._is_owner(token.strip()):
            raise Overloaded("all connections are taken", hint="call again in a moment, or with the owner's token")

    async def _check_agent(self, scope: Scope, headers: list[tuple[bytes, bytes]]) -> None:
        """Refuse an agent's client without a valid token that does not run under the owner's account.

        This happens before a session opens: a session for a refused client could evict another.
        """
        surface = next((name for path, name in _AGENT_PATHS.items() if scope["path"].startswith(path)), None)
        if surface is None:
            return
        state = scope.setdefault("state", {})
        connection = connection_of(scope)
        is_own = connection is not None and connection.is_own
        group = connection.group if connection is not None else None
        values = [value.decode("latin-1") for name, value in headers if name == b"authorization"]
        actor_id = ""
        if any(values):
            scheme, _, token = values[0].partition(" ")
            # Whatever else is sent as a credential is a wrong one, never none.
            token = token.strip() if scheme.lower() == "bearer" and len(values) == 1 else ""
            caller = Caller(surface=surface, token=token, request_id=state.get("request_id"))
            try:
                actor_id = self._identify(caller).actor_id
            except CodePlaneError as error:
                await self._record_refusal(surface, caller, error)
                raise
            is_own = is_own or self._is_owner(token)
        elif not is_own:
            raise Unauthorized(
                "another account of this machine calls", hint="send a token: cpl agents token makes one for an agent"
            )
        state[HOLDER] = SessionHolder(is_own=is_own, group=(group, actor_id))


def mcp_refusal(error: CodePlaneError) -> Response:
    """Return an error as JSON-RPC, which MCP clients read whatever the status."""
    message = f"{error.name}: {error.message}\nhint: {error.hint}"
    return json_response(
        {
            "jsonrpc": "2.0",
            "id": None,
            "error": {"code": _SERVER_ERROR, "message": message, "data": error.to_wire()},
        },
        status=error.http,
    )


def _first(headers: list[tuple[bytes, bytes]], name: bytes) -> bytes:
    return next((value for header, value in headers if header == name), b"")


def _hostname(host: str) -> str | None:
    match = _HOST.fullmatch(host.lower())
    return (match[1] or match[2]) if match else None


def _own_origins(hosts: frozenset[str], ports: Sequence[int]) -> frozenset[str]:
    """Return the origins of the plain and of the TLS port."""
    shown = [f"[{host}]" if ":" in host else host for host in hosts]
    schemes = (("http", 80), ("https", 443))
    # Browsers leave the default port out.
    return frozenset(
        f"{scheme}://{host}" if port == default else f"{scheme}://{host}:{port}"
        for (scheme, default), port in zip(schemes, ports, strict=False)
        for host in shown
    )


def _quote_values(values: list[str]) -> str:
    return " and ".join(repr(value[:200]) for value in values) or "missing"


def _request_id(headers: list[tuple[bytes, bytes]]) -> str:
    """Return the caller's X-Request-Id if it is short printable ASCII, else a new id."""
    given = next((value for name, value in headers if name == _REQUEST_ID), b"")
    text = given.decode("latin-1")
    return text if 0 < len(text) <= _MAX_REQUEST_ID and text.isascii() and text.isprintable() else new_id("req")
