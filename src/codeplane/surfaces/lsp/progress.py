"""The progress of long work, as editors show it."""

from types import TracebackType

from codeplane.kernel.actor import Progress
from codeplane.kernel.ids import new_id
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.json_rpc.message import RpcError
from codeplane.surfaces.lsp.editor import Editor


class WorkProgress:
    """Shows that something goes on: under the client's token, or under one that the client agrees to."""

    def __init__(self, editor: Editor, token: JsonValue, title: str) -> None:
        self._editor = editor
        self._token = token
        self._title = title

    async def __aenter__(self) -> "WorkProgress":
        if self._token is None and self._editor.features.shows_progress:
            token = new_id("progress")
            try:
                await self._editor.peer.request("window/workDoneProgress/create", {"token": token})
                self._token = token
            except RpcError:
                # The client shows none; the work goes on.
                self._token = None
        await self._say({"kind": "begin", "title": self._title, "cancellable": False})
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._say({"kind": "end"})

    async def report(self, progress: Progress) -> None:
        """Show how far it has come."""
        value: JsonObject = {"kind": "report", "message": progress.message or self._title}
        if progress.total:
            value["percentage"] = min(100, int(100 * progress.done / progress.total))
        await self._say(value)

    async def _say(self, value: JsonObject) -> None:
        if self._token is not None:
            await self._editor.peer.notify("$/progress", {"token": self._token, "value": value})
