"""Operations as MCP tools, and their outcomes as tool results."""

from collections.abc import Iterable

import mcp_types as types

from codeplane.kernel.envelope import Outcome
from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.json import JsonObject, dumps
from codeplane.kernel.operation import Operation, Risk
from codeplane.kernel.schema import input_schema, output_schema

META_KEY = "codeplane/meta"


def tool(operation: Operation, *, structured: bool) -> types.Tool:
    """The tool an operation is listed as; hints only where they differ from what clients assume."""
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
    return types.ToolAnnotations(
        destructive_hint=operation.mark.risk is Risk.DESTRUCTIVE,
        open_world_hint=operation.mark.risk is Risk.EXFILTRATION,
    )


def call_result(outcome: Outcome, *, structured: bool) -> types.CallToolResult:
    """An outcome as the model reads it: compact text, and structure only where it was asked for."""
    meta = outcome.meta.to_wire()
    if outcome.error is not None:
        return types.CallToolResult(
            content=[_text(error_text(outcome.error), outcome)],
            structured_content=outcome.error.to_wire() if structured else None,
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


def error_text(error: CodePlaneError) -> str:
    """An error with what to do next."""
    return f"{error.name}: {error.message}\nhint: {error.hint}"


def _text(text: str, outcome: Outcome) -> types.TextContent:
    return types.TextContent(text="\n".join([text, *_asides(outcome)]))


def _asides(outcome: Outcome) -> Iterable[str]:
    for warning in outcome.meta.warnings:
        yield f"warning: {warning}"
    for signal in outcome.meta.signals:
        yield f"signal: {signal.get('note') or dumps(_plain(signal))}"
    if outcome.meta.replayed:
        yield "note: this is the first result of the same idempotency_key"


def _plain(signal: JsonObject) -> JsonObject:
    return {key: value for key, value in signal.items() if value is not None}
