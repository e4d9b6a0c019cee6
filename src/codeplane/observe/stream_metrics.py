"""Metrics of the log's followers: open streams, reconnects, gaps and lag."""

from collections.abc import Callable, Iterator

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

SURFACES = ("mcp", "acp", "lsp", "app-server", "connect", "grpc", "web", "ws", "embedded")
OTHER = "other"


class OpenStream:
    """One follower of the log."""

    __slots__ = ("_streams", "position")

    def __init__(self, streams: "StreamMetrics", position: int) -> None:
        self._streams = streams
        self.position = position

    def mark_position(self, position: int) -> None:
        """Note that it has received everything up to a position."""
        self.position = position

    def gap(self) -> None:
        """Note that its next events were dropped."""
        self._streams.gaps += 1

    def close(self) -> None:
        """Note that it has ended."""
        self._streams.forget(self)


class StreamMetrics(Collector):
    """The followers of the log, and their counters."""

    def __init__(self, *, position: Callable[[], int]) -> None:
        """`position` returns the log's last position."""
        self._position = position
        self._open: dict[OpenStream, str] = {}
        self._opened = dict.fromkeys((*SURFACES, OTHER), 0)
        self._resumed = dict.fromkeys((*SURFACES, OTHER), 0)
        self.gaps = 0

    def open(self, *, surface: str, after: int, resumed: bool) -> OpenStream:
        """Add a stream that starts after a position; `resumed` when its reader reconnects."""
        label = surface if surface in self._opened else OTHER
        self._opened[label] += 1
        self._resumed[label] += resumed
        stream = OpenStream(self, after)
        self._open[stream] = label
        return stream

    def forget(self, stream: OpenStream) -> None:
        """Remove a stream that has ended."""
        self._open.pop(stream, None)

    def lag(self) -> int:
        """Events that the slowest follower has not received yet."""
        end = self._position()
        return max((max(end - stream.position, 0) for stream in list(self._open)), default=0)

    def collect(self) -> Iterator[Metric]:
        """The metrics for Prometheus."""
        open_streams = GaugeMetricFamily("codeplane_streams_open", "Readers that follow the log.", labels=("surface",))
        opened = CounterMetricFamily("codeplane_streams_opened", "Streams that were started.", labels=("surface",))
        resumed = CounterMetricFamily(
            "codeplane_stream_reconnects", "Streams started where an earlier one had ended.", labels=("surface",)
        )
        surfaces = list(self._open.values())
        for surface in self._opened:
            open_streams.add_metric((surface,), surfaces.count(surface))
            opened.add_metric((surface,), self._opened[surface])
            resumed.add_metric((surface,), self._resumed[surface])
        yield open_streams
        yield opened
        yield resumed
        yield CounterMetricFamily("codeplane_stream_gaps", "Streams whose next events were gone.", value=self.gaps)
        yield GaugeMetricFamily(
            "codeplane_stream_lag_events", "Events the slowest reader has not been given.", value=self.lag()
        )
