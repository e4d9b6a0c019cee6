"""The tests of one repository: what there is, what a request means, and the runs."""

import asyncio
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pygit2

from codeplane import __version__
from codeplane.code.resolve.world import World
from codeplane.index.files.paths import canonical
from codeplane.index.snapshot import Snapshot
from codeplane.kernel.clock import Clock, SystemClock, rfc3339
from codeplane.kernel.config import TestsConfig
from codeplane.kernel.errors import (
    GitRefused,
    InvalidArgument,
    NotFound,
    NotGit,
    SandboxMissing,
    TestRunnerFailed,
    TestRunnerNotFound,
    TestRunNotFound,
    TooLarge,
)
from codeplane.kernel.ids import new_id
from codeplane.kernel.operation import Preview
from codeplane.query.knowledge import Knowledge
from codeplane.testing.baseline import Baseline, Baselines, Comparison, Failed, Verdict, compare
from codeplane.testing.changes import Changes
from codeplane.testing.command import Filters
from codeplane.testing.discovery import Discovery, LookedAt
from codeplane.testing.doctor import missing_configured
from codeplane.testing.environment import clean
from codeplane.testing.environment_state import EnvironmentLog, EnvironmentState, after_run, environment_state
from codeplane.testing.execution import Execution, Means
from codeplane.testing.foretold import commands, state_of
from codeplane.testing.history import History
from codeplane.testing.impact import Impact
from codeplane.testing.kept import Excerpt, KeptRuns
from codeplane.testing.nearness import near_names
from codeplane.testing.outcome import Outcome
from codeplane.testing.outcomes import Outcomes
from codeplane.testing.parent_run import ParentRuns
from codeplane.testing.parent_tree import Head, ParentTree, head, holding
from codeplane.testing.program import Programs
from codeplane.testing.requests import RunRequest
from codeplane.testing.results import RunResult
from codeplane.testing.reuse import ReusableOutcomes
from codeplane.testing.run import Listener, Plan, Run
from codeplane.testing.runner import Runner
from codeplane.testing.sandbox import Enclosure, ProcessTree, Sandbox
from codeplane.testing.selection import can_name, chosen, failed
from codeplane.testing.target import Target, Wanted
from codeplane.testing.tool_cache import ToolCache

