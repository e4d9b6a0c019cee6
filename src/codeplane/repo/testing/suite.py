"""The tests of one repository: what there is, what a request means, and the runs."""

import asyncio
import os
import time
from collections.abc import Mapping
from pathlib import Path

from codeplane.kernel.clock import Clock, SystemClock, rfc3339
from codeplane.kernel.config import TestsConfig
from codeplane.kernel.errors import InvalidArgument, NotFound, SandboxMissing, TestRunnerNotFound, TestRunNotFound
from codeplane.kernel.ids import new_id
from codeplane.kernel.operation import Preview
from codeplane.repo.index.snapshot import Snapshot
from codeplane.repo.knowledge import Knowledge
from codeplane.repo.resolve.world import World
from codeplane.repo.testing.changes import Changes
from codeplane.repo.testing.command import Filters
from codeplane.repo.testing.discovery import Discovery, LookedAt
from codeplane.repo.testing.environment import clean
from codeplane.repo.testing.execution import Execution, Means
from codeplane.repo.testing.foretold import commands, state_of
from codeplane.repo.testing.history import History
from codeplane.repo.testing.impact import Impact
from codeplane.repo.testing.kept import Excerpt, KeptRuns
from codeplane.repo.testing.nearness import near_names
from codeplane.repo.testing.outcomes import Outcomes
from codeplane.repo.testing.program import Programs
from codeplane.repo.testing.requests import RunRequest
from codeplane.repo.testing.results import RunResult
from codeplane.repo.testing.run import Listener, Plan, Run
from codeplane.repo.testing.runner import Runner
from codeplane.repo.testing.sandbox import ProcessTree, Sandbox
from codeplane.repo.testing.selection import can_name, chosen, failed
from codeplane.repo.testing.target import Target, Wanted
from codeplane.repo.testing.tool_cache import ToolCache
from codeplane.repo.truth.paths import canonical

_MOST_WORKERS = 8
_MAX_FILES = 50
_LOOK_SEC = 3600.0
# Below what a suite keeps, for tools in the sandbox.
CACHE = "cache"
_DID_YOU_MEAN = ": did you mean "


