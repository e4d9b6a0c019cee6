"""Folders that a client of the dialect 0.2.1 adds, where a person may have to decide."""

import asyncio
from contextlib import suppress
from uuid import uuid4

from codeplane.kernel.errors import ApprovalPending, CodePlaneError, RateLimited
from codeplane.kernel.ids import new_id
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.acp.door import AcpDoor
from codeplane.surfaces.acp.seed_outlet import SeedOutlet, failure

MAX_OPEN = 16
_NAME, _ATTACH = "index.add_root", "workspace.attach"
# As long as a call may wait for a person; a later approval attaches the folder just the same.
_ASKED_SEC = 3600.0


class SeedRoots:
    """Attaches folders, each as a tool call of a session that completes when a person has decided."""

    def __init__(self, door: AcpDoor, outlet: SeedOutlet) -> None:
        self._door = door
        self._outlet = outlet
        # Calls that are being made or wait for a person, and what shows the end of those that wait.
        self._open = 0
        self._waiting: set[asyncio.Task[None]] = set()

    async def add(self, path: str) -> JsonObject:
        """Attach a folder; ApprovalPending at once where a person has to decide."""
        return await self._door.call(_ATTACH, {"path": path}, wait_sec=0.0)

    async def add_in(self, session_id: str, path: str) -> JsonObject:
        """Attach a folder and show that in a session; what waits for a person is an error now and completes later."""
        if self._open >= MAX_OPEN:
            raise RateLimited(f"{MAX_OPEN} folders are being added or wait for a person", hint="wait for one of them")
        self._open += 1
        is_waiting = False
        try:
            call_id = str(uuid4())
            call: JsonObject = {"session_update": "tool_call", "call_id": call_id, "name": _NAME}
            await self._outlet.show(session_id, {**call, "arguments": {"path": path}})
            await self._outlet.show(session_id, _update(call_id, "started"))
            asked: JsonObject = {"path": path, "idempotency_key": new_id("root")}
            try:
                added = await self._door.call(_ATTACH, asked, wait_sec=0.0)
            except CodePlaneError as error:
                await self._outlet.show(session_id, failure(call_id, error))
                if is_waiting := isinstance(error, ApprovalPending):
                    task = asyncio.ensure_future(self._complete(session_id, call_id, asked))
                    self._waiting.add(task)
                    task.add_done_callback(self._forget)
                raise
            await self._outlet.show(session_id, {**_update(call_id, "completed"), "output": added})
            return {"call_id": call_id, **added}
        finally:
            if not is_waiting:
                self._open -= 1

    async def end(self) -> None:
        """Wait for no decision any more; what is approved later is attached without this client."""
        tasks = set(self._waiting)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _complete(self, session_id: str, call_id: str, asked: JsonObject) -> None:
        """Show the end of a call once it is decided: under its key, an approved call answers with its result."""
        try:
            added = await self._door.call(_ATTACH, asked, wait_sec=_ASKED_SEC)
        except CodePlaneError as error:
            await self._outlet.show(session_id, failure(call_id, error))
        else:
            await self._outlet.show(session_id, {**_update(call_id, "completed"), "output": added})

    def _forget(self, task: "asyncio.Task[None]") -> None:
        self._waiting.discard(task)
        self._open -= 1
        with suppress(asyncio.CancelledError):
            # Sending failed since the other side has left; retrieved to avoid a warning.
            task.exception()


def _update(call_id: str, status: str) -> JsonObject:
    return {"session_update": "tool_call_update", "call_id": call_id, "status": status}
