"""What an operation answers, typed, bounded and with a checksum."""

from dataclasses import dataclass

import xxhash

from codeplane.kernel.json import JsonObject, JsonValue, canonical

MAX_INLINE_BYTES = 8192
MAX_INLINE_LINES = 120
MAX_PAYLOAD_BYTES = 65_536
SCHEMA_VERSION = 1
_CUT = "…"


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedResult:
    """A result as it is recorded; `value` holds no secrets."""

    op_id: str
    type: str
    value: JsonValue
    truncated: bool = False
    schema_version: int = SCHEMA_VERSION

    @property
    def payload(self) -> str:
        """The value as JSON, over which the checksum is made."""
        return canonical(self.value).decode()

    @property
    def checksum(self) -> int:
        """The xxhash32 of the payload's bytes."""
        return xxhash.xxh32_intdigest(canonical(self.value))

    def to_event(self) -> JsonObject:
        """The result as its event holds it: the value itself, so that nothing is escaped twice."""
        return {
            "opId": self.op_id,
            "type": self.type,
            "schemaVersion": self.schema_version,
            "value": self.value,
            "checksum": self.checksum,
            "truncated": self.truncated,
        }


def result_to_wire(recorded: JsonObject) -> JsonObject:
    """A recorded result with its payload as JSON text."""
    wire = {name: value for name, value in recorded.items() if name != "value"}
    return {**wire, "payload": canonical(recorded.get("value")).decode()}


def bound_text(text: str) -> tuple[str, bool]:
    """A text within the bounds of what is sent inline, and whether it was cut."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    cut = len(lines) > MAX_INLINE_LINES + (lines[-1] == "")
    if cut:
        text = "\n".join(lines[:MAX_INLINE_LINES])
    encoded, room = text.encode("utf-8", "replace"), MAX_INLINE_BYTES - len(_CUT.encode())
    if len(encoded) > (room if cut else MAX_INLINE_BYTES):
        cut, text = True, encoded[:room].decode("utf-8", "ignore")
    return (text + _CUT, True) if cut else (text, False)


def bound_items(items: list[JsonValue], most: int) -> tuple[list[JsonValue], bool]:
    """The first items, as many as may be and as fit into a payload, and whether some were left out."""
    taken: list[JsonValue] = []
    left = MAX_PAYLOAD_BYTES
    for item in items[:most]:
        left -= len(canonical(item)) + 1
        if left < 0:
            break
        taken.append(item)
    return taken, len(taken) < len(items)
