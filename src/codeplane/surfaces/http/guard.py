"""What every HTTP request passes first: the right host and origin, a bounded body, our header on the answer."""

from collections.abc import Callable
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from codeplane.kernel.config import ServerConfig
from codeplane.kernel.errors import CodePlaneError, OriginDenied, Overloaded, TooLarge
from codeplane.surfaces.http.answers import error_answer

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_UNBOUNDED = frozenset({"/mcp/stdio"})


class Activity:
    """When the last request was served, and how many are under way."""

    def __init__(self, monotonic_ns: Callable[[], int]) -> None:
        self._monotonic_ns = monotonic_ns
        self._open = 0
        self._last_ns = monotonic_ns()

    def begin(self) -> None:
        """A request starts."""
        self._open += 1

    def end(self) -> None:
        """A request ends."""
        self._open -= 1
        self._last_ns = self._monotonic_ns()

    @property
    def open(self) -> int:
        """Requests under way."""
        return self._open

    def idle_sec(self) -> float:
        """Seconds since the last request, 0 while one is under way."""
        return 0.0 if self._open else (self._monotonic_ns() - self._last_ns) / 1e9


class Guard:
    """Pure ASGI middleware: refuses what does not belong here before anything else sees it."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        config: ServerConfig,
        repo: bytes,
        port: Callable[[], int | None],
        activity: Activity,
    ) -> None:
        self._app = app
        self._config = config
        self._header = (b"x-codeplane-repo", repo)
        self._hosts = LOOPBACK | frozenset(config.allowed_hosts)
        self._port = port
        self._activity = activity

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def send_marked(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message = {**message, "headers": [*message.get("headers", ()), self._header]}
            await send(message)

        # httptools keeps the optional white space after a value, which RFC 9110 says is not part of it.
        scope["headers"] = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
        self._activity.begin()
        try:
            self._check(scope)
            await self._app(scope, self._bounded(scope, receive), send_marked)
        except CodePlaneError as error:
            if started:
                raise
            await error_answer(error)(scope, receive, send_marked)
        finally:
            self._activity.end()

    def _check(self, scope: Scope) -> None:
        if self._activity.open > self._config.max_connections:
            raise Overloaded(f"{self._config.max_connections} requests are under way already")
        headers = Headers(scope=scope)
        host = _hostname(headers.get("host", ""))
        if host not in self._hosts:
            raise OriginDenied(f"the Host header names {host or 'nobody'!r}, which is not this server")
        origin = headers.get("origin")
        if origin is not None and not self._is_own(origin):
            raise OriginDenied(f"the Origin {origin!r} may not call this server")
        length = headers.get("content-length", "0")
        if length.isdigit() and int(length) > self._config.max_body_bytes:
            raise self._too_large()

    def _is_own(self, origin: str) -> bool:
        if origin in self._config.allowed_origins:
            return True
        try:
            parts = urlsplit(origin)
            port = parts.port
        except ValueError:
            return False
        return parts.scheme in ("http", "https") and parts.hostname in self._hosts and port == self._port()

    def _bounded(self, scope: Scope, receive: Receive) -> Receive:
        if scope["path"] in _UNBOUNDED:
            return receive
        seen = 0

        async def count() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._config.max_body_bytes:
                raise self._too_large()
            return message

        return count

    def _too_large(self) -> TooLarge:
        limit = self._config.max_body_bytes
        return TooLarge(f"the body is over {limit} bytes", details={"limit": limit, "setting": "server.max_body_bytes"})


def _hostname(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
