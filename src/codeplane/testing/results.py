"""What the test operations answer with."""

import re
from collections.abc import Collection, Sequence
from typing import Literal

from pydantic import Field

from codeplane.kernel.operation import FollowUp, Result
from codeplane.kernel.page import Pagination
from codeplane.kernel.plural import plural
from codeplane.testing.case import CaseStatus

RunStatus = Literal["running", "completed", "cancelled", "failed"]

MAX_FAILURES = 200
MAX_PASSED = 200
_SHOWN_FAILURES = 20
_SHOWN_CHARS = 9000
_SHOWN_NAMES = 10
_SHOWN_NOT_RUN = 5
_FRAMES = 10
_FOREIGN = re.compile(
    r"node:internal|\(node:|node_modules/|site-packages/|dist-packages/|/rustc/|<frozen |lib/python\d"
    r"|at (?:new )?(?:Safe)?Promise|at Array\.map \(<anonymous>\)"
)
_CODE = re.compile(r" \[ERR_\w+\]:")
_PLAIN = re.compile(r"\s*(?:Hint: make sure|Traceback\b|ImportError while (?:importing|loading)|[~^\s]+$)")


def _strip_marks(line: str) -> str:
    return _CODE.sub(":", line.removeprefix("E  ").strip())


def _list_names(tests: Sequence[str], more: int = 0) -> str:
    """The first of these names, and how many more there are."""
    left = len(tests) + more - min(len(tests), _SHOWN_NAMES)
    return ", ".join(tests[:_SHOWN_NAMES]) + (f" and {left} more" if left else "")


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
        lines = [f"{plural(self.total, 'target')}: {head}"]
        lines += [f"not found: {runner}" for runner in self.missing_runners]
        for target in self.targets:
            tests = f" {plural(target.test_count, 'test')}" if target.test_count is not None else ""
            runner_text = (
                f" [{target.runner}{f' in {target.root}' if target.root else ''}]"
                if len(self.runners) > 1 or target.root
                else ""
            )
            lines.append(f"{target.target_id}{tests}{runner_text}")
        return "\n".join(lines) + self.pagination.line()


class ReachingTarget(Result):
    """A target that reaches a file, and by what."""

    target_id: str
    reason: str


class ReachingResult(Result):
    """The targets that reach a file or a definition, nearest first."""

    targets: tuple[ReachingTarget, ...]
    total: int
    notes: tuple[str, ...] = ()

    def text(self) -> str:
        lines = [f"{plural(self.total, 'test target')} reach it" if self.total != 1 else "1 test target reaches it"]
        lines += [f"{target.target_id}: {target.reason}" for target in self.targets]
        return "\n".join([*lines, *self.notes])


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
        message = " ".join(self.message.split())[:500]
        runner_text = message if not self.kind or self.kind in message else f"{self.kind}: {message}"
        return "\n".join(
            [f"{self.status.upper()} {self.test}: {runner_text}", *(f"  {line}" for line in self.useful())]
        )

    def failure_key(self) -> tuple[str, ...]:
        """Equal for failures that say the same of the same place, whichever test they are of."""
        lines = self.useful()
        is_top_first = any(line.lstrip().startswith("at ") for line in lines)
        return self.status, self.kind, self.message, *(lines[:1] if is_top_first else lines[-2:])

    def useful(self) -> list[str]:
        """The few lines of the stack that speak of the repository's own code."""
        lines: list[str] = []
        headline = [f"{self.kind}: {line.strip()}" for line in self.message.splitlines()[:1]]
        foreign = False
        for line in self.stack.splitlines():
            if not line.strip():
                continue
            deeper = line.startswith("    ") and not line.lstrip().startswith("at ")
            foreign = _FOREIGN.search(line) is not None or (foreign and deeper)
            is_repeated = (
                _strip_marks(line) in headline or _strip_marks(line) in self.message or _PLAIN.match(line) is not None
            )
            if not foreign and not is_repeated:
                lines.append(line.rstrip()[:240])
        if any(line.lstrip().startswith("at ") for line in lines):
            return lines[:_FRAMES]
        return lines[-_FRAMES:]