_MOST_WORKERS = 8
_MAX_FILES = 50
_LOOK_SEC = 3600.0
_LEAST_PARENT_SEC = 120.0
_SHOWN_CHANGED = 3
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
        self._reusable = ReusableOutcomes(home / "reuse.json", seconds=config.reuse_sec)
        self._environments = EnvironmentLog(home / "environment.json")
        self.baselines = Baselines(home / "baselines")
        self._parents = ParentRuns(
            root=root,
            folder=home / "parent",
            kept=self._kept,
            baselines=self.baselines,
            clock=self._clock,
            means=self._means,
        )
        self.programs = Programs(root, path=environment.get("PATH", ""))
        self.impact = Impact(knowledge=knowledge, targets=self.targets_of, changes=self._changes)

    def hidden_secrets(self) -> list[str]:
        """The secrets files that tested code sees as empty; blocks."""
        if self._config.sandbox == "off" or self._sandbox.missing():
            return []
        return self._sandbox.hidden_secrets(Enclosure(root=self._root, secrets=self._config.secrets))

    def unsandboxed(self) -> str:
        """Why tested code would run without a sandbox though none was switched off, or nothing."""
        # Where one is required nothing runs without it, and nobody needs to be asked.
        return self._sandbox.missing() if self._config.sandbox == "auto" else ""

    def reaches_network(self) -> bool:
        """Whether tested code could reach other machines."""
        return self._config.network or self._config.sandbox == "off" or bool(self.unsandboxed())

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
        return (await self.tested(request, listener=listener))[0]

    async def tested(
        self, request: RunRequest, *, listener: Listener | None = None
    ) -> tuple[RunResult, tuple[Failed, ...]]:
        """The same, with every failure: a result has no more of them than can be read."""
        started = await self.start(request, listener=listener)
        try:
            await started.wait()
        except asyncio.CancelledError:
            await started.cancel()
            raise
        result = started.result()
        if result.errors and not result.progress.completed:
            error = result.errors[0]
            raise TestRunnerFailed(
                f"{error.runner} did not start, and no test ran: {error.reason}",
                hint=error.fix,
                details={"run_id": result.run_id, "errors": [one.model_dump(mode="json") for one in result.errors[:5]]},
            )
        if result.not_found and not result.progress.completed and not result.failures:
            first, *others = result.not_found
            name, did, near = first.rpartition(_DID_YOU_MEAN)
            raise NotFound(
                f"no test is called {name or first!r}" + (f", nor {len(others)} others" if others else ""),
                hint=f"{did[2:]}{near}" if name else "test_discover lists the files; without ::name all of one is run",
                details={"not_found": list(result.not_found)},
            )
        return result, started.failed()

    async def start(self, request: RunRequest, *, listener: Listener | None = None) -> Run:
        """Begin a run; what cannot be run at all is refused."""
        if self._config.sandbox == "required" and (missing := self._sandbox.missing()):
            raise SandboxMissing(missing)
        plan = await self._plan(request)
        if request.baseline and plan.head is None:
            raise InvalidArgument("there is no commit yet, and so no baseline", hint="run the tests without baseline")
        if request.baseline and (not plan.filters.is_whole or any(one.names for one in plan.wanted)):
            raise InvalidArgument(
                "a baseline is of whole targets", hint="leave out names, pattern, tags, fail_fast and failed_only"
            )
        if request.baseline and plan.head is not None:
            if not plan.head.is_clean:
                return await self._start_at_parent(request, plan.wanted, plan.head, listener, seconds=plan.seconds)
            # The work tree is what the commit has, and its runs are recorded anyway.
            plan = replace(plan, baseline_of=plan.head.commit)
        run_id = new_id("run")
        folder = await asyncio.to_thread(self._kept.begin, run_id)
        means = self._means()
        started = Run(
            run_id,
            plan,
            self.history,
            lambda run: Execution(
                means=means, folder=folder, filters=plan.filters, timeout_sec=request.timeout_sec, told=run.told
            ),
            self._observed,
        )
        started.listener = listener
        self._running[run_id] = started
        started.start(self._finished)
        return started

    async def compare(self, result: RunResult, failures: Sequence[Failed], listener: Listener | None) -> Comparison:
        """Tell which failures of a run are older than what changed since the last commit.

        The baseline is what was recorded of that commit; tests of which nothing is recorded are run in a copy of it.
        """
        at = await asyncio.to_thread(head, self._root)
        if at is None:
            return Comparison(commit="", verdict=Verdict(new=tuple(one.test for one in failures)))
        baseline = self.baselines.get(at.tree)
        recorded = baseline.targets if baseline is not None else {}
        _, known, _ = self._discovered
        by_id = {one.target_id: one for one in known}
        failing = [by_id[name] for name in dict.fromkeys(one.target_id for one in failures) if name in by_id]
        existed = await asyncio.to_thread(holding, self._root, at.tree, failing)
        missing = [one for one in failing if one.target_id in existed and one.target_id not in recorded]
        made, why = "", ""
        if missing:
            wanted = [Wanted(target=one) for one in missing]
            # About what they took in the work tree, and what has to be built again for it.
            building = max((one.runner.startup_sec for one in missing if one.runner is not None), default=0.0)
            seconds = max(_LEAST_PARENT_SEC, 3 * result.summary.total_duration_ms / 1000 + building)
            bound = min(seconds, self._config.run_timeout_sec)
            try:
                run = await self._start_at_parent(RunRequest(), wanted, at, listener, seconds=bound)
                try:
                    await run.wait()
                except asyncio.CancelledError:
                    await run.cancel()
                    raise
                made = run.run_id
                why = f"its time of {bound:.0f} s was up" if run.status == "failed" else ""
            except (SandboxMissing, GitRefused, TooLarge) as error:
                why = error.message
        baseline = self.baselines.get(at.tree) or Baseline(commit=at.commit, targets={})
        verdict = compare(baseline, failures, existed={one.target_id: one.target_id in existed for one in failing})
        used = [baseline.targets[one.target_id] for one in failing if one.target_id in baseline.targets]
        return Comparison(
            commit=at.commit,
            verdict=verdict,
            run_ids=tuple(sorted({one.run_id for one in used})),
            recorded_at=min((one.at for one in used), default=""),
            made=bool(made),
            why=why,
        )

    async def record_at_head(self, state: str) -> None:
        """Record what is known of this state as the baseline of the commit that was just made of it."""
        at = await asyncio.to_thread(self._head)
        held = self._reusable.state
        if at is None or not at.is_clean or held.partition(" ")[0] != state:
            return
        snapshot = await (await self._knowledge.fresh()).snapshot(strict=True)
        # A hook may have changed what was committed.
        if await asyncio.to_thread(state_of, (), snapshot) != state:
            return
        _, known, _ = self._discovered
        wanted = [Wanted(target=one) for one in known]
        outcomes = self._reusable.find(held, wanted, kept=self._kept.ids(), now_ns=self._clock.now_ns())
        if outcomes:
            self._note_baseline(at, outcomes.values(), run_id="", at_time=rfc3339(self._clock.now_ns()))

    def _note_baseline(self, at: Head, outcomes: Iterable[Outcome], *, run_id: str, at_time: str) -> None:
        self.baselines.note(at.tree, at.commit, outcomes, run_id=run_id, at=at_time, place="work tree")

    async def _start_at_parent(
        self, request: RunRequest, wanted: Sequence[Wanted], at: Head, listener: Listener | None, *, seconds: float
    ) -> Run:
        def began(run: Run) -> None:
            self._running[run.run_id] = run

        def finished(run: Run) -> None:
            self._running.pop(run.run_id, None)
            self._kept.put(run.result(), run.outputs())

        return await self._parents.start(
            wanted,
            at,
            seconds=seconds,
            workers=self._workers(request.parallelism),
            timeout_sec=request.timeout_sec,
            began=began,
            finished=finished,
            listener=listener,
        )

    def _means(self, copy: ParentTree | None = None) -> Means:
        return Means(
            root=self._root,
            config=self._config,
            programs=self.programs,
            environment=lambda: clean(self._environment, network=self._config.network),
            tree=self._tree,
            sandbox=None if self._config.sandbox == "off" or self._sandbox.missing() else self._sandbox,
            slots=self._slots,
            copy=copy,
        )

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

    def printed(self, run_id: str, target: str, *, offset: int | None, limit: int, margin: int) -> Excerpt:
        """A part of what a target's process printed, or the last process without one; the end without an offset."""
        run_id = run_id or self._newest()
        target_id = target.partition("::")[0]
        if not target:
            last = self._kept.last_printed(run_id)
            return Excerpt.of(last, run_id=run_id, target_id="", offset=offset, limit=limit, margin=margin)
        run = self._running.get(run_id)
        found = self._kept.printed(run_id, target_id, outputs=run.outputs() if run is not None else None)
        return Excerpt.of(found, run_id=run_id, target_id=target_id, offset=offset, limit=limit, margin=margin)

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
            if missing := missing_configured(self.programs, self._config):
                raise TestRunnerNotFound(missing[0], hint="install it, or change tests.runners and tests.custom")
            notes = (*notes, "no tests found in this repository")
        _check(wanted, filters)
        self._refuse_unrunnable(wanted)
        snapshot, _, _ = self._discovered
        assert snapshot is not None, "targets are of what was discovered"
        state, environment = await asyncio.to_thread(self._states, snapshot, wanted)
        lineage = self._environments.lineage(environment)
        if changed := self._environments.changed(state, environment):
            notes = (*notes, f"same code as in the last run, but changed since: {', '.join(changed[:_SHOWN_CHANGED])}")
        return Plan(
            began_at=rfc3339(self._clock.now_ns()),
            state=state,
            environment=environment,
            lineage=lineage,
            head=await asyncio.to_thread(self._head),
            reused=self._reused(request, wanted, filters, f"{state} {lineage}"),
            wanted=tuple(wanted),
            filters=filters,
            workers=self._workers(request.parallelism),
            seconds=self._config.run_timeout_sec,
            rerun_failed=request.rerun_failed,
            remembered=request.failed_only,
            reasons=reasons,
            notes=notes,
        )

    def _head(self) -> Head | None:
        try:
            return head(self._root)
        except (NotGit, pygit2.GitError, KeyError, ValueError):
            # Without git nothing is compared with a commit.
            return None

    async def _observed(self, before: EnvironmentState) -> tuple[str, EnvironmentState]:
        snapshot = await (await self._knowledge.fresh()).snapshot(strict=True)
        return await asyncio.to_thread(
            lambda: (state_of((), snapshot), after_run(before, self._root, belongs=snapshot.files))
        )

    def _states(self, snapshot: Snapshot, wanted: Sequence[Wanted]) -> tuple[str, EnvironmentState]:
        """The states of the code and of what it runs in."""
        environment = environment_state(
            self._root,
            belongs=snapshot.files,
            programs=sorted(self._programs_of(wanted)),
            variables=clean(self._environment, network=self._config.network),
            settings=f"{__version__} {self._config.model_dump_json()}",
        )
        return state_of((), snapshot), environment

    def _programs_of(self, wanted: Sequence[Wanted]) -> set[Path]:
        """The programs that run these targets, as they are found now."""
        found = set()
        for target in {(one.target.runner_name, one.target.root): one.target for one in wanted}.values():
            if target.custom is not None:
                program = self.programs.command(target.custom.cmd[0], target.root)
            else:
                program = self.programs.at(target.runner, target.root) if target.runner is not None else None
            if program is not None:
                found.add(Path(program.words[0]))
        return found

    def _reused(
        self, request: RunRequest, wanted: Sequence[Wanted], filters: Filters, state: str
    ) -> dict[str, Outcome]:
        """What an earlier run found of whole targets at this state; a test that was flaky is always run."""
        if request.fresh or request.rerun_failed or request.failed_only or not filters.is_whole:
            return {}
        found = self._reusable.find(state, wanted, kept=self._kept.ids(), now_ns=self._clock.now_ns())
        return {target_id: one for target_id, one in found.items() if not self.outcomes.has_flaky(target_id)}

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
        word = target.custom.cmd[0] if target.custom is not None else target.runner_name
        raise TestRunnerNotFound(f"Test runner '{word}' not found in PATH")

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
        if run.environment_after is not None:
            self._environments.note(run.plan.state, run.plan.lineage, run.environment_after)
        if run.is_steady:
            lineage = run.plan.lineage
            self.outcomes.note(result.state, run.cases(), flaky=run.flaky, at=result.began_at, environment=lineage)
            if run.plan.filters.is_whole and not run.flaky:
                self._reusable.note(
                    f"{result.state} {lineage}",
                    run.execution.outcomes.values(),
                    run_id=run.run_id,
                    now_ns=self._clock.now_ns(),
                )
        at = run.plan.head
        is_of_state = (run.is_steady or run.is_reused) and run.plan.filters.is_whole
        if at is not None and at.is_clean and is_of_state and self._head() == at:
            self._note_baseline(at, run.execution.outcomes.values(), run_id=run.run_id, at_time=result.began_at)
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
