"""A request as the Connect library can take it, from what clients really send."""

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


def prepared(scope: Scope, *, streams: bool) -> Scope:
    """The scope with headers that are text; without a content type it is JSON, which is what people send by hand."""
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


def unfit_content(scope: Scope, *, streams: bool) -> str | None:
    """What to send instead of the content type that was sent; None when that one fits, or there is none."""
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
    """The time a header asks for; None when it is no such header, or one that the library has to refuse."""
    if name == "connect-timeout-ms" and _MILLISECONDS.fullmatch(value):
        return int(value) / 1000
    if name == "grpc-timeout" and (found := _WITH_UNIT.fullmatch(value)):
        return int(found[1]) * _UNITS_SEC[found[2]]
    return None
