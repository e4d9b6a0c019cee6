"""Refused calls of unknown callers: the first are recorded one by one, a flood of them as a number."""

from collections.abc import Hashable
from dataclasses import dataclass

from msgspec.structs import replace

from codeplane.kernel.clock import SECOND_NS, Clock
from codeplane.kernel.event import Draft

MAX_RECORDED = 20
WINDOW_SEC = 60


@dataclass(slots=True, kw_only=True)
class _Window:
    """Refusals since a moment: how many, and the last of those that were only counted."""

    began_ns: int
    seen: int = 0
    last: Draft | None = None


class RefusalCount:
    """Bounds what unknown callers can write into the log, for each surface and error.

    Everything else about them is their own choice.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._windows: dict[Hashable, _Window] = {}

    def count_refusal(self, draft: Draft) -> list[Draft]:
        """Return what to record for one more refusal."""
        ended = self.end_windows()
        key = draft.payload["surface"], draft.payload["status"]
        window = self._windows.setdefault(key, _Window(began_ns=self._clock.monotonic_ns()))
        window.seen += 1
        if window.seen <= MAX_RECORDED:
            return [*ended, draft]
        window.last = draft
        return ended

    def end_windows(self, *, is_closing: bool = False) -> list[Draft]:
        """Return one event for all that were only counted, once their window is over."""
        before_ns = self._clock.monotonic_ns() - WINDOW_SEC * SECOND_NS
        over = [key for key, window in self._windows.items() if is_closing or window.began_ns <= before_ns]
        return [draft for key in over if (draft := _count_event(self._windows.pop(key))) is not None]


def _count_event(window: _Window) -> Draft | None:
    if window.last is None:
        return None
    count = window.seen - MAX_RECORDED
    reason = f"{count} more within {WINDOW_SEC} s, the last: {window.last.payload['reason']}"
    return replace(window.last, payload={**window.last.payload, "reason": reason, "count": count})
