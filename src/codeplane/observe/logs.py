"""The server's log, written to several outputs at once."""

import logging
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO, cast

import structlog
from structlog.typing import EventDict, FilteringBoundLogger, WrappedLogger

from codeplane.kernel.clock import Clock
from codeplane.kernel.config import LoggingConfig
from codeplane.kernel.errors import ConfigInvalid
from codeplane.kernel.json import JsonObject
from codeplane.kernel.redaction import Redactor
from codeplane.observe.log_entry import DEBUG, ERROR, INFO, WARN, LogEntry
from codeplane.observe.log_sink import FileSink, LogSink, StreamSink
from codeplane.observe.log_tail import tail

__all__ = ["Logs", "tail"]

# Libraries whose records are captured at our level; all others keep the level that they set.
CAPTURED = ("uvicorn", "mcp", "asyncio")
_SEVERITIES = {"DEBUG": DEBUG, "INFO": INFO, "WARN": WARN, "ERROR": ERROR}

Emit = Callable[[int, Mapping[str, object]], None]


@dataclass(slots=True, kw_only=True)
class _Output:
    """One destination with its format and level."""

    sink: LogSink
    json: bool
    threshold: int
    failed: bool = False


class Logs:
    """The outputs of the log; loggers and the standard library's records write to them."""

    def __init__(
        self,
        *,
        config: LoggingConfig,
        clock: Clock,
        file: Path | None,
        stderr: TextIO | None = None,
        stdout: TextIO | None = None,
    ) -> None:
        """Open the configured outputs, and `file` for JSON lines; ConfigInvalid for a relative path."""
        parent = _SEVERITIES[config.level.upper()]
        streams = {"stderr": stderr or sys.stderr, "stdout": stdout or sys.stdout}
        self._clock = clock
        self._lock = threading.RLock()  # a finaliser may log while this thread is writing
        self._dropped = 0
        # The newest error, for `status`.
        self.last_error: JsonObject | None = None
        self._redactor = Redactor()
        self._capture: _Capture | None = None
        self._outputs: list[_Output] = []
        for index, output in enumerate(config.outputs):
            sink = _sink(f"logging.outputs.{index}.destination", output.destination, streams, file)
            threshold = _SEVERITIES[output.level.upper()] if output.level else parent
            self._outputs.append(_Output(sink=sink, json=output.format == "json", threshold=threshold))
        if file is not None:
            self._outputs.append(_Output(sink=FileSink(file, own=True), json=True, threshold=parent))
        self._threshold = min((output.threshold for output in self._outputs), default=parent)

    def redact(self, redactor: Redactor) -> None:
        """Redact secrets from now on."""
        self._redactor = redactor

    @property
    def dropped(self) -> int:
        """Lines that some output could not write."""
        return self._dropped

    def logger(self, name: str) -> FilteringBoundLogger:
        """A logger with that name; `bind(request_id=…)` returns one for a single request."""
        wrapped = structlog.wrap_logger(
            _Levels(self._emit),
            processors=[_as_argument],
            wrapper_class=structlog.make_filtering_bound_logger(self._threshold),
            context_class=dict,
        )
        return cast(FilteringBoundLogger, wrapped.bind(logger=name))

    def capture_stdlib(self) -> None:
        """Write what libraries log through `logging` to the same outputs, until `close`."""
        if self._capture is None:
            self._capture = _Capture(self._emit, self._threshold)
            self._capture.install()

    def close(self) -> None:
        """Close the outputs; lines logged afterwards are counted as dropped."""
        if self._capture is not None:
            self._capture.remove()
            self._capture = None
        with self._lock:
            for output in self._outputs:
                output.sink.close()
            self._outputs = []

    def _emit(self, severity: int, values: Mapping[str, object]) -> None:
        entry = LogEntry.of(at_ns=self._clock.now_ns(), severity=severity, values=values).redact(self._redactor)
        if severity >= ERROR:
            self.last_error = entry.error_facts()
        with self._lock:
            if not self._outputs:
                self._dropped += 1
            for output in self._outputs:
                if severity >= output.threshold and not self._write(output, entry):
                    self._dropped += 1

    def _write(self, output: _Output, entry: LogEntry) -> bool:
        try:
            output.sink.write(entry.json_line() if output.json else entry.console_line())
        except Exception as error:
            if not output.failed:
                output.failed = True
                self._log_failure(output, error)
            return False
        return True

    def _log_failure(self, failed: _Output, error: Exception) -> None:
        values = {"event": "log output failed", "output": failed.sink.name, "error": f"{type(error).__name__}: {error}"}
        entry = LogEntry.of(at_ns=self._clock.now_ns(), severity=WARN, values=values)
        for other in self._outputs:
            if other is not failed and self._write(other, entry):
                return


def _sink(key: str, destination: str, streams: Mapping[str, TextIO | None], own: Path | None) -> LogSink:
    if destination in streams:
        return StreamSink(name=destination, stream=streams[destination])
    path = Path(destination)
    if not path.is_absolute():
        raise ConfigInvalid(
            f"{key}: {destination!r} is neither stderr, stdout nor an absolute path",
            hint="write the whole path, for example /var/log/codeplane.jsonl",
        )
    if path == own:
        raise ConfigInvalid(
            f"{key}: {destination} is always written, as JSON lines", hint="remove this output from logging.outputs"
        )
    return FileSink(path, own=False)


def _as_argument(_: WrappedLogger, __: str, values: EventDict) -> tuple[tuple[EventDict], dict[str, object]]:
    return (values,), {}


class _Levels:
    """The methods that structlog calls, one for each level."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit

    def debug(self, values: Mapping[str, object]) -> None:
        self._emit(DEBUG, values)

    def info(self, values: Mapping[str, object]) -> None:
        self._emit(INFO, values)

    def warning(self, values: Mapping[str, object]) -> None:
        self._emit(WARN, values)

    def error(self, values: Mapping[str, object]) -> None:
        self._emit(ERROR, values)

    critical = error


class _Capture(logging.Handler):
    """Captures the records of the standard library's logging."""

    def __init__(self, emit: Emit, threshold: int) -> None:
        super().__init__(threshold)
        self._to = emit
        self._before: dict[str, tuple[int, bool]] = {}

    def install(self) -> None:
        for name in CAPTURED:
            logger = logging.getLogger(name)
            self._before[name] = (logger.level, logger.propagate)
            logger.setLevel(self.level)
            logger.propagate = True
        logging.getLogger().addHandler(self)

    def remove(self) -> None:
        logging.getLogger().removeHandler(self)
        for name, (level, propagate) in self._before.items():
            logger = logging.getLogger(name)
            logger.setLevel(level)
            logger.propagate = propagate

    def emit(self, record: logging.LogRecord) -> None:
        severity = next((level for level in (ERROR, WARN, INFO) if record.levelno >= level), DEBUG)
        event: object
        try:
            event = record.getMessage()
        except Exception:
            event = record.msg
        self._to(severity, {"event": event, "logger": record.name, "exc_info": record.exc_info})
