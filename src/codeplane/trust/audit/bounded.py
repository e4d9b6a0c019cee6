"""A payload cut to what an audit needs: every entry stays small, whatever an event carried."""

from codeplane.kernel.json import JsonObject, JsonValue, dumps

MAX_BYTES = 4096
_TEXT = 300
_ITEMS = 20
_FIELDS = 40
_DEPTH = 4


def bounded(payload: JsonObject) -> str:
    """The payload as JSON of at most 4 KB: long texts and lists are cut and say so, then whole values go, by name."""
    kept = _cut(payload, _DEPTH)
    assert isinstance(kept, dict)
    text = dumps(kept)
    if _size(text) <= MAX_BYTES:
        return text
    left: JsonObject = {}
    size = 2
    dropped: list[JsonValue] = []
    # The smallest first, so that one large value does not push out many that say more.
    for name, value in sorted(kept.items(), key=lambda item: (_size(dumps(item[1])), item[0])):
        size += _size(dumps({name: value}))
        if size <= MAX_BYTES - 600:
            left[name] = value
        else:
            dropped.append(name[:40])
    left["left_out"] = dropped[:10]
    return dumps(left)


def _cut(value: JsonValue, depth: int) -> JsonValue:
    if isinstance(value, str):
        return value if len(value) <= _TEXT else f"{value[:_TEXT]}… ({len(value)} characters)"
    if isinstance(value, dict):
        if depth == 0:
            return "…"
        fields = {str(name)[:_TEXT]: _cut(inner, depth - 1) for name, inner in list(value.items())[:_FIELDS]}
        return {**fields, "…": f"{len(value) - _FIELDS} more"} if len(value) > _FIELDS else fields
    if isinstance(value, (list, tuple)):
        if depth == 0:
            return "…"
        items: list[JsonValue] = [_cut(inner, depth - 1) for inner in value[:_ITEMS]]
        return [*items, f"… {len(value) - _ITEMS} more"] if len(value) > _ITEMS else items
    return value


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())
