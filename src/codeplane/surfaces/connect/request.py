"""Normalisation of requests for the Connect library."""

import re

from starlette.types import Scope

REQUEST_ID = "x-request-id"
# The time asked for is set aside here: the conveyor's own deadline says more than the library's would.
ASKED_SEC = "x-codeplane-timeout-sec"
_INTERNAL = (REQUEST_ID, ASKED_SEC)
_MILLISECONDS = re.compile(r"[0-9]{1,10}")
_WITH_UNIT = re.compile(r"([0-9]{1,8})([HMSmun])")
_UNITS_SEC = {"H": 3600.0, "M": 60.0, "S": 1.0, "m": 1e-3, "u": 1e-6, "n": 1e-9}
_SHORTEST_SEC = 0.001
_GRPC_WEB = frozenset({"application/grpc-web", "application/grpc-web+proto", "application/grpc-web+json"})


def prepare_scope(scope: Scope, *, streams: bool) -> Scope:
    """Return the scope with text headers; a missing content type becomes JSON."""
    # Header bytes can be anything; the library reads them as UTF-8 and would break on the rest.
    given = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"]]
    headers: list[tuple[str, str]] = []
    for name, value in given:
        asked_sec = _asked_sec(name, value)
        if asked_sec is not None:
            headers.append((ASKED_SEC, str(max(asked_sec, _SHORTEST_SEC))))
        elif name not in _INTERNAL:
            headers.append((name, value))
    if not any(name == "content-type" for name, _ in headers):
        headers.append(("content-type", "application/connect+json" if streams else "application/json"))
    named = scope.get("state", {}).get("request_id")
    if isinstance(named, str):
        headers.append((REQUEST_ID, named))
    return {**scope, "headers": [(name.encode(), value.encode()) for name, value in headers]}


def content_type_hint(scope: Scope, *, streams: bool) -> str | None:
    """Return a hint for a wrong content type; None when it is right or missing."""
    given = [value for name, value in scope["headers"] if name.lower() == b"content-type"]
    kind = given[0].decode("latin-1").partition(";")[0].strip().lower() if given else ""
    prefix = "application/connect+" if streams else "application/"
    fitting = {f"{prefix}json", f"{prefix}proto"}
    if not given or (len(given) == 1 and (kind in fitting or kind in _GRPC_WEB)):
        return None
    if kind == "application/grpc" or kind.startswith("application/grpc+"):
        return "gRPC has a port of its own (cpl status); Connect and gRPC-Web are here"
    return f"send content-type: {prefix}json"


def _asked_sec(name: str, value: str) -> float | None:
    """Return the timeout that a header asks for; None for other or invalid headers."""
    if name == "connect-timeout-ms" and _MILLISECONDS.fullmatch(value):
        return int(value) / 1000
    if name == "grpc-timeout" and (match := _WITH_UNIT.fullmatch(value)):
        return int(match[1]) * _UNITS_SEC[match[2]]
    return None
