"""What is known of the turns of a thread while its events are folded."""

import re
from dataclasses import dataclass, field
from datetime import datetime

from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.app_server.items import Item

_DIGITS = re.compile(r"[0-9]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A notification; `item` is what it is about, if anything."""

    method: str
    params: JsonObject
    item: Item | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingAction:
    """An action of the thread that waits for a decision, and the item that it belongs to."""

    action_id: str
    turn_id: str
    item: Item
    risk: str
    created_ms: int


@dataclass(slots=True)
class FoldedTurn:
    """A turn as clients see it; one that was steered goes on over several of the thread's own."""

    turn_id: str
    first_sequence: int
    # The thread's own turn that is the newest part of it.
    newest: str
    is_whole: bool = True
    status: str = "inProgress"
    error: JsonObject | None = None
    started_ms: int | None = None
    completed_ms: int | None = None
    items: dict[str, Item] = field(default_factory=dict)

    def to_json(self, *, with_items: bool) -> JsonObject:
        """Return the turn as the protocol shows it."""
        spent = None
        if self.started_ms is not None and self.completed_ms is not None:
            spent = self.completed_ms - self.started_ms
        items: list[JsonValue] = [item.body for item in self.items.values()] if with_items else []
        view = "notLoaded" if not with_items else "full" if self.is_whole else "summary"
        return {
            "id": self.turn_id,
            "items": items,
            "itemsView": view,
            "status": self.status,
            "error": self.error,
            "startedAt": None if self.started_ms is None else self.started_ms // 1000,
            "completedAt": None if self.completed_ms is None else self.completed_ms // 1000,
            "durationMs": spent,
        }


@dataclass(slots=True)
class TurnPart:
    """What is known of one of the thread's own turns."""

    asked: Item | None = None
    answers: int = 0
    segments: dict[str, str] = field(default_factory=dict)
    plans: dict[str, JsonObject] = field(default_factory=dict)
    executions: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenEvent:
    """An event that is being folded."""

    event: JsonObject
    kind: str
    payload: JsonObject

    @property
    def turn_id(self) -> str:
        """The thread's own turn that it belongs to; empty when there is none."""
        return str(self.event.get("turn_id") or "")

    @property
    def at_ms(self) -> int:
        """When it happened."""
        return milliseconds(str(self.event["occurred_at"]))

    def text(self, name: str) -> str:
        """A text of its payload, or an empty one."""
        value = self.payload.get(name)
        return value if isinstance(value, str) else ""


def milliseconds(rfc3339: str) -> int:
    """Return a time in milliseconds since 1970."""
    return round(datetime.fromisoformat(f"{rfc3339[:19]}+00:00").timestamp() * 1000) + _fraction_ms(rfc3339)


def _fraction_ms(rfc3339: str) -> int:
    _, _, fraction = rfc3339.partition(".")
    digits = _DIGITS.match(fraction)
    return int((digits[0] if digits is not None else "")[:3].ljust(3, "0"))
