"""A test run: its start, its cancellation, and its result."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from msgspec import structs

from codeplane.kernel.errors import CodePlaneError
from codeplane.testing.baseline import FailedCase
from codeplane.testing.batches import Batch, assign_batches
from codeplane.testing.case import Case, CaseStatus
from codeplane.testing.environment_state import EnvironmentState
from codeplane.testing.execution import Execution
from codeplane.testing.fingerprint import fingerprint
from codeplane.testing.history import History
from codeplane.testing.outcome import Outcome
from codeplane.testing.results import (
    MAX_FAILURES,
    MAX_PASSED,
    FailedTest,
    RunnerError,
    RunProgress,
    RunResult,
    RunStatus,
    RunSummary,
    TargetFailure,
    TargetResult,
)
from codeplane.testing.run_plan import RunPlan
from codeplane.testing.target import TargetSelection

Listener = Callable[[int, int, str], Awaitable[None]]
_STOPPED: dict[str, str] = {"cancelled": "the run was cancelled", "failed": "the run's time was up"}
_MAX_NAMED = 200
_MAX_LINE = 200
_MAX_STACK = 2000


class Run:
    """One run, from its start to its result."""

    def __init__(
        self,
        run_id: str,
        plan: RunPlan,
        history: History,
        execution: Callable[["Run"], Execution],
        observe: Callable[[EnvironmentState], Awaitable[tuple[str, EnvironmentState]]],
    ) -> None:
        """`observe` returns the state of code and environment at the end: outcomes count only if it did not change."""
        self.run_id = run_id
        self._observe = observe
        self.is_steady = False
        self.environment_after: EnvironmentState | None = None
        self.plan = plan
        self.status: RunStatus = "running"
        self.listener: Listener | None = None
        self._history = history
        self._began = time.monotonic()
        self._seconds = 0.0
        self._why = ""
        self.not_found: tuple[str, ...] = ()
        self._flaky: list[str] = []
        self._new: list[str] = []
        self._fixed: list[str] = []
        self._first: list[str] = []
        self.execution = execution(self)
        self.execution.outcomes |= plan.reused
        self._working: asyncio.Task[None] | None = None
        self._finished: Callable[[Run], None] | None = None
        self.over = asyncio.Event()

    def start(self, finished: Callable[["Run"], None]) -> None:
        """Start; `finished` is called when the run is over, however it ended."""

        async def work() -> None:
            try:
                async with asyncio.timeout(self.plan.seconds):
                    await self._work()
                self.is_steady = await self._is_unchanged()
                outcomes = self.execution.outcomes.values()
                # If no runner started, there is no result that could be complete.
                none_started = bool(outcomes) and all(outcome.not_started is not None for outcome in outcomes)
                self.status = "failed" if none_started else "completed"
            except TimeoutError:
                self.status = "failed"
            except asyncio.CancelledError:
                self.status = "cancelled"
            except CodePlaneError as error:
                self.status, self._why = "failed", error.message
                raise
            except BaseException:
                self.status = "failed"
                raise
            finally:
                self._end()

        self._finished = finished
        self._working = asyncio.create_task(work())

    async def _is_unchanged(self) -> bool:
        """Whether the code is the same as at the start."""
        if self.plan.environment is None or self.is_reused:
            return False
        state, self.environment_after = await self._observe(self.plan.environment)
        return bool(self.plan.state) and state == self.plan.state

    @property
    def is_reused(self) -> bool:
        """Whether nothing had to run, because all outcomes of an earlier run still hold."""
        return bool(self.plan.wanted) and len(self.plan.reused) == len(self.plan.wanted)

    async def cancel(self) -> None:
        """Cancel the run, and kill every process it started."""
        if self._working is not None and not self._working.done():
            self._working.cancel()
            await asyncio.wait({self._working})
        # A task that is cancelled before its first step cannot set the status itself.
        if not self.over.is_set():
            self.status = "cancelled"
            self._end()

    def _end(self) -> None:
        self.execution.mark_unfinished(
            self.plan.wanted, self._why or _STOPPED.get(self.status, "an earlier one failed")
        )
        self._seconds = time.monotonic() - self._began
        self._compare()
        self.over.set()
        if self._finished is not None:
            self._finished(self)

    async def wait(self) -> None:
        """Wait until the run is over; raise the error that it ended with."""
        assert self._working is not None
        await asyncio.wait({self._working})
        if not self._working.cancelled() and (error := self._working.exception()) is not None:
            raise error

    async def notify(self, outcome: Outcome | None, line: str) -> None:
        """Report the progress of the run to the listener."""
        if self.listener is not None:
            done, total = len(self.execution.outcomes), len(self.plan.wanted)
            message = f"{outcome.target_id} {outcome.status}" if outcome is not None else _start_of(line)
            await self.listener(min(done, total), total, message)

    async def _work(self) -> None:
        wanted = [selection for selection in self.plan.wanted if selection.target_id not in self.plan.reused]
        cost = {selection.target_id: self._history.cost(selection.target_id) for selection in wanted}
        workers = assign_batches(wanted, self.plan.workers, lambda selection: cost[selection.target_id])
        await self.execution.run_all(workers)
        for _ in range(self.plan.rerun_failed):
            failed = [outcome for outcome in self.execution.outcomes.values() if outcome.bad]
            if not failed:
                break
            await self._rerun(failed)

    async def _rerun(self, failed: Sequence[Outcome]) -> None:
        """Run the failed tests once more; those that pass now are flaky."""
        first = {outcome.target_id: outcome for outcome in failed}
        self.execution.filters = replace(self.execution.filters, fail_fast=False)
        for outcome in failed:
            names = tuple(case.name for case in outcome.bad) if len(outcome.bad) <= _MAX_NAMED else ()
            is_named = names and outcome.wanted.target.runner is not None and outcome.wanted.target.runner.node_ids
            wanted = replace(
                outcome.wanted, names=names if is_named and all(map(_is_test, outcome.bad)) else outcome.wanted.names
            )
            await self.execution.run_all([[Batch(wanted=(wanted,))]])
            second = self.execution.outcomes[outcome.target_id]
            self.execution.outcomes[outcome.target_id] = self._merge_rerun(first[outcome.target_id], second)

    def _merge_rerun(self, first: Outcome, second: Outcome) -> Outcome:
        still = {case.name: case for case in second.bad}
        passed = {case.name for case in second.cases if case.status == "passed"}
        cases: list[Case] = []
        for case in first.cases:
            if case.is_bad and case.name in passed:
                self._flaky.append(_test_id(first.target_id, case))
                case = structs.replace(case, status="passed")
            elif case.is_bad and case.name in still:
                case = still[case.name]
            elif case.is_bad and not _is_test(case) and not still:
                # The process itself failed at first, and did not now.
                self._flaky.append(_test_id(first.target_id, case))
                continue
            cases.append(case)
        statuses = {case.status for case in cases}
        status: CaseStatus = "error" if "error" in statuses else "failed" if "failed" in statuses else "passed"
        return replace(first, cases=tuple(cases), status=status, output=second.output, shared=second.shared)

    def _compare(self) -> None:
        """Find the tests that newly fail and those that are fixed since they ran last, and record the results."""
        whole = self.plan.filters.is_whole
        for outcome in self.execution.outcomes.values():
            target_id = outcome.target_id
            if outcome.reused_from:
                continue
            if outcome.missing and self.plan.remembered:
                gone = [f"{target_id}::{name}" for name in outcome.missing]
                self._history.note(target_id, seconds=None, ran=gone, bad=(), whole=False)
            if not outcome.ran or outcome.unmatched:
                continue
            bad = [_test_id(target_id, case) for case in outcome.bad]
            ran = [_test_id(target_id, case) for case in outcome.cases if case.status != "skipped"]
            before = set(self._history.failing_tests(target_id))
            self._new += [test for test in bad if test not in before]
            is_known = self._history.ran(target_id)
            self._first += [
                test
                for test in bad
                if not self._history.has_result(target_id, test) and not (is_known and test == target_id)
            ]
            is_whole = whole and not outcome.wanted.names
            good = set(ran) - set(bad)
            # A whole target that passed has also fixed failures that belong to no test, such as not loading.
            fixed = before - set(bad) if is_whole and not bad else before & good
            self._fixed += sorted(fixed)
            is_timed = outcome.status in ("passed", "failed") and is_whole
            self._history.note(
                target_id, seconds=outcome.seconds if is_timed else None, ran=[*ran, *fixed], bad=bad, whole=is_whole
            )

    @property
    def missing(self) -> list[tuple[TargetSelection, str]]:
        """The requested names that do not exist, each with its target."""
        found = [] if self.plan.remembered else self.execution.outcomes.values()
        return [(outcome.wanted, name) for outcome in found for name in outcome.missing]

    def result(self) -> RunResult:
        """Return the result so far, or in the end."""
        outcomes = sorted(self.execution.outcomes.values(), key=lambda outcome: outcome.target_id)
        failures = [_failed_test(outcome.target_id, case) for outcome in outcomes for case in outcome.bad]
        cases = [case for outcome in outcomes for case in outcome.cases]
        counts = {status: sum(outcome.status == status for outcome in outcomes) for status in ("passed", "skipped")}
        done = sum(outcome.ran for outcome in outcomes)
        seconds = self._seconds if self.over.is_set() or self._seconds else time.monotonic() - self._began
        results = [_target_result(outcome, self.plan.reasons.get(outcome.target_id, "")) for outcome in outcomes]
        passed = [result for result in results if result.status == "passed"]
        listed = [result for result in results if result.status != "passed"][:MAX_FAILURES] + passed[:MAX_PASSED]
        return RunResult(
            run_id=self.run_id,
            status=self.status,
            progress=RunProgress(
                total=len(self.plan.wanted),
                completed=done,
                passed=counts["passed"],
                failed=sum(bool(outcome.bad) for outcome in outcomes),
                skipped=counts["skipped"],
                unmatched=sum(outcome.unmatched for outcome in outcomes),
                reused=sum(bool(outcome.reused_from) for outcome in outcomes),
            ),
            summary=RunSummary(
                total_duration_ms=round(seconds * 1000),
                tests=len(cases),
                tests_passed=sum(case.status == "passed" for case in cases),
                tests_failed=len(failures),
                tests_skipped=sum(case.status == "skipped" for case in cases),
                flaky=self.flaky,
                new_failures=tuple(sorted(self._new)),
                first_runs=tuple(sorted(self._first)),
                fixed=tuple(sorted(self._fixed)),
            ),
            failures=tuple(failures[:MAX_FAILURES]),
            more_failures=max(0, len(failures) - MAX_FAILURES),
            results=tuple(sorted(listed, key=lambda result: result.target_id)),
            not_found=self.not_found,
            errors=_errors(outcomes),
            notes=self.plan.notes + self._notes(outcomes),
            began_at=self.plan.began_at,
            state=self.plan.state,
            baseline_of=self.plan.baseline_of,
            sandboxed=self.execution.context.sandbox is not None,
            reused_from=tuple(sorted({outcome.reused_from for outcome in outcomes if outcome.reused_from})),
        )

    def cases(self) -> dict[str, bool]:
        """Return whether each test passed, for the tests that ran to their end."""
        fresh = [outcome for outcome in self.execution.outcomes.values() if outcome.ran and not outcome.reused_from]
        ended = [(outcome.target_id, case) for outcome in fresh for case in outcome.cases]
        return {_test_id(target_id, case): not case.is_bad for target_id, case in ended if case.status != "skipped"}

    def failed_cases(self) -> tuple[FailedCase, ...]:
        """Return every test that failed."""
        outcomes = sorted(self.execution.outcomes.values(), key=lambda outcome: outcome.target_id)
        return tuple(
            FailedCase(
                test=_test_id(outcome.target_id, case),
                target_id=outcome.target_id,
                kind=case.kind,
                fingerprint=fingerprint(outcome.target_id, case),
            )
            for outcome in outcomes
            for case in outcome.bad
        )

    @property
    def flaky(self) -> tuple[str, ...]:
        """The tests that failed first and passed when they were run again."""
        return tuple(sorted(set(self._flaky)))

    def outputs(self) -> dict[str, tuple[str, int]]:
        """Return the file of each target's output, and how many targets share it."""
        return {
            outcome.target_id: (outcome.output, outcome.shared)
            for outcome in self.execution.outcomes.values()
            if outcome.output
        }

    def _notes(self, outcomes: Sequence[Outcome]) -> tuple[str, ...]:
        found: list[str] = []
        if empty := [outcome.target_id for outcome in outcomes if outcome.note == "no tests"]:
            found.append(f"no tests in {', '.join(empty[:5])}{' …' if len(empty) > 5 else ''}")
        if gone := [
            f"{outcome.target_id}::{name}" for outcome in outcomes for name in outcome.missing if self.plan.remembered
        ]:
            found.append(f"no longer there: {', '.join(gone[:5])}{' …' if len(gone) > 5 else ''}")
        filters = self.plan.filters
        if filters.chooses and outcomes and all(outcome.unmatched for outcome in outcomes):
            asked = [f"matches {filters.pattern!r}"] if filters.pattern else []
            asked += [f"has the tag {' or '.join(filters.tags)}"] if filters.tags else []
            found.append(f"no test {' and '.join(asked)}")
        return tuple(found)


