"""Runs of tests at the commit that is checked out, in a copy of it beside the changed work tree."""

import asyncio
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pygit2

from codeplane.kernel.clock import Clock, rfc3339
from codeplane.kernel.counted import counted
from codeplane.kernel.errors import GitRefused, SandboxMissing
from codeplane.kernel.ids import new_id
from codeplane.testing.baseline import Baselines
from codeplane.testing.command import Filters
from codeplane.testing.environment_state import EnvironmentState
from codeplane.testing.execution import Execution, Means
from codeplane.testing.history import History
from codeplane.testing.kept import KeptRuns
from codeplane.testing.parent_tree import Head, ParentTree, copied, holding
from codeplane.testing.run import Listener, Plan, Run
from codeplane.testing.target import Wanted


class ParentRuns:
    """Copies a commit's files, runs tests in the copy, records the results as the commit's baseline."""

    def __init__(
        self,
        *,
        root: Path,
        folder: Path,
        kept: KeptRuns,
        baselines: Baselines,
        clock: Clock,
        means: Callable[[ParentTree], Means],
    ) -> None:
        """`folder` is where copies are made: nothing else lies there."""
        self._root = root
        self._folder = folder
        self._kept = kept
        self._baselines = baselines
        self._clock = clock
        self._means = means
        self._copies: set[Path] = set()

    async def start(
        self,
        wanted: Sequence[Wanted],
        head: Head,
        *,
        seconds: float,
        workers: int,
        timeout_sec: float | None,
        began: Callable[[Run], None],
        finished: Callable[[Run], None],
        listener: Listener | None,
    ) -> Run:
        """Begin a run of those targets that the commit has; a typed error says why there can be no copy."""
        run_id = new_id("run")
        copy = self._folder / run_id
        self._copies.add(copy)
        try:
            tree = await asyncio.to_thread(self._copied, head, copy)
            means = self._means(tree)
            if means.sandbox is None:
                raise SandboxMissing("without a sandbox tests cannot run in a copy of the work tree")
            there = await asyncio.to_thread(holding, self._root, head.tree, [one.target for one in wanted])
            folder = await asyncio.to_thread(self._kept.begin, run_id)
        except BaseException:
            await asyncio.shield(asyncio.to_thread(self._remove, copy))
            raise
        filters = Filters()
        plan = Plan(
            wanted=tuple(one for one in wanted if one.target_id in there),
            filters=filters,
            workers=workers,
            seconds=seconds,
            began_at=rfc3339(self._clock.now_ns()),
            notes=(f"as of {head.commit[:9]}, and recorded as its baseline", *_absent(wanted, there)),
            baseline_of=head.commit,
        )
        run = Run(
            run_id,
            plan,
            # Of its own: what is new and fixed in the work tree is no matter of this run.
            History(folder / "history.json"),
            lambda run: Execution(means=means, folder=folder, filters=filters, timeout_sec=timeout_sec, told=run.told),
            _unobserved,
        )
        run.listener = listener

        def over(run: Run) -> None:
            self._baselines.note(
                head.tree,
                head.commit,
                run.execution.outcomes.values(),
                run_id=run.run_id,
                at=plan.began_at,
                place="copy",
            )
            asyncio.get_running_loop().run_in_executor(None, self._remove, copy)
            finished(run)

        began(run)
        run.start(over)
        return run

    def _copied(self, head: Head, copy: Path) -> ParentTree:
        copy.mkdir(parents=True)
        for left in set(self._folder.iterdir()) - self._copies:
            # By a server that was killed.
            shutil.rmtree(left, ignore_errors=True)
        try:
            return copied(self._root, head.tree, copy)
        except (OSError, pygit2.GitError, KeyError, ValueError) as error:
            raise GitRefused(f"the files of {head.commit[:9]} cannot be copied: {error}") from error

    def _remove(self, copy: Path) -> None:
        shutil.rmtree(copy, ignore_errors=True)
        self._copies.discard(copy)


def _absent(wanted: Sequence[Wanted], there: set[str]) -> tuple[str, ...]:
    absent = len(wanted) - len(there)
    return (f"{counted(absent, 'target')} not there yet",) if absent else ()


async def _unobserved(before: EnvironmentState) -> tuple[str, EnvironmentState]:
    raise AssertionError("a run without a state is not observed")
