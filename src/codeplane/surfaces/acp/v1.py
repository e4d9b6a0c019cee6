"""Updates and questions in the words of ACP version 1."""

from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.acp.cursor import META, Cursor
from codeplane.surfaces.acp.permissions import OPTIONS
from codeplane.surfaces.acp.updates import (
    FileDiff,
    Plan,
    Settings,
    Text,
    Title,
    ToolCall,
    ToolProgress,
    ToolStatus,
    Update,
    Usage,
)
from codeplane.surfaces.json_rpc.peer import Peer

_CHUNKS = {"user": "user_message_chunk", "assistant": "agent_message_chunk", "thought": "agent_thought_chunk"}
# A plan's entry cannot fail.
_ENTRY: dict[ToolStatus, str] = {
    "pending": "pending",
    "in_progress": "in_progress",
    "completed": "completed",
    "failed": "completed",
}


class V1Outlet:
    """Sends the updates of version 1."""

    echoes = False

    def __init__(self, peer: Peer, *, context_tokens: int) -> None:
        """`context_tokens` is how much a model is shown at most."""
        self._peer = peer
        self._context_tokens = context_tokens

    async def send(self, session_id: str, update: Update, cursor: Cursor) -> None:
        """Send an update, with its cursor."""
        if (shown := self._render(update)) is not None:
            meta: JsonObject = {META: {"cursor": cursor.text}}
            await self._peer.notify("session/update", {"sessionId": session_id, "update": shown, "_meta": meta})

    async def ask(self, session_id: str, tool_call_id: str, action_id: str, question: str) -> JsonValue:
        """Ask for a permission."""
        tool_call: JsonObject = {
            "toolCallId": tool_call_id,
            "title": question.partition("\n")[0][:200],
            "status": "pending",
            "content": [text_content(question)],
        }
        params: JsonObject = {
            "sessionId": session_id,
            "toolCall": tool_call,
            "options": list(OPTIONS),
            "_meta": {META: {"actionId": action_id}},
        }
        return await self._peer.request("session/request_permission", params)

    def _render(self, update: Update) -> JsonObject | None:
        match update:
            case Text():
                return {
                    "sessionUpdate": _CHUNKS[update.role],
                    "content": {"type": "text", "text": update.text},
                    "messageId": update.message_id,
                }
            case ToolCall():
                return {"sessionUpdate": "tool_call", **tool_call(update), "status": "pending"}
            case ToolProgress():
                return {"sessionUpdate": "tool_call_update", **_progress(update)}
            case Plan():
                entries: list[JsonValue] = [
                    {"content": content, "priority": "medium", "status": _ENTRY[status]}
                    for content, status in update.entries
                ]
                return {"sessionUpdate": "plan", "entries": entries}
            case Usage():
                return {
                    "sessionUpdate": "usage_update",
                    "used": update.tokens,
                    "size": update.size or self._context_tokens,
                }
            case Title():
                return {"sessionUpdate": "session_info_update", "title": update.title}
            case Settings(mode=str(mode)):
                return {"sessionUpdate": "current_mode_update", "currentModeId": mode}
        return None


def tool_call(update: ToolCall) -> JsonObject:
    """Return a tool call with everything that is known when it is planned."""
    return {
        "toolCallId": update.tool_call_id,
        "name": update.name,
        "title": update.title,
        "kind": update.kind,
        "rawInput": update.arguments,
        "locations": [{"path": path, **({"line": line} if line is not None else {})} for path, line in update.paths],
    }


def text_content(text: str) -> JsonObject:
    """Return a text as the content of a tool call."""
    return {"type": "content", "content": {"type": "text", "text": text}}


def _progress(update: ToolProgress) -> JsonObject:
    content: list[JsonValue] = [_diff(diff) for diff in update.diffs]
    if update.text:
        # What a command printed keeps its columns.
        content.append(text_content(update.text if update.output is None else f"```console\n{update.text}\n```"))
    meta = {"actionId": update.action_id} if update.action_id else {}
    code = {"exitCode": update.exit_code} if update.exit_code is not None else {}
    return {
        "toolCallId": update.tool_call_id,
        **({"status": update.status} if update.status is not None else {}),
        **({"content": content} if content else {}),
        **({"_meta": {META: {**meta, **code}}} if meta or code else {}),
    }


def _diff(diff: FileDiff) -> JsonObject:
    return {"type": "diff", "path": diff.path, "oldText": diff.old_text, "newText": diff.new_text}