class RunnerError(Result):
    """A runner that did not start, so that nothing is known of its tests."""

    runner: str
    reason: str
    fix: str
    targets: tuple[str, ...]
    target_count: int

    def text(self) -> str:
        names = ", ".join(self.targets[:_SHOWN_NOT_RUN])
        more = f" and {self.target_count - _SHOWN_NOT_RUN} more" if self.target_count > _SHOWN_NOT_RUN else ""
        what = "" if self.reason.startswith("Test runner ") else f"{self.runner} did not start: "
        return f"NOT RUN {names}{more}: {what}{self.reason}; {self.fix}"


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
    unmatched: int = Field(0, description="of the skipped those where the pattern or tags left out every test")
    reused: int = Field(0, description="of the completed those taken from an earlier run of the same files")


class RunSummary(Result):
    """What a run found, beside each target's own result."""

    total_duration_ms: int
    tests: int = 0
    tests_passed: int = 0
    tests_failed: int = 0
    tests_skipped: int = 0
    flaky: tuple[str, ...] = ()
    new_failures: tuple[str, ...] = Field((), description="failed, and did not when they ran last")
    first_runs: tuple[str, ...] = Field((), description="of the new failures those without an earlier result")
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
    errors: tuple[RunnerError, ...] = Field((), description="runners that did not start: no test of theirs ran")
    not_found: tuple[str, ...] = Field((), description="tests that were named and are not there, with what is near")
    notes: tuple[str, ...] = ()
    began_at: str = ""
    state: str = Field("", description="equal for runs of the same code")
    sandboxed: bool = True
    baseline_of: str = Field("", description="the commit whose files were run, instead of the work tree's")
    reused_from: tuple[str, ...] = Field((), description="earlier runs of the same files, whose results still hold")

    @property
    def is_green(self) -> bool:
        """Whether everything that was asked for ran and nothing failed."""
        is_whole = self.status == "completed" and not self.not_found and not self.errors
        return is_whole and not self.failures and not self.progress.failed

    def select_failures(self, tests: Collection[str]) -> "RunResult":
        """The same with only these failures in full, and nothing of what is new or fixed since the last run."""
        failures = tuple(failure for failure in self.failures if failure.test in tests)
        summary = self.summary.model_copy(update={"new_failures": (), "first_runs": (), "fixed": ()})
        more = max(0, len(tests) - len(failures))
        return self.model_copy(update={"failures": failures, "more_failures": more, "summary": summary})

    def unmet(self) -> str | None:
        if self.errors:
            return f"tests: {self.errors[0].runner} did not start"
        return None if self.is_green or self.status == "running" else f"tests: {self.status}, not all passed"

    def follow_up(self) -> FollowUp | None:
        if self.status != "running":
            return None
        return FollowUp(show="test.status", cancel="test.cancel", arguments={"run_id": self.run_id})

    def text(self) -> str:
        lines = self._failures()
        lines += [f"NOT FOUND {test}" for test in self.not_found[:_SHOWN_NAMES]]
        lines += [error.text() for error in self.errors]
        lines += self._not_run()
        first = self.summary.first_runs
        for word, tests in (
            ("new", tuple(test for test in self.summary.new_failures if test not in first)),
            ("new, first run", first),
            ("fixed", self.summary.fixed),
            ("flaky", self.summary.flaky),
        ):
            if tests and not (word.startswith("new") and len(tests) == len(self.failures) + self.more_failures):
                lines.append(f"{word}: {_list_names(tests)}")
        lines += self.notes
        lines.append(self._counts())
        return "\n".join(lines)

    def _failures(self) -> list[str]:
        """What failed, each way of failing once."""
        groups: dict[tuple[str, ...], list[FailedTest]] = {}
        for failure in self.failures:
            groups.setdefault(failure.failure_key(), []).append(failure)
        lines: list[str] = []
        size = shown = 0
        for first, *others in list(groups.values())[:_SHOWN_FAILURES]:
            text = first.text()
            if others:
                is_target = all(failure.test == failure.target_id for failure in others)
                what = plural(len(others), "more target" if is_target else "more test")
                text += f"\n  … the same in {what}: {_list_names([failure.test for failure in others])}"
            if shown and size + len(text) > _SHOWN_CHARS:
                break
            lines.append(text)
            size += len(text)
            shown += 1
        left = [failure.test for group in list(groups.values())[shown:] for failure in group]
        if left or self.more_failures:
            count = len(left) + self.more_failures
            lines.append(f"and {count} more: {', '.join(left[:_SHOWN_NAMES])}{' …' if count > _SHOWN_NAMES else ''}")
        return lines

    def _not_run(self) -> list[str]:
        left = [result for result in self.results if result.note.startswith("not run: ")]
        lines = [
            f"NOT RUN {result.target_id}: {result.note.removeprefix('not run: ')}" for result in left[:_SHOWN_NOT_RUN]
        ]
        if len(left) > _SHOWN_NOT_RUN:
            lines.append(f"NOT RUN and {len(left) - _SHOWN_NOT_RUN} more")
        return lines

    def _counts(self) -> str:
        summary, progress = self.summary, self.progress
        tests = [f"{summary.tests_failed} failed"] if summary.tests_failed else []
        tests.append(f"{summary.tests_passed} passed")
        tests += [f"{summary.tests_skipped} skipped"] if summary.tests_skipped else []
        count = progress.total - progress.unmatched
        done = progress.completed - progress.unmatched
        over = plural(count, "target") if done == count else f"{done} of {plural(count, 'target')}"
        if progress.unmatched and count:
            over += f" (no match in {progress.unmatched} more)"
        elif progress.unmatched:
            tests, over = ["nothing ran"], plural(progress.unmatched, "target")
        elif not summary.tests and (self.errors or not progress.total):
            tests = ["nothing ran"]
        total = len(self.failures) + self.more_failures
        is_new = bool(total) and len(summary.new_failures) == total
        all_new = ", all new" if is_new and not summary.first_runs else ""
        over += ", first run" if is_new and len(summary.first_runs) == total else ""
        state = "" if self.status == "completed" else f"{self.status} "
        # The output of one that failed is fetched by its id.
        named = f" {self.run_id}" if self.failures or self.errors or self.status != "completed" else ""
        took = f"{summary.total_duration_ms / 1000:.1f} s"
        if progress.reused:
            what = took if progress.reused < done else ""
            how = f"{progress.reused} reused" if what else "reused"
            took = (
                f"{what}{', ' * bool(what)}{how} from {self.reused_from[-1]}: nothing changed since; fresh=true reruns"
            )
        return f"[{state}{', '.join(tests)}{all_new} in {over}, {took}{named}]"


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


