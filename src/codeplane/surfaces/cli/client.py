"""Talking to a running server: one call, or a stream of items."""

import json
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException, HTTPResponse

from codeplane.kernel.errors import ServerUnreachable, Unauthorized
from codeplane.kernel.json import JsonObject, dumps
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.discovery import ServerFacts

_SERVICE = "/codeplane.v1.OperationService"
_CALL_TIMEOUT_SEC = 3600.0


class Client:
    """The owner, calling the server of a workspace."""

    def __init__(self, workspace: Workspace, facts: ServerFacts) -> None:
        self._facts = facts
        try:
            self._token = workspace.owner_token.read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise Unauthorized(f"{workspace.owner_token} cannot be read: {error}") from error

    def call(self, operation: str, arguments: JsonObject, *, text: bool = False) -> JsonObject:
        """The envelope of one call, on request with its text."""
        body: JsonObject = {"operation": operation, "arguments": arguments, "text": text}
        with self._post("Call", body, _CALL_TIMEOUT_SEC) as response:
            answer: JsonObject = json.loads(response.read())
        error = answer.get("error")
        return {"error": error, "meta": answer.get("meta", {})} if isinstance(error, dict) else answer

    def stream(self, operation: str, arguments: JsonObject) -> Iterator[JsonObject]:
        """The items of a stream, and at the end an object with `end` (and `error` when it failed)."""
        with self._post("Stream", {"operation": operation, "arguments": arguments}, None) as response:
            if response.status != 200:
                yield {"end": True, "error": json.loads(response.read()).get("error")}
                return
            while len(head := response.read(5)) == 5:
                flag, length = struct.unpack(">BI", head)
                item: JsonObject = json.loads(response.read(length))
                if flag:
                    error = item.get("error")
                    detail = error.get("error") if isinstance(error, dict) else None
                    yield {"end": True, **({"error": detail} if detail else {})}
                    return
                yield item
        raise ServerUnreachable("the server ended", hint="cpl up, then the same command again")

    @contextmanager
    def _post(self, method: str, body: JsonObject, timeout: float | None) -> Iterator[HTTPResponse]:
        connection = HTTPConnection(self._facts.host, self._facts.port, timeout=timeout)
        headers = {
            "content-type": "application/json",
            "authorization": f"Bearer {self._token}",
            "user-agent": "cpl",
        }
        try:
            connection.request("POST", f"{_SERVICE}/{method}", dumps(body).encode(), headers)
            yield connection.getresponse()
        except (OSError, HTTPException, ValueError) as error:
            # An answer that breaks off is no JSON either.
            raise ServerUnreachable(f"the server at {self._facts.url} does not answer: {error}") from error
        finally:
            connection.close()
