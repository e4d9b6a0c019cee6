"""The introduction of a reader, by headers and URL or by its first message."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from starlette.websockets import WebSocket

from codeplane.kernel.actor import Caller
from codeplane.kernel.errors import MalformedRequest
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.services.caller import bearer, check_filters

_FILTERS = ("stream", "task_id", "call_id", "in_session", "after", "heartbeat_sec")
_ALLOWED = frozenset({*_FILTERS, "types", "token"})
_MAX_NAME = 80
_HINT = 'send one JSON object, as in {"token": "…", "after": 41}'


@dataclass(frozen=True, slots=True, kw_only=True)
class Hello:
    """The reader and its filter of the log."""

    token: str | None
    wanted: JsonObject

    @classmethod
    def of_address(cls, socket: WebSocket) -> "Hello":
        """Return the introduction in the request; Unauthorized when it has more than one token, InvalidArgument when
        the address asks for something that is not known."""
        query = socket.query_params
        token = bearer(socket.headers.getlist("authorization"))
        check_filters(query, (*_FILTERS, "type"))
        wanted: JsonObject = {name: query[name] for name in _FILTERS if name in query}
        if types := query.getlist("type"):
            wanted["types"] = list(types)
        return cls(token=token, wanted=wanted)

    def complete(self, message: str) -> "Hello":
        """Return the introduction completed by the first message, which overrides the URL."""
        try:
            fields = json.loads(message)
        except (ValueError, RecursionError) as error:
            raise MalformedRequest("the first message is not JSON", hint=_HINT) from error
        if not isinstance(fields, dict):
            raise MalformedRequest("the first message is not a JSON object", hint=_HINT)
        if unknown := sorted(fields.keys() - _ALLOWED):
            raise MalformedRequest(f"the first message has {', '.join(map(repr, unknown[:5]))}", hint=_HINT)
        token = fields.pop("token", self.token)
        if not isinstance(token, str | None):
            raise MalformedRequest("`token` must be a string", hint=_HINT)
        return Hello(token=token, wanted={**self.wanted, **fields})

    def arguments(self) -> JsonObject:
        """Return the arguments of `ledger.watch`: from a position or from now."""
        named: Mapping[str, JsonValue] = {"heartbeat_sec": 15, **self.wanted}
        return dict(named) if "after" in named else {**named, "from_now": True}

    def caller(self, socket: WebSocket) -> Caller:
        """Return the caller."""
        agent = socket.headers.get("user-agent", "")[:_MAX_NAME]
        client = "".join(char if char.isprintable() else "?" for char in agent)
        return Caller(surface="ws", client=client or None, token=self.token)
