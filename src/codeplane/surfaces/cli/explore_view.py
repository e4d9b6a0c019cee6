"""The events of an exploration as lines on a terminal."""

import json

from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.plural import plural


class ExploreView:
    """Remembers what was planned, so that results can be named by it."""

    def __init__(self) -> None:
        self._ops: dict[str, JsonObject] = {}

    def lines(self, envelope: JsonObject) -> list[str]:
        """The lines of an event, unless they are printed elsewhere."""
        payload = envelope["payload"]
        assert isinstance(payload, dict)
        if isinstance(snapshot := payload.get("planSnapshot"), dict):
            return self._plan(snapshot)
        if isinstance(progress := payload.get("progress"), dict):
            percent = progress.get("percent")
            share = f" {percent:.0f} %" if isinstance(percent, (int, float)) else ""
            return [f"  … {progress['op']}{share} {progress.get('details') or ''}".rstrip()]
        if isinstance(result := payload.get("result"), dict):
            return [f"  ✓ {self._name(result)}  {_size(result)}"]
        if isinstance(error := payload.get("error"), dict):
            return [f"  ✗ {self._name(error)}  {error['code']}: {error['message']}"]
        return []

    def _plan(self, snapshot: JsonObject) -> list[str]:
        ops = snapshot["nextOps"]
        assert isinstance(ops, list)
        added = [op for op in ops if isinstance(op, dict) and str(op["opId"]) not in self._ops]
        self._ops |= {str(op["opId"]): op for op in added}
        names = ", ".join(_describe(op) for op in added)
        cancelled = snapshot.get("cancelOps")
        dropped = (
            f"; cancels {plural(len(cancelled), 'operation')}" if isinstance(cancelled, list) and cancelled else ""
        )
        return [f"plan {snapshot['snapshotId']}: {names or 'nothing new'}{dropped}"]

    def _name(self, value: JsonObject) -> str:
        op = self._ops.get(str(value["opId"]))
        return _describe(op) if op is not None else str(value.get("op", ""))


def _describe(op: JsonObject) -> str:
    params = op["params"]
    assert isinstance(params, dict)
    for name in ("query", "pattern", "paths", "path"):
        if value := params.get(name):
            shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            return f"{op['kind']} {shown}"
    return str(op["kind"])


def _size(result: JsonObject) -> str:
    """The size of a result."""
    value: JsonValue = json.loads(str(result["payload"]))
    more = "+" if result.get("truncated") else ""
    if isinstance(value, list):
        return f"{len(value)}{more} {result['type'].removesuffix('[]') if isinstance(result['type'], str) else ''}"
    return str(result["type"])
