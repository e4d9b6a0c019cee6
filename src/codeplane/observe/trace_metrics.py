"""Metrics counted from traces: time by span, decisions, sandbox runs and convergence signals."""

import threading
from collections.abc import Iterable, Iterator

from prometheus_client.metrics_core import CounterMetricFamily, Metric, SummaryMetricFamily
from prometheus_client.registry import Collector

from codeplane.kernel.clock import SECOND_NS
from codeplane.kernel.json import JsonValue
from codeplane.kernel.trace import Span, Trace

OTHER = "other"
# The stages of the conveyor and the spans inside them; a span of another name counts as `other`.
SPANS = (
    "validate",
    "identify",
    "authorise",
    "approve",
    "budget",
    "execute",
    "record",
    "index.wait",
    "index.query",
    "index.refresh",
    "files.stat",
    "files.read",
    "files.write",
    "sqlite.read",
    "sqlite.append",
    "git",
    "parse",
    "policy",
    "sandbox",
    "web",
)
VERDICTS = ("allow", "ask", "deny")
SANDBOX_KINDS = ("tests", "shell", "lint")
SANDBOX_OUTCOMES = ("ok", "failed", "timed_out")
SIGNALS = ("no_op", "non_progress", "budget")


class TraceMetrics(Collector):
    """Counts spans and facts of traces; an unknown label counts as `other`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._spans = {name: [0, 0] for name in (*SPANS, OTHER)}
        self._dropped = 0
        self._verdicts = dict.fromkeys((*VERDICTS, OTHER), 0)
        self._sandbox: dict[tuple[str, str], int] = {
            (kind, outcome): 0 for kind in (*SANDBOX_KINDS, OTHER) for outcome in (*SANDBOX_OUTCOMES, OTHER)
        }
        self._signals = dict.fromkeys((*SIGNALS, OTHER), 0)
        self._files = 0

    def end_trace(self, trace: Trace) -> None:
        """Count one call."""
        with self._lock:
            spans, other = self._spans, self._spans[OTHER]
            for span in trace.spans:
                totals = spans.get(span.name, other)
                totals[0] += 1
                # A span that outlives its call has no duration yet.
                totals[1] += max(span.ended_ns - span.started_ns, 0)
                if span.name == "sandbox":
                    self._count_run(span)
            self._dropped += trace.dropped
            facts = trace.facts
            if "verdict" in facts:
                _count(self._verdicts, facts["verdict"])
            if changed := facts.get("files_changed"):
                self._files += int(str(changed))
            if signals := facts.get("signals"):
                for signal in signals if isinstance(signals, list) else ():
                    _count(self._signals, signal)

    def collect(self) -> Iterator[Metric]:
        """The metrics for Prometheus."""
        with self._lock:
            spans = {name: tuple(counted) for name, counted in self._spans.items()}
            verdicts, sandbox, signals = dict(self._verdicts), dict(self._sandbox), dict(self._signals)
            dropped, files = self._dropped, self._files
        timed = SummaryMetricFamily("codeplane_span_seconds", "Time by what calls spend it on.", labels=("span",))
        for name, (number, ns) in spans.items():
            timed.add_metric((name,), count_value=number, sum_value=ns / SECOND_NS)
        yield timed
        yield _counter("codeplane_spans_dropped", "Spans beyond what a call's trace holds.", [((), dropped)])
        yield _counter(
            "codeplane_policy_decisions",
            "Calls by the decision of the rules.",
            [((name,), number) for name, number in verdicts.items()],
            "verdict",
        )
        yield _counter("codeplane_sandbox_runs", "Commands run enclosed.", sandbox.items(), "kind", "outcome")
        yield _counter(
            "codeplane_convergence_signals",
            "Calls that did or failed the same as before.",
            [((name,), number) for name, number in signals.items()],
            "signal",
        )
        yield _counter("codeplane_files_changed", "Files changed by calls.", [((), files)])

    def _count_run(self, span: Span) -> None:
        kind, outcome = span.attributes.get("kind"), span.attributes.get("outcome", "failed" if span.error else "ok")
        self._sandbox[
            str(kind) if kind in SANDBOX_KINDS else OTHER, str(outcome) if outcome in SANDBOX_OUTCOMES else OTHER
        ] += 1


def _count(counted: dict[str, int], name: JsonValue) -> None:
    counted[name if isinstance(name, str) and name in counted else OTHER] += 1


def _counter(name: str, text: str, values: Iterable[tuple[tuple[str, ...], int]], *labels: str) -> CounterMetricFamily:
    family = CounterMetricFamily(name, text, labels=labels)
    for label_values, number in values:
        family.add_metric(label_values, number)
    return family
