"""Access to fields of JSON answers; a wrong type counts as missing."""

from collections.abc import Mapping

from codeplane.kernel.json import JsonObject, JsonValue


def get_field(value: JsonValue, *names: str) -> JsonValue:
    """Return the value at a path of names, or None."""
    for name in names:
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def get_text(value: JsonValue, *names: str) -> str:
    """Return the text at a path, or an empty one."""
    field = get_field(value, *names)
    return field if isinstance(field, str) else ""


def get_number(value: JsonValue, *names: str) -> float | None:
    """Return the number at a path, or None."""
    field = get_field(value, *names)
    return field if isinstance(field, int | float) and not isinstance(field, bool) else None


def get_objects(value: JsonValue, *names: str) -> list[JsonObject]:
    """Return the objects of the list at a path."""
    field = get_field(value, *names)
    return [dict(item) for item in field if isinstance(item, dict)] if isinstance(field, list) else []


def get_object(value: JsonValue, *names: str) -> JsonObject:
    """Return the object at a path, or an empty one."""
    field = get_field(value, *names)
    return dict(field) if isinstance(field, dict) else {}


def list_page(
    items: list[JsonObject], query: Mapping[str, str], name: str, *, size: int = 20
) -> tuple[list[JsonObject], int]:
    """Return one page of a whole list, starting where the query says, and the next start or 0."""
    offset = query.get(name, "")
    start = int(offset) if offset.isdecimal() and len(offset) < 7 else 0
    return items[start : start + size], start + size if len(items) > start + size else 0
