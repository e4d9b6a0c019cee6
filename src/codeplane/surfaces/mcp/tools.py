"""Operations as MCP tools, and their outcomes as tool results."""

from collections.abc import Iterable, Sequence

import mcp_types as types
from pydantic_core import to_json

from codeplane.kernel.call import Operation
from codeplane.kernel.catalogue import Catalogue, disabled_operation
from codeplane.kernel.declared_operation import FAMILY
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.errors import CodePlaneError, InvalidArgument, OperationDisabled, UnknownOperation
from codeplane.kernel.json import JsonObject, JsonValue, dumps, is_text
from codeplane.kernel.operation import Risk
from codeplane.kernel.schema import input_schema, output_schema

META_KEY = "codeplane/meta"
ALL = "all"


class Tools:
    """The unary operations as tools, each described on first use."""

    def __init__(self, catalogue: Catalogue, *, default_toolset: str) -> None:
        self._catalogue = catalogue
        self._default = default_toolset
        self._described: dict[tuple[str, bool], types.Tool] = {}
        self._described_of = catalogue.version

    def list_tools(self, toolsets: str | None, *, structured: bool, also: Sequence[str] = ()) -> list[types.Tool]:
        """Return the tools of comma-separated toolsets and families, and some by name; InvalidArgument for unknown
        toolsets."""
        names = _names(toolsets or "") or _names(self._default)
        known = self._toolset_names()
        if unknown := [name for name in names if name not in known and name.partition(".")[0] != FAMILY]:
            raise InvalidArgument(
                f"there is no toolset {' or '.join(map(repr, unknown))}",
                hint=f"use {', '.join(known)}, or several joined by commas",
                details={"unknown": unknown, "known": known},
            )
        found = self._catalogue.toolset(names)
        if not found:
            for name, setting in self._catalogue.disabled.items():
                if name.partition(".")[0] in names:
                    raise disabled_operation(name.partition(".")[0], setting)
        missing = set(also) - {operation.tool for operation in found}
        found = (*found, *(operation for operation in self._catalogue if operation.tool in missing))
        return [self._describe(operation, structured=structured) for operation in found if not operation.streaming]

    def input_schema(self, name: str) -> JsonObject | None:
        """Return the input schema of a tool, or None if it is unknown."""
        try:
            operation = self._catalogue.get(name)
        except (UnknownOperation, OperationDisabled):
            return None
        return self._describe(operation, structured=False).input_schema

    def unknown_tool(self, name: str, error: UnknownOperation) -> UnknownOperation:
        """Return the error for an unknown tool."""
        nearest = error.details.get("nearest")
        near = [self._catalogue.get(str(found)).tool for found in nearest] if isinstance(nearest, list) else []
        return UnknownOperation(
            f"there is no tool {name!r}",
            hint=f"did you mean {' or '.join(near)}?" if near else "see tools/list; /mcp?toolset=all lists every tool",
            details={"nearest": near},
        )

    def _toolset_names(self) -> list[str]:
        toolsets = {operation.mark.toolset for operation in self._catalogue} | set(self._catalogue.families())
        return [ALL, *sorted(toolsets - {ALL})]

    def _describe(self, operation: Operation, *, structured: bool) -> types.Tool:
        if self._described_of != self._catalogue.version:
            self._described_of = self._catalogue.version
            self._described.clear()
        key = (operation.name, structured)
        if key not in self._described:
            self._described[key] = tool(operation, structured=structured)
        return self._described[key]


def _names(toolsets: str) -> list[str]:
    return [name for part in toolsets.split(",") if (name := part.strip().lower())]


def tool(operation: Operation, *, structured: bool) -> types.Tool:
    """Return the tool of an operation, with hints only where they differ from the defaults."""
    return types.Tool(
        name=operation.tool,
        description=operation.description,
        input_schema=input_schema(operation),
        output_schema=output_schema(operation) if structured else None,
        annotations=_annotations(operation),
    )


def _annotations(operation: Operation) -> types.ToolAnnotations:
    if not operation.mutates:
        return types.ToolAnnotations(read_only_hint=True, open_world_hint=False)
    risk = operation.mark.risk
    return types.ToolAnnotations(
        destructive_hint=risk in (Risk.DESTRUCTIVE, Risk.HIGH), open_world_hint=risk in (Risk.EXFILTRATION, Risk.HIGH)
    )


def call_result(outcome: Outcome, *, structured: bool) -> types.CallToolResult:
    """Return an outcome as a tool result: compact text, and structure only on request."""
    meta = escape_texts(outcome.meta.to_wire())
    if outcome.error is not None:
        return types.CallToolResult(
            content=[_text(error_text(outcome.error), outcome)],
            structured_content=escape_texts(outcome.error.to_wire()) if structured else None,
            is_error=True,
            _meta={META_KEY: meta},
        )
    result = outcome.result
    assert result is not None
    return types.CallToolResult(
        content=[_text(result.text(), outcome)],
        structured_content=result.model_dump(mode="json") if structured else None,
        _meta={META_KEY: meta},
    )


def result_json(outcome: Outcome, *, structured: bool) -> bytes:
    """Return an outcome as the JSON that `call_result` becomes in protocols with sessions."""
    error, result = outcome.error, outcome.result
    text = error_text(error) if error is not None else result.text() if result is not None else ""
    wire: JsonObject = {
        "_meta": {META_KEY: outcome.meta.to_wire()},
        "content": [{"text": "\n".join([text, *_asides(outcome)]), "type": "text"}],
        "isError": error is not None,
    }
    encoded = _encode(wire)
    if not structured:
        return encoded
    content = _encode(error.to_wire()) if error is not None else outcome.result_json.encode()
    return b'%b,"structuredContent":%b}' % (encoded[:-1], content)


def _encode(wire: JsonObject) -> bytes:
    """Encode an object; lone surrogates are escaped, which no other text is looked through for."""
    try:
        encoded: bytes = to_json(wire)
    except ValueError:
        encoded = to_json(escape_texts(wire))
    return encoded


def error_text(error: CodePlaneError) -> str:
    """Return the text of an error with its hint."""
    return _escape_text(f"{error.name}: {error.message}\nhint: {error.hint}")


def escape_texts(wire: JsonObject) -> JsonObject:
    """Return the object with lone surrogates escaped, which would otherwise break the connection."""
    return {_escape_text(name): _escape_value(value) for name, value in wire.items()}


def _escape_value(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return _escape_text(value)
    if isinstance(value, dict):
        return escape_texts(value)
    return [_escape_value(item) for item in value] if isinstance(value, list) else value


def _escape_text(text: str) -> str:
    """Escape lone surrogates, as file names may contain."""
    return text if is_text(text) else text.encode("utf-8", "backslashreplace").decode()


def _text(text: str, outcome: Outcome) -> types.TextContent:
    return types.TextContent(text=_with_asides(text, outcome))


def _with_asides(text: str, outcome: Outcome) -> str:
    return _escape_text("\n".join([text, *_asides(outcome)]))


def _asides(outcome: Outcome) -> Iterable[str]:
    for warning in outcome.meta.warnings:
        yield f"warning: {warning}"
    for signal in outcome.meta.signals:
        yield f"signal: {signal.get('note') or dumps(_to_json(signal))}"
    if outcome.meta.replayed:
        yield "note: this is the first result of the same idempotency_key"


def _to_json(signal: JsonObject) -> JsonObject:
    return {key: value for key, value in signal.items() if value is not None}
