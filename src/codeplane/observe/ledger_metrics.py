"""Metrics counted from the log since the start: approvals, refusals, conflicts and published epochs."""

from collections.abc import Awaitable, Callable, Iterator

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from codeplane.kernel.call_record import refusal_status
from codeplane.kernel.event import Event
from codeplane.kernel.event_log import EventLog, EventQuery

_PAGE = 1000
_MOST_PAGES = 20
_OUTCOMES = ("proposed", "approved", "rejected", "expired", "not_run")
_COUNTED = {
    "index.epoch_published": ("codeplane_index_epochs_published", "States of the index that were published."),
    "idempotency.conflict": ("codeplane_idempotency_conflicts", "Keys used again for something else."),
    "capability.denied": ("codeplane_capability_denials", "Calls that no grant of their caller covered."),
    "call.refused": ("codeplane_calls_refused", "Calls refused before they belonged to any task."),
    "notification.read": ("codeplane_notifications_read", "Notifications that somebody has seen."),
}
_TYPES = ("action.created", "action.approved", "action.rejected", *_COUNTED)


class LedgerMetrics(Collector):
    """Counts events by reading the log at intervals, so that appends do not wait for it."""

    def __init__(self, *, log: EventLog, after: int, pending: Callable[[], Awaitable[int]]) -> None:
        """`after` is the log's last position at the start; `pending` counts the open questions."""
        self._log = log
        self._after = after
        self._read_pending = pending
        self._pending = 0
        self._actions = dict.fromkeys(_OUTCOMES, 0)
        self._counted = dict.fromkeys(_COUNTED, 0)

    async def advance(self, position: int) -> None:
        """Count events up to a position, a bounded number at a time."""
        for _ in range(_MOST_PAGES):
            if self._after >= position:
                break
            query = EventQuery(after=self._after, until=position, types=_TYPES, limit=_PAGE)
            events = await self._log.query(query)
            for event in events:
                self._count(event)
            self._after = events[-1].position if len(events) == _PAGE else position
        self._pending = await self._read_pending()

    def collect(self) -> Iterator[Metric]:
        """The metrics for Prometheus."""
        yield GaugeMetricFamily("codeplane_approvals_pending", "Questions that wait for a person.", value=self._pending)
        decided = CounterMetricFamily("codeplane_approvals", "Questions by what became of them.", labels=("outcome",))
        for outcome, number in self._actions.items():
            decided.add_metric((outcome,), number)
        yield decided
        for kind, (name, text) in _COUNTED.items():
            yield CounterMetricFamily(name, text, value=self._counted[kind])

    def _count(self, event: Event) -> None:
        if event.type in self._counted:
            count = event.payload.get("count", 1)
            self._counted[event.type] += count if isinstance(count, int) else 1
            return
        outcome = {"action.created": "proposed"}.get(event.type, event.type.removeprefix("action."))
        if outcome == "rejected":
            outcome = refusal_status(str(event.payload.get("by", "")), str(event.payload.get("reason", "")))
        self._actions[outcome] += 1
