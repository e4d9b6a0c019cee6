"""Builds tracing: the store, operations, metrics and export of traces."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from prometheus_client.registry import Collector
from structlog.typing import FilteringBoundLogger

from codeplane.kernel.cursor import Cursors
from codeplane.kernel.redaction import Redactor
from codeplane.kernel.trace import Tracer
from codeplane.observe.otlp_collector import OtlpCollector
from codeplane.observe.trace_export import TraceExport
from codeplane.observe.trace_metrics import TraceMetrics
from codeplane.observe.trace_operations import TraceOperations
from codeplane.observe.trace_store import TraceStore


class TracingConfig(Protocol):
    """The settings of tracing."""

    @property
    def traces(self) -> int: ...

    @property
    def otlp_endpoint(self) -> str: ...

    @property
    def otlp_header_variable(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracing:
    """The parts of tracing."""

    tracer: Tracer | None
    operations: TraceOperations
    collectors: tuple[Collector, ...]
    start: Callable[[], None]
    stop: Callable[[], None]

    @classmethod
    def of(
        cls,
        config: TracingConfig,
        *,
        redactor: Redactor,
        outward: Redactor,
        cursors: Cursors,
        logger: FilteringBoundLogger,
        version: str,
    ) -> "Tracing":
        """Build tracing from the settings; ConfigInvalid for an invalid collector.

        `redactor` is for what is shown here, `outward` for what is exported.
        """
        metrics = TraceMetrics()
        export: TraceExport | None = None
        if config.otlp_endpoint:
            collector = OtlpCollector.of(config.otlp_endpoint, header_variable=config.otlp_header_variable)
            export = TraceExport(
                send=collector.send,
                resource={"service.name": "codeplane", "service.version": version},
                redactor=outward,
                logger=logger,
            )
        listeners = (metrics.end_trace, *([export.end_trace] if export is not None else []))
        traces = TraceStore(kept=config.traces, listeners=listeners)
        return cls(
            tracer=traces if config.traces or export is not None else None,
            operations=TraceOperations(traces=traces, cursors=cursors, redactor=redactor),
            collectors=(metrics, *([export] if export is not None else [])),
            start=export.start if export is not None else _do_nothing,
            stop=export.stop if export is not None else _do_nothing,
        )


def _do_nothing() -> None:
    """Do nothing: there is no export."""
