"""A language server over standard input and output, asked one question at a time: `clangd`, `gopls` and others."""

import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote, urlparse

from bench.references import Lines, Place

_CAPABILITIES = {
    "textDocument": {"rename": {"prepareSupport": False}, "references": {}},
    "workspace": {"workspaceEdit": {"documentChanges": False}, "configuration": True, "workspaceFolders": True},
    "window": {"workDoneProgress": True},
    "experimental": {"serverStatusNotification": True},
}
SERVERS: Mapping[str, Sequence[str]] = {
    "cpp": ("clangd", "--background-index", "-j=2", "--log=error", "--limit-references=0", "--limit-results=0"),
    "c": ("clangd", "--background-index", "-j=2", "--log=error", "--limit-references=0", "--limit-results=0"),
    "go": ("gopls", "serve"),
}


class ServerError(Exception):
    """An answer that is an error."""


class LanguageServer:
    """A server for one folder; files are opened when they are asked about, and not changed."""

    def __init__(
        self, root: Path, command: Sequence[str], language: str, settings: Mapping[str, object] | None = None
    ) -> None:
        self.root = root
        self._settings = settings
        self._language = language
        self._process = subprocess.Popen(
            command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._next = 0
        self._working: set[str] = set()
        self._worked = False
        self._open: dict[str, Lines] = {}
        folder = {"uri": root.as_uri(), "name": root.name}
        self.ask(
            "initialize",
            {
                "processId": None,
                "rootUri": root.as_uri(),
                "capabilities": _CAPABILITIES,
                "workspaceFolders": [folder],
                "initializationOptions": settings or {"clangdFileStatus": False},
            },
        )
        self._send({"method": "initialized", "params": {}})

    def ask(self, method: str, params: Mapping[str, object]) -> object:
        """Send a request and wait for its answer."""
        self._next += 1
        number = self._next
        self._send({"id": number, "method": method, "params": params})
        while True:
            message = self._read()
            if message.get("id") == number and "method" not in message:
                if "error" in message:
                    raise ServerError(str(message["error"]))
                return message.get("result")

    def wait_until_indexed(self) -> None:
        """Wait until the work that the server reports has begun and ended."""
        while not self._worked or self._working:
            self._read()

    def wait_until_quiet(self) -> None:
        """Wait until `rust-analyzer` says that it has nothing more to do."""
        while True:
            message = self._read()
            params = message.get("params") if message.get("method") == "experimental/serverStatus" else None
            if isinstance(params, dict) and params["quiescent"]:
                return

    def references(self, path: str, line: int, column: int) -> list[Place]:
        """The places inside the folder that mean what is declared at a place, the declaration included."""
        context = {"context": {"includeDeclaration": True}}
        answer = self.ask("textDocument/references", {**self.at(path, line, column), **context})
        found = []
        for location in answer if isinstance(answer, list) else ():
            place, start = self._path(location["uri"]), location["range"]["start"]
            found += [(place, start["line"], start["character"])] if not place.startswith("/") else []
        return found

    def open(self, path: str) -> Lines:
        """Tell the server a file's text."""
        if path not in self._open:
            text = (self.root / path).read_bytes()
            self._open[path] = Lines(text)
            document = {"uri": self._uri(path), "languageId": self._language, "version": 1}
            document["text"] = text.decode("utf-8", "replace")
            self._send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
        return self._open[path]

    def at(self, path: str, line: int, column: int) -> dict[str, object]:
        """The parameters that name a place, counted from 0."""
        self.open(path)
        return {"textDocument": {"uri": self._uri(path)}, "position": {"line": line, "character": column}}

    def rename(self, path: str, line: int, column: int, new_name: str) -> dict[str, bytes]:
        """The new texts of the files that a rename changes; a refusal is a `ServerError`."""
        answer = self.ask("textDocument/rename", {**self.at(path, line, column), "newName": new_name})
        if not isinstance(answer, dict):
            raise ServerError("no answer")
        changes: dict[str, list[dict[str, object]]] = dict(answer.get("changes") or {})
        for document in answer.get("documentChanges") or ():
            changes.setdefault(document["textDocument"]["uri"], []).extend(document["edits"])
        return {self._path(uri): self._edited(self._path(uri), edits) for uri, edits in changes.items() if edits}

    def close(self) -> None:
        """End the server."""
        try:
            self.ask("shutdown", {})
            self._send({"method": "exit"})
            self._process.wait(20)
        except (ServerError, OSError, EOFError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()

    def _uri(self, path: str) -> str:
        return (self.root / path).as_uri()

    def _path(self, uri: str) -> str:
        whole = Path(unquote(urlparse(uri).path))
        return whole.relative_to(self.root).as_posix() if whole.is_relative_to(self.root) else str(whole)

    def _edited(self, path: str, edits: Sequence[Mapping[str, object]]) -> bytes:
        text = (self.root / path).read_bytes()
        lines = Lines(text)
        spans = []
        for edit in edits:
            span = edit["range"]
            assert isinstance(span, dict)
            start, end = (lines.offset(span[side]["line"], span[side]["character"]) for side in ("start", "end"))
            spans.append((start, end, str(edit["newText"]).encode()))
        for start, end, new in sorted(spans, reverse=True):
            text = text[:start] + new + text[end:]
        return text

    def _send(self, message: Mapping[str, object]) -> None:
        assert self._process.stdin is not None
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._process.stdin.flush()

    def _read(self) -> dict[str, object]:
        """The next message; what the server asks for itself is answered."""
        assert self._process.stdout is not None
        length = 0
        while (line := self._process.stdout.readline()) != b"\r\n":
            if not line:
                raise EOFError("the server ended")
            found = re.fullmatch(rb"Content-Length: (\d+)\r\n", line)
            length = int(found[1]) if found else length
        message: dict[str, object] = json.loads(self._process.stdout.read(length))
        params = message.get("params")
        if message.get("method") == "$/progress" and isinstance(params, dict):
            kind, token = params["value"].get("kind"), str(params["token"])
            self._worked = self._worked or kind == "begin"
            (self._working.discard if kind == "end" else self._working.add)(token)
        elif "method" in message and "id" in message:
            items = params.get("items", ()) if isinstance(params, dict) else ()
            self._send({"id": message["id"], "result": [self._settings for _ in items] if items else None})
        return message
