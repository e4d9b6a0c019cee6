"""The items of a watch as messages: events, heartbeats and the gap that ends it."""

from collections.abc import Callable
from enum import Enum
from typing import Generic, TypeVar

from google.protobuf.message import Message

from codeplane.kernel.errors import CodePlaneError, InvalidArgument, StreamGap
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.services.call_failure import CallFailed
from codeplane.surfaces.services.events import event_message, gap_message, heartbeat_message

E = TypeVar("E", bound=Message)

_HEARTBEAT_MS = 15_000
_SHORTEST_MS, _LONGEST_MS = 100, 300_000


class Counts(Enum):
    """What the number in a heartbeat counts."""

    # The sequence of the one stream that is watched.
    SEQUENCE = "sequence"
    # The position in the whole log.
    POSITION = "position"
    # Several streams have no number in common.
    NOTHING = "nothing"


class EventItems(Generic[E]):
    """Translates items with `event`, `heartbeat` or `stream_gap`, and knows from where a reader can go on.

    `kind` is `Event` or any message with some of its fields, such as a oneof of fewer payloads.
    """

    def __init__(
        self,
        kind: type[E],
        *,
        after: int,
        counts: Counts = Counts.SEQUENCE,
        until: Callable[[JsonObject], bool] | None = None,
    ) -> None:
        """`until` recognises the event that ends the stream, if one does."""
        self._kind = kind
        self._counts = counts
        self._latest = after
        self._until = until
        self._has_gap = False

    def opening(self) -> E:
        """Return the heartbeat for a reader of a stream in which nothing happens at first."""
        return heartbeat_message(self._kind, latest=self._latest)

    def message(self, item: JsonObject) -> E:
        """Return the message of one item."""
        if isinstance(event := item.get("event"), dict):
            self._note(event)
            return event_message(self._kind, event)
        if isinstance(gap := item.get("stream_gap"), dict):
            self._has_gap = True
            return gap_message(self._kind, gap)
        position = int(str(item.get("heartbeat") or 0))
        if self._counts is Counts.POSITION:
            self._latest = position
        return heartbeat_message(self._kind, latest=self._latest, position=position)

    def is_last(self, item: JsonObject) -> bool:
        """Return whether the stream ends after an item."""
        event = item.get("event")
        return self._until is not None and isinstance(event, dict) and self._until(event)

    def is_end(self, error: CodePlaneError) -> bool:
        """Return whether an error only says what the last message says already."""
        return self._has_gap and isinstance(error, StreamGap)

    def _note(self, event: JsonObject) -> None:
        if self._counts is not Counts.NOTHING:
            self._latest = int(str(event[self._counts.value]))


def heartbeat_sec(given_ms: int) -> float:
    """Return the seconds between heartbeats; CallFailed when they are out of bounds."""
    if given_ms and not _SHORTEST_MS <= given_ms <= _LONGEST_MS:
        raise CallFailed(
            InvalidArgument(f"heartbeat_ms is {given_ms}", hint=f"between {_SHORTEST_MS} and {_LONGEST_MS}")
        )
    return (given_ms or _HEARTBEAT_MS) / 1000
