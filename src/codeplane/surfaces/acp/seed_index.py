"""How far the index is, for sessions of the dialect 0.2.1 that asked for it."""

import asyncio
from contextlib import suppress
from uuid import uuid4

from codeplane.kernel.errors import CodePlaneError, InvalidArgument
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.acp.door import AcpDoor
from codeplane.surfaces.acp.seed_outlet import SeedOutlet, failure
from codeplane.surfaces.json_rpc.peer import Answer

FEATURE = "index.subscribe"
_CALL = "index.rebuild"
_STREAM, _PROGRESS = "index", "index.progress"
# How often an index that is being made is looked at.
_LOOK_SEC = 1.0


class SeedIndexSubscriptions:
    """Reports a rebuild to sessions: the running one, or else the next; and later ones on request."""

    def __init__(self, door: AcpDoor, outlet: SeedOutlet, *, repository: str) -> None:
        self._door = door
        self._outlet = outlet
        self._repository = repository
        # At most one for each session, of which a connection has a bounded number.
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def status(self) -> JsonObject:
        """Return what the index has now."""
        index = (await self._door.call("status", {})).get("index")
        assert isinstance(index, dict)
        symbols = index.get("symbols")
        followed = symbols.get("epoch") if isinstance(symbols, dict) else None
        return {
            "files_indexed": index.get("file_count"),
            "symbols": index.get("symbol_count"),
            "epoch": index.get("version"),
            "healthy": index.get("healthy"),
            "ready": bool(index.get("version")) and followed == index.get("version"),
            "last_updated": index.get("last_updated"),
        }

    async def subscribe(self, session_id: str, workspace_id: str, *, follows: bool) -> Answer:
        """Return an answer after which the session receives the index's progress; `follows` is about every rebuild."""
        if workspace_id not in ("", self._repository):
            raise InvalidArgument(
                f"there is no progress of {workspace_id!r} here",
                hint=f"leave workspace_id out, or say {self._repository}",
            )
        call_id = str(uuid4())

        async def follow() -> None:
            await self._stop(session_id)
            self._tasks[session_id] = asyncio.ensure_future(self._tell(session_id, call_id, follows=follows))

        return Answer(result={"subscribed": True, "call_id": call_id}, after=follow)

    async def end(self) -> None:
        """Tell nobody any more."""
        for session_id in list(self._tasks):
            await self._stop(session_id)

    async def _stop(self, session_id: str) -> None:
        if (task := self._tasks.pop(session_id, None)) is not None:
            task.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await task

    async def _tell(self, session_id: str, call_id: str, *, follows: bool) -> None:
        """Send the state once, and then the synthetic call until its rebuild is done."""
        state = await self.status()
        await self._outlet.show(session_id, _summary(state))
        is_open = not state["ready"]
        if is_open:
            await self._open(session_id, call_id, state)
        asked: JsonObject = {"stream": _STREAM, "from_now": True, "heartbeat_sec": _LOOK_SEC}
        try:
            async for item in self._door.stream("ledger.watch", asked):
                event = getattr(item, "event", None)
                if not is_open and not isinstance(event, dict):
                    continue
                now = await self.status()
                if not is_open and now == state:
                    # The last words about a rebuild whose end is known.
                    continue
                if not is_open:
                    is_open = True
                    await self._open(session_id, call_id, now)
                if now["ready"]:
                    await self._outlet.show(session_id, _progress(call_id, "completed", now, 1.0))
                    if not follows:
                        return
                    is_open, call_id = False, str(uuid4())
                elif (found := _share(event))[0] is not None or now != state:
                    share, throttled = found
                    await self._outlet.show(session_id, _progress(call_id, "started", now, share, throttled=throttled))
                state = now
        except CodePlaneError as error:
            await self._outlet.show(session_id, failure(call_id, error))

    async def _open(self, session_id: str, call_id: str, state: JsonObject) -> None:
        call: JsonObject = {"session_update": "tool_call", "call_id": call_id, "name": _CALL, "arguments": {}}
        await self._outlet.show(session_id, call)
        await self._outlet.show(session_id, _progress(call_id, "started", state, 0.0))


def _summary(state: JsonObject) -> JsonObject:
    words = "is ready" if state["ready"] else "is being made"
    counted = f"{state['files_indexed'] or 0} files, {state['symbols'] or 0} symbols"
    content: JsonObject = {"type": "text", "text": f"The index {words}: epoch {state['epoch']}, {counted}."}
    return {"session_update": "agent_message_chunk", "content": content, "_meta": {"index": state}}


def _progress(
    call_id: str, status: str, state: JsonObject, share: float | None, *, throttled: JsonValue = None
) -> JsonObject:
    # Texts are not cut into chunks before somebody searches by meaning, so there is no number of them.
    output: JsonObject = {"files_indexed": state["files_indexed"], "chunks": None, "symbols": state["symbols"]}
    if throttled is not None:
        output["throttled"] = throttled
    update: JsonObject = {"session_update": "tool_call_update", "call_id": call_id, "status": status, "output": output}
    return {**update, "_meta": {"progress": share, "epoch": state["epoch"]}}


def _share(event: object) -> tuple[float | None, JsonValue]:
    """Return how much is done, as an event says it."""
    if not isinstance(event, dict) or event["type"] != _PROGRESS:
        return None, None
    share = event["payload"].get("share")
    return (float(share) if isinstance(share, (int, float)) else None), event["payload"].get("throttled")
