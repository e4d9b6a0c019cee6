"""The history of runs: how long targets took, and which tests failed; derived data that may be deleted."""

import json
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

_MAX_DURATIONS = 7
_MAX_FAILING = 2000
_MAX_TESTS = 20_000
_FORMAT = 2


@dataclass(slots=True)
class TargetHistory:
    """One target's history: its last durations in seconds, the tests that failed last, and all tests that ever ran."""

    seconds: list[float] = field(default_factory=list)
    failing: list[str] = field(default_factory=list)
    tests: set[str] = field(default_factory=set)


class History:
    """Costs and failures by target, in one file that is replaced as a whole."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._past: dict[str, TargetHistory] | None = None

    def cost(self, target_id: str) -> float:
        """Return the median of the last durations in seconds; 1 for a target that never ran."""
        past = self._all().get(target_id)
        return statistics.median(past.seconds) if past is not None and past.seconds else 1.0

    def ran(self, target_id: str) -> bool:
        """Whether a target ran before."""
        return target_id in self._all()

    def has_result(self, target_id: str, test: str) -> bool:
        """Whether a test ran before; in a target with very many tests, all count as known once it ran."""
        past = self._all().get(target_id)
        return past is not None and (test in past.tests or len(past.tests) >= _MAX_TESTS)

    def failing_tests(self, target_id: str) -> tuple[str, ...]:
        """Return the tests of a target that failed when they ran last."""
        past = self._all().get(target_id)
        return tuple(past.failing) if past is not None else ()

    def slowest(self, most: int) -> list[tuple[str, float, tuple[float, ...]]]:
        """Return the slowest targets, with the median in seconds and the last durations."""
        timed = [(name, statistics.median(past.seconds), tuple(past.seconds)) for name, past in self._timed_targets()]
        return sorted(timed, key=lambda entry: -entry[1])[:most]

    def _timed_targets(self) -> list[tuple[str, TargetHistory]]:
        return [(name, past) for name, past in self._all().items() if past.seconds]

    def failed_targets(self) -> tuple[str, ...]:
        """Return the targets with tests that failed when they ran last."""
        return tuple(target_id for target_id, past in self._all().items() if past.failing)

    def note(
        self, target_id: str, *, seconds: float | None, ran: Iterable[str], bad: Iterable[str], whole: bool
    ) -> None:
        """Record the result of a target; tests that did not run keep their last result."""
        ran, bad = list(ran), list(bad)
        past = self._all().setdefault(target_id, TargetHistory())
        if seconds is not None:
            past.seconds = [*past.seconds, round(seconds, 4)][-_MAX_DURATIONS:]
        left = () if whole else set(past.failing) - set(ran)
        past.failing = sorted({*left, *bad})[:_MAX_FAILING]
        # A target that did not load does not tell which tests it has.
        is_listed = whole and target_id not in bad
        known = {*ran, *bad} if is_listed else {*past.tests, *ran, *bad}
        past.tests = known if len(known) <= _MAX_TESTS else set(sorted(known)[:_MAX_TESTS])

    def save(self, *, known: Iterable[str]) -> None:
        """Write the file, without targets that no longer exist."""
        existing = set(known)
        past = {target_id: target for target_id, target in self._all().items() if target_id in existing}
        self._past = past
        content = {
            "format": _FORMAT,
            "targets": {
                target_id: {"seconds": target.seconds, "failing": target.failing, "tests": sorted(target.tests)}
                for target_id, target in past.items()
            },
        }
        self._file.parent.mkdir(parents=True, exist_ok=True)
        temporary = self._file.with_suffix(".new")
        temporary.write_text(json.dumps(content, ensure_ascii=True))
        temporary.replace(self._file)

    def _all(self) -> dict[str, TargetHistory]:
        if self._past is None:
            self._past = _read(self._file)
        return self._past


def _read(file: Path) -> dict[str, TargetHistory]:
    try:
        content = json.loads(file.read_text())
        if content["format"] != _FORMAT:
            return {}
        targets: Mapping[str, Mapping[str, list[object]]] = content["targets"]
        return {
            target_id: TargetHistory(
                [float(str(value)) for value in past["seconds"]],
                [str(value) for value in past["failing"]],
                {str(value) for value in past["tests"]},
            )
            for target_id, past in targets.items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        # It only makes runs shorter and comparisons possible, so a broken file counts as none.
        return {}
