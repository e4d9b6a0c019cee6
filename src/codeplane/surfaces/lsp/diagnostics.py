"""What is wrong with open documents: syntax errors, and tests of the last run that failed."""

import asyncio

from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.lsp.documents import Document
from codeplane.surfaces.lsp.editor import Editor, range_of
from codeplane.surfaces.lsp.folders import FilePlace

# How long nobody has typed before a document is looked at.
_QUIET_SEC = 0.3
_ERROR, _WARNING = 1, 2
_SOURCE = "codeplane"
_MAX_MESSAGE = 1000


class Diagnostics:
    """Publishes what is wrong with each document when nobody types."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        self._waiting: dict[str, asyncio.Task[None]] = {}

    def look_soon(self, document: Document) -> None:
        """Look at a document when it has not changed for a moment."""
        self.forget(document.uri)
        if document.path is not None:
            self._waiting[document.uri] = asyncio.ensure_future(self._look(document))

    def forget(self, uri: str) -> None:
        """Do not look at a document any more."""
        waiting = self._waiting.pop(uri, None)
        if waiting is not None:
            waiting.cancel()

    async def clear(self, uri: str) -> None:
        """Withdraw the diagnostics of a closed document."""
        self.forget(uri)
        await self._editor.peer.notify("textDocument/publishDiagnostics", {"uri": uri, "diagnostics": []})

    async def end(self) -> None:
        """End everything that is waited for."""
        tasks = list(self._waiting.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def look_at_all(self) -> None:
        """Look at all open documents again, as after a test run."""
        for document in self._editor.documents.all():
            self.look_soon(document)

    async def _look(self, document: Document) -> None:
        await asyncio.sleep(_QUIET_SEC)
        assert document.path is not None, "only documents of workspaces are looked at"
        place = FilePlace(workspace=document.workspace, path=document.path)
        try:
            found = [*await self._syntax(place), *await self._tests(place)]
        except CodePlaneError:
            # A file without a grammar, or an index that is not ready: nothing is known to be wrong.
            return
        params: JsonObject = {"uri": document.uri, "version": document.version, "diagnostics": found}
        await self._editor.peer.notify("textDocument/publishDiagnostics", params)

    async def _syntax(self, place: FilePlace) -> list[JsonValue]:
        answer = await self._editor.ask("syntax.problems", place, {}, of="diagnostics")
        problems = answer["problems"]
        found: list[JsonValue] = []
        for problem in problems if isinstance(problems, list) else ():
            assert isinstance(problem, dict) and isinstance(problem["span"], dict), "a problem has a span"
            found.append(
                {
                    "range": range_of(problem["span"]),
                    "severity": _ERROR,
                    "source": _SOURCE,
                    "message": problem["message"],
                }
            )
        return found

    async def _tests(self, place: FilePlace) -> list[JsonValue]:
        """Return the failures of the last run that are in a file; they speak of the text that was run."""
        try:
            run = await self._editor.plane.call("test.status", {"workspace": place.workspace})
        except CodePlaneError:
            return []
        failures = run.get("failures")
        found: list[JsonValue] = []
        for failure in failures if isinstance(failures, list) else ():
            target = str(failure.get("target_id", "")) if isinstance(failure, dict) else ""
            if not isinstance(failure, dict) or target.partition("::")[0].rpartition(":")[2] != place.path:
                continue
            line = failure.get("line")
            at = max(line - 1, 0) if isinstance(line, int) else 0
            found.append(
                {
                    "range": {"start": {"line": at, "character": 0}, "end": {"line": at, "character": 0}},
                    "severity": _WARNING,
                    "source": f"{_SOURCE} tests",
                    "message": f"{failure['test']} {failure['status']} in the last run: {failure['message']}"[
                        :_MAX_MESSAGE
                    ],
                }
            )
        return found
