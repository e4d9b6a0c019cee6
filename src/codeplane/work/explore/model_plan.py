"""What a model plans, read while it writes: partial JSON, coerced to operations that there are."""

from collections.abc import Mapping

from pydantic_core import from_json

from codeplane.kernel.ids import uuid7
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.work.explore import agent_op
from codeplane.work.explore.agent_op import AgentOp
from codeplane.work.explore.typed_result import MAX_INLINE_LINES

MAX_MODEL_OPS = 16
_MAX_TEXT = 500
_MAX_PATHS = 10
# The numbers that an operation may have, clamped to these; and what it has where the model says nothing.
_RANGES = {"depth": (1, 5, 1), "k": (1, 200, 20), "startLine": (1, 10_000_000, 1), "context": (0, 20, 0)}
_PRIORITIES = (0, 9, 4)
# By kind: the texts that it needs, the texts that it may have, and its numbers.
_SHAPES: Mapping[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    agent_op.LIST_DIR: (("path",), (), ("depth",)),
    agent_op.GREP: (("pattern",), ("pathPrefix",), ("k",)),
    agent_op.SEMANTIC: (("query",), (), ("k",)),
    agent_op.READ_SPAN: (("path",), (), ("startLine", "context")),
    agent_op.SUMMARIZE: ((), (), ()),
}
# The answer that a model is asked for.
SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "goals": {"type": "array", "items": {"type": "string"}},
        "nextOps": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "kind": {"type": "string", "enum": sorted(_SHAPES)},
                    **{name: {"type": "string"} for name in ("path", "pattern", "pathPrefix", "query")},
                    **{name: {"type": "integer"} for name in ("depth", "k", "startLine", "endLine", "context")},
                    "paths": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["kind"],
            },
        },
    },
    "required": ["nextOps"],
}


class ModelPlan:
    """The text of one answer so far, and the operations in it."""

    def __init__(self) -> None:
        self._text = ""
        self._taken = 0
        self.dropped = 0

    def add(self, delta: str) -> list[AgentOp]:
        """The operations that are whole by now and were not before."""
        self._text += delta
        # The last one may still be growing.
        return self._take(self._written()[:-1])

    def finish(self) -> list[AgentOp]:
        """The operations that are left; ValueError when the answer is no plan at all."""
        written = self._written()
        if not written and '"nextOps"' not in self._text:
            raise ValueError("the answer is no plan")
        return self._take(written)

    def _written(self) -> list[JsonValue]:
        start = self._text.find("{")
        if start < 0:
            return []
        text = self._text[start:]
        # Behind the plan a fence may follow, or words.
        end = text.rfind("}")
        for candidate in (text, text[: end + 1]):
            try:
                found = from_json(candidate, allow_partial=True)
            except ValueError:
                continue
            ops = found.get("nextOps") if isinstance(found, dict) else None
            return ops if isinstance(ops, list) else []
        return []

    def _take(self, written: list[JsonValue]) -> list[AgentOp]:
        fresh, self._taken = written[self._taken :], max(self._taken, len(written))
        room = MAX_MODEL_OPS - (self._taken - len(fresh))
        ops = [op for wire in fresh[: max(0, room)] if (op := coerce(wire)) is not None]
        self.dropped += len(fresh) - len(ops)
        return ops


def coerce(wire: JsonValue) -> AgentOp | None:
    """An operation as a model wrote it: texts trimmed, numbers clamped; None for an unknown kind or without what it
    needs."""
    if not isinstance(wire, Mapping):
        return None
    kind = str(wire.get("kind") or "").strip()
    inner = wire.get("params") or wire.get(kind)
    given: dict[str, JsonValue] = {**wire, **(inner if isinstance(inner, Mapping) else {})}
    if kind not in _SHAPES:
        return None
    needed, optional, numbers = _SHAPES[kind]
    params: dict[str, JsonValue] = {}
    for name in (*needed, *optional):
        text = str(given.get(name) or "").strip()[:_MAX_TEXT]
        if text or (name == "path" and kind == agent_op.LIST_DIR):
            params[name] = text
        elif name in needed:
            return None
    params |= {name: _clamp(given.get(name), *_RANGES[name]) for name in numbers}
    if kind == agent_op.READ_SPAN:
        first = params["startLine"]
        assert isinstance(first, int)
        params["endLine"] = _clamp(given.get("endLine"), first, first + MAX_INLINE_LINES - 1, first + 39)
    if kind == agent_op.SUMMARIZE:
        paths = given.get("paths")
        listed = [str(path).strip() for path in paths if str(path).strip()] if isinstance(paths, list) else []
        if not listed:
            return None
        params["paths"] = listed[:_MAX_PATHS]
    priority = _clamp(given.get("priority"), *_PRIORITIES)
    return AgentOp(op_id=uuid7(), kind=kind, params=params, priority=priority)


def _clamp(value: JsonValue, least: int, most: int, default: int) -> int:
    if isinstance(value, str):
        value = int(value) if value.strip().lstrip("-").isdigit() else None
    if isinstance(value, float):
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        return default
    return min(most, max(least, value))
