"""What traces, the log, readers and the index add up to: series that Prometheus reads, their labels bounded."""

import asyncio
from pathlib import Path

from prometheus_client.registry import Collector

from codeplane.kernel.clock import SECOND_NS, SystemClock
from codeplane.kernel.config import LedgerConfig
from codeplane.kernel.event import Draft
from codeplane.kernel.json import JsonObject
from codeplane.kernel.trace import Trace
from codeplane.ledger.log import SqliteLog
from codeplane.observe.index_metrics import IndexMetrics, ReconcileTimes
from codeplane.observe.ledger_metrics import LedgerMetrics
from codeplane.observe.stream_metrics import StreamMetrics
from codeplane.observe.trace_metrics import TraceMetrics
from tests.interaction.requirements import requirement
from tests.observe.clock import HandClock
from tests.observe.test_metrics import Bench
from tests.observe.tracing import made

pytestmark = requirement("OBS-12")


def values(collector: Collector) -> dict[str, float]:
    """Each series and its value."""
    return {
        sample.name + "".join(f" {value}" for value in sample.labels.values()): sample.value
        for family in collector.collect()
        for sample in family.samples
    }


class TestTraces:
    def test_time_by_span(self) -> None:
        counted = TraceMetrics()
        for _ in range(2):
            counted.end_trace(made(ms=10))
        found = values(counted)
        assert (found["codeplane_span_seconds_count index.query"], found["codeplane_span_seconds_count git"]) == (2, 0)
        assert round(found["codeplane_span_seconds_sum index.query"], 6) == 0.018

    def test_decisions_signals_and_files(self) -> None:
        counted = TraceMetrics()
        counted.end_trace(made(verdict="ask", signals=["no_op", "non_progress"], files_changed=3))
        counted.end_trace(made(verdict="deny", status="POLICY_DENIED"))
        found = values(counted)
        assert [found[f"codeplane_policy_decisions_total {name}"] for name in ("allow", "ask", "deny")] == [0, 1, 1]
        assert found["codeplane_convergence_signals_total non_progress"] == 1
        assert found["codeplane_files_changed_total"] == 3

    def test_commands_in_the_sandbox(self) -> None:
        counted = TraceMetrics()
        for kind, outcome in (("tests", "ok"), ("tests", "failed"), ("shell", "timed_out")):
            trace = Trace.begin("test.run", clock=HandClock())
            with trace.stage("sandbox", kind=kind) as span:
                span.note(outcome=outcome)
            trace.finish("ok", {})
            counted.end_trace(trace)
        found = values(counted)
        assert found["codeplane_sandbox_runs_total tests ok"] == 1
        assert found["codeplane_sandbox_runs_total tests failed"] == 1
        assert found["codeplane_sandbox_runs_total shell timed_out"] == 1

    def test_labels_are_bounded(self) -> None:
        counted = TraceMetrics()
        before = len(values(counted))
        for number in range(300):
            trace = Trace.begin("x", clock=HandClock())
            with (
                trace.stage(f"made.up.{number}"),
                trace.stage("sandbox", kind=f"kind{number}", outcome=f"outcome{number}"),
            ):
                pass
            trace.finish("ok", {"verdict": f"v{number}", "signals": [f"s{number}", 5]})
            counted.end_trace(trace)
        found = values(counted)
        assert len(found) == before
        assert found["codeplane_policy_decisions_total other"] == 300
        assert found["codeplane_convergence_signals_total other"] == 600
        assert found["codeplane_sandbox_runs_total other other"] == 300


async def nobody() -> int:
    return 2


def counted_from(folder: Path, *kinds: tuple[str, JsonObject], after: int = 0) -> dict[str, float]:
    """What is counted of a log with these events, asked more than once."""

    async def run() -> dict[str, float]:
        log = SqliteLog(path=folder / "log.db", projections=(), config=LedgerConfig(), clock=SystemClock())
        try:
            await log.append([Draft(stream="s", type=kind, payload=payload) for kind, payload in kinds])
            counted = LedgerMetrics(log=log, after=after, pending=nobody)
            for _ in range(3):
                await counted.advance(log.position)
            return values(counted)
        finally:
            log.close()

    return asyncio.run(run())


