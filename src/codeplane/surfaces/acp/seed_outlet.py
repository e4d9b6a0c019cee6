"""Updates in the words of the dialect 0.2.1."""

from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.acp.cursor import Cursor
from codeplane.surfaces.acp.updates import Plan, Text, ToolCall, ToolProgress, ToolStatus, Update
from codeplane.surfaces.json_rpc.message import METHOD_NOT_FOUND, RpcError
from codeplane.surfaces.json_rpc.peer import Peer

MAX_INLINE_BYTES = 8192
MAX_INLINE_LINES = 120
_CHUNKS = {"user": "user_message_chunk", "assistant": "agent_message_chunk", "thought": "agent_thought_chunk"}
_STATUSES: dict[ToolStatus, str] = {
    "pending": "started",
    "in_progress": "started",
    "completed": "completed",
    "failed": "error",
}


def inline(text: str) -> tuple[str, bool]:
    """Return a text within the bounds of the dialect, and whether it was cut; lines end as in Unix."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    kept = "\n".join(lines[:MAX_INLINE_LINES])
    data = kept.encode("utf-8", "replace")
    is_cut = len(lines) > MAX_INLINE_LINES or len(data) > MAX_INLINE_BYTES
    # Room for the sign itself, which has three bytes.
    return (f"{data[: MAX_INLINE_BYTES - 3].decode('utf-8', 'ignore')}…" if is_cut else kept), is_cut


def failure(call_id: str, error: CodePlaneError) -> JsonObject:
    """Return the end of a call that failed; where a person has to decide, it names the action."""
    action_id = error.details.get("action_id")
    meta: JsonObject = {"_meta": {"action_id": action_id}} if action_id else {}
    return {**_update(call_id, "error"), "error": f"{error.acp}: {error.message}", **meta}


class SeedOutlet:
    """Sends the updates of the dialect."""

    echoes = False

    def __init__(self, peer: Peer) -> None:
        self._peer = peer

    async def send(self, session_id: str, update: Update, cursor: Cursor) -> None:
        """Send an update, with its cursor."""
        if (shown := _render(update)) is not None:
            await self.show(session_id, shown, cursor=cursor.text)

    async def show(self, session_id: str, update: JsonObject, **meta: JsonValue) -> None:
        """Send an update that is written already; what it says of itself in `_meta` stays."""
        own = update.get("_meta")
        both: JsonObject = {**(own if isinstance(own, dict) else {}), **meta}
        shown = _wire({**update, **({"_meta": both} if both else {})})
        await self._peer.notify("session/update", {"session_id": session_id, "update": shown})

    async def ask(self, session_id: str, tool_call_id: str, action_id: str, question: str) -> JsonValue:
        """Ask nobody: the dialect has no permission requests."""
        raise RpcError(METHOD_NOT_FOUND, "session/request_permission is not part of 0.2.1")


def _wire(update: JsonObject) -> JsonObject:
    """Return an update as the types decode it that the specification names (`SessionNotificationWire`).

    Their discriminator alone is spelled `sessionUpdate`; the body is below the name of its kind, of chunks below
    `content`.
    """
    kind = str(update["session_update"])
    body: JsonObject = {name: value for name, value in update.items() if name != "session_update"}
    place = "content" if kind in _CHUNKS.values() else kind
    return {"sessionUpdate": kind, "session_update": kind, place: body}


def _render(update: Update) -> JsonObject | None:
    match update:
        case Text():
            text, is_cut = inline(update.text)
            content: JsonObject = {"type": "text", "text": text}
            cut: JsonObject = {"_meta": {"truncated": True}} if is_cut else {}
            return {"session_update": _CHUNKS[update.role], "content": content, **cut}
        case ToolCall():
            return {
                "session_update": "tool_call",
                "call_id": update.tool_call_id,
                "name": update.name,
                "arguments": update.arguments,
            }
        case ToolProgress(action_id=str(action_id)):
            # It is decided elsewhere, and completes later.
            error = f"ERR_UNAUTHORIZED: a person has to decide: cpl approvals approve {action_id}"
            meta: JsonObject = {"action_id": action_id}
            return {**_update(update.tool_call_id, "error"), "error": error, "_meta": meta}
        case ToolProgress(status=str(status)):
            text, is_cut = inline(update.text or "")
            if status == "failed":
                return {**_update(update.tool_call_id, "error"), "error": f"ERR_INTERNAL: {text}"}
            output: JsonObject = {"output": {"text": text, "truncated": is_cut}} if update.text else {}
            return {**_update(update.tool_call_id, _STATUSES[update.status or "pending"]), **output}
        case Plan():
            entries: list[JsonValue] = [
                {"content": content, "priority": "medium", "status": "completed" if status == "failed" else status}
                for content, status in update.entries
            ]
            return {"session_update": "plan", "entries": entries, "_meta": {"plan_id": update.plan_id}}
    return None


def _update(call_id: str, status: str) -> JsonObject:
    return {"session_update": "tool_call_update", "call_id": call_id, "status": status}
