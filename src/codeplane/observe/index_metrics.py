"""Metrics of the index: age, drift from HEAD, reconciliations and backlog."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime

from prometheus_client import CollectorRegistry, Histogram
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from codeplane.kernel.clock import SECOND_NS, Clock
from codeplane.kernel.json import JsonObject, JsonValue

KINDS = ("walk", "files", "rebuild")
OTHER = "other"
_BUCKETS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class ReconcileTimes:
    """Counts how long the index took to catch up with the disk; the index reports, `IndexMetrics` shows."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._seconds = Histogram(
            "codeplane_index_reconcile_seconds",
            "How long it took to bring the index in step with the disk.",
            ("kind",),
            buckets=_BUCKETS,
            registry=self.registry,
        )
        for kind in KINDS:
            self._seconds.labels(kind)

    def count_pass(self, kind: str, spent_ns: int) -> None:
        """Count one pass: by a walk, by looking at some files, or from nothing."""
        self._seconds.labels(kind if kind in KINDS else OTHER).observe(spent_ns / SECOND_NS)


class IndexMetrics(Collector):
    """Collects metrics from the index's status and its reconciliations."""

    def __init__(
        self,
        *,
        state: Callable[[], JsonObject],
        head: Callable[[], str | None],
        clock: Clock,
        reconciles: ReconcileTimes,
        indexers: Callable[[], Mapping[str, int | None]] = dict,
    ) -> None:
        """`indexers` returns for each language when a SCIP index was last imported; None for never."""
        self._state = state
        self._head = head
        self._indexers = indexers
        self._clock = clock
        self._reconciles = reconciles

    def collect(self) -> Iterator[Metric]:
        """The metrics for Prometheus."""
        yield from self._reconciles.registry.collect()
        state = self._state()
        ready = bool(state.get("version"))
        yield _gauge("ready", "Whether questions can be answered.", ready)
        yield _gauge("healthy", "Whether indexing goes well.", bool(state.get("healthy")))
        if ready:
            yield from self._epoch_metrics(state)
        languages = GaugeMetricFamily(
            "codeplane_indexer_available", "Whether an index from outside is there.", labels=("language",)
        )
        ages = GaugeMetricFamily(
            "codeplane_indexer_age_seconds", "Since an index from outside was taken in.", labels=("language",)
        )
        for language, at_ns in sorted(self._indexers().items())[:50]:
            languages.add_metric((language,), at_ns is not None)
            if at_ns is not None:
                ages.add_metric((language,), max(self._clock.now_ns() - at_ns, 0) / SECOND_NS)
        yield languages
        yield ages

    def _epoch_metrics(self, state: JsonObject) -> Iterator[Metric]:
        yield _gauge("epoch", "The published state.", _number(state.get("version")))
        yield _gauge("files", "Files in it.", _number(state.get("file_count")))
        yield _gauge("watching", "Whether the system tells of changed files.", bool(state.get("watching")))
        age = self._clock.now_ns() / SECOND_NS - _seconds(state.get("last_updated"))
        yield _gauge("verified_age_seconds", "Since every file was last looked at.", max(age, 0.0))
        # Until the next walk or the watcher reconciles it.
        yield _gauge("head_drift", "1 while the index is of another commit than HEAD.", self._head() != state["commit"])
        symbols = state.get("symbols")
        waiting = vectors = 0.0
        if isinstance(symbols, dict):
            waiting = max(_number(symbols.get("files_total")) - _number(symbols.get("files")), 0.0)
            filling = symbols.get("vectors")
            vectors = _number(filling.get("waiting")) if isinstance(filling, dict) else 0.0
        yield _gauge("files_waiting", "Files whose symbols are not known yet.", waiting)
        yield _gauge("vectors_waiting", "Files that wait for vectors.", vectors)


def _gauge(name: str, text: str, value: float | bool) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"codeplane_index_{name}", text, value=float(value))


def _number(value: JsonValue) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0


def _seconds(at: JsonValue) -> float:
    try:
        return datetime.fromisoformat(str(at)[:19] + "+00:00").timestamp()
    except ValueError:
        return 0.0
