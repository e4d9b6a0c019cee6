"""Messages of the Agent Client Protocol as an agent sends them, read with forgiveness and within bounds."""

from typing import get_args

from codeplane.kernel.json import JsonObject, JsonValue, dumps
from codeplane.kernel.outside_agent import (
    AgentInfo,
    AgentPlan,
    AgentStop,
    AgentText,
    AgentToolCall,
    AgentUpdate,
    AgentUsage,
    FileDiff,
    StopReason,
    ToolKind,
)

PROTOCOL = 1
_KINDS: frozenset[str] = frozenset(get_args(ToolKind))
_REASONS: frozenset[str] = frozenset(get_args(StopReason))
_TEXTS = {"agent_message_chunk": False, "agent_thought_chunk": True}
# What is not shown: modes, commands and settings of the agent itself, and the person's messages.
_QUIET = frozenset(
    {
        "user_message_chunk",
        "available_commands_update",
        "current_mode_update",
        "config_option_update",
        "session_info_update",
    }
)
_MAX_ENTRIES, _MAX_PATHS, _MAX_DIFFS = 100, 100, 50
_MAX_TEXT = 200_000
# As far as JSON's numbers are whole everywhere.
_MAX_NUMBER = 2**53


def read_info(answer: JsonObject) -> AgentInfo:
    """What an agent says of itself in its answer to `initialize`."""
    info, able = _object(answer, "agentInfo"), _object(answer, "agentCapabilities")
    methods = [_text(method, "id") for method in _objects(answer, "authMethods")]
    version = answer.get("protocolVersion")
    return AgentInfo(
        name=(_text(info, "title") or _text(info, "name"))[:100],
        version=_text(info, "version")[:100],
        protocol=version if isinstance(version, int) else 0,
        can_load=able.get("loadSession") is True,
        sign_ins=tuple(method[:100] for method in methods[:_MAX_ENTRIES]),
    )


def read_stop(answer: JsonObject) -> AgentStop:
    """How a prompt ended; ValueError for a reason that the protocol does not have."""
    reason = _text(answer, "stopReason")
    if reason not in _REASONS:
        raise ValueError(f"stopReason {reason[:50]!r}")
    usage = _object(answer, "usage")
    return AgentStop(
        reason=reason,  # type: ignore[arg-type]  # one of those
        input_tokens=_number(usage, "inputTokens"),
        output_tokens=_number(usage, "outputTokens"),
    )


def read_update(update: JsonObject) -> AgentUpdate | None:
    """What an update reports; None for what is not shown, ValueError for a kind that is not known."""
    kind = _text(update, "sessionUpdate")
    if kind in _TEXTS:
        return AgentText(text=_content_text(_object(update, "content")), is_thought=_TEXTS[kind])
    if kind in ("tool_call", "tool_call_update"):
        return read_tool_call(update)
    if kind == "plan":
        entries = _objects(update, "entries")[:_MAX_ENTRIES]
        return AgentPlan(entries=tuple((_text(entry, "content")[:500], _text(entry, "status")) for entry in entries))
    if kind == "usage_update":
        cost = _object(update, "cost")
        dollars = _finite(cost.get("amount")) if _text(cost, "currency") in ("", "USD") else None
        return AgentUsage(
            used=_number(update, "used"),
            size=_number(update, "size"),
            cost_usd=None if dollars is None else float(dollars),
        )
    if kind in _QUIET:
        return None
    raise ValueError(f"an update of kind {kind[:50]!r}")


def read_tool_call(call: JsonObject) -> AgentToolCall:
    """A tool call as a message has it; ValueError without an id."""
    tool_call_id = _text(call, "toolCallId")
    if not tool_call_id:
        raise ValueError("a tool call without an id")
    kind, content, locations = call.get("kind"), call.get("content"), call.get("locations")
    raw = call.get("rawInput")
    return AgentToolCall(
        tool_call_id=tool_call_id[:200],
        title=_optional(call, "title"),
        kind=None if kind is None else _kind(kind),
        status=_optional(call, "status"),
        text=None if content is None else _call_text(_objects(call, "content")),
        diffs=None if content is None else _diffs(_objects(call, "content")),
        paths=None
        if locations is None
        else tuple(_text(place, "path")[:4096] for place in _objects(call, "locations")[:_MAX_PATHS]),
        raw_input=raw if isinstance(raw, dict) else None if raw is None else {"input": dumps(raw)[:_MAX_TEXT]},
    )


def choose_option(options: list[JsonObject], *, is_allowed: bool) -> str | None:
    """The option that stands for an answer, for this time rather than for ever; None when there is none."""
    kinds = ("allow_once", "allow_always") if is_allowed else ("reject_once", "reject_always")
    for kind in kinds:
        for option in options:
            if option.get("kind") == kind and isinstance(option_id := option.get("optionId"), str):
                return option_id
    return None


def object_list(values: JsonObject, name: str) -> list[JsonObject]:
    """The objects in a list of a message."""
    return _objects(values, name)


def _kind(kind: JsonValue) -> ToolKind:
    return kind if kind in _KINDS else "other"  # type: ignore[return-value]  # one of those


def _diffs(content: list[JsonObject]) -> tuple[FileDiff, ...]:
    return tuple(
        FileDiff(
            path=_text(part, "path")[:4096],
            old_text=_optional(part, "oldText"),
            new_text=_text(part, "newText")[:_MAX_TEXT],
        )
        for part in content
        if part.get("type") == "diff"
    )[:_MAX_DIFFS]


def _call_text(content: list[JsonObject]) -> str:
    parts = [_content_text(_object(part, "content")) for part in content if part.get("type") == "content"]
    return "\n".join(filter(None, parts))[:_MAX_TEXT]


def _content_text(content: JsonObject) -> str:
    """The text of a block of content; others are named."""
    kind = _text(content, "type")
    if kind == "text":
        return _text(content, "text")
    if kind == "resource":
        return _text(_object(content, "resource"), "text")
    if kind == "resource_link":
        return _text(content, "uri")
    return f"[{kind[:50]}]" if kind else ""


def _object(values: JsonObject, name: str) -> JsonObject:
    value = values.get(name)
    return value if isinstance(value, dict) else {}


def _objects(values: JsonObject, name: str) -> list[JsonObject]:
    value = values.get(name)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _text(values: JsonObject, name: str) -> str:
    value = values.get(name)
    return value if isinstance(value, str) else ""


def _optional(values: JsonObject, name: str) -> str | None:
    value = values.get(name)
    return value[:_MAX_TEXT] if isinstance(value, str) else None


def _number(values: JsonObject, name: str) -> int:
    return max(0, int(_finite(values.get(name)) or 0))


def _finite(value: JsonValue) -> float | None:
    """A number that can be counted with and stored; None for anything else, such as 1e999."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return value if abs(value) <= _MAX_NUMBER else None
