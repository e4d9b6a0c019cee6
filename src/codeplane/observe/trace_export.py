"""Exports traces in batches from a thread of its own: calls never wait, and dropped traces are counted and logged."""

import threading
from collections import deque
from collections.abc import Iterator

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from structlog.typing import FilteringBoundLogger

from codeplane.kernel.json import JsonObject
from codeplane.kernel.redaction import Redactor
from codeplane.kernel.trace import Trace
from codeplane.observe.otlp import encode_traces
from codeplane.observe.otlp_collector import CollectorRefused, Send

QUEUED = 2048
BATCH = 256
_INTERVAL_SEC = 2.0
_MAX_TRIES = 4
_FIRST_WAIT_SEC = 0.5


class TraceExport(Collector):
    """A bounded queue of traces, and the thread that sends them."""

    def __init__(
        self,
        *,
        send: Send,
        resource: JsonObject,
        redactor: Redactor,
        logger: FilteringBoundLogger,
        queued: int = QUEUED,
    ) -> None:
        self._send = send
        self._resource = resource
        self._redactor = redactor
        self._log = logger
        self._most = queued
        self._queue: deque[Trace] = deque()
        self._awake = threading.Event()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._failing = False
        self.sent = 0
        self.dropped = 0

    def end_trace(self, trace: Trace) -> None:
        """Queue a trace, unless its caller did not sample it; a full queue drops it."""
        if trace.remote is not None and not trace.remote.sampled:
            return
        if len(self._queue) >= self._most:
            self._drop(1, f"{self._most} wait already")
            return
        self._queue.append(trace)
        if len(self._queue) >= BATCH:
            self._awake.set()

    def start(self) -> None:
        """Start sending."""
        self._thread = threading.Thread(target=self._run, name="codeplane-otlp", daemon=True)
        self._thread.start()

    def stop(self, timeout_sec: float = 3.0) -> None:
        """Send what is queued within the timeout; the rest is dropped."""
        self._stopping.set()
        self._awake.set()
        if self._thread is not None:
            self._thread.join(timeout_sec)
        self.dropped += len(self._queue)
        self._queue.clear()

    def collect(self) -> Iterator[Metric]:
        """The metrics for Prometheus."""
        yield GaugeMetricFamily("codeplane_otlp_queued", "Traces that wait to be sent.", value=len(self._queue))
        yield CounterMetricFamily("codeplane_otlp_sent", "Traces a collector has taken.", value=self.sent)
        yield CounterMetricFamily("codeplane_otlp_dropped", "Traces that could not be sent.", value=self.dropped)

    def flush(self) -> None:
        """Send everything that is queued, on the calling thread."""
        while self._queue:
            batch = [self._queue.popleft() for _ in range(min(len(self._queue), BATCH))]
            self._deliver(batch)

    def _run(self) -> None:
        while True:
            self._awake.wait(_INTERVAL_SEC)
            self._awake.clear()
            self.flush()
            if self._stopping.is_set():
                return

    def _deliver(self, batch: list[Trace]) -> None:
        try:
            body = encode_traces(batch, resource=self._resource, redactor=self._redactor)
        except Exception as error:  # one bad batch must not stop the next
            self._drop(len(batch), f"{type(error).__name__}: {error}")
            return
        wait_sec = _FIRST_WAIT_SEC
        for left in reversed(range(_MAX_TRIES)):
            try:
                self._send(body)
            except CollectorRefused as refused:
                if refused.again and left and not self._stopping.wait(wait_sec):
                    wait_sec *= 2
                    continue
                self._drop(len(batch), str(refused))
                return
            self.sent += len(batch)
            if self._failing:
                self._failing = False
                self._log.info("traces are taken again", dropped=self.dropped)
            return

    def _drop(self, traces: int, reason: str) -> None:
        self.dropped += traces
        # Once for each outage.
        if not self._failing:
            self._failing = True
            self._log.warning("traces could not be sent and are dropped", traces=traces, reason=reason)
