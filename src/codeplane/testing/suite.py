"""The tests of one repository: finding them, running them, and the results of the runs."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from codeplane.index.snapshot import Snapshot
from codeplane.kernel.clock import Clock, SystemClock, rfc3339
from codeplane.kernel.config import TestsConfig
from codeplane.kernel.errors import InvalidArgument, NotFound, SandboxMissing, TestRunnerFailed
from codeplane.kernel.ids import new_id
from codeplane.kernel.operation import Preview
from codeplane.query.knowledge import Knowledge
from codeplane.testing.baseline import Baselines, Comparison, FailedCase
from codeplane.testing.baseline_run import BaselineRuns
from codeplane.testing.catalog import DID_YOU_MEAN, TargetCatalog
from codeplane.testing.changes import Changes
from codeplane.testing.code_state import code_state
from codeplane.testing.commit_copy import CommitCopy
from codeplane.testing.environment import clean_environment
from codeplane.testing.environment_state import EnvironmentLog
from codeplane.testing.execution import Execution, ExecutionContext
from codeplane.testing.flakiness import FlakinessLog
from codeplane.testing.history import History
from codeplane.testing.impact import Impact
from codeplane.testing.program import Programs
from codeplane.testing.requests import RunRequest
from codeplane.testing.results import RunResult
from codeplane.testing.reusable_outcomes import ReusableOutcomes
from codeplane.testing.run import Listener, Run
from codeplane.testing.run_planner import RunPlanner
from codeplane.testing.run_registry import RunRegistry
from codeplane.testing.run_store import Excerpt, RunStore
from codeplane.testing.sandbox import Enclosure, ProcessTree, Sandbox
from codeplane.testing.target import Target, TargetSelection
from codeplane.testing.tool_cache import ToolCache

# The folder below a suite's home that sandboxed tools use as their cache.
CACHE = "cache"


class Suite:
    """Finds, selects and runs tests; everything it stores is below `home`."""

    def __init__(
        self,
        *,
        root: Path,
        home: Path,
        knowledge: Knowledge,
        config: TestsConfig,
        environment: Mapping[str, str],
        sandbox: Sandbox,
        tree: ProcessTree,
        clock: Clock | None = None,
    ) -> None:
        self._root = root
        self._clock = clock or SystemClock()
        self._knowledge = knowledge
        self._config = config
        self._environment = environment
        self._sandbox = sandbox
        self._tree = tree
        store = RunStore(home / "runs", most=config.kept_runs)
        self._registry = RunRegistry(store)
        self.history = History(home / "history.json")
        self.flakiness = FlakinessLog(home / "outcomes.json")
        self._reusable = ReusableOutcomes(home / "reuse.json", seconds=config.reuse_sec)
        self._environments = EnvironmentLog(home / "environment.json")
        self._programs = Programs(root, path=environment.get("PATH", ""))
        self._catalog = TargetCatalog(knowledge=knowledge, config=config, programs=self._programs)
        self.impact = Impact(knowledge=knowledge, targets=self.targets_of, changes=Changes(root))
        self._planner = RunPlanner(
            root=root,
            config=config,
            environment=environment,
            clock=self._clock,
            knowledge=knowledge,
            catalog=self._catalog,
            programs=self._programs,
            impact=self.impact,
            history=self.history,
            flakiness=self.flakiness,
            reusable=self._reusable,
            environments=self._environments,
            runs=store,
            tool_cache=ToolCache(home / CACHE),
        )
        self._slots = asyncio.Semaphore(self._planner.workers(None))
        self._baseline_runs = BaselineRuns(
            root=root,
            folder=home / "parent",
            registry=self._registry,
            baselines=Baselines(home / "baselines"),
            clock=self._clock,
            context=self._context,
        )

    def hidden_secrets(self) -> list[str]:
        """Return the secrets files that tested code sees as empty; blocks."""
        if self._config.sandbox == "off" or self._sandbox.unavailable_reason():
            return []
        return self._sandbox.hidden_secrets(Enclosure(root=self._root, secrets=self._config.secrets))

    def why_unsandboxed(self) -> str:
        """Say why tested code would run without a sandbox though none was switched off; empty if it would not."""
        # If a sandbox is required, nothing runs without it, so there is nothing to approve.
        return self._sandbox.unavailable_reason() if self._config.sandbox == "auto" else ""

    def reaches_network(self) -> bool:
        """Whether tested code could reach other machines."""
        return self._config.network or self._config.sandbox == "off" or bool(self.why_unsandboxed())

    async def targets(self) -> tuple[Target, ...]:
        """Return all targets on disk, including tests that were written a moment ago."""
        return await self._catalog.targets()

    def targets_of(self, snapshot: Snapshot) -> tuple[Target, ...]:
        """Return all targets of one state."""
        return self._catalog.targets_of(snapshot)

    def missing_runners(self, targets: Sequence[Target]) -> tuple[str, ...]:
        """Return a message for each runner that targets need and that is not installed, worded as in `doctor`."""
        return self._catalog.missing_runners(targets)

    async def run(self, request: RunRequest, *, listener: Listener | None = None) -> RunResult:
        """Run the requested tests to the end, or until the caller is cancelled; NotFound when there are none."""
        return (await self.run_with_failures(request, listener=listener))[0]

    async def run_with_failures(
        self, request: RunRequest, *, listener: Listener | None = None
    ) -> tuple[RunResult, tuple[FailedCase, ...]]:
        """Run tests as `run` does and return all failures too: a result lists only as many as can be read."""
        run = await self.start(request, listener=listener)
        try:
            await run.wait()
        except asyncio.CancelledError:
            await run.cancel()
            raise
        result = run.result()
        if result.errors and not result.progress.completed:
            error = result.errors[0]
            errors = [error.model_dump(mode="json") for error in result.errors[:5]]
            raise TestRunnerFailed(
                f"{error.runner} did not start, and no test ran: {error.reason}",
                hint=error.fix,
                details={"run_id": result.run_id, "errors": errors},
            )
        if result.not_found and not result.progress.completed and not result.failures:
            first, *others = result.not_found
            name, did, near = first.rpartition(DID_YOU_MEAN)
            raise NotFound(
                f"no test is called {name or first!r}" + (f", nor {len(others)} others" if others else ""),
                hint=f"{did[2:]}{near}" if name else "test_discover lists the files; without ::name all of one is run",
                details={"not_found": list(result.not_found)},
            )
        return result, run.failed_cases()

    async def start(self, request: RunRequest, *, listener: Listener | None = None) -> Run:
        """Start a run; refuse a request that cannot be run at all."""
        if self._config.sandbox == "required" and (missing := self._sandbox.unavailable_reason()):
            raise SandboxMissing(missing)
        plan = await self._planner.plan(request, trim=self._registry.is_idle)
        if request.baseline and plan.head is None:
            raise InvalidArgument("there is no commit yet, and so no baseline", hint="run the tests without baseline")
        if request.baseline and (not plan.filters.is_whole or any(selection.names for selection in plan.wanted)):
            raise InvalidArgument(
                "a baseline is of whole targets", hint="leave out names, pattern, tags, fail_fast and failed_only"
            )
        if request.baseline and plan.head is not None:
            if not plan.head.is_clean:
                return await self._baseline_runs.start(
                    plan.wanted,
                    plan.head,
                    seconds=plan.seconds,
                    workers=plan.workers,
                    timeout_sec=request.timeout_sec,
                    listener=listener,
                )
            # The work tree is what the commit has, and its runs are recorded anyway.
            plan = replace(plan, baseline_of=plan.head.commit)
        run_id = new_id("run")
        folder = await asyncio.to_thread(self._registry.create_folder, run_id)
        context = self._context()
        run = Run(
            run_id,
            plan,
            self.history,
            lambda run: Execution(
                context=context,
                folder=folder,
                filters=plan.filters,
                timeout_sec=request.timeout_sec,
                notify=run.notify,
            ),
            self._planner.observe,
        )
        run.listener = listener
        self._registry.add(run)
        run.start(self._finish)
        return run

    async def compare(self, result: RunResult, failures: Sequence[FailedCase], listener: Listener | None) -> Comparison:
        """Tell which failures of a run are older than what changed since the last commit."""
        return await self._baseline_runs.compare(
            result,
            failures,
            known=self._catalog.known,
            workers=self._planner.workers(None),
            max_seconds=self._config.run_timeout_sec,
            listener=listener,
        )

    async def record_at_head(self, state: str) -> None:
        """Record the outcomes at this state as the baseline of the commit that was just made of it."""
        head = await asyncio.to_thread(self._planner.head)
        reusable_state = self._reusable.state
        if head is None or not head.is_clean or reusable_state.partition(" ")[0] != state:
            return
        snapshot = await (await self._knowledge.fresh()).snapshot(strict=True)
        # A hook may have changed what was committed.
        if await asyncio.to_thread(code_state, (), snapshot) != state:
            return
        wanted = [TargetSelection(target=target) for target in self._catalog.known]
        now_ns = self._clock.now_ns()
        outcomes = self._reusable.find(reusable_state, wanted, kept=self._registry.ids(), now_ns=now_ns)
        if outcomes:
            self._baseline_runs.note(head, outcomes.values(), run_id="", at=rfc3339(self._clock.now_ns()))

    async def preview(self, request: RunRequest) -> Preview:
        """Show a person the commands and folders of a run, and what it may reach."""
        return await self._planner.preview(request, unsandboxed=self.why_unsandboxed())

    def run_ids(self) -> list[str]:
        """Return the stored runs, the newest first."""
        return self._registry.ids()

    @property
    def most_kept(self) -> int:
        """How many runs are stored at most."""
        return self._config.kept_runs

    def result(self, run_id: str) -> RunResult:
        """Return the result of a run, so far or in the end; the newest without an id."""
        return self._registry.result(run_id)

    def find(self, run_id: str) -> Run | None:
        """Return a run that is under way; the newest without an id."""
        return self._registry.find(run_id)

    def output(self, run_id: str, target: str, *, offset: int | None, limit: int, margin: int) -> Excerpt:
        """Return a part of the output of a target, or of the last process; its end without an offset."""
        return self._registry.output(run_id, target, offset=offset, limit=limit, margin=margin)

    async def stop(self) -> None:
        """Cancel every run that is under way."""
        await self._registry.stop()

    def _context(self, copy: CommitCopy | None = None) -> ExecutionContext:
        return ExecutionContext(
            root=self._root,
            config=self._config,
            programs=self._programs,
            environment=lambda: clean_environment(self._environment, network=self._config.network),
            tree=self._tree,
            sandbox=None if self._config.sandbox == "off" or self._sandbox.unavailable_reason() else self._sandbox,
            slots=self._slots,
            copy=copy,
        )

    def _finish(self, run: Run) -> None:
        """Store what a run found, and record its outcomes where they hold for the state it started with."""
        self._registry.remove(run)
        run.not_found = tuple(self._catalog.not_found(selection, name) for selection, name in run.missing)
        result = self._registry.finish(run)
        outcomes = run.execution.outcomes.values()
        if run.environment_after is not None:
            self._environments.note(run.plan.state, run.plan.lineage, run.environment_after)
        if run.is_steady:
            lineage = run.plan.lineage
            self.flakiness.note(result.state, run.cases(), flaky=run.flaky, at=result.began_at, environment=lineage)
            if run.plan.filters.is_whole and not run.flaky:
                state = f"{result.state} {lineage}"
                self._reusable.note(state, outcomes, run_id=run.run_id, now_ns=self._clock.now_ns())
        head = run.plan.head
        holds_for_state = (run.is_steady or run.is_reused) and run.plan.filters.is_whole
        if head is not None and head.is_clean and holds_for_state and self._planner.head() == head:
            self._baseline_runs.note(head, outcomes, run_id=run.run_id, at=result.began_at)
        self.history.save(known=[target.target_id for target in self._catalog.known])