class TestLedger:
    def test_decisions_of_people_are_counted_from_the_log(self, tmp_path: Path) -> None:
        found = counted_from(
            tmp_path,
            ("action.created", {}),
            ("action.created", {}),
            ("action.created", {}),
            ("action.approved", {"by": "owner"}),
            ("action.rejected", {"reason": "no", "by": "owner:owner"}),
            ("action.rejected", {"reason": "expired", "by": "system"}),
            ("action.rejected", {"reason": "it could not be run", "by": "system"}),
            ("call.finished", {}),
            ("index.epoch_published", {}),
        )
        outcomes = ("proposed", "approved", "rejected", "expired", "not_run")
        assert [found[f"codeplane_approvals_total {name}"] for name in outcomes] == [3, 1, 1, 1, 1]
        assert found["codeplane_approvals_pending"] == 2
        assert found["codeplane_index_epochs_published_total"] == 1

    def test_nothing_is_counted_twice_nor_from_before_the_start(self, tmp_path: Path) -> None:
        found = counted_from(tmp_path, *[("action.created", {})] * 2500, after=500)
        assert found["codeplane_approvals_total proposed"] == 2000


class TestStreams:
    def test_reconnects_gaps_and_lag(self) -> None:
        position = 100
        streams = StreamMetrics(position=lambda: position)
        first = streams.open(surface="ws", after=100, resumed=False)
        second = streams.open(surface="connect", after=40, resumed=True)
        streams.open(surface="made up", after=100, resumed=False).close()
        found = values(streams)
        assert (found["codeplane_streams_open ws"], found["codeplane_streams_open other"]) == (1, 0)
        assert (found["codeplane_stream_reconnects_total connect"], found["codeplane_stream_lag_events"]) == (1, 60)
        second.mark_position(100)
        position = 103
        assert values(streams)["codeplane_stream_lag_events"] == 3
        first.gap()
        for stream in (first, second, second):
            stream.close()
        found = values(streams)
        assert (found["codeplane_stream_gaps_total"], found["codeplane_stream_lag_events"]) == (1, 0)
        assert found["codeplane_streams_opened_total other"] == 1


class TestIndex:
    def test_staleness_drift_and_what_waits(self) -> None:
        clock = HandClock()
        state: JsonObject = {
            "version": 7,
            "commit": "abc",
            "file_count": 12,
            "last_updated": "2023-11-14T22:13:10.000000000Z",
            "watching": True,
            "healthy": True,
            "symbols": {"files": 3, "files_total": 10, "vectors": {"waiting": 4}},
        }
        taken_in = {"python": clock.now_ns() - 90 * SECOND_NS, "go": None}
        reconciles = ReconcileTimes()
        reconciles.count_pass("walk", 20_000_000)
        reconciles.count_pass("made up", 1)
        found = values(
            IndexMetrics(
                state=lambda: state,
                head=lambda: "def",
                clock=clock,
                reconciles=reconciles,
                indexers=lambda: taken_in,
            )
        )
        assert round(found["codeplane_index_verified_age_seconds"]) == 10
        assert (found["codeplane_index_head_drift"], found["codeplane_index_epoch"]) == (1, 7)
        assert (found["codeplane_index_files_waiting"], found["codeplane_index_vectors_waiting"]) == (7, 4)
        assert found["codeplane_index_reconcile_seconds_count walk"] == 1
        assert found["codeplane_index_reconcile_seconds_count other"] == 1
        assert (found["codeplane_indexer_available python"], found["codeplane_indexer_available go"]) == (1, 0)
        assert found["codeplane_indexer_age_seconds python"] == 90
        assert "codeplane_indexer_age_seconds go" not in found

    def test_before_the_first_epoch_it_is_not_ready(self) -> None:
        state: JsonObject = {"version": 0, "healthy": False, "state": "no space"}
        found = values(
            IndexMetrics(state=lambda: state, head=lambda: None, clock=HandClock(), reconciles=ReconcileTimes())
        )
        assert (found["codeplane_index_ready"], found["codeplane_index_healthy"]) == (0, 0)
        assert "codeplane_index_epoch" not in found


def test_a_part_that_fails_is_left_out_and_said() -> None:
    bench = Bench()

    def broken() -> JsonObject:
        raise OSError("gone")

    index = IndexMetrics(state=broken, head=lambda: None, clock=HandClock(), reconciles=ReconcileTimes())
    bench.metrics.include(index, TraceMetrics())
    assert bench.value("codeplane_spans_dropped_total") == 0
    assert bench.value("codeplane_index_ready") is None
    assert {output["event"] for output in bench.logged()} == {"metrics could not be read"}
