"""Refusals of requests before there is a call: by account, by size and by time. Data, and nothing else.

`$token` is the owner's, `$repo` nothing but what must never be in an answer to others.
"""

from dataclasses import dataclass

_LOCAL = "Host: 127.0.0.1"
_CALL = "/codeplane.v1.OperationService/Call"
_TOKEN = "Authorization: Bearer $token"
_FALSE = "Authorization: Bearer cpl_no-token-of-anybody-at-all-0123456789"
_HELLO = (
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},'
    '"clientInfo":{"name":"test","version":"1"}}}'
)
_BODY = '{"operation":"status","arguments":{}}'


@dataclass(frozen=True, kw_only=True)
class Sent:
    """A request as bytes, of this account or another one; `status` is of the answer, 0 for none at all."""

    text: str
    status: int
    error: str = ""
    other_account: bool = False
    tls: bool = False


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A refusal and its twin."""

    id: str
    refused: Sent
    twin: Sent


def _get(path: str, *lines: str, method: str = "GET") -> str:
    return "\r\n".join([f"{method} {path} HTTP/1.1", _LOCAL, *lines, "Connection: close", "", ""])


def _post(path: str, body: str, *lines: str, length: int | None = None) -> str:
    kind = "application/x-ndjson" if path == "/mcp/stdio" else "application/json"
    size = f"Content-Length: {len(body) if length is None else length}"
    accept = "Accept: application/json, text/event-stream"
    return _get(path, f"Content-Type: {kind}", accept, size, *lines, method="POST") + body


def _by_account() -> list[Pair]:
    """What the owner's account may without a token, others may with one alone."""
    asked = {
        "status": _get("/status"),
        "metrics": _get("/metrics"),
        "head of metrics": _get("/metrics", method="HEAD"),
        "MCP": _post("/mcp", _HELLO),
        "stdio": _post("/mcp/stdio", _HELLO + "\n"),
    }
    pairs = []
    for name, text in asked.items():
        refused = Sent(text=text, status=401, error="" if "head" in name else "UNAUTHORIZED", other_account=True)
        pairs.append(Pair(id=f"another account: {name}", refused=refused, twin=Sent(text=text, status=200)))
        with_token = Sent(
            text=text.replace(f"{_LOCAL}\r\n", f"{_LOCAL}\r\n{_TOKEN}\r\n"), status=200, other_account=True
        )
        pairs.append(Pair(id=f"another account, no token: {name}", refused=refused, twin=with_token))
    for path in ("/status", "/metrics"):
        for other in (True, False):
            false = Sent(text=_get(path, _FALSE), status=401, error="UNAUTHORIZED", other_account=other)
            true = Sent(text=_get(path, _TOKEN), status=200, other_account=other)
            pairs.append(Pair(id=f"false token: {path}, {other}", refused=false, twin=true))
    basic = Sent(text=_get("/status", "Authorization: Basic b3duZXI6"), status=401, other_account=True)
    pairs.append(Pair(id="another scheme", refused=basic, twin=Sent(text=_get("/health"), status=200)))
    return pairs


def _by_size() -> list[Pair]:
    error = "HEADERS_TOO_LARGE"
    many = [f"X-Header-{number}: 1" for number in range(120)]
    long = "x" * 70_000
    twin = Sent(text=_get("/health", *many[:60], f"X-Long: {long[:30_000]}"), status=200)
    texts = {
        "headers": _get("/health", *many),
        "one header": _get("/health", f"X-Long: {long}"),
        "target": _get(f"/health?{long}"),
        "name of a header": _get("/health", f"{long}: 1"),
        "a header without an end": f"GET /health HTTP/1.1\r\n{_LOCAL}\r\nX-Long: {long}{long}",
        "small headers": _get("/health", *[f"X-{number}: {long[:1000]}" for number in range(80)]),
    }
    pairs = [
        Pair(id=f"too large: {name}", refused=Sent(text=text, status=431, error=error), twin=twin)
        for name, text in texts.items()
    ]
    tls = Sent(text=texts["headers"], status=431, error=error, tls=True)
    return [
        *pairs,
        Pair(id="too large: headers, TLS", refused=tls, twin=Sent(text=_get("/health"), status=200, tls=True)),
    ]


