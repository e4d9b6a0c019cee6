"""How well those who follow the log keep up: open streams, reconnects, gaps and lag."""

from collections.abc import Callable, Iterator

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

SURFACES = ("mcp", "connect", "grpc", "web", "ws", "embedded")
OTHER = "other"


class OpenStream:
    """One reader of the log, from its first event to its last."""

    __slots__ = ("_streams", "position")

    def __init__(self, streams: "Streams", position: int) -> None:
        self._streams = streams
        self.position = position

    def reached(self, position: int) -> None:
        """It has been given everything up to here."""
        self.position = position

    def gap(self) -> None:
        """What it wanted is gone."""
        self._streams.gaps += 1

    def close(self) -> None:
        """It has ended, whoever ended it."""
        self._streams.forget(self)


class Streams(Collector):
    """Everyone who follows the log right now, and how they fared."""

    def __init__(self, *, position: Callable[[], int]) -> None:
        """`position` is where the log ends."""
        self._position = position
        self._open: dict[OpenStream, str] = {}
        self._opened = dict.fromkeys((*SURFACES, OTHER), 0)
        self._resumed = dict.fromkeys((*SURFACES, OTHER), 0)
        self.gaps = 0

    def open(self, *, surface: str, after: int, resumed: bool) -> OpenStream:
        """A stream begins after a position; `resumed` when its reader had been there before."""
        named = surface if surface in self._opened else OTHER
        self._opened[named] += 1
        self._resumed[named] += resumed
        stream = OpenStream(self, after)
        self._open[stream] = named
        return stream

    def forget(self, stream: OpenStream) -> None:
        """A stream has ended."""
        self._open.pop(stream, None)

    def lag(self) -> int:
        """Events that the slowest reader has not been given yet."""
        end = self._position()
        return max((max(end - stream.position, 0) for stream in list(self._open)), default=0)

    def collect(self) -> Iterator[Metric]:
        """Everything as Prometheus asks for it."""
        now = GaugeMetricFamily("codeplane_streams_open", "Readers that follow the log.", labels=("surface",))
        opened = CounterMetricFamily("codeplane_streams_opened", "Streams that were begun.", labels=("surface",))
        resumed = CounterMetricFamily(
            "codeplane_stream_reconnects", "Streams begun where an earlier one had ended.", labels=("surface",)
        )
        here = list(self._open.values())
        for surface in self._opened:
            now.add_metric((surface,), here.count(surface))
            opened.add_metric((surface,), self._opened[surface])
            resumed.add_metric((surface,), self._resumed[surface])
        yield now
        yield opened
        yield resumed
        yield CounterMetricFamily("codeplane_stream_gaps", "Streams whose next events were gone.", value=self.gaps)
        yield GaugeMetricFamily(
            "codeplane_stream_lag_events", "Events the slowest reader has not been given.", value=self.lag()
        )
