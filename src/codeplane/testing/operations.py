"""`test.discover`, `test.reaching`, `test.run`, `test.status`, `test.history`, `test.cancel` and `test.output`."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from codeplane.git.read.git_error import name_first
from codeplane.index.files.paths import canonical
from codeplane.kernel.call import Call, Failure
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.errors import TestRunNotFound
from codeplane.kernel.ids import digest
from codeplane.kernel.json import JsonObject
from codeplane.kernel.json import canonical as canonical_json
from codeplane.kernel.operation import Assessment, Budget, Preview, Risk, assesses, operation, previews
from codeplane.kernel.page import Pagination
from codeplane.kernel.trace import normalise_trace
from codeplane.testing.baseline import Comparison, FailedCase
from codeplane.testing.requests import (
    DiscoverRequest,
    HistoryRequest,
    OutputRequest,
    ReachingRequest,
    RunRequest,
    StatusRequest,
)
from codeplane.testing.results import (
    DiscoverResult,
    FlakyTest,
    FoundTarget,
    HistoryResult,
    OutputResult,
    PastRun,
    ReachingResult,
    ReachingTarget,
    RunResult,
    SlowTarget,
)
from codeplane.testing.run import Listener
from codeplane.testing.suite import Suite
from codeplane.testing.target import Target

_STREAM = "baselines"
_RECORDED = "baseline.recorded"
_FAILING = 100
_FLAKY = 50
_SLOWEST = 20


class TestOperations:
    """Finds and runs the repository's tests."""

    __test__ = False

    def __init__(self, *, root: Path, suite: Suite, cursors: Cursors) -> None:
        self._root = root
        self._suite = suite
        self._cursors = cursors

    @operation("test.discover", risk=Risk.READ)
    async def discover(self, call: Call, request: DiscoverRequest) -> DiscoverResult:
        """The tests that can be run, each with its runner and what it is likely to cost."""
        paths = [canonical(path, root=self._root) for path in request.paths]
        asked = digest(canonical_json(request.model_dump(mode="json", exclude={"cursor", "limit"})))
        scope = f"test.discover:{call.task.session_id if call.task else ''}:{asked}"
        after = str(self._cursors.open(request.cursor, scope=scope)["after"]) if request.cursor else ""
        targets = [
            target
            for target in await self._suite.targets()
            if not paths or any(target.matches_path(path) for path in paths)
        ]
        counts: dict[str, int] = {}
        for target in targets:
            counts[target.runner_name] = counts.get(target.runner_name, 0) + 1
        # By name, so that files added or deleted between pages make none skipped or repeated.
        left = [target for target in targets if _key(target) > after]
        page = left[: request.limit]
        cursor = None
        if len(left) > len(page):
            cursor = self._cursors.issue(scope=scope, state={"after": _key(page[-1])})
        return DiscoverResult(
            targets=tuple(self._target_info(target) for target in page),
            total=len(targets),
            runners=counts,
            missing_runners=self._suite.missing_runners(targets),
            pagination=Pagination(next_cursor=cursor, total_estimate=len(targets)),
        )

    @operation("test.reaching", risk=Risk.READ)
    async def reaching(self, call: Call, request: ReachingRequest) -> ReachingResult:
        """The tests that reach a file by imports, or of many those nearest to the definition at its lines."""
        path = canonical(request.path, root=self._root)
        lines = ((request.line, max(request.line, request.end_line)),) if request.line else ()
        found = await self._suite.impact.reaching(path, lines)
        return ReachingResult(
            targets=tuple(ReachingTarget(target_id=each.path, reason=each.reason) for each in found.reached),
            total=len(found.reached) + found.left_out,
            notes=found.notes,
        )

    @operation(
        "test.run",
        risk=Risk.WRITE,
        budget=Budget.TEST_RUN,
        capability="execute_tools",
        toolset="core",
        timeout_sec=0,
        # Tests that were cut off are run again by the next call.
        repeatable=True,
    )
    async def run(self, call: Call, request: RunRequest) -> RunResult:
        """Run tests: all, named ones, or with impacted=true those that reach what changed. Failures come first, with
        what is new and fixed since the last run; test_output has the rest. Results are reused while nothing changes."""
        if not request.wait:
            self._warn(call)
            result = (await self._suite.start(request)).result()
        else:
            result, _ = await self.run_with_failures(call, request)
            # Failures of a baseline are no failures of the task.
            if result.failures and not request.baseline:
                call.report_failure(failure(result))
        if result.baseline_of:
            summary = result.summary
            counts: JsonObject = {"passed": summary.tests_passed, "failed": summary.tests_failed}
            await call.record([(_STREAM, _RECORDED, {"commit": result.baseline_of, "run_id": result.run_id, **counts})])
        return result

    async def run_with_failures(self, call: Call, request: RunRequest) -> tuple[RunResult, tuple[FailedCase, ...]]:
        """Run tests; return the result and all failures."""
        self._warn(call)
        result, failures = await self._suite.run_with_failures(request, listener=_listener(call))
        if not result.is_green and (hidden := await asyncio.to_thread(self._suite.hidden_secrets)):
            call.warn(f"empty in the sandbox, unless tests.secrets names them: {name_first(hidden)}")
        return result, failures

    async def compare(self, call: Call, result: RunResult, failures: Sequence[FailedCase]) -> Comparison:
        """Tell which failures are older than what changed since the last commit."""
        return await self._suite.compare(result, failures, _listener(call))

    async def record_at_head(self, result: RunResult) -> None:
        """Record a run as the baseline of the commit that was just made of its files."""
        await self._suite.record_at_head(result.state)

    def _warn(self, call: Call) -> None:
        if missing := self._suite.why_unsandboxed():
            call.warn(f"the tests ran without a sandbox, secrets files in their sight: {missing}")

    @assesses("test.run")
    def assess_run(self, request: RunRequest) -> Assessment:
        """Assess running the repository's code: sandboxed it can write only the workspace, else do what a shell can."""
        missing = self._suite.why_unsandboxed()
        # Which machines that code would reach is not known before.
        remotes = ("*",) if self._suite.reaches_network() else ()
        if not missing:
            return Assessment(risk=Risk.WRITE, remotes=remotes)
        return Assessment(
            risk=Risk.DESTRUCTIVE,
            effects=(f"it runs the repository's code without a sandbox ({missing})",),
            remotes=remotes,
        )

    @previews("test.run")
    async def preview_run(self, request: RunRequest) -> Preview:
        """Show the commands and folders, and the state of the code that they run."""
        return await self._suite.preview(request)

    @operation("test.status", risk=Risk.READ)
    async def status(self, call: Call, request: StatusRequest) -> RunResult:
        """How a run goes or went; the newest without run_id."""
        return self._suite.result(request.run_id)

    @operation("test.history", risk=Risk.READ)
    async def past(self, call: Call, request: HistoryRequest) -> HistoryResult:
        """Runs that are kept, the newest first; tests that went both ways on the same code; the slowest targets."""
        scope = "test.history"
        after = str(self._cursors.open(request.cursor, scope=scope)["after"]) if request.cursor else None
        run_ids = await asyncio.to_thread(self._suite.run_ids)
        left = [run_id for run_id in run_ids if after is None or run_id < after]
        page = left[: request.limit]
        cursor = None
        if len(left) > len(page):
            cursor = self._cursors.issue(scope=scope, state={"after": page[-1]})
        runs, flaky = await asyncio.to_thread(lambda: (self._runs(page), self._suite.flakiness.flaky()))
        return HistoryResult(
            runs=tuple(runs),
            kept=len(run_ids),
            most_kept=self._suite.most_kept,
            flaky=tuple(FlakyTest(**asdict(test)) for test in flaky[:_FLAKY]),
            flaky_count=len(flaky),
            slowest=tuple(
                SlowTarget(
                    target_id=target_id,
                    median_ms=round(median * 1000),
                    last_ms=tuple(round(seconds * 1000) for seconds in last),
                )
                for target_id, median, last in self._suite.history.slowest(_SLOWEST)
            ),
            pagination=Pagination(next_cursor=cursor, total_estimate=len(run_ids)),
        )

    def _runs(self, run_ids: Sequence[str]) -> list[PastRun]:
        found: list[PastRun] = []
        for run_id in run_ids:
            # A run that was interrupted by the server's end has no result.
            with suppress(TestRunNotFound):
                found.append(_past(self._suite.result(run_id)))
        return found

    @operation("test.cancel", risk=Risk.WRITE, capability="execute_tools")
    async def cancel(self, call: Call, request: StatusRequest) -> RunResult:
        """End a run with every process it started; what it found until then is its result."""
        run = self._suite.find(request.run_id)
        if run is None:
            if request.run_id:
                # A run that is over stays as it is.
                return self._suite.result(request.run_id)
            raise TestRunNotFound("no run is under way")
        await run.cancel()
        return run.result()

    @operation("test.output", risk=Risk.READ)
    async def output(self, call: Call, request: OutputRequest) -> OutputResult:
        """What the process of a target printed, as it printed it; the end without an offset."""
        part = await asyncio.to_thread(
            self._suite.output,
            request.run_id,
            request.target,
            offset=request.offset,
            limit=request.limit,
            margin=call.secrets_margin(),
        )
        end = part.offset + part.end - part.begin
        return OutputResult(
            run_id=part.run_id,
            target_id=part.target_id,
            offset=part.offset,
            next_offset=end if end < part.total else None,
            total_bytes=part.total,
            shared_with=part.shared_with,
            output=call.part(part.around, part.begin, part.end).decode(errors="replace"),
        )

    def _target_info(self, target: Target) -> FoundTarget:
        return FoundTarget(
            target_id=target.target_id,
            path=target.path,
            language=target.language,
            runner=target.runner_name,
            root=target.root,
            estimated_cost=round(self._suite.history.cost(target.target_id), 3),
            test_count=target.test_count,
        )


def _listener(call: Call) -> Listener:
    async def progress(done: int, total: int, message: str) -> None:
        await call.progress(done, total, message)

    return progress


def _key(target: Target) -> str:
    return f"{target.path}\0{target.runner_name}"


def _past(result: RunResult) -> PastRun:
    summary = result.summary
    return PastRun(
        run_id=result.run_id,
        status=result.status,
        began_at=result.began_at,
        state=result.state,
        duration_ms=summary.total_duration_ms,
        targets=result.progress.total,
        tests=summary.tests,
        passed=summary.tests_passed,
        failed=summary.tests_failed,
        skipped=summary.tests_skipped,
        new_failures=len(summary.new_failures),
        fixed=len(summary.fixed),
    )


def failure(result: RunResult) -> Failure:
    """Return what failed, for the task's fingerprints: the tests, and how the first of them failed."""
    first = min(result.failures, key=lambda failure: failure.test)
    trace = "\n".join(
        sorted({normalise_trace(failure.stack or failure.message) for failure in result.failures})[:_FAILING]
    )
    return Failure(
        kind=first.kind,
        trace=trace,
        failing_tests=tuple(sorted(failure.test for failure in result.failures)[:_FAILING]),
        exit_code=1,
    )
