"""Updates and questions in the words of the draft of ACP version 2."""

from base64 import b64encode

from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.acp.cursor import META, Cursor
from codeplane.surfaces.acp.errors import rpc_error
from codeplane.surfaces.acp.permissions import OPTIONS
from codeplane.surfaces.acp.updates import (
    Ended,
    FileDiff,
    Paused,
    Plan,
    Running,
    Text,
    Title,
    ToolCall,
    ToolProgress,
    Update,
    Usage,
)
from codeplane.surfaces.acp.v1 import text_content, tool_call
from codeplane.surfaces.json_rpc.peer import Peer

_CHUNKS = {"assistant": "agent_message_chunk", "thought": "agent_thought_chunk"}


class V2Outlet:
    """Sends the updates of version 2, in which the end of a turn is an update and not the answer to its prompt."""

    echoes = True

    def __init__(self, peer: Peer, *, context_tokens: int) -> None:
        """`context_tokens` is how much a model is shown at most."""
        self._peer = peer
        self._context_tokens = context_tokens

    async def send(self, session_id: str, update: Update, cursor: Cursor) -> None:
        """Send an update, with its cursor."""
        for shown in self._render(update):
            meta: JsonObject = {META: {"cursor": cursor.text}}
            await self._peer.notify("session/update", {"sessionId": session_id, "update": shown, "_meta": meta})

    async def ask(self, session_id: str, tool_call_id: str, action_id: str, question: str) -> JsonValue:
        """Ask for a permission."""
        call: JsonObject = {"toolCallId": tool_call_id, "status": "paused", "content": [text_content(question)]}
        params: JsonObject = {
            "sessionId": session_id,
            "title": question.partition("\n")[0][:200],
            "subject": {"type": "tool_call", "toolCall": call},
            "options": list(OPTIONS),
            "_meta": {META: {"actionId": action_id}},
        }
        return await self._peer.request("session/request_permission", params)

    def _render(self, update: Update) -> list[JsonObject]:
        match update:
            case Text(role="user"):
                content: JsonObject = {"type": "text", "text": update.text}
                return [{"sessionUpdate": "user_message", "messageId": update.message_id, "content": [content]}]
            case Text():
                chunk: JsonObject = {"type": "text", "text": update.text}
                return [{"sessionUpdate": _CHUNKS[update.role], "messageId": update.message_id, "content": chunk}]
            case ToolCall():
                return [{"sessionUpdate": "tool_call_update", **tool_call(update), "status": "pending"}]
            case ToolProgress():
                return _progress(update)
            case Plan():
                entries: list[JsonValue] = [
                    {"content": content, "priority": "medium", "status": "completed" if status == "failed" else status}
                    for content, status in update.entries
                ]
                return [
                    {
                        "sessionUpdate": "plan_update",
                        "plan": {"type": "items", "planId": update.plan_id, "entries": entries},
                    }
                ]
            case Usage():
                return [
                    {
                        "sessionUpdate": "usage_update",
                        "used": update.tokens,
                        "size": update.size or self._context_tokens,
                    }
                ]
            case Title():
                return [{"sessionUpdate": "session_info_update", "title": update.title}]
            case Running() | Paused() | Ended():
                return [{"sessionUpdate": "state_update", **state_of(update)}]
        return []


def state_of(update: Running | Paused | Ended | None) -> JsonObject:
    """Return the state of a session after its last turn, or before its first."""
    match update:
        case Running():
            return {"state": "running"}
        case Paused():
            return {"state": "requires_action"}
        case Ended(failure=None):
            return {"state": "idle", "stopReason": update.stop_reason}
        case Ended(failure=failure) if failure is not None:
            return {"state": "idle", "stopReason": "error", "error": rpc_error(failure).to_wire()}
    return {"state": "idle"}


def _progress(update: ToolProgress) -> list[JsonObject]:
    if update.output is not None:
        # The terminal is of the tool call, and named after it.
        data = b64encode(update.output.encode("utf-8", "replace")).decode()
        return [{"sessionUpdate": "terminal_output_chunk", "terminalId": update.tool_call_id, "data": data}]
    if update.exit_code is not None:
        status: JsonObject = {"exitCode": update.exit_code}
        return [{"sessionUpdate": "terminal_update", "terminalId": update.tool_call_id, "exitStatus": status}]
    content: list[JsonValue] = [_diff(update.diffs)] if update.diffs else []
    if update.text:
        content.append(text_content(update.text))
    meta: JsonObject = {"_meta": {META: {"actionId": update.action_id}}} if update.action_id else {}
    shown: JsonObject = {
        "sessionUpdate": "tool_call_update",
        "toolCallId": update.tool_call_id,
        **({"status": "paused" if update.action_id else update.status} if update.status is not None else {}),
        **({"content": content} if content else {}),
        **meta,
    }
    return [shown]


def _diff(diffs: tuple[FileDiff, ...]) -> JsonObject:
    changes: list[JsonValue] = [
        {"operation": "add" if diff.old_text is None else "modify", "path": diff.path} for diff in diffs
    ]
    patch: JsonObject = {"format": "git_patch", "text": "".join(diff.patch for diff in diffs)}
    return {"type": "diff", "changes": changes, "patch": patch}
