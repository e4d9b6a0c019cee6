"""The progress of the first index, as one line on a terminal."""

import io
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TextIO

from codeplane.kernel.json import JsonObject, JsonValue

_WIDTH = 28
_POLL_SEC = 0.4


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The state of an index that is being built."""

    files: int = 0
    done_mb: float = 0.0
    total_mb: float = 0.0
    share: float = 0.0
    mb_per_sec: float = 0.0
    eta_sec: float | None = None
    state: str = ""
    ready: bool = False

    @classmethod
    def of(cls, index: JsonValue) -> "Progress":
        """Return the progress from the index part of `status`; ready when text and symbols cover everything."""
        if not isinstance(index, dict):
            return cls(state="starting")
        if not index.get("version"):
            return cls(state="reading files" if index.get("healthy") else str(index.get("state")))
        symbols = index.get("symbols")
        if not isinstance(symbols, dict) or "files_total" not in symbols:
            waits = isinstance(symbols, dict) and not symbols.get("epoch")
            return cls(files=int(_number(index.get("file_count"))), ready=not waits, state="reading files")
        return cls(
            files=int(_number(symbols.get("files_total"))),
            done_mb=_number(symbols.get("bytes")) / 1e6,
            total_mb=_number(symbols.get("bytes_total")) / 1e6,
            share=min(_number(symbols.get("share")), 1.0),
            mb_per_sec=_number(symbols.get("mb_per_sec")),
            eta_sec=_number(symbols["eta_sec"]) if symbols.get("eta_sec") is not None else None,
        )

    def line(self) -> str:
        """Return the bar with the rate, the rest and the remaining time."""
        if not self.files or self.state:
            return f"index  {self.state or 'reading files'} …"
        bar = "█" * round(self.share * _WIDTH)
        left = f", {format_seconds(self.eta_sec)} left" if self.eta_sec is not None else ""
        done = f"{self.done_mb:,.1f}/{self.total_mb:,.1f} MB"
        return f"index  {bar:░<{_WIDTH}} {self.share:4.0%}  {done}, {self.mb_per_sec:.1f} MB/s{left}"


def format_seconds(seconds: float) -> str:
    """Format a number of seconds."""
    whole = max(round(seconds), 0)
    return f"{whole} s" if whole < 90 else f"{whole // 60} min {whole % 60:02} s"


def follow(
    ask: Callable[[], JsonObject | None],
    *,
    out: TextIO | None = None,
    clock: Callable[[], float] = time.monotonic,
    pause: Callable[[float], None] = time.sleep,
    patience_sec: float = 3600.0,
    shown: bool = True,
) -> bool:
    """Show the progress until the index is ready; False when the server stops answering or on timeout.

    Without a terminal it is not `shown`.
    """
    out = out or (sys.stderr if shown else io.StringIO())
    began = clock()
    width = 0
    while clock() - began < patience_sec:
        index = ask()
        if index is None:
            break
        progress = Progress.of(index)
        if progress.ready:
            spent = format_seconds(clock() - began)
            summary = f"index  {progress.files:,} files ready after {spent}" if width else ""
            _overwrite_line(out, summary, width, end="\n" if summary else "")
            return True
        width = _overwrite_line(out, progress.line(), width)
        pause(_POLL_SEC)
    _overwrite_line(out, "", width)
    return False


def _overwrite_line(out: TextIO, line: str, before: int, *, end: str = "") -> int:
    if line or before:
        out.write(f"\r{line:<{before}}{end}" if line else f"\r{'':<{before}}\r")
        out.flush()
    return len(line)


def _number(value: JsonValue) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0
