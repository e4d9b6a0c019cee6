"""JSON schemas as small as they can be: agents pay for every byte of a tool list."""

from typing import cast

from codeplane.kernel.call import Operation
from codeplane.kernel.json import JsonObject, JsonValue

IDEMPOTENCY_KEY = "idempotency_key"
_BOUNDS = frozenset({"maxLength", "minLength", "maxItems"})


def input_schema(operation: Operation) -> JsonObject:
    """The schema of an operation's arguments, without titles and null branches."""
    schema = cast(JsonObject, _shrink(operation.request.model_json_schema(), nulls=False))
    schema.pop("description", None)
    properties = dict(cast(JsonObject, schema.get("properties", {})))
    if operation.mutates and IDEMPOTENCY_KEY not in properties:
        properties[IDEMPOTENCY_KEY] = {"type": "string"}
    return {**schema, "type": "object", "properties": properties}


def output_schema(operation: Operation) -> JsonObject:
    """The schema of an operation's result, without titles; what can be null says so, since programs check it."""
    return cast(JsonObject, _shrink(operation.result.model_json_schema(mode="serialization"), nulls=True))


def _shrink(node: object, *, nulls: bool, names: bool = False) -> JsonValue:
    """Drop what says nothing; `names` marks a mapping whose keys are the caller's words, not the schema's."""
    if isinstance(node, list):
        return [_shrink(item, nulls=nulls) for item in node]
    if not isinstance(node, dict):
        return cast(JsonValue, node)
    if names:
        return {key: _shrink(value, nulls=nulls) for key, value in node.items()}
    kept = {
        key: _shrink(value, nulls=nulls, names=key in ("properties", "$defs"))
        for key, value in node.items()
        if not _says_nothing(key, value, asked=not nulls)
    }
    branches = kept.get("anyOf")
    if isinstance(branches, list) and not nulls:
        real = [branch for branch in branches if branch != {"type": "null"}]
        if len(real) == 1 and isinstance(real[0], dict):
            kept.pop("anyOf")
            kept = {**real[0], **kept}
        else:
            kept["anyOf"] = real
    return kept


def _says_nothing(key: str, value: object, *, asked: bool) -> bool:
    """Whether a part of a schema can go; of what is asked for, bounds that an error explains just as well."""
    if key == "default":
        return value in (None, [], {}) or (asked and (value is False or value == ""))
    return key == "title" or (asked and key in _BOUNDS)