class PastRun(Result):
    """One run of the past, in a line."""

    run_id: str
    status: RunStatus
    began_at: str
    state: str
    duration_ms: int
    targets: int
    tests: int
    passed: int
    failed: int
    skipped: int
    new_failures: int
    fixed: int

    def text(self) -> str:
        return (
            f"{self.run_id} {self.began_at[:19]} {self.status}: {self.failed} failed, {self.passed} passed"
            f" in {self.duration_ms / 1000:.1f} s"
        )


class FlakyTest(Result):
    """A test that passed and failed while the code was the same."""

    test: str
    passed: int
    failed: int
    state: str
    seen_at: str


class SlowTarget(Result):
    """A target by the time that it takes: the median of its last runs, and those, the newest last."""

    target_id: str
    median_ms: int
    last_ms: tuple[int, ...]


class HistoryResult(Result):
    """Runs, the newest first, and what they say together."""

    runs: tuple[PastRun, ...]
    kept: int
    most_kept: int
    flaky: tuple[FlakyTest, ...] = ()
    flaky_count: int = 0
    slowest: tuple[SlowTarget, ...] = ()
    pagination: Pagination = Pagination()

    def text(self) -> str:
        lines = [run.text() for run in self.runs] or ["[no runs are kept]"]
        lines += [
            f"flaky: {test.test} ({test.passed} passed, {test.failed} failed on the same code)" for test in self.flaky
        ]
        lines += [f"slow: {target.target_id} {target.median_ms / 1000:.1f} s" for target in self.slowest]
        return "\n".join(lines) + self.pagination.line()
