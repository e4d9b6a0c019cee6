"""A run under way: what it is doing, how it can be ended, and what it comes to."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from msgspec import structs

from codeplane.kernel.errors import CodePlaneError
from codeplane.testing.baseline import Failed
from codeplane.testing.case import Case, CaseStatus
from codeplane.testing.command import Filters
from codeplane.testing.environment_state import EnvironmentState
from codeplane.testing.execution import Execution
from codeplane.testing.fingerprint import fingerprint
from codeplane.testing.history import History
from codeplane.testing.outcome import Outcome
from codeplane.testing.packing import Batch, packed
from codeplane.testing.parent_tree import Head
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
from codeplane.testing.target import Wanted

Listener = Callable[[int, int, str], Awaitable[None]]
_OVER: dict[str, str] = {"cancelled": "the run was cancelled", "failed": "the run's time was up"}
_MAX_NAMED = 200
_MAX_LINE = 200
_MAX_STACK = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to be run, and how."""

    wanted: tuple[Wanted, ...]
    filters: Filters
    workers: int
    seconds: float
    rerun_failed: int = 0
    reasons: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    began_at: str = ""
    state: str = ""
    """What the code is at the start, in one value."""
    environment: EnvironmentState | None = None
    lineage: str = ""
    head: Head | None = None
    baseline_of: str = ""
    """The commit whose files are run, where those are not the work tree's."""
    reused: Mapping[str, Outcome] = field(default_factory=dict)
    """Outcomes of an earlier run that still hold, by target."""
    remembered: bool = False
    """Whether the names are those of what failed last time; nobody asked for one that is there no more."""


