"""Traces go to a collector as OTLP, in batches, redacted; what cannot be sent is dropped, counted and said."""

import io
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from codeplane.kernel.config import LoggingConfig, LogOutput
from codeplane.kernel.errors import ConfigInvalid
from codeplane.kernel.json import JsonObject
from codeplane.kernel.redaction import Redactor
from codeplane.observe.logs import Logs
from codeplane.observe.otlp_collector import CollectorRefused, OtlpCollector
from codeplane.observe.trace_export import BATCH, TraceExport
from tests.interaction.requirements import requirement
from tests.observe.clock import HandClock
from tests.observe.tracing import made

pytestmark = requirement("OBS-11")

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


class Received:
    """A collector that takes what it is given, or answers with the statuses it was told to first."""

    def __init__(self) -> None:
        self.statuses: list[int] = []
        self.bodies: list[JsonObject] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                status = outer.statuses.pop(0) if outer.statuses else 200
                if status == 200:
                    outer.bodies.append(json.loads(body))
                    outer.headers.append({name.lower(): value for name, value in self.headers.items()})
                    outer.paths.append(self.path)
                self.send_response(status)
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                """Not on the terminal."""

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def spans(self) -> list[JsonObject]:
        """Every span that came, in order."""
        return [span for body in self.bodies for span in spans_of(body)]


def spans_of(body: JsonObject) -> list[JsonObject]:
    """The spans of one request."""
    found = body["resourceSpans"][0]["scopeSpans"][0]["spans"]  # type: ignore[index,call-overload]  # the shape is what is tested
    assert isinstance(found, list)
    return found


@pytest.fixture
def collector() -> Iterator[Received]:
    received = Received()
    yield received
    received.server.shutdown()
    received.server.server_close()


class Exporting:
    """An export to a collector, with its log."""

    def __init__(self, endpoint: str, *, queued: int = 2048, known: tuple[str, ...] = ()) -> None:
        self.said = io.StringIO()
        config = LoggingConfig(outputs=(LogOutput(format="json"),))
        logs = Logs(config=config, clock=HandClock(), file=None, stderr=self.said)
        self.export = TraceExport(
            send=OtlpCollector.of(endpoint).send,
            resource={"service.name": "codeplane", "service.version": "1"},
            redactor=Redactor(known=known),
            logger=logs.logger("traces"),
            queued=queued,
        )

    def events(self) -> list[str]:
        return [json.loads(line)["event"] for line in self.said.getvalue().splitlines()]


def attributes(span: JsonObject) -> dict[str, object]:
    """A span's attributes by name."""
    return {one["key"]: next(iter(one["value"].values())) for one in span["attributes"]}  # type: ignore[index,union-attr,call-overload,misc]  # as above


def test_a_call_arrives_as_a_tree_of_spans(collector: Received) -> None:
    exporting = Exporting(collector.url)
    trace = made("search", traceparent=PARENT, status="NOT_FOUND", arguments={"query": "x", "limit": 5})
    exporting.export.end_trace(trace)
    exporting.export.flush()
    root, authorise, execute, query = collector.spans()
    assert collector.paths == ["/v1/traces"]
    assert collector.headers[0]["content-type"] == "application/json"
    assert {span["traceId"] for span in collector.spans()} == {"0af7651916cd43dd8448eb211c80319c"}
    assert root["parentSpanId"] == "b7ad6b7169203331"
    assert authorise["parentSpanId"] == execute["parentSpanId"] == root["spanId"]
    assert query["parentSpanId"] == execute["spanId"]
    assert int(str(root["endTimeUnixNano"])) - int(str(root["startTimeUnixNano"])) == 10_000_000
    assert root["startTimeUnixNano"] == str(trace.at_ns)
    assert root["status"] == {"code": 2, "message": "NOT_FOUND"}
    assert attributes(root)["codeplane.argument.query"] == "x"
    assert attributes(root)["codeplane.argument.limit"] == "5"
    assert attributes(query) == {"mode": "literal"}
    assert exporting.export.sent == 1


