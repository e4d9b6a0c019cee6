"""What is measured: one module a system, each with `VARIANTS` and `run`; every run is a process of its own."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.measure import Sample


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """How many callers take how many steps, and where the files go."""

    callers: int
    steps: int
    folder: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One way of running a system; `comparable` when every step leaves its intent and its outcome on disk."""

    name: str
    says: str
    run: Callable[[Load], Sample]
    comparable: bool = True
