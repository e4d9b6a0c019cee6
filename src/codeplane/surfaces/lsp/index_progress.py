"""Shows an editor's person how far the index is, while it is being made."""

import asyncio
from contextlib import suppress

from codeplane.kernel.actor import Progress
from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.json_rpc.message import RpcError
from codeplane.surfaces.json_rpc.peer import ConnectionGone
from codeplane.surfaces.lsp.editor import Editor
from codeplane.surfaces.lsp.progress import WorkProgress

_TITLE = "CodePlane reads the repository"
_STREAM, _PROGRESS = "index", "index.progress"
# How often an index that is being made is looked at.
_LOOK_SEC = 1.0


class IndexProgress:
    """Shows the progress of the index from the moment that a client is ready until the index is."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        self._showing: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Show it to a client that shows progress."""
        if self._showing is None and self._editor.features.shows_progress:
            self._showing = asyncio.ensure_future(self._show())

    async def end(self) -> None:
        """Show no more."""
        if self._showing is not None:
            self._showing.cancel()
            await asyncio.wait([self._showing])

    async def _show(self) -> None:
        # Failing to show progress is no error: each answer says when it is partial.
        with suppress(CodePlaneError, RpcError, ConnectionGone):
            index = await self._index()
            if not _is_ready(index):
                async with WorkProgress(self._editor, None, _TITLE) as progress:
                    await self._follow(progress, index)

    async def _follow(self, progress: WorkProgress, index: JsonObject) -> None:
        asked: JsonObject = {"stream": _STREAM, "from_now": True, "heartbeat_sec": _LOOK_SEC}
        share = 0.0
        await progress.report(_progress(index, share))
        async for item in self._editor.plane.stream("ledger.watch", asked):
            event = item.get("event")
            if isinstance(event, dict) and event["type"] == _PROGRESS:
                payload = event["payload"]
                found = payload.get("share") if isinstance(payload, dict) else None
                share = max(share, float(found)) if isinstance(found, int | float) else share
            index = await self._index()
            if _is_ready(index):
                return
            await progress.report(_progress(index, share))

    async def _index(self) -> JsonObject:
        index = (await self._editor.plane.call("status", {"include": ["index"]})).get("index")
        return index if isinstance(index, dict) else {}


def _is_ready(index: JsonObject) -> bool:
    symbols = index.get("symbols")
    followed = symbols.get("epoch") if isinstance(symbols, dict) else None
    return bool(index.get("version")) and followed == index.get("version")


def _progress(index: JsonObject, share: float) -> Progress:
    files, symbols = index.get("file_count") or 0, index.get("symbol_count") or 0
    return Progress(done=share, total=1.0, message=f"{files} files, {symbols} symbols; answers are partial until then")
