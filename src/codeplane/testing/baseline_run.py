"""Runs of tests at the commit that is checked out, and the comparison of failures with them."""

import asyncio
import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pygit2

from codeplane.kernel.clock import Clock, rfc3339
from codeplane.kernel.errors import GitRefused, SandboxMissing, TooLarge
from codeplane.kernel.ids import new_id
from codeplane.kernel.plural import plural
from codeplane.testing.baseline import Baseline, Baselines, Comparison, FailedCase, Verdict, compare
from codeplane.testing.command import Filters
from codeplane.testing.commit_copy import CommitCopy, Head, changed_targets, copy_tree, read_head, targets_in_tree
from codeplane.testing.environment_state import EnvironmentState
from codeplane.testing.execution import Execution, ExecutionContext
from codeplane.testing.history import History
from codeplane.testing.outcome import Outcome
from codeplane.testing.results import RunResult
from codeplane.testing.run import Listener, Run
from codeplane.testing.run_plan import RunPlan
from codeplane.testing.run_registry import RunRegistry
from codeplane.testing.target import Target, TargetSelection

_MIN_SEC = 120.0


class BaselineRuns:
    """Copies a commit's files, runs tests in the copy, and records the results as the commit's baseline."""

    def __init__(
        self,
        *,
        root: Path,
        folder: Path,
        registry: RunRegistry,
        baselines: Baselines,
        clock: Clock,
        context: Callable[[CommitCopy], ExecutionContext],
    ) -> None:
        """`folder` holds the copies, and nothing else."""
        self._root = root
        self._folder = folder
        self._registry = registry
        self._baselines = baselines
        self._clock = clock
        self._context = context
        self._copies: set[Path] = set()

    async def start(
        self,
        wanted: Sequence[TargetSelection],
        head: Head,
        *,
        seconds: float,
        workers: int,
        timeout_sec: float | None = None,
        listener: Listener | None,
    ) -> Run:
        """Start a run of the targets that the commit has; raise a typed error when no copy can be made."""
        run_id = new_id("run")
        copy = self._folder / run_id
        self._copies.add(copy)
        try:
            commit_copy = await asyncio.to_thread(self._copy, head, copy)
            context = self._context(commit_copy)
            if context.sandbox is None:
                raise SandboxMissing("without a sandbox tests cannot run in a copy of the work tree")
            targets = [selection.target for selection in wanted]
            present = await asyncio.to_thread(targets_in_tree, self._root, head.tree, targets)
            folder = await asyncio.to_thread(self._registry.create_folder, run_id)
        except BaseException:
            await asyncio.shield(asyncio.to_thread(self._remove, copy))
            raise
        filters = Filters()
        plan = RunPlan(
            wanted=tuple(selection for selection in wanted if selection.target_id in present),
            filters=filters,
            workers=workers,
            seconds=seconds,
            began_at=rfc3339(self._clock.now_ns()),
            notes=(f"as of {head.commit[:9]}, and recorded as its baseline", *_absent(wanted, present)),
            baseline_of=head.commit,
        )
        run = Run(
            run_id,
            plan,
            # A history of its own: it has nothing to do with what is new and fixed in the work tree.
            History(folder / "history.json"),
            lambda run: Execution(
                context=context, folder=folder, filters=filters, timeout_sec=timeout_sec, notify=run.notify
            ),
            _unobserved_state,
        )
        run.listener = listener

        def finish(run: Run) -> None:
            outcomes = run.execution.outcomes.values()
            self._baselines.note(head.tree, head.commit, outcomes, run_id=run.run_id, at=plan.began_at, place="copy")
            asyncio.get_running_loop().run_in_executor(None, self._remove, copy)
            self._registry.finish(run)

        self._registry.add(run)
        run.start(finish)
        return run

    async def compare(
        self,
        result: RunResult,
        failures: Sequence[FailedCase],
        *,
        known: Sequence[Target],
        workers: int,
        max_seconds: float,
        listener: Listener | None,
    ) -> Comparison:
        """Tell which failures of a run are older than what changed since the last commit.

        The baseline is what was recorded of that commit; tests without a recorded result are run in a copy of it.
        """
        head = await asyncio.to_thread(read_head, self._root)
        if head is None:
            return Comparison(commit="", verdict=Verdict(new=tuple(failure.test for failure in failures)))
        baseline = self._baselines.get(head.tree)
        recorded = baseline.targets if baseline is not None else {}
        by_id = {target.target_id: target for target in known}
        failing_ids = dict.fromkeys(failure.target_id for failure in failures)
        failing = [by_id[target_id] for target_id in failing_ids if target_id in by_id]
        existed = await asyncio.to_thread(targets_in_tree, self._root, head.tree, failing)
        missing = [target for target in failing if target.target_id in existed and target.target_id not in recorded]
        made, why = False, ""
        if missing:
            # About the time they took in the work tree, and the time to build them again.
            building = max((target.runner.startup_sec for target in missing if target.runner is not None), default=0.0)
            seconds = min(max(_MIN_SEC, 3 * result.summary.total_duration_ms / 1000 + building), max_seconds)
            made, why = await self._record(missing, head, seconds=seconds, workers=workers, listener=listener)
        baseline = self._baselines.get(head.tree) or Baseline(commit=head.commit, targets={})
        # A command of one's own has no tests that could be added: it is compared as one test.
        with_tests = [target for target in failing if target.runner is not None]
        verdict = compare(
            baseline,
            failures,
            existed={target.target_id: target.target_id in existed for target in failing},
            changed=await asyncio.to_thread(changed_targets, self._root, with_tests),
        )
        used = [baseline.targets[target.target_id] for target in failing if target.target_id in baseline.targets]
        return Comparison(
            commit=head.commit,
            verdict=verdict,
            run_ids=tuple(sorted({target.run_id for target in used})),
            recorded_at=min((target.at for target in used), default=""),
            made=made,
            why=why,
        )

    def note(self, head: Head, outcomes: Iterable[Outcome], *, run_id: str, at: str) -> None:
        """Record outcomes of the clean work tree as the baseline of the commit that is checked out."""
        self._baselines.note(head.tree, head.commit, outcomes, run_id=run_id, at=at, place="work tree")

    async def _record(
        self, targets: Sequence[Target], head: Head, *, seconds: float, workers: int, listener: Listener | None
    ) -> tuple[bool, str]:
        """Run targets in a copy of the commit; return whether they ran, and why not all of them did."""
        wanted = [TargetSelection(target=target) for target in targets]
        try:
            run = await self.start(wanted, head, seconds=seconds, workers=workers, listener=listener)
            try:
                await run.wait()
            except asyncio.CancelledError:
                await run.cancel()
                raise
        except (SandboxMissing, GitRefused, TooLarge) as error:
            return False, error.message
        return True, f"its time of {seconds:.0f} s was up" if run.status == "failed" else ""

    def _copy(self, head: Head, copy: Path) -> CommitCopy:
        copy.mkdir(parents=True)
        for leftover in set(self._folder.iterdir()) - self._copies:
            # Left behind by a server that was killed.
            shutil.rmtree(leftover, ignore_errors=True)
        try:
            return copy_tree(self._root, head.tree, copy)
        except (OSError, pygit2.GitError, KeyError, ValueError) as error:
            raise GitRefused(f"the files of {head.commit[:9]} cannot be copied: {error}") from error

    def _remove(self, copy: Path) -> None:
        shutil.rmtree(copy, ignore_errors=True)
        self._copies.discard(copy)


def _absent(wanted: Sequence[TargetSelection], present: set[str]) -> tuple[str, ...]:
    absent = len(wanted) - len(present)
    return (f"{plural(absent, 'target')} not there yet",) if absent else ()


async def _unobserved_state(before: EnvironmentState) -> tuple[str, EnvironmentState]:
    raise AssertionError("a run without a state is not observed")
