"""What the test operations answer with."""

import re
from typing import Literal

from codeplane.kernel.operation import Result
from codeplane.kernel.page import Pagination
from codeplane.repo.testing.case import CaseStatus

RunStatus = Literal["running", "completed", "cancelled", "failed"]

MAX_FAILURES = 200
MAX_PASSED = 200
_SHOWN_FAILURES = 20
_SHOWN_CHARS = 9000
_SHOWN_NAMES = 10
_FRAMES = 10
_FOREIGN = re.compile(
    r"node:internal|node_modules/|site-packages/|dist-packages/|/rustc/|<frozen |lib/python\d"
    r"|at (?:new )?(?:Safe)?Promise|at Array\.map \(<anonymous>\)"
)
_PLAIN = re.compile(r"\s*(?:Hint: make sure|Traceback\b|ImportError while (?:importing|loading)|[~^\s]+$)")


def _plain(line: str) -> str:
    return line.removeprefix("E  ").strip()


class FoundTarget(Result):
    """A target that can be run."""

    target_id: str
    path: str
    language: str
    runner: str
    root: str = ""
    estimated_cost: float
    test_count: int | None = None


class DiscoverResult(Result):
    """A page of the targets."""

    targets: tuple[FoundTarget, ...]
    total: int
    runners: dict[str, int]
    missing_runners: tuple[str, ...] = ()
    pagination: Pagination

    def text(self) -> str:
        if not self.total:
            return "[no tests found]"
        head = ", ".join(f"{count} {name}" for name, count in self.runners.items())
        lines = [f"{self.total} targets: {head}"]
        lines += [f"not found: {one}" for one in self.missing_runners]
        for one in self.targets:
            tests = f" {one.test_count} tests" if one.test_count is not None else ""
            told = (
                f" [{one.runner}{f' in {one.root}' if one.root else ''}]" if len(self.runners) > 1 or one.root else ""
            )
            lines.append(f"{one.target_id}{tests}{told}")
        return "\n".join(lines) + self.pagination.line()


class FailedTest(Result):
    """A test that failed, and how."""

    test: str
    target_id: str
    status: CaseStatus
    kind: str
    message: str
    stack: str = ""
    line: int | None = None
    fingerprint: str

    def text(self) -> str:
        said = " ".join(self.message.split())[:500]
        told = said if not self.kind or self.kind in said else f"{self.kind}: {said}"
        return "\n".join([f"{self.status.upper()} {self.test}: {told}", *(f"  {line}" for line in self.useful())])

    def useful(self) -> list[str]:
        """The few lines of the stack that speak of the repository's own code."""
        lines: list[str] = []
        foreign = False
        for line in self.stack.splitlines():
            if not line.strip():
                continue
            deeper = line.startswith("    ") and not line.lstrip().startswith("at ")
            foreign = _FOREIGN.search(line) is not None or (foreign and deeper)
            is_said = _plain(line) in self.message or _PLAIN.match(line) is not None
            if not foreign and not is_said:
                lines.append(line.rstrip()[:240])
        if any(line.lstrip().startswith("at ") for line in lines):
            return lines[:_FRAMES]
        return lines[-_FRAMES:]


class TargetFailure(Result):
    """Why a target did not pass, in short."""

    message: str
    stack: str = ""
    output: str = ""


class TargetResult(Result):
    """How one target went."""

    target_id: str
    runner: str
    status: CaseStatus
    duration_ms: int
    tests: int = 0
    note: str = ""
    reason: str = ""
    failure: TargetFailure | None = None


class RunProgress(Result):
    """Targets, and how many of them are over."""

    total: int
    completed: int
    passed: int
    failed: int
    skipped: int


class RunSummary(Result):
    """What a run found, beside each target's own result."""

    total_duration_ms: int
    tests: int = 0
    tests_passed: int = 0
    tests_failed: int = 0
    tests_skipped: int = 0
    flaky: tuple[str, ...] = ()
    new_failures: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()


class RunResult(Result):
    """A run, under way or over: failures first."""

    run_id: str
    status: RunStatus
    progress: RunProgress
    summary: RunSummary
    failures: tuple[FailedTest, ...] = ()
    results: tuple[TargetResult, ...] = ()
    more_failures: int = 0
    notes: tuple[str, ...] = ()
    sandboxed: bool = True

    @property
    def is_green(self) -> bool:
        """Whether everything that was asked for ran and nothing failed."""
        return self.status == "completed" and not self.failures and not self.progress.failed

    def unmet(self) -> str | None:
        return None if self.is_green or self.status == "running" else f"tests: {self.status}, not all passed"

    def text(self) -> str:
        lines: list[str] = []
        size = 0
        shown = 0
        for one in self.failures[:_SHOWN_FAILURES]:
            text = one.text()
            if shown and size + len(text) > _SHOWN_CHARS:
                break
            lines.append(text)
            size += len(text)
            shown += 1
        left = len(self.failures) + self.more_failures - shown
        if left > 0:
            names = [one.test for one in self.failures[shown : shown + _SHOWN_NAMES]]
            lines.append(f"and {left} more: {', '.join(names)}{' …' if left > len(names) else ''}")
        lines += [f"NOT RUN {one.target_id}: {one.note}" for one in self.results if one.note.startswith("not run")][:5]
        for word, tests in (
            ("new", self.summary.new_failures),
            ("fixed", self.summary.fixed),
            ("flaky", self.summary.flaky),
        ):
            if tests and not (word == "new" and len(tests) == len(self.failures) + self.more_failures):
                more = f" and {len(tests) - _SHOWN_NAMES} more" if len(tests) > _SHOWN_NAMES else ""
                lines.append(f"{word}: {', '.join(tests[:_SHOWN_NAMES])}{more}")
        lines += self.notes
        lines.append(self._counts())
        return "\n".join(lines)

    def _counts(self) -> str:
        summary, progress = self.summary, self.progress
        tests = [f"{summary.tests_failed} failed"] if summary.tests_failed else []
        tests.append(f"{summary.tests_passed} passed")
        tests += [f"{summary.tests_skipped} skipped"] if summary.tests_skipped else []
        over = (
            f"{progress.completed} of {progress.total}" if progress.completed < progress.total else f"{progress.total}"
        )
        all_new = summary.new_failures and len(summary.new_failures) == len(self.failures) + self.more_failures
        state = "" if self.status == "completed" else f"{self.status} "
        # The output of one that failed is fetched by its id.
        named = f" {self.run_id}" if self.failures or self.status != "completed" else ""
        return (
            f"[{state}{', '.join(tests)}{', all new' if all_new else ''} in {over} targets,"
            f" {summary.total_duration_ms / 1000:.1f} s{named}]"
        )


class OutputResult(Result):
    """A part of what a target's process printed."""

    run_id: str
    target_id: str
    offset: int
    next_offset: int | None = None
    total_bytes: int
    shared_with: int = 0
    output: str

    def text(self) -> str:
        end = f"[{self.offset:,} to {self.next_offset or self.total_bytes:,} of {self.total_bytes:,} bytes"
        end += f", shared by {self.shared_with + 1} targets" if self.shared_with else ""
        return f"{self.output}\n{end}]" + (f"\nmore: offset={self.next_offset}" if self.next_offset else "")