class Suite:
    """Finds, selects and runs tests; everything it keeps is below `home`."""

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
        self._changes = Changes(root)
        self._home = home
        self._kept = KeptRuns(home / "runs", most=config.kept_runs)
        self._running: dict[str, Run] = {}
        self._looked: float | None = None
        self._discovered: tuple[Snapshot | None, tuple[Target, ...], LookedAt | None] = (None, (), None)
        self._slots = asyncio.Semaphore(self._workers(None))
        self._cache = ToolCache(home / CACHE)
        self.history = History(home / "history.json")
        self.outcomes = Outcomes(home / "outcomes.json")
        self.programs = Programs(root, path=environment.get("PATH", ""))
        self.impact = Impact(knowledge=knowledge, targets=self.targets_of, changes=self._changes)

    def unsandboxed(self) -> str:
        """Why tested code would run without a sandbox though none was switched off, or nothing."""
        # Where one is required nothing runs without it, and nobody needs to be asked.
        return self._sandbox.missing() if self._config.sandbox == "auto" else ""

    async def targets(self) -> tuple[Target, ...]:
        """Everything that can be run, as the disk is now: a test that was written a moment ago is one of them."""
        fresh = await self._knowledge.fresh()
        snapshot = await fresh.snapshot(strict=True)
        return await asyncio.to_thread(self.targets_of, snapshot)

    def targets_of(self, snapshot: Snapshot) -> tuple[Target, ...]:
        """Everything that can be run in one state."""
        held, targets, looked_at = self._discovered
        if held is not snapshot:
            found = Discovery(snapshot=snapshot, config=self._config, available=self._is_available, before=looked_at)
            targets = found.targets
            self._discovered = (snapshot, targets, found.looked_at())
        return targets

    def missing(self, targets: tuple[Target, ...]) -> tuple[str, ...]:
        """The runners that targets need and that are not there, as `doctor` says it."""
        needed = {(one.runner_name, one.root): one for one in targets}
        return tuple(
            dict.fromkeys(
                f"Test runner '{name}' not found in PATH" for (name, _), one in needed.items() if not self._can_run(one)
            )
        )

    async def run(self, request: RunRequest, *, listener: Listener | None = None) -> RunResult:
        """Run what is asked for to its end; whoever is cancelled while waiting ends it. NotFound when none is there."""
        started = await self.start(request, listener=listener)
        try:
            await started.wait()
        except asyncio.CancelledError:
            await started.cancel()
            raise
        result = started.result()
        if result.not_found and not result.progress.completed and not result.failures:
            first, *others = result.not_found
            name, did, near = first.rpartition(_DID_YOU_MEAN)
            raise NotFound(
                f"no test is called {name or first!r}" + (f", nor {len(others)} others" if others else ""),
                hint=f"{did[2:]}{near}" if name else "test_discover lists the files; without ::name all of one is run",
                details={"not_found": list(result.not_found)},
            )
        return result

    async def start(self, request: RunRequest, *, listener: Listener | None = None) -> Run:
        """Begin a run; what cannot be run at all is refused."""
        if self._config.sandbox == "required" and (missing := self._sandbox.missing()):
            raise SandboxMissing(missing)
        plan = await self._plan(request)
        run_id = new_id("run")
        folder = await asyncio.to_thread(self._kept.begin, run_id)
        means = Means(
            root=self._root,
            config=self._config,
            programs=self.programs,
            environment=lambda: clean(self._environment, network=self._config.network),
            tree=self._tree,
            sandbox=None if self._config.sandbox == "off" or self._sandbox.missing() else self._sandbox,
            slots=self._slots,
        )
        started = Run(
            run_id,
            plan,
            self.history,
            lambda run: Execution(
                means=means, folder=folder, filters=plan.filters, timeout_sec=request.timeout_sec, told=run.told
            ),
            self._state,
        )
        started.listener = listener
        self._running[run_id] = started
        started.start(self._finished)
        return started

    def past(self) -> list[str]:
        """The runs that are kept, the newest first."""
        return self._kept.ids()

    @property
    def most_kept(self) -> int:
        """How many runs are kept at most."""
        return self._config.kept_runs

    def result(self, run_id: str) -> RunResult:
        """How a run goes or went; the newest without an id."""
        found = self.find(run_id)
        return found.result() if found is not None else self._kept.get(run_id or self._newest())

    def find(self, run_id: str) -> Run | None:
        """A run that is under way."""
        if run_id:
            return self._running.get(run_id)
        return self._running[max(self._running)] if self._running else None

    def printed(self, run_id: str, target: str, *, offset: int | None, limit: int) -> Excerpt:
        """A part of what a target's process printed, or the last process without one; the end without an offset."""
        run_id = run_id or self._newest()
        target_id = target.partition("::")[0]
        if not target:
            last = self._kept.last_printed(run_id)
            return Excerpt.of(last, run_id=run_id, target_id="", offset=offset, limit=limit)
        run = self._running.get(run_id)
        found = self._kept.printed(run_id, target_id, outputs=run.outputs() if run is not None else None)
        return Excerpt.of(found, run_id=run_id, target_id=target_id, offset=offset, limit=limit)

    async def stop(self) -> None:
        """End every run."""
        for run in list(self._running.values()):
            await run.cancel()

    async def foreseen(self, request: RunRequest) -> Preview:
        """What a person is shown of a run: its commands and folders, and what it may reach."""
        targets = await self.targets()
        wanted, _, _ = await self._wanted(request, targets)
        filters = _filters(request)
        _check(wanted, filters)
        snapshot, _, _ = self._discovered
        assert snapshot is not None, "targets are of what was discovered"
        missing = self.unsandboxed()
        open_to_all = missing or self._config.sandbox == "off"
        offline = not open_to_all and not self._config.network
        where = f"WITHOUT a sandbox{f' ({missing})' if missing else ''}" if open_to_all else "in the sandbox"
        found = await asyncio.to_thread(commands, wanted, self.programs, filters, root=self._root, offline=offline)
        facts = [f"the repository's code runs {where}", *found]
        facts += [f"what fails runs again, up to {request.rerun_failed} times"] if request.rerun_failed else []
        state = await asyncio.to_thread(state_of, wanted, snapshot)
        facts.append(f"Only while the repository's files are as they are now: {state}")
        count = f"{len(wanted)} test target{'s' * (len(wanted) != 1)}"
        return Preview(summary=f"run {count} {where}", body="\n".join(facts))

    async def _wanted(
        self, request: RunRequest, targets: tuple[Target, ...]
    ) -> tuple[list[Wanted], dict[str, str], tuple[str, ...]]:
        """What is asked for, why each of it, and what is to be said of that."""
        reasons: dict[str, str] = {}
        notes: tuple[str, ...] = ()
        if request.targets:
            wanted = chosen(request.targets, targets, self._root)
        else:
            wanted = [Wanted(target=one) for one in targets]
        if request.is_impacted:
            wanted, reasons, notes = await self._impacted(request, wanted)
        if request.failed_only:
            wanted = failed(wanted, self.history)
            notes = (*notes, "") if wanted else (*notes, "nothing failed last time")
        return wanted, reasons, tuple(filter(None, notes))

    async def _plan(self, request: RunRequest) -> Plan:
        targets = await self.targets()
        wanted, reasons, notes = await self._wanted(request, targets)
        filters = _filters(request)
        # Now and then: to look through it takes as long as a short test.
        if not self._running and (trimmed := await asyncio.to_thread(self._trimmed)):
            notes = (*notes, trimmed)
        if not targets:
            notes = (*notes, "no tests found in this repository")
        _check(wanted, filters)
        self._refuse_unrunnable(wanted)
        snapshot, _, _ = self._discovered
        return Plan(
            began_at=rfc3339(self._clock.now_ns()),
            state=await asyncio.to_thread(state_of, (), snapshot) if snapshot is not None else "",
            wanted=tuple(wanted),
            filters=filters,
            workers=self._workers(request.parallelism),
            seconds=self._config.run_timeout_sec,
            rerun_failed=request.rerun_failed,
            remembered=request.failed_only,
            reasons=reasons,
            notes=notes,
        )

    async def _state(self) -> str:
        fresh = await self._knowledge.fresh()
        return await asyncio.to_thread(state_of, (), await fresh.snapshot(strict=True))

    def _trimmed(self) -> str:
        now = time.monotonic()
        if self._looked is not None and now - self._looked < _LOOK_SEC:
            return ""
        self._looked = now
        return self._cache.trimmed()

    async def _impacted(
        self, request: RunRequest, among: list[Wanted]
    ) -> tuple[list[Wanted], dict[str, str], tuple[str, ...]]:
        paths = [canonical(path, root=self._root) for path in request.paths]
        selection = await self.impact.selection(paths or None, since=request.since)
        reasons = {one.path: one.reason for one in selection.reached}
        wanted = [one for one in among if one.target_id in reasons]
        return wanted, reasons, selection.notes

    def _refuse_unrunnable(self, wanted: list[Wanted]) -> None:
        if not wanted or any(self._can_run(one.target) for one in wanted):
            return
        target = wanted[0].target
        if target.custom is None and target.runner is not None:
            self.programs.find(target.runner, target.root)
        raise TestRunnerNotFound(f"Test runner '{target.runner_name}' not found in PATH")

    def _can_run(self, target: Target) -> bool:
        if target.custom is not None:
            return self.programs.command(target.custom.cmd[0], target.root) is not None
        return target.runner is not None and self._is_available(target.runner, target.root)

    def _is_available(self, runner: Runner, root: str) -> bool:
        return self.programs.at(runner, root) is not None

    def _finished(self, run: Run) -> None:
        self._running.pop(run.run_id, None)
        run.not_found = tuple(self._not_found(wanted, name) for wanted, name in run.missing)
        result = run.result()
        self._kept.put(result, run.outputs())
        if run.is_steady:
            self.outcomes.note(result.state, run.cases(), flaky=run.flaky, at=result.began_at)
        _, known, _ = self._discovered
        self.history.save(known=[one.target_id for one in known])

    def _not_found(self, wanted: Wanted, name: str) -> str:
        snapshot, _, _ = self._discovered
        assert snapshot is not None, "a run is of what was discovered"
        world = World(snapshot, self._knowledge.store, self._knowledge.modules)
        target = wanted.target
        paths = [path for path in (target.covers or (target.path,)) if path in snapshot.files][:_MAX_FILES]
        facts = [one for one in map(world.facts, paths) if one is not None]
        near = near_names(target, name, [world.text(path).decode(errors="replace") for path in paths], facts)
        said = ", ".join(f"{target.target_id}::{one}" for one in near)
        return f"{target.target_id}::{name}" + (f"{_DID_YOU_MEAN}{said}?" if said else "")

    def _newest(self) -> str:
        kept = self._kept.ids()
        if not kept:
            raise TestRunNotFound("no run is kept")
        return kept[0]

    def _workers(self, asked: int | None) -> int:
        usual = self._config.workers or min(os.cpu_count() or 1, _MOST_WORKERS)
        return asked or usual


def _filters(request: RunRequest) -> Filters:
    return Filters(pattern=request.pattern, tags=request.tags, fail_fast=request.fail_fast)


def _check(wanted: list[Wanted], filters: Filters) -> None:
    """Refuse a filter that a runner would not know of: all of its tests would run instead."""
    for one in wanted:
        if one.names and not can_name(one.target):
            raise InvalidArgument(
                f"{one.target.runner_name} cannot be told to run one test of {one.target_id}",
                hint=f"run all of it: targets=[{one.target_id!r}]",
            )
        if one.names and filters.pattern and one.target.runner is not None and not one.target.runner.node_ids:
            raise InvalidArgument(
                f"{one.target.runner_name} takes the name of a test as its pattern, and one is given beside",
                hint="name the test, or give a pattern",
            )
        if one.target.runner is not None and one.target.custom is None:
            unknown = filters.unknown_to(one.target.runner)
            if unknown:
                raise InvalidArgument(
                    f"{one.target.runner_name} cannot be given {' or '.join(unknown)}",
                    hint="name targets of other runners, or leave it out",
                )
