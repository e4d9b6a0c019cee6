"""What a client of a server that may die at any moment sees: an answer, or nothing."""

import json
import struct
from collections.abc import Iterator
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from types import TracebackType
from typing import Self

from codeplane.client.errors import error_of_body
from codeplane.kernel.json import JsonObject

_SERVICE = "/codeplane.v1.OperationService"
_PATIENCE_SEC = 60.0
_HEAD = struct.Struct(">BI")


class Lost(Exception):
    """The server died before the answer was whole: whether it acted is not known."""


class Wire:
    """One client's connection, kept as long as it lives."""

    def __init__(self, *, port: int, token: str, connection_id: str) -> None:
        self._http = HTTPConnection("127.0.0.1", port, timeout=_PATIENCE_SEC)
        self._headers = {"content-type": "application/json", "authorization": f"Bearer {token}"}
        self._connection_id = connection_id

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._http.close()

    def call(self, operation: str, arguments: JsonObject) -> JsonObject:
        """The envelope of one call, which is an acknowledgement."""
        body = {"operation": operation, "arguments": arguments, "connection_id": self._connection_id}
        try:
            self._http.request("POST", f"{_SERVICE}/Call", json.dumps(body), self._headers)
            response = self._http.getresponse()
            envelope: JsonObject = json.loads(response.read())
        except TimeoutError:
            raise
        except (OSError, HTTPException, ValueError) as error:
            raise Lost(str(error)) from error
        if response.status == HTTPStatus.OK:
            return envelope
        refused, meta = error_of_body(envelope, response.status)
        if refused.get("error") == "SHUTTING_DOWN":
            raise Lost("the server is ending")
        return {"error": refused, "meta": meta}

    def stream(self, operation: str, arguments: JsonObject) -> Iterator[JsonObject]:
        """The items of a stream, until the server dies or ends it."""
        body = {"operation": operation, "arguments": arguments, "connection_id": self._connection_id}
        try:
            asked = json.dumps(body).encode()
            headers = {**self._headers, "content-type": "application/connect+json"}
            self._http.request("POST", f"{_SERVICE}/Stream", _HEAD.pack(0, len(asked)) + asked, headers)
            response = self._http.getresponse()
            assert response.status == HTTPStatus.OK, response.read()
            while len(head := response.read(_HEAD.size)) == _HEAD.size:
                flag, length = _HEAD.unpack(head)
                answer: JsonObject = json.loads(response.read(length))
                if flag:
                    raise Lost(f"the stream ended: {answer}")
                if isinstance(item := answer.get("item"), dict):
                    yield item
        except TimeoutError:
            raise
        except (OSError, HTTPException, ValueError) as error:
            raise Lost(str(error)) from error
        raise Lost("the stream broke off")
