"""Looking into answers, which are JSON: what is not there or of another kind is as good as missing."""

from collections.abc import Mapping

from codeplane.kernel.json import JsonObject, JsonValue


def at(value: JsonValue, *names: str) -> JsonValue:
    """What is at the end of a path of names."""
    for name in names:
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def text(value: JsonValue, *names: str) -> str:
    """A text there, or none."""
    found = at(value, *names)
    return found if isinstance(found, str) else ""


def number(value: JsonValue, *names: str) -> float | None:
    """A number there."""
    found = at(value, *names)
    return found if isinstance(found, int | float) and not isinstance(found, bool) else None


def rows(value: JsonValue, *names: str) -> list[JsonObject]:
    """The objects of a list there."""
    found = at(value, *names)
    return [dict(one) for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def record(value: JsonValue, *names: str) -> JsonObject:
    """An object there, or an empty one."""
    found = at(value, *names)
    return dict(found) if isinstance(found, dict) else {}


def part(
    found: list[JsonObject], query: Mapping[str, str], name: str, *, size: int = 20
) -> tuple[list[JsonObject], int]:
    """A page of a list that comes whole, by where the address says it begins; and where the next one does, or 0."""
    said = query.get(name, "")
    start = int(said) if said.isdecimal() and len(said) < 7 else 0
    return found[start : start + size], start + size if len(found) > start + size else 0