def test_secrets_are_not_in_it(collector: Received) -> None:
    exporting = Exporting(collector.url, known=("the-owners-token-0123456789",))
    exporting.export.end_trace(made(arguments={"query": "see the-owners-token-0123456789 here"}, client="cpl"))
    exporting.export.flush()
    assert "the-owners-token" not in json.dumps(collector.bodies)
    assert "[redacted]" in json.dumps(collector.bodies)


def test_who_asked_for_no_sampling_is_not_sent(collector: Received) -> None:
    exporting = Exporting(collector.url)
    exporting.export.end_trace(made(traceparent=PARENT[:-1] + "0"))
    exporting.export.flush()
    assert (collector.bodies, exporting.export.dropped) == ([], 0)


def test_many_go_in_batches(collector: Received) -> None:
    exporting = Exporting(collector.url)
    for _ in range(BATCH + 10):
        exporting.export.end_trace(made())
    exporting.export.flush()
    assert [len(spans_of(body)) for body in collector.bodies] == [BATCH * 4, 40]


def test_one_that_is_busy_is_asked_again(collector: Received) -> None:
    collector.statuses = [503]
    exporting = Exporting(collector.url)
    exporting.export.end_trace(made())
    exporting.export.flush()
    assert (exporting.export.sent, exporting.export.dropped, exporting.events()) == (1, 0, [])


def test_what_is_refused_is_dropped_counted_and_said_once(collector: Received) -> None:
    collector.statuses = [400, 400]
    exporting = Exporting(collector.url)
    for _ in range(3):
        exporting.export.end_trace(made())
        exporting.export.flush()
    assert (exporting.export.sent, exporting.export.dropped) == (1, 2)
    assert exporting.events() == ["traces could not be sent and are dropped", "traces are taken again"]


def test_a_full_queue_drops_and_no_call_waits() -> None:
    # Nobody listens there, and nothing is sent until the end.
    exporting = Exporting("http://127.0.0.1:1", queued=5)
    for _ in range(8):
        exporting.export.end_trace(made())
    assert exporting.export.dropped == 3
    exporting.export.stop(timeout_sec=0)
    assert exporting.export.dropped == 8
    assert exporting.events() == ["traces could not be sent and are dropped"]


def test_what_is_queued_at_the_end_is_sent(collector: Received) -> None:
    exporting = Exporting(collector.url)
    exporting.export.start()
    exporting.export.end_trace(made())
    exporting.export.stop()
    assert (exporting.export.sent, exporting.export.dropped) == (1, 0)


def test_a_redirect_is_not_followed(collector: Received) -> None:
    collector.statuses = [307]
    with pytest.raises(CollectorRefused, match="307"):
        OtlpCollector.of(collector.url).send(b"{}")
    assert collector.bodies == []


@pytest.mark.parametrize(
    "endpoint", ["localhost:4318", "ftp://127.0.0.1", "http://", "http://user:pass@127.0.0.1", "http://127.0.0.1:x"]
)
def test_what_is_no_address_is_refused(endpoint: str) -> None:
    with pytest.raises(ConfigInvalid, match="otlp_endpoint"):
        OtlpCollector.of(endpoint)


@pytest.mark.parametrize("host", ["collector.example.com", "10.0.0.7", "192.168.1.1"])
def test_nothing_goes_out_in_the_clear(host: str) -> None:
    with pytest.raises(ConfigInvalid, match="in the clear"):
        OtlpCollector.of(f"http://{host}:4318")
    assert OtlpCollector.of(f"https://{host}:4318").secure


@pytest.mark.parametrize("endpoint", ["http://localhost:4318", "http://127.0.0.1:4318/v1/traces", "http://[::1]"])
def test_this_machine_is_fine(endpoint: str) -> None:
    found = OtlpCollector.of(endpoint)
    assert (found.port, found.path) == (4318, "/v1/traces")


def test_a_header_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTLP_HEADER", "Authorization=Bearer abc")
    assert OtlpCollector.of("https://x", header_variable="OTLP_HEADER").headers["authorization"] == "Bearer abc"
    with pytest.raises(ConfigInvalid, match="OTHER"):
        OtlpCollector.of("https://x", header_variable="OTHER")