def _by_time() -> list[Pair]:
    error = "REQUEST_TOO_SLOW"
    pairs = []
    for tls in (False, True):
        for path, lines in ((_CALL, (_TOKEN,)), ("/mcp", ()), ("/nowhere", ())):
            body = _HELLO if path == "/mcp" else _BODY
            whole = Sent(text=_post(path, body, *lines), status=404 if path == "/nowhere" else 200, tls=tls)
            if path == "/mcp" and tls:
                whole = Sent(text=_post(path, body, _TOKEN), status=200, tls=tls)
                lines = (_TOKEN,)
            late = Sent(text=_post(path, body, *lines, length=len(body) + 1), status=408, error=error, tls=tls)
            if path != "/nowhere":
                pairs.append(Pair(id=f"late body: {path}, TLS {tls}", refused=late, twin=whole))
        head = Sent(text=f"GET /health HTTP/1.1\r\n{_LOCAL}\r\nX-Late: ", status=408, error=error, tls=tls)
        pairs.append(
            Pair(id=f"late head: TLS {tls}", refused=head, twin=Sent(text=_get("/health"), status=200, tls=tls))
        )
    chunk = _get(_CALL, _TOKEN, "Content-Type: application/json", "Transfer-Encoding: chunked", method="POST")
    size = f"{len(_BODY):x}\r\n{_BODY}\r\n"
    pairs += [
        Pair(
            id="late chunk",
            refused=Sent(text=chunk + size, status=408, error=error),
            twin=Sent(text=chunk + size + "0\r\n\r\n", status=200),
        ),
        Pair(
            id="long extension of a chunk",
            refused=Sent(text=chunk + f"{len(_BODY):x};" + "x" * 20_000, status=408, error=error),
            twin=Sent(text=chunk + size + "0\r\n\r\n", status=200),
        ),
        Pair(id="silence", refused=Sent(text="", status=0), twin=Sent(text=_get("/health"), status=200)),
        Pair(
            id="silence, TLS",
            refused=Sent(text="", status=0, tls=True),
            twin=Sent(text=_get("/health"), status=200, tls=True),
        ),
        Pair(
            id="silence after the head, stdio",
            refused=Sent(text=_post("/mcp/stdio", "", length=100).replace("Connection: close\r\n", ""), status=0),
            twin=Sent(text=_post("/mcp/stdio", _HELLO + "\n"), status=200),
        ),
    ]
    return pairs


def _by_id() -> list[Pair]:
    """Two requests of one stream in one piece, so that the first is under way when the later is read."""
    hello = _HELLO + "\n" + '{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
    call = '{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"status","arguments":{}}}\n'
    pairs = []
    for first, later in (("5", "5"), ("5", '"5"'), ('"a"', '"a"')):
        both = Sent(text=_post("/mcp/stdio", hello + call % first + call % later), status=200, error="is under way")
        apart = Sent(text=_post("/mcp/stdio", hello + call % first + call % "6"), status=200, error='"id":6')
        pairs.append(Pair(id=f"one id twice: {first} {later}", refused=both, twin=apart))
    return pairs


PAIRS: tuple[Pair, ...] = (*_by_account(), *_by_size(), *_by_time(), *_by_id())
EVERYONES: tuple[str, ...] = (
    *(
        _get(path)
        for path in ("/", "/health", "/ready", "/status", "/metrics", "/dashboard", "/dashboard/", "/nowhere")
    ),
    *(
        _get(path)
        for path in ("/dashboard/sign-in/none", "/dashboard/search", "/dashboard/static/none", "/favicon.ico")
    ),
    *(_get(path) for path in ("/robots.txt", "/.well-known/oauth-protected-resource", "/.well-known/mcp.json", "/mcp")),
    *(_get(path) for path in ("/events", "/mcp/stdio", "/openapi.json", "/%2e%2e/", "/ws/events", _CALL)),
    _get("/events", _FALSE),
    _get("/health", method="TRACE"),
    _get("/health", method="OPTIONS"),
    _get("/mcp", method="DELETE"),
    _get("/health").replace(_LOCAL, "Host: evil.example"),
    _post(_CALL, _BODY),
    _post(_CALL, _BODY, _FALSE),
    _post("/mcp", _HELLO),
    _post("/mcp", _HELLO, _FALSE),
    _post("/mcp/stdio", _HELLO + "\n", _FALSE),
    "no request\r\n\r\n",
    "GET /ws/events HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
)
