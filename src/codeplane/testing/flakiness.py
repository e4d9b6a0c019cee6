"""Flaky tests: those that both passed and failed on the same code."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from codeplane.kernel.json import JsonObject

_FORMAT = 1
_MAX_TESTS = 50_000
_MAX_FLAKY = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class FlakyRecord:
    """A test that both passed and failed in one state of the code, with the counts for that state."""

    test: str
    passed: int
    failed: int
    state: str
    seen_at: str


class FlakinessLog:
    """Passes and failures in the newest state, and the tests that were flaky; one file, replaced as a whole."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def note(
        self, state: str, cases: Mapping[str, bool], *, flaky: tuple[str, ...], at: str, environment: str = ""
    ) -> None:
        """Count a run's tests (whether each passed); `flaky` both failed and passed within the run itself.

        Only runs of the same code in the same environment are counted together: a test that fails before a dependency
        changes and passes afterwards is fixed, not flaky.
        """
        stored_state, counts, found = self._read()
        same = f"{state} {environment}".rstrip()
        if stored_state != same:
            counts = {}
        for test, passed in cases.items():
            before = counts.get(test, (0, 0))
            if test in counts or len(counts) < _MAX_TESTS:
                counts[test] = (before[0] + passed, before[1] + (not passed))
        for test in flaky:
            before = counts.get(test, (0, 0))
            counts[test] = (before[0] + (test not in cases), before[1] + 1)
        for test in (*cases, *flaky):
            passed_times, failed_times = counts.get(test, (0, 0))
            if passed_times and failed_times:
                found.pop(test, None)
                found[test] = FlakyRecord(test=test, passed=passed_times, failed=failed_times, state=state, seen_at=at)
        newest = dict(list(found.items())[-_MAX_FLAKY:])
        self._write(same, counts, newest)

    def flaky(self) -> list[FlakyRecord]:
        """Return the tests that were flaky, the newest first."""
        return list(self._read()[2].values())[::-1]

    def has_flaky(self, target_id: str) -> bool:
        """Whether a test of a target was flaky."""
        return any(test.partition("::")[0] == target_id for test in self._read()[2])

    def _read(self) -> tuple[str, dict[str, tuple[int, int]], dict[str, FlakyRecord]]:
        try:
            raw = json.loads(self._file.read_text())
            if raw["format"] != _FORMAT:
                return "", {}, {}
            counts = {str(test): (int(passed), int(failed)) for test, (passed, failed) in raw["counts"].items()}
            return str(raw["state"]), counts, {test["test"]: _flaky(test) for test in raw["flaky"]}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            # Derived data: the next runs count again.
            return "", {}, {}

    def _write(self, state: str, counts: Mapping[str, tuple[int, int]], found: Mapping[str, FlakyRecord]) -> None:
        content = {
            "format": _FORMAT,
            "state": state,
            "counts": counts,
            "flaky": [_row(record) for record in found.values()],
        }
        self._file.parent.mkdir(parents=True, exist_ok=True)
        temporary = self._file.with_suffix(".new")
        temporary.write_text(json.dumps(content, ensure_ascii=True))
        temporary.replace(self._file)


def _row(record: FlakyRecord) -> JsonObject:
    return {
        "test": record.test,
        "passed": record.passed,
        "failed": record.failed,
        "state": record.state,
        "seen_at": record.seen_at,
    }


def _flaky(row: JsonObject) -> FlakyRecord:
    return FlakyRecord(
        test=str(row["test"]),
        passed=int(str(row["passed"])),
        failed=int(str(row["failed"])),
        state=str(row["state"]),
        seen_at=str(row["seen_at"]),
    )
