"""The envelopes of an exploration as updates of the dialect 0.2.1."""

import json
import re
from collections.abc import Iterator

import xxhash

from codeplane.kernel.json import JsonObject, JsonValue, canonical

_HUMP = re.compile(r"(?<=[a-z0-9])[A-Z]+")
_IDS = frozenset({"eventId", "prevEventId", "sessionId"})
# Objects whose names are data: words of the person, languages, settings.
_NAMED_BY_DATA = frozenset({"goals", "languages", "opCaps", "ops"})
_NAMES = {
    "fsListDir": "fs.list_dir",
    "contentGetSpan": "content.get_span",
    "indexBuild": "index.build",
    "searchGrep": "search.grep",
    "searchSemantic": "search.semantic",
    "gitStatus": "git.status",
    "llmCall": "llm.call",
}
_SHOWN = ("path", "pattern", "query", "paths")


def snake(value: JsonObject) -> JsonObject:
    """Return an object with its names, and those of the objects in it, in snake_case."""
    return {
        snake_name(name): inner if name in _NAMED_BY_DATA and isinstance(inner, dict) else _snake(inner)
        for name, inner in value.items()
    }


def snake_name(name: str) -> str:
    """Return a name in snake_case."""
    return _HUMP.sub(lambda hump: f"_{hump[0]}", name).lower()


class ExploreUpdates:
    """Turns one exploration's events into updates, in their order."""

    def __init__(self, call_id: str) -> None:
        """`call_id` is the tool call that the exploration as a whole is."""
        self._call_id = call_id
        # How far each operation is, for the entries of later plans.
        self._states: dict[str, str] = {}

    def of(self, envelope: JsonObject, *, cursor: JsonValue) -> Iterator[JsonObject]:
        """Yield the updates of an event; each has the ids of its envelope in `_meta`."""
        payload = envelope["payload"]
        assert isinstance(payload, dict)
        (case,) = payload.keys() - _IDS
        value = payload[case]
        assert isinstance(value, dict)
        meta: JsonObject = {
            "event_id": payload["eventId"],
            "prev_event_id": payload["prevEventId"],
            "parent_id": envelope["parentId"],
            "explore_id": payload["sessionId"],
            "ts": envelope["ts"],
            "kind": envelope["kind"],
            "cursor": cursor,
        }
        for update in self._command(case, value) if envelope["kind"] == "Cmd" else self._event(case, value):
            own = update.get("_meta")
            yield {**update, "_meta": {**(own if isinstance(own, dict) else {}), **meta}}

    def _command(self, case: str, value: JsonObject) -> Iterator[JsonObject]:
        op_id = str(value["opId"])
        self._states[op_id] = "in_progress"
        arguments = snake({name: inner for name, inner in value.items() if name != "opId"})
        name = _NAMES.get(case, snake_name(case))
        yield {"session_update": "tool_call", "call_id": op_id, "name": name, "arguments": arguments}
        yield _update(op_id, "started")

    def _event(self, case: str, value: JsonObject) -> Iterator[JsonObject]:
        match case:
            case "started":
                yield _update(self._call_id, "started")
            case "planSnapshot":
                yield self._plan(value)
            case "progress":
                percent = value.get("percent")
                share = percent / 100 if isinstance(percent, (int, float)) else None
                yield {**_update(self._of(value), "started"), "_meta": {"progress": share}}
            case "result":
                self._states[str(value["opId"])] = "completed"
                output = _snake(json.loads(str(value["payload"])))
                yield _completed(str(value["opId"]), output, value)
            case "error":
                op_id = self._of(value)
                self._states[op_id] = "completed"
                yield {
                    **_update(op_id, "error"),
                    "error": f"{value.get('code') or 'ERR_INTERNAL'}: {value.get('message')}",
                    "_meta": {"retryable": value.get("retryable")},
                }
            case "completed":
                yield _completed(self._call_id, snake(value), {"type": "ExploreSummary", "schemaVersion": 1})
            case "stopped":
                yield {**_update(self._call_id, "error"), "error": f"ERR_OP_CANCELED: {value.get('reason')}"}

    def _plan(self, snapshot: JsonObject) -> JsonObject:
        ops, cancelled = snapshot["nextOps"], snapshot["cancelOps"]
        assert isinstance(ops, list) and isinstance(cancelled, list)
        entries: list[JsonValue] = []
        for op in ops:
            state = "completed" if op["opId"] in cancelled else self._states.get(op["opId"], "pending")
            priority = "high" if op["priority"] <= 0 else "medium"
            entries.append({"content": _words(op), "priority": priority, "status": state})
        meta = snake({name: inner for name, inner in snapshot.items() if name != "goals"})
        return {"session_update": "plan", "entries": entries, "_meta": {**meta, "goals": snapshot["goals"]}}

    def _of(self, value: JsonObject) -> str:
        return str(value.get("opId") or self._call_id)


def _snake(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return snake(value)
    return [_snake(inner) for inner in value] if isinstance(value, list) else value


def _update(call_id: str, status: str) -> JsonObject:
    return {"session_update": "tool_call_update", "call_id": call_id, "status": status}


def _completed(call_id: str, output: JsonValue, typed: JsonObject) -> JsonObject:
    """Return the end of a call; the checksum is that of the output as it is sent."""
    meta: JsonObject = {
        "type": typed["type"],
        "schema_version": typed["schemaVersion"],
        "checksum": xxhash.xxh32_intdigest(canonical(output)),
        "truncated": bool(typed.get("truncated")),
    }
    return {**_update(call_id, "completed"), "output": output, "_meta": meta}


def _words(op: JsonObject) -> str:
    params = op["params"]
    assert isinstance(params, dict)
    shown = next((params[name] for name in _SHOWN if params.get(name)), "")
    words = ", ".join(map(str, shown)) if isinstance(shown, list) else str(shown)
    return f"{op['kind']} {words}".strip()
