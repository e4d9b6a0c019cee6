"""The state that a language client has sent, so that it can be sent to another server; imports nothing slow."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

from codeplane.kernel.document_limits import MAX_CHARACTERS
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.lsp.text import ENCODINGS, BadEdit, Encoding, apply_changes

# Told by the server: ask again, the answer was lost with it.
_SERVER_CANCELLED = -32802
_INVALID_REQUEST = -32600
_RESUMED = "codeplane:initialize"
# More than is taken of a document: one with so much text is open, and its text is unknown.
_TOO_MUCH = " " * (MAX_CHARACTERS + 1)


@dataclass(slots=True, kw_only=True)
class _Document:
    language: JsonValue
    version: JsonValue
    text: str


@dataclass(slots=True, kw_only=True)
class ClientState:
    """Tracks a client's messages: its initialization, open documents and pending requests."""

    initialize: JsonObject | None = None
    is_initialized: bool = False
    has_shut_down: bool = False
    is_ended: bool = False
    encoding: Encoding = "utf-16"
    documents: dict[str, _Document] = field(default_factory=dict)
    # By id as JSON writes it: 1 and "1" are two ids.
    waiting: dict[str, str] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)

    def take_from_client(self, message: JsonObject) -> bool:
        """Note a message of the client; False for the answer to a question that no server has asked any more."""
        method, params = message.get("method"), message.get("params")
        if not isinstance(method, str):
            key = json.dumps(message.get("id"))
            is_wanted = key in self.asked
            self.asked.discard(key)
            return is_wanted
        if "id" in message:
            self.waiting[json.dumps(message["id"])] = method
        if method == "initialize":
            self.initialize = message
        elif method == "initialized":
            self.is_initialized = True
        elif method == "shutdown":
            self.has_shut_down = True
        elif method == "exit":
            self.is_ended = True
        elif method.startswith("textDocument/did") and isinstance(params, dict):
            self._take_document(method, params)
        return True

    def take_from_server(self, message: JsonObject) -> bool:
        """Note a message of the server; False for one that the client must not see."""
        if "method" in message:
            if "id" in message:
                self.asked.add(json.dumps(message["id"]))
            return True
        if message.get("id") == _RESUMED:
            return False
        method = self.waiting.pop(json.dumps(message.get("id")), "")
        result = message.get("result")
        if method == "initialize" and isinstance(result, dict):
            capabilities = result.get("capabilities")
            chosen = capabilities.get("positionEncoding") if isinstance(capabilities, dict) else None
            self.encoding = next((name for name in ENCODINGS if name == chosen), "utf-16")
        return True

    def lost_answers(self) -> Iterator[JsonObject]:
        """Yield an error for each request whose answer was lost with the server; then nothing is waited for."""
        for key, method in self.waiting.items():
            if method != "initialize":
                error: JsonObject = {
                    "code": _SERVER_CANCELLED,
                    "message": f"the server ended during {method}; ask again",
                }
                yield {"jsonrpc": "2.0", "id": json.loads(key), "error": error}
        self.waiting = {key: method for key, method in self.waiting.items() if method == "initialize"}
        self.asked.clear()

    def refuse(self, message: JsonValue, why: str) -> JsonObject | None:
        """Return an error for a message that is not sent; None for one that nobody waits for."""
        request_id = message.get("id") if isinstance(message, dict) and "method" in message else None
        if isinstance(message, dict) and request_id is None:
            return None
        self.waiting.pop(json.dumps(request_id), None)
        return {"jsonrpc": "2.0", "id": request_id, "error": {"code": _INVALID_REQUEST, "message": why}}

    def introduction(self) -> Iterator[JsonObject]:
        """Yield what tells a new server all that the one before knew."""
        if self.initialize is None:
            return
        is_answered = "initialize" not in self.waiting.values()
        yield {**self.initialize, "id": _RESUMED} if is_answered else self.initialize
        if self.is_initialized:
            yield {"jsonrpc": "2.0", "method": "initialized", "params": {}}
        for uri, document in self.documents.items():
            item: JsonObject = {
                "uri": uri,
                "languageId": document.language,
                "version": document.version,
                "text": document.text,
            }
            yield {"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": item}}

    def _take_document(self, method: str, params: JsonObject) -> None:
        item = params.get("textDocument")
        uri = item.get("uri") if isinstance(item, dict) else None
        if not isinstance(item, dict) or not isinstance(uri, str):
            return
        if method == "textDocument/didOpen" and isinstance(text := item.get("text"), str):
            self.documents[uri] = _Document(language=item.get("languageId"), version=item.get("version"), text=text)
        elif method == "textDocument/didClose":
            self.documents.pop(uri, None)
        elif method == "textDocument/didChange" and (document := self.documents.get(uri)) is not None:
            changes = params.get("contentChanges")
            try:
                document.text = apply_changes(
                    document.text, changes if isinstance(changes, list) else (), self.encoding
                )
                document.version = item.get("version")
            except BadEdit:
                # As the server does: better no text than a wrong one.
                self.documents.pop(uri)


def shortened(message: JsonObject) -> JsonObject | None:
    """Return a message that opens or changes a document with a text that the server does not keep; None for others."""
    method, params = message.get("method"), message.get("params")
    item = params.get("textDocument") if isinstance(params, dict) else None
    if not isinstance(params, dict) or not isinstance(item, dict):
        return None
    if method == "textDocument/didOpen":
        return {**message, "params": {**params, "textDocument": {**item, "text": _TOO_MUCH}}}
    if method == "textDocument/didChange":
        return {**message, "params": {**params, "contentChanges": [{"text": _TOO_MUCH}]}}
    return None
