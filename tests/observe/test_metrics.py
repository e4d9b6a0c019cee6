"""What is observed comes out as series Prometheus can read, and their number stays bounded."""

import io
import json
import threading
from collections.abc import Callable

import prometheus_client
import pytest
from prometheus_client.parser import text_string_to_metric_families

from codeplane.kernel.config import LoggingConfig, LogOutput
from codeplane.kernel.errors import ERRORS
from codeplane.kernel.ports import Observer
from codeplane.observe.logs import Logs
from codeplane.observe.metrics import BUCKETS, MAX_OPERATIONS, Metrics
from tests.interaction.requirements import requirement

pytestmark = requirement("SRV-08")


class HandClock:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.ns = 0

    def now_ns(self) -> int:
        return self.ns

    def monotonic_ns(self) -> int:
        return self.ns


class Bench:
    """Metrics with a real log behind them."""

    def __init__(self, level: str = "INFO") -> None:
        self.clock, self.stderr = HandClock(), io.StringIO()
        config = LoggingConfig.model_validate({"level": level, "outputs": (LogOutput(format="json"),)})
        self.logs = Logs(config=config, clock=self.clock, file=None, stderr=self.stderr)
        self.metrics = Metrics(clock=self.clock, logger=self.logs.logger("calls"), version="1.2.3")

    def watch(self, *operations: str, running: Callable[[], float] = lambda: 0) -> None:
        self.metrics.watch(
            operations=operations,
            running=running,
            waiting=lambda: 2,
            position=lambda: 3,
            sessions=lambda: 4,
            log_dropped=lambda: self.logs.dropped,
        )

    def finish(self, operation: str, status: str = "ok", duration_ns: int = 1_000_000) -> None:
        self.metrics.call_finished(
            operation=operation, status=status, duration_ns=duration_ns, call={"call_id": "c1", "task_id": None}
        )

    def value(self, name: str, **labels: str) -> float | None:
        return self.series().get((name, frozenset(labels.items())))

    def series(self) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
        text = self.metrics.render()[0].decode()
        return {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
        }

    def logged(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.stderr.getvalue().splitlines()]


def test_it_is_an_observer() -> None:
    observer: Observer = Bench().metrics
    observer.call_finished(operation="x", status="ok", duration_ns=1, call={})


def test_calls_are_counted_by_operation_and_status() -> None:
    bench = Bench()
    bench.watch("git.status", "git.commit")
    for status in ("ok", "ok", "replayed", "NOT_FOUND"):
        bench.finish("git.status", status)
    bench.finish("git.commit")
    assert bench.value("codeplane_calls_total", operation="git.status", status="ok") == 2
    assert bench.value("codeplane_calls_total", operation="git.status", status="replayed") == 1
    assert bench.value("codeplane_calls_total", operation="git.status", status="NOT_FOUND") == 1
    assert bench.value("codeplane_calls_total", operation="git.commit", status="ok") == 1
    assert bench.value("codeplane_call_seconds_count", operation="git.status") == 4


def test_durations_fall_into_buckets_from_half_a_millisecond_to_a_minute() -> None:
    bench = Bench()
    bench.watch("x")
    for duration_ns in (400_000, 3_000_000, 59_000_000_000, 61_000_000_000):
        bench.finish("x", duration_ns=duration_ns)
    assert (BUCKETS[0], BUCKETS[-1]) == (0.0005, 60.0)
    for bound, count in (("0.0005", 1), ("0.0025", 1), ("0.005", 2), ("30.0", 2), ("60.0", 3), ("+Inf", 4)):
        assert bench.value("codeplane_call_seconds_bucket", operation="x", le=bound) == count
    assert bench.value("codeplane_call_seconds_sum", operation="x") == pytest.approx(120.0034)


def test_unknown_operations_and_statuses_become_other() -> None:
    bench = Bench()
    bench.finish("x")  # nothing is known before `watch`
    bench.watch("x")
    bench.finish("x", "MADE_UP")
    for number in range(500):
        bench.finish(f"made.up.{number}", f"MADE_UP_{number}")
    assert bench.value("codeplane_calls_total", operation="other", status="ok") == 1
    assert bench.value("codeplane_calls_total", operation="x", status="other") == 1
    assert bench.value("codeplane_calls_total", operation="other", status="other") == 500
    assert len([name for name, _ in bench.series() if name == "codeplane_calls_total"]) == 3


def test_at_most_two_hundred_operations_have_series_of_their_own() -> None:
    bench = Bench()
    names = [f"family.op{number}" for number in range(MAX_OPERATIONS + 50)]
    bench.watch(*names)
    for name in names:
        bench.finish(name)
    own = [labels for name, labels in bench.series() if name == "codeplane_calls_total"]
    assert len(own) == MAX_OPERATIONS + 1
    assert bench.value("codeplane_calls_total", operation="other", status="ok") == 50


@pytest.mark.parametrize("name", [error.name for error in ERRORS])
def test_every_error_of_the_table_is_a_status(name: str) -> None:
    bench = Bench()
    bench.watch("x")
    bench.finish("x", name)
    assert bench.value("codeplane_calls_total", operation="x", status=name) == 1


