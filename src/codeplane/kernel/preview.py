"""The preview of a call from its arguments, for operations that have none of their own."""

from collections.abc import Iterator

from codeplane.kernel.call import Operation
from codeplane.kernel.json import JsonObject, JsonValue, dumps
from codeplane.kernel.operation import Preview

_MAX_SUMMARY = 200
_MAX_WORD = 80
_NAMED = 3


def preview_of_arguments(operation: Operation, arguments: JsonObject) -> Preview:
    """Show what the operation does and all of its arguments, in the order of its fields."""
    fields = list(operation.request.model_fields)
    if not arguments:
        return Preview(summary=operation.summary, body=f"{operation.name}, without arguments")
    given = sorted(arguments, key=lambda name: (fields.index(name) if name in fields else len(fields), name))
    words = ", ".join(f"{name} {_word(arguments[name])}" for name in given)
    summary = f"{operation.name}: {words}"
    if len(summary) > _MAX_SUMMARY:
        summary = f"{summary[: _MAX_SUMMARY - 1]}…"
    lines = [line for name in given for line in _lines(name, arguments[name], "")]
    return Preview(summary=summary, body="\n".join([operation.summary, "", *lines]))


def _word(value: JsonValue) -> str:
    """A value in a few words of one line."""
    if isinstance(value, list):
        named = ", ".join(map(_word, value[:_NAMED]))
        return f"{named or 'none'}{f' and {len(value) - _NAMED} more' if len(value) > _NAMED else ''}"
    if isinstance(value, dict):
        return ", ".join(f"{name} {_word(item)}" for name, item in sorted(value.items())) or "none"
    text = _plain_text(value).replace("\n", "\\n")
    return text if len(text) <= _MAX_WORD else f"{text[: _MAX_WORD - 1]}…"


def _lines(name: str, value: JsonValue, indent: str) -> Iterator[str]:
    """A value in full; lines of its own are marked, so that none can pass for another argument."""
    if isinstance(value, dict) and value:
        yield f"{indent}{name}:"
        for inner in sorted(value):
            yield from _lines(inner, value[inner], f"{indent}  ")
    elif isinstance(value, list) and value:
        yield f"{indent}{name}:"
        for item in value:
            yield from _lines("-", item, f"{indent}  ")
    elif isinstance(value, str) and "\n" in value:
        yield f"{indent}{name}:"
        yield from (f"{indent}  | {line}" for line in value.split("\n"))
    else:
        yield f"{indent}{name} {_plain_text(value)}" if name == "-" else f"{indent}{name}: {_plain_text(value)}"


def _plain_text(value: JsonValue) -> str:
    return value if isinstance(value, str) and value else dumps(value)