class Run:
    """One run, from its start to its result."""

    def __init__(
        self,
        run_id: str,
        plan: Plan,
        history: History,
        execution: Callable[["Run"], Execution],
        observe: Callable[[EnvironmentState], Awaitable[tuple[str, EnvironmentState]]],
    ) -> None:
        """`observe` gives the state of code and environment at the end: outcomes are of no state that changed since
        the start."""
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
        """Begin; `finished` is told when it is over, however it ended."""

        async def work() -> None:
            try:
                async with asyncio.timeout(self.plan.seconds):
                    await self._work()
                self.is_steady = await self._is_unchanged()
                outcomes = self.execution.outcomes.values()
                # With no runner at all there is no result that could be complete.
                nothing = bool(outcomes) and all(one.not_started is not None for one in outcomes)
                self.status = "failed" if nothing else "completed"
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
        """Whether the code is as it was at the start."""
        if self.plan.environment is None or self.is_reused:
            return False
        state, self.environment_after = await self._observe(self.plan.environment)
        return bool(self.plan.state) and state == self.plan.state

    @property
    def is_reused(self) -> bool:
        """Whether nothing had to run, since all results of an earlier run still hold."""
        return bool(self.plan.wanted) and len(self.plan.reused) == len(self.plan.wanted)

    async def cancel(self) -> None:
        """End it with every process it started."""
        if self._working is not None and not self._working.done():
            self._working.cancel()
            await asyncio.wait({self._working})
        # Cancelled before its first step, it had no chance to say so itself.
        if not self.over.is_set():
            self.status = "cancelled"
            self._end()

    def _end(self) -> None:
        self.execution.unfinished(self.plan.wanted, self._why or _OVER.get(self.status, "an earlier one failed"))
        self._seconds = time.monotonic() - self._began
        self._compare()
        self.over.set()
        if self._finished is not None:
            self._finished(self)

    async def wait(self) -> None:
        """Until it is over; what went wrong with it is raised."""
        assert self._working is not None
        await asyncio.wait({self._working})
        if not self._working.cancelled() and (error := self._working.exception()) is not None:
            raise error

    async def told(self, ended: Outcome | None, line: str) -> None:
        """Tell the listener how far it is."""
        if self.listener is not None:
            done, total = len(self.execution.outcomes), len(self.plan.wanted)
            said = f"{ended.target_id} {ended.status}" if ended is not None else _start_of(line)
            await self.listener(min(done, total), total, said)

    async def _work(self) -> None:
        wanted = [one for one in self.plan.wanted if one.target_id not in self.plan.reused]
        cost = {one.target_id: self._history.cost(one.target_id) for one in wanted}
        workers = packed(wanted, self.plan.workers, lambda one: cost[one.target_id])
        await self.execution.all(workers)
        for _ in range(self.plan.rerun_failed):
            again = [one for one in self.execution.outcomes.values() if one.bad]
            if not again:
                break
            await self._rerun(again)

    async def _rerun(self, failed: Sequence[Outcome]) -> None:
        """Run what failed once more; what passes now is flaky."""
        first = {one.target_id: one for one in failed}
        self.execution.filters = replace(self.execution.filters, fail_fast=False)
        for one in failed:
            names = tuple(case.name for case in one.bad) if len(one.bad) <= _MAX_NAMED else ()
            is_named = names and one.wanted.target.runner is not None and one.wanted.target.runner.node_ids
            wanted = replace(one.wanted, names=names if is_named and all(map(_is_test, one.bad)) else one.wanted.names)
            await self.execution.all([[Batch(wanted=(wanted,))]])
            second = self.execution.outcomes[one.target_id]
            self.execution.outcomes[one.target_id] = self._settled(first[one.target_id], second)

    def _settled(self, first: Outcome, second: Outcome) -> Outcome:
        still = {case.name: case for case in second.bad}
        passed = {case.name for case in second.cases if case.status == "passed"}
        cases: list[Case] = []
        for case in first.cases:
            if case.is_bad and case.name in passed:
                self._flaky.append(_test(first.target_id, case))
                case = structs.replace(case, status="passed")
            elif case.is_bad and case.name in still:
                case = still[case.name]
            elif case.is_bad and not _is_test(case) and not still:
                # The process itself failed, and now it did not.
                self._flaky.append(_test(first.target_id, case))
                continue
            cases.append(case)
        statuses = {case.status for case in cases}
        status: CaseStatus = "error" if "error" in statuses else "failed" if "failed" in statuses else "passed"
        return replace(first, cases=tuple(cases), status=status, output=second.output, shared=second.shared)

    def _compare(self) -> None:
        """What is new and what is fixed since these tests ran last, and remember it for the next time."""
        whole = self.plan.filters.is_whole
        for one in self.execution.outcomes.values():
            target_id = one.target_id
            if one.reused_from:
                continue
            if one.missing and self.plan.remembered:
                gone = [f"{target_id}::{name}" for name in one.missing]
                self._history.note(target_id, seconds=None, ran=gone, bad=(), whole=False)
            if not one.ran or one.unmatched:
                continue
            bad = [_test(target_id, case) for case in one.bad]
            ran = [_test(target_id, case) for case in one.cases if case.status != "skipped"]
            before = set(self._history.failing(target_id))
            self._new += [test for test in bad if test not in before]
            is_known = self._history.ran(target_id)
            self._first += [
                test
                for test in bad
                if not self._history.has_result(target_id, test) and not (is_known and test == target_id)
            ]
            is_whole = whole and not one.wanted.names
            good = set(ran) - set(bad)
            # A target that ran whole and well has also mended what is no test's own, such as not loading.
            mended = before - set(bad) if is_whole and not bad else before & good
            self._fixed += sorted(mended)
            is_timed = one.status in ("passed", "failed") and is_whole
            self._history.note(
                target_id, seconds=one.seconds if is_timed else None, ran=[*ran, *mended], bad=bad, whole=is_whole
            )

    @property
    def missing(self) -> list[tuple[Wanted, str]]:
        """The names that were asked for and that are not there, each with its target."""
        found = [] if self.plan.remembered else self.execution.outcomes.values()
        return [(one.wanted, name) for one in found for name in one.missing]

    def result(self) -> RunResult:
        """How far it is, or how it went."""
        outcomes = sorted(self.execution.outcomes.values(), key=lambda one: one.target_id)
        failures = [_failed(one.target_id, case) for one in outcomes for case in one.bad]
        cases = [case for one in outcomes for case in one.cases]
        counts = {status: sum(one.status == status for one in outcomes) for status in ("passed", "skipped")}
        done = sum(one.ran for one in outcomes)
        seconds = self._seconds if self.over.is_set() or self._seconds else time.monotonic() - self._began
        results = [_target(one, self.plan.reasons.get(one.target_id, "")) for one in outcomes]
        passed = [one for one in results if one.status == "passed"]
        kept = [one for one in results if one.status != "passed"][:MAX_FAILURES] + passed[:MAX_PASSED]
        return RunResult(
            run_id=self.run_id,
            status=self.status,
            progress=RunProgress(
                total=len(self.plan.wanted),
                completed=done,
                passed=counts["passed"],
                failed=sum(bool(one.bad) for one in outcomes),
                skipped=counts["skipped"],
                unmatched=sum(one.unmatched for one in outcomes),
                reused=sum(bool(one.reused_from) for one in outcomes),
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
            results=tuple(sorted(kept, key=lambda one: one.target_id)),
            not_found=self.not_found,
            errors=_errors(outcomes),
            notes=self.plan.notes + self._notes(outcomes),
            began_at=self.plan.began_at,
            state=self.plan.state,
            baseline_of=self.plan.baseline_of,
            sandboxed=self.execution.means.sandbox is not None,
            reused_from=tuple(sorted({one.reused_from for one in outcomes if one.reused_from})),
        )

    def cases(self) -> dict[str, bool]:
        """Whether each test passed that came to an end of its own."""
        fresh = [one for one in self.execution.outcomes.values() if one.ran and not one.reused_from]
        ended = [(one.target_id, case) for one in fresh for case in one.cases]
        return {_test(target_id, case): not case.is_bad for target_id, case in ended if case.status != "skipped"}

    def failed(self) -> tuple[Failed, ...]:
        """Every test that failed."""
        outcomes = sorted(self.execution.outcomes.values(), key=lambda one: one.target_id)
        return tuple(
            Failed(
                test=_test(one.target_id, case),
                target_id=one.target_id,
                kind=case.kind,
                fingerprint=fingerprint(one.target_id, case),
            )
            for one in outcomes
            for case in one.bad
        )

    @property
    def flaky(self) -> tuple[str, ...]:
        """The tests that failed first and passed when they were run again."""
        return tuple(sorted(set(self._flaky)))

    def outputs(self) -> dict[str, tuple[str, int]]:
        """The file of each target's output, and how many targets share it."""
        return {one.target_id: (one.output, one.shared) for one in self.execution.outcomes.values() if one.output}

    def _notes(self, outcomes: Sequence[Outcome]) -> tuple[str, ...]:
        found: list[str] = []
        if empty := [one.target_id for one in outcomes if one.note == "no tests"]:
            found.append(f"no tests in {', '.join(empty[:5])}{' …' if len(empty) > 5 else ''}")
        if gone := [f"{one.target_id}::{name}" for one in outcomes for name in one.missing if self.plan.remembered]:
            found.append(f"no longer there: {', '.join(gone[:5])}{' …' if len(gone) > 5 else ''}")
        filters = self.plan.filters
        if filters.chooses and outcomes and all(one.unmatched for one in outcomes):
            asked = [f"matches {filters.pattern!r}"] if filters.pattern else []
            asked += [f"has the tag {' or '.join(filters.tags)}"] if filters.tags else []
            found.append(f"no test {' and '.join(asked)}")
        return tuple(found)


def _errors(outcomes: Sequence[Outcome]) -> tuple[RunnerError, ...]:
    """The runners that did not start, each with its targets."""
    found: dict[tuple[str, str, str], list[Outcome]] = {}
    for one in outcomes:
        if one.not_started is not None:
            target, why = one.wanted.target, one.not_started
            found.setdefault((target.runner_name, why.reason, why.fix), []).append(one)
    return tuple(
        RunnerError(
            runner=runner,
            reason=reason,
            fix=fix,
            targets=tuple(one.target_id for one in of[:_MAX_NAMED]),
            target_count=len(of),
        )
        for (runner, reason, fix), of in found.items()
    )


def _failed(target_id: str, case: Case) -> FailedTest:
    return FailedTest(
        test=_test(target_id, case),
        target_id=target_id,
        status=case.status,
        kind=case.kind,
        message=case.message,
        stack=case.stack,
        line=case.line,
        fingerprint=fingerprint(target_id, case),
    )


def _target(one: Outcome, reason: str) -> TargetResult:
    first = one.bad[0] if one.bad else None
    return TargetResult(
        target_id=one.target_id,
        runner=one.wanted.target.runner_name,
        status=one.status,
        duration_ms=round(one.seconds * 1000),
        tests=len(one.cases),
        note=one.note,
        reason=reason,
        failure=TargetFailure(message=first.message, stack=_end_of(first.stack)) if first is not None else None,
    )


def _test(target_id: str, case: Case) -> str:
    """A test by its target and name; one that is the target's own failure by the target alone."""
    return f"{target_id}::{case.name}" if _is_test(case) else target_id


def _is_test(case: Case) -> bool:
    return not case.is_whole


def _start_of(line: str) -> str:
    return line if len(line) <= _MAX_LINE else f"{line[:_MAX_LINE]}…"


def _end_of(stack: str) -> str:
    return stack if len(stack) <= _MAX_STACK else f"…{stack[-_MAX_STACK:]}"
