"""The items of a turn as the protocol shows them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from codeplane.kernel.file_diff import lines_of_hunks
from codeplane.kernel.json import JsonObject, JsonValue, dumps

COMMAND, FILE_CHANGE, TOOL_CALL = "commandExecution", "fileChange", "mcpToolCall"
AGENT_MESSAGE, USER_MESSAGE, REASONING = "agentMessage", "userMessage", "reasoning"
# Which tools are shown as something else than a call of a tool.
_KINDS: Mapping[str, str] = {"run_bash": COMMAND, "write_files": FILE_CHANGE}
_SERVER = "codeplane"
# How a call ended that did not run at all.
_DECLINED = frozenset(
    {"REJECTED", "EXPIRED", "POLICY_DENIED", "CAPABILITY_DENIED", "PATH_DENIED", "PROPOSED", "NOT_RUN"}
)
_MAX_OUTPUT = 20_000
_NOT_SHOWN = "[{count} earlier characters are not shown]\n"
_UNKNOWN_END = "[whether it ran to its end is not known: the turn ended before it answered]"


@dataclass(slots=True)
class Item:
    """One item; `completed_ms` is None while it is under way."""

    id: str
    body: JsonObject
    started_ms: int
    completed_ms: int | None = None
    # What it changed of files, which is looked up before the item is shown whole.
    mutation_id: str = ""
    # Characters of output that are no longer part of it.
    cut: int = field(default=0)

    @property
    def kind(self) -> str:
        """The type of the item."""
        return str(self.body["type"])


def tool_kind(tool: str) -> str:
    """The type of the item that a call of a tool is shown as."""
    return _KINDS.get(tool, TOOL_CALL)


def user_message(item_id: str, text: str, client_id: str | None) -> JsonObject:
    """What was asked."""
    content: JsonValue = [{"type": "text", "text": text, "text_elements": []}]
    return {"type": USER_MESSAGE, "id": item_id, "clientId": client_id, "content": content}


def agent_message(item_id: str, text: str, *, phase: str | None) -> JsonObject:
    """A message of the assistant."""
    return {"type": AGENT_MESSAGE, "id": item_id, "text": text, "phase": phase, "memoryCitation": None}


def reasoning(item_id: str) -> JsonObject:
    """What the model thought, as far as it is shown."""
    return {"type": REASONING, "id": item_id, "summary": [], "content": []}


def tool_item(item_id: str, tool: str, arguments: JsonObject, cwd: str) -> JsonObject:
    """A call of a tool that has begun."""
    kind = tool_kind(tool)
    if kind == COMMAND:
        command = str(arguments.get("command") or tool)
        return {
            "type": COMMAND,
            "id": item_id,
            "command": command,
            "cwd": cwd,
            "status": "inProgress",
            "commandActions": [{"type": "unknown", "command": command}],
            "source": "agent",
            "processId": None,
            "aggregatedOutput": None,
            "exitCode": None,
            "durationMs": None,
        }
    if kind == FILE_CHANGE:
        return {"type": FILE_CHANGE, "id": item_id, "status": "inProgress", "changes": _planned_changes(arguments)}
    return {
        "type": TOOL_CALL,
        "id": item_id,
        "server": _SERVER,
        "tool": tool,
        "arguments": arguments,
        "status": "inProgress",
        "result": None,
        "error": None,
        "durationMs": None,
    }


def add_output(item: Item, chunk: str) -> None:
    """Add what a command printed; of much only the end stays, which it says."""
    shown = str(item.body.get("aggregatedOutput") or "")
    whole = shown.removeprefix(_NOT_SHOWN.format(count=item.cut)) + chunk
    if len(whole) > _MAX_OUTPUT:
        item.cut += len(whole) - _MAX_OUTPUT
        whole = whole[-_MAX_OUTPUT:]
    item.body["aggregatedOutput"] = (_NOT_SHOWN.format(count=item.cut) if item.cut else "") + whole


def finish_tool(item: Item, payload: JsonObject) -> None:
    """Take over how a call of a tool ended."""
    status, preview = str(payload.get("status") or ""), str(payload.get("preview") or "")
    ended = "completed" if status == "ok" else "declined" if status in _DECLINED else "failed"
    if item.kind == COMMAND:
        if item.body["exitCode"] is None and status == "ok":
            item.body["exitCode"] = payload.get("exit_code")
        if item.body["exitCode"] not in (None, 0) and ended == "completed":
            ended = "failed"
        if item.body["durationMs"] is None:
            item.body["durationMs"] = payload.get("duration_ms")
        if item.body["aggregatedOutput"] is None:
            item.body["aggregatedOutput"] = preview
        item.body["status"] = ended
    elif item.kind == FILE_CHANGE:
        item.body["status"] = ended
        item.mutation_id = str(payload.get("mutation_id") or "")
    else:
        item.body["durationMs"] = payload.get("duration_ms")
        # The protocol knows no tool call that was declined.
        item.body["status"] = "completed" if ended == "completed" else "failed"
        if ended == "completed":
            item.body["result"] = {"content": [{"type": "text", "text": preview}], "structuredContent": None}
        else:
            item.body["error"] = {"message": preview or status}


def abandon(item: Item) -> None:
    """End an item whose turn ended first; what is not known of a call that had begun, it says."""
    if item.kind not in (COMMAND, FILE_CHANGE, TOOL_CALL):
        return
    item.body["status"] = "failed"
    if item.kind == COMMAND:
        add_output(item, _UNKNOWN_END)
    elif item.kind == TOOL_CALL:
        item.body["error"] = {"message": _UNKNOWN_END}


def changes_of(mutation: JsonObject) -> list[JsonValue]:
    """The changes that a mutation made, with their diffs."""
    files = mutation.get("files")
    return [_change(file) for file in files if isinstance(file, dict)] if isinstance(files, list) else []


def _change(file: JsonObject) -> JsonObject:
    diff, note = str(file.get("diff") or ""), str(file.get("note") or "")
    # Without the names of the file, which the change has already.
    lines = lines_of_hunks(diff)
    kind: JsonObject = {"type": {"created": "add", "deleted": "delete"}.get(str(file.get("action")), "update")}
    path = str(file.get("path") or "")
    if kind["type"] == "update":
        moved_from = str(file.get("old_path") or "")
        kind["move_path"] = path if moved_from else None
        path = moved_from or path
    return {"path": path, "kind": kind, "diff": "".join(lines) or (f"[{note}]\n" if note else "")}


def _planned_changes(arguments: JsonObject) -> list[JsonValue]:
    """The changes that were asked for, as the arguments have them."""
    edits = arguments.get("edits")
    return [_planned(edit) for edit in edits if isinstance(edit, dict)] if isinstance(edits, list) else []


def _planned(edit: JsonObject) -> JsonObject:
    action, content, old = edit.get("action"), edit.get("content"), edit.get("old_text")
    is_new = action == "create" or (content is not None and action is None)
    kind: JsonObject = {"type": "delete" if action == "delete" else "add" if is_new else "update"}
    if kind["type"] == "update":
        kind["move_path"] = edit.get("new_path")
    if content is not None:
        diff = _prefixed("+", str(content))
    elif old is not None:
        diff = _prefixed("-", str(old)) + _prefixed("+", str(edit.get("new_text") or ""))
    else:
        parts = {name: edit[name] for name in ("patches", "replacements", "link_to") if edit.get(name)}
        diff = f"[{dumps(parts)}]\n" if parts else ""
    return {"path": str(edit.get("path") or ""), "kind": kind, "diff": diff}


def _prefixed(sign: str, text: str) -> str:
    return "".join(f"{sign}{line}\n" for line in text.splitlines())
