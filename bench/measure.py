"""Measuring: wall and CPU time of this process, latencies, and what is known of the machine."""

import os
import platform
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self


@dataclass(slots=True)
class Stopwatch:
    """Wall and CPU seconds of this process, all of its threads included, between enter and exit."""

    wall: float = 0.0
    cpu: float = 0.0

    def __enter__(self) -> Self:
        self.wall, self.cpu = -time.perf_counter(), -time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.wall += time.perf_counter()
        self.cpu += time.process_time()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What one subject did in one run."""

    units: int
    wall: float
    cpu: float
    p50_ms: float
    p95_ms: float
    extra: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, watch: Stopwatch, latencies_ns: Sequence[int], **extra: float) -> "Sample":
        """The sample of a run with these latencies, one for each unit."""
        ordered = sorted(latencies_ns)
        return cls(
            units=len(ordered),
            wall=watch.wall,
            cpu=watch.cpu,
            p50_ms=ordered[len(ordered) // 2] / 1e6,
            p95_ms=ordered[len(ordered) * 95 // 100] / 1e6,
            extra=extra,
        )

    @property
    def rate(self) -> float:
        """Units a second."""
        return self.units / self.wall

    @property
    def cpu_us(self) -> float:
        """CPU microseconds a unit."""
        return self.cpu / self.units * 1e6


def median(samples: Sequence[Sample]) -> Sample:
    """The middle of several runs, each figure by itself."""

    def middle(values: Sequence[float]) -> float:
        return float(statistics.median(values))

    return Sample(
        units=samples[0].units,
        wall=middle([sample.wall for sample in samples]),
        cpu=middle([sample.cpu for sample in samples]),
        p50_ms=middle([sample.p50_ms for sample in samples]),
        p95_ms=middle([sample.p95_ms for sample in samples]),
        extra={name: middle([sample.extra[name] for sample in samples]) for name in samples[0].extra},
    )


def machine(folder: Path) -> str:
    """The machine in general terms, with the file system that `fsync` was asked of."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return (
        f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}, "
        f"{file_system(folder)}, load {load:.1f} at the start"
    )


def file_system(folder: Path) -> str:
    """The kind of file system a folder is on, where the system tells."""
    mounts = Path("/proc/mounts")
    if not mounts.exists():
        return "unknown file system"
    target, kind, longest = folder.resolve(), "unknown file system", -1
    for line in mounts.read_text().splitlines():
        _, point, found, *_ = line.split()
        if target.is_relative_to(point) and len(point) > longest:
            kind, longest = found, len(point)
    return kind


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Aligned columns, the first to the left and figures to the right."""
    widths = [max(len(row[column]) for row in (headings, *rows)) for column in range(len(headings))]
    lines = []
    for row in (headings, ["-" * width for width in widths], *rows):
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