def test_exhausted_budgets_are_counted_and_other_refusals_are_not() -> None:
    bench = Bench()
    bench.finish("x", "TASK_BUDGET_EXCEEDED")
    bench.finish("x", "POLICY_DENIED")
    assert bench.value("codeplane_budget_exhausted_total") == 1


def test_calls_are_logged_at_debug_only() -> None:
    loud, quiet = Bench("DEBUG"), Bench("INFO")
    for bench in (loud, quiet):
        bench.metrics.call_finished(
            operation="git.status", status="ok", duration_ns=1_234_567, call={"request_id": "r1", "status": "stale"}
        )
    (entry,) = loud.logged()
    assert (entry["event"], entry["level"], entry["request_id"]) == ("call finished", "debug", "r1")
    assert (entry["operation"], entry["status"], entry["duration_ms"]) == ("git.status", "ok", 1.235)
    assert quiet.logged() == []


def break_down() -> None:
    raise ZeroDivisionError("by nothing")


def test_a_crash_is_counted_and_logged_with_its_traceback() -> None:
    bench = Bench()
    bench.watch("x")
    try:
        break_down()
    except ZeroDivisionError as error:
        bench.metrics.call_crashed(operation="x", call_id="c1", error=error)
        bench.metrics.call_crashed(operation="made.up", call_id="c2", error=error)
    assert bench.value("codeplane_call_crashes_total", operation="x") == 1
    assert bench.value("codeplane_call_crashes_total", operation="other") == 1
    first = bench.logged()[0]
    assert (first["level"], first["call_id"], first["operation"]) == ("error", "c1", "x")
    assert "in break_down" in str(first["exception"])


def test_gauges_are_read_when_asked() -> None:
    bench, running = Bench(), [7]
    bench.watch("x", running=lambda: running[0])
    assert bench.value("codeplane_calls_running") == 7
    running[0] = 8
    assert bench.value("codeplane_calls_running") == 8
    assert bench.value("codeplane_ledger_queue_depth") == 2
    assert bench.value("codeplane_ledger_last_position") == 3
    assert bench.value("codeplane_sessions_open") == 4
    assert bench.value("codeplane_log_lines_dropped") == 0


def test_a_gauge_that_cannot_be_read_is_left_out_and_said() -> None:
    bench = Bench()
    bench.watch("x", running=lambda: 1 // 0)
    assert bench.value("codeplane_calls_running") is None
    assert bench.value("codeplane_sessions_open") == 4
    assert bench.logged()[0]["metric"] == "codeplane_calls_running"


def test_without_watch_there_are_no_gauges_but_it_renders() -> None:
    bench = Bench()
    assert bench.value("codeplane_calls_running") is None
    assert bench.value("codeplane_uptime_seconds") == 0


def test_the_ledgers_commits() -> None:
    bench = Bench()
    bench.metrics.count_commit(events=10, spent_ns=2_000_000)
    bench.metrics.count_commit(events=5, spent_ns=4_000_000)
    assert bench.value("codeplane_ledger_appended_events_total") == 15
    assert bench.value("codeplane_ledger_commit_seconds_count") == 2
    assert bench.value("codeplane_ledger_commit_seconds_sum") == pytest.approx(0.006)


def test_tasks_by_how_they_ended() -> None:
    bench = Bench()
    bench.metrics.task_opened()
    for state in ("CLOSED_FAILED", "CLOSED_FAILED", "MADE_UP_1", "MADE_UP_2"):
        bench.metrics.task_closed(state)
    assert bench.value("codeplane_tasks_opened_total") == 1
    assert bench.value("codeplane_tasks_closed_total", state="CLOSED_FAILED") == 2
    assert bench.value("codeplane_tasks_closed_total", state="other") == 2


def test_uptime_build_and_process() -> None:
    bench = Bench()
    bench.clock.ns += 90_500_000_000
    assert bench.value("codeplane_uptime_seconds") == 90.5
    (build,) = [dict(labels) for name, labels in bench.series() if name == "codeplane_build_info"]
    assert build["version"] == "1.2.3"
    for name in ("process_resident_memory_bytes", "process_open_fds"):
        value = bench.value(name)
        assert value is not None
        assert value > 0


def test_two_metrics_share_nothing_not_even_with_the_librarys_own_registry() -> None:
    one, two = Bench(), Bench()
    one.watch("x")
    two.watch("x")
    one.finish("x")
    assert two.value("codeplane_calls_total", operation="x", status="ok") is None
    assert b"codeplane" not in prometheus_client.generate_latest()


def test_the_content_type_is_prometheus_text() -> None:
    assert Bench().metrics.render()[1] == "text/plain; version=0.0.4; charset=utf-8"


def test_no_call_is_lost_between_threads() -> None:
    bench = Bench()
    bench.watch("x")

    def call() -> None:
        for _ in range(500):
            bench.finish("x")
            bench.metrics.count_commit(events=1, spent_ns=1)

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert bench.value("codeplane_calls_total", operation="x", status="ok") == 2000
    assert bench.value("codeplane_ledger_appended_events_total") == 2000
