"""Counters and gauges of the server, in Prometheus' format."""

import platform
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from prometheus_client import CollectorRegistry, Counter, Histogram, Info, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from structlog.typing import FilteringBoundLogger

from codeplane.kernel.clock import SECOND_NS, Clock
from codeplane.kernel.errors import ERRORS, TaskBudgetExceeded
from codeplane.kernel.json import JsonObject
from codeplane.observe.log_entry import DEBUG

OTHER = "other"
MAX_OPERATIONS = 400
STATUSES = frozenset({"ok", "replayed", *(error.name for error in ERRORS)})
CLOSED_STATES = frozenset({"CLOSED_SUCCESS", "CLOSED_FAILED", "CLOSED_INTERRUPTED"})
BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)

Reading = Callable[[], float]


class Metrics:
    """Counts calls, commits and tasks, and reads gauges when scraped."""

    def __init__(self, *, clock: Clock, logger: FilteringBoundLogger, version: str) -> None:
        self._registry = registry = CollectorRegistry()
        self._log = logger
        self._log_calls = logger.is_enabled_for(DEBUG)
        self._operations: frozenset[str] = frozenset()
        self._counted: dict[tuple[str, str], tuple[Counter, Histogram]] = {}
        self._calls = Counter("codeplane_calls", "Calls that ended.", ("operation", "status"), registry=registry)
        self._crashes = Counter("codeplane_call_crashes", "Handlers that broke.", ("operation",), registry=registry)
        self._seconds = Histogram(
            "codeplane_call_seconds", "How long calls took.", ("operation",), buckets=BUCKETS, registry=registry
        )
        self._appended = Counter("codeplane_ledger_appended_events", "Events written to the log.", registry=registry)
        self._commits = Histogram(
            "codeplane_ledger_commit_seconds", "How long group commits took.", buckets=BUCKETS, registry=registry
        )
        self._opened = Counter("codeplane_tasks_opened", "Tasks that were opened.", registry=registry)
        self._closed = Counter("codeplane_tasks_closed", "Tasks by how they ended.", ("state",), registry=registry)
        self._exhausted = Counter(
            "codeplane_budget_exhausted", "Calls refused because a task's budget was used up.", registry=registry
        )
        Info("codeplane_build", "Which CodePlane this is.", registry=registry).info(
            {"version": version, "python": platform.python_version()}
        )
        started_ns = clock.monotonic_ns()
        self._readings = _Readings(logger)
        self._readings.add(
            "codeplane_uptime_seconds", "Since the start.", lambda: (clock.monotonic_ns() - started_ns) / SECOND_NS
        )
        registry.register(self._readings)
        ProcessCollector(registry=registry)

    def name_operations(self, names: Iterable[str]) -> None:
        """Set the operations that get series of their own; series of others stay as they are."""
        self._operations = frozenset(islice(names, MAX_OPERATIONS))
        self._counted.clear()

    def watch(
        self,
        *,
        operations: Iterable[str],
        running: Reading,
        waiting: Reading,
        position: Reading,
        sessions: Reading,
        log_dropped: Reading | None = None,
    ) -> None:
        """Set the operations that get series of their own, and the sources of the gauges."""
        self.name_operations(operations)
        self._readings.add("codeplane_calls_running", "Calls under way.", running)
        self._readings.add("codeplane_ledger_queue_depth", "Events that wait for the writer.", waiting)
        self._readings.add("codeplane_ledger_last_position", "Position of the newest event.", position)
        self._readings.add("codeplane_sessions_open", "Sessions that are open.", sessions)
        if log_dropped is not None:
            self._readings.add("codeplane_log_lines_dropped", "Lines a log output could not take.", log_dropped)

    def include(self, *collectors: Collector) -> None:
        """Add collectors; one that fails is left out, and logged."""
        for collector in collectors:
            self._registry.register(_Guarded(collector, self._log))

    def read(self, name: str, text: str, reading: Reading) -> None:
        """Add a gauge that is read when scraped."""
        self._readings.add(name, text, reading)

    def call_finished(self, *, operation: str, status: str, duration_ns: int, call: JsonObject) -> None:
        """Count one call."""
        metrics = self._counted.get((operation, status))
        if metrics is None:
            metrics = self._metrics_of(operation, status)
        metrics[0].inc()
        metrics[1].observe(duration_ns / SECOND_NS)
        if status == TaskBudgetExceeded.name:
            self._exhausted.inc()
        if self._log_calls:
            milliseconds = round(duration_ns / 1_000_000, 3)
            self._log.bind(**call).debug("call finished", operation=operation, status=status, duration_ms=milliseconds)

    def call_crashed(self, *, operation: str, call_id: str, error: BaseException) -> None:
        """Count and log a handler that broke, with its traceback."""
        self._crashes.labels(self._known_operation(operation)).inc()
        self._log.error("call crashed", operation=operation, call_id=call_id, exc_info=error)

    def count_commit(self, *, events: int, spent_ns: int) -> None:
        """Count one group commit of the log."""
        self._appended.inc(max(events, 0))
        self._commits.observe(spent_ns / SECOND_NS)

    def task_opened(self) -> None:
        """Count a task that was opened."""
        self._opened.inc()

    def task_closed(self, state: str) -> None:
        """Count a task by how it ended."""
        self._closed.labels(state if state in CLOSED_STATES else OTHER).inc()

    def render(self) -> tuple[bytes, str]:
        """Everything as text, and its content type."""
        return generate_latest(self._registry), CONTENT_TYPE_PLAIN_0_0_4

    def _metrics_of(self, operation: str, status: str) -> tuple[Counter, Histogram]:
        name, ending = self._known_operation(operation), status if status in STATUSES else OTHER
        metrics = (self._calls.labels(name, ending), self._seconds.labels(name))
        if (name, ending) == (operation, status):
            # Unknown names are not cached: made-up names could fill the memory.
            self._counted[name, ending] = metrics
        return metrics

    def _known_operation(self, operation: str) -> str:
        return operation if operation in self._operations else OTHER


class _Readings(Collector):
    """Gauges that are read when scraped; one that fails is left out."""

    def __init__(self, logger: FilteringBoundLogger) -> None:
        self._log = logger
        self._readings: dict[str, tuple[str, Reading]] = {}

    def add(self, name: str, text: str, reading: Reading) -> None:
        self._readings[name] = (text, reading)

    def collect(self) -> Iterator[GaugeMetricFamily]:
        for name, (text, reading) in list(self._readings.items()):
            try:
                yield GaugeMetricFamily(name, text, value=reading())
            except Exception as error:
                self._log.warning("metric could not be read", metric=name, exc_info=error)


class _Guarded(Collector):
    """Guards a collector, so that its failure does not affect others."""

    def __init__(self, collector: Collector, logger: FilteringBoundLogger) -> None:
        self._collector = collector
        self._log = logger

    def collect(self) -> Iterator[Metric]:
        try:
            metrics = list(self._collector.collect())
        except Exception as error:
            self._log.warning("metrics could not be read", part=type(self._collector).__name__, exc_info=error)
            return
        yield from metrics
