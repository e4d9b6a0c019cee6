"""Tracing put together: what is kept, what is asked, what is counted, and what is sent on."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from prometheus_client.registry import Collector
from structlog.typing import FilteringBoundLogger

from codeplane.kernel.cursor import Cursors
from codeplane.kernel.redaction import Redactor
from codeplane.kernel.trace import Tracer
from codeplane.observe.collector import OtlpCollector
from codeplane.observe.export import TraceExport
from codeplane.observe.trace_metrics import TraceMetrics
from codeplane.observe.trace_operations import TraceOperations
from codeplane.observe.traces import Traces


class TracingConfig(Protocol):
    """The settings that matter here."""

    @property
    def traces(self) -> int: ...

    @property
    def otlp_endpoint(self) -> str: ...

    @property
    def otlp_header_variable(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracing:
    """Everything about traces that the composition root hands out."""

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
        """Tracing as the settings want it; ConfigInvalid when traces cannot go where they are to be sent.

        `redactor` is for what is shown here, `outward` for what is sent elsewhere.
        """
        counted = TraceMetrics()
        export: TraceExport | None = None
        if config.otlp_endpoint:
            sent_to = OtlpCollector.of(config.otlp_endpoint, header_variable=config.otlp_header_variable)
            export = TraceExport(
                send=sent_to.send,
                resource={"service.name": "codeplane", "service.version": version},
                redactor=outward,
                logger=logger,
            )
        listeners = (counted.finished, *([export.finished] if export is not None else []))
        traces = Traces(kept=config.traces, listeners=listeners)
        return cls(
            tracer=traces if config.traces or export is not None else None,
            operations=TraceOperations(traces=traces, cursors=cursors, redactor=redactor),
            collectors=(counted, *([export] if export is not None else [])),
            start=export.start if export is not None else _nothing,
            stop=export.stop if export is not None else _nothing,
        )


def _nothing() -> None:
    """Nothing is sent anywhere."""