def _errors(outcomes: Sequence[Outcome]) -> tuple[RunnerError, ...]:
    """Return the runners that did not start, each with its targets."""
    found: dict[tuple[str, str, str], list[Outcome]] = {}
    for outcome in outcomes:
        if outcome.not_started is not None:
            target, why = outcome.wanted.target, outcome.not_started
            found.setdefault((target.runner_name, why.reason, why.fix), []).append(outcome)
    return tuple(
        RunnerError(
            runner=runner,
            reason=reason,
            fix=fix,
            targets=tuple(outcome.target_id for outcome in affected[:_MAX_NAMED]),
            target_count=len(affected),
        )
        for (runner, reason, fix), affected in found.items()
    )


def _failed_test(target_id: str, case: Case) -> FailedTest:
    return FailedTest(
        test=_test_id(target_id, case),
        target_id=target_id,
        status=case.status,
        kind=case.kind,
        message=case.message,
        stack=case.stack,
        line=case.line,
        fingerprint=fingerprint(target_id, case),
    )


def _target_result(outcome: Outcome, reason: str) -> TargetResult:
    first = outcome.bad[0] if outcome.bad else None
    return TargetResult(
        target_id=outcome.target_id,
        runner=outcome.wanted.target.runner_name,
        status=outcome.status,
        duration_ms=round(outcome.seconds * 1000),
        tests=len(outcome.cases),
        note=outcome.note,
        reason=reason,
        failure=TargetFailure(message=first.message, stack=_end_of(first.stack)) if first is not None else None,
    )


def _test_id(target_id: str, case: Case) -> str:
    """Return the id of a test, by target and name; a failure of the whole target has the target's id."""
    return f"{target_id}::{case.name}" if _is_test(case) else target_id


def _is_test(case: Case) -> bool:
    return not case.is_target_failure


def _start_of(line: str) -> str:
    return line if len(line) <= _MAX_LINE else f"{line[:_MAX_LINE]}…"


def _end_of(stack: str) -> str:
    return stack if len(stack) <= _MAX_STACK else f"…{stack[-_MAX_STACK:]}"
