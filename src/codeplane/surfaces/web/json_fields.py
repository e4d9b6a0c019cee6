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
    found = get_field(value, *names)
    return found if isinstance(found, str) else ""


def get_number(value: JsonValue, *names: str) -> float | None:
    """Return the number at a path, or None."""
    found = get_field(value, *names)
    return found if isinstance(found, int | float) and not isinstance(found, bool) else None


def get_objects(value: JsonValue, *names: str) -> list[JsonObject]:
    """Return the objects of the list at a path."""
    found = get_field(value, *names)
    return [dict(one) for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def get_object(value: JsonValue, *names: str) -> JsonObject:
    """Return the object at a path, or an empty one."""
    found = get_field(value, *names)
    return dict(found) if isinstance(found, dict) else {}


def list_page(
    found: list[JsonObject], query: Mapping[str, str], name: str, *, size: int = 20
) -> tuple[list[JsonObject], int]:
    """Return one page of a whole list, starting where the query says, and the next start or 0."""
    said = query.get(name, "")
    start = int(said) if said.isdecimal() and len(said) < 7 else 0
    return found[start : start + size], start + size if len(found) > start + size else 0
