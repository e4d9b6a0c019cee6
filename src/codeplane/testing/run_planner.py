"""Plans of test runs: which targets a request means, in which state, and which outcomes still hold."""

import asyncio
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pygit2

from codeplane import __version__
from codeplane.index.files.paths import canonical
from codeplane.kernel.clock import Clock, rfc3339
from codeplane.kernel.config import TestsConfig
from codeplane.kernel.errors import InvalidArgument, NotGit, TestRunnerNotFound
from codeplane.kernel.operation import Preview
from codeplane.query.knowledge import Knowledge
from codeplane.testing.catalog import TargetCatalog
from codeplane.testing.code_state import code_state
from codeplane.testing.command import Filters
from codeplane.testing.commit_copy import Head, read_head
from codeplane.testing.doctor import missing_configured
from codeplane.testing.environment import clean_environment
from codeplane.testing.environment_state import EnvironmentLog, EnvironmentState, after_run, environment_state
from codeplane.testing.flakiness import FlakinessLog
from codeplane.testing.history import History
from codeplane.testing.impact import Impact
from codeplane.testing.outcome import Outcome
from codeplane.testing.program import Programs
from codeplane.testing.requests import RunRequest
from codeplane.testing.reusable_outcomes import ReusableOutcomes
from codeplane.testing.run_plan import RunPlan
from codeplane.testing.run_preview import preview_run
from codeplane.testing.run_store import RunStore
from codeplane.testing.selection import can_run_single_tests, select_failed, select_named
from codeplane.testing.target import Target, TargetSelection
from codeplane.testing.tool_cache import ToolCache

_MAX_WORKERS = 8
_TRIM_EVERY_SEC = 3600.0
_SHOWN_CHANGED = 3


class RunPlanner:
    """Turns requests into plans."""

    def __init__(
        self,
        *,
        root: Path,
        config: TestsConfig,
        environment: Mapping[str, str],
        clock: Clock,
        knowledge: Knowledge,
        catalog: TargetCatalog,
        programs: Programs,
        impact: Impact,
        history: History,
        flakiness: FlakinessLog,
        reusable: ReusableOutcomes,
        environments: EnvironmentLog,
        runs: RunStore,
        tool_cache: ToolCache,
    ) -> None:
        self._root = root
        self._config = config
        self._environment = environment
        self._clock = clock
        self._knowledge = knowledge
        self._catalog = catalog
        self._programs = programs
        self._impact = impact
        self._history = history
        self._flakiness = flakiness
        self._reusable = reusable
        self._environments = environments
        self._runs = runs
        self._tool_cache = tool_cache
        self._trimmed_at: float | None = None

    async def plan(self, request: RunRequest, *, trim: bool) -> RunPlan:
        """Plan a run; `trim` allows to trim the tools' cache, which takes a while and is done now and then."""
        targets = await self._catalog.targets()
        wanted, reasons, notes = await self._select(request, targets)
        filters = _filters(request)
        if trim and (note := await asyncio.to_thread(self._trim_cache)):
            notes = (*notes, note)
        if not targets:
            if missing := missing_configured(self._programs, self._config):
                raise TestRunnerNotFound(missing[0], hint="install it, or change tests.runners and tests.custom")
            notes = (*notes, "no tests found in this repository")
        _check(wanted, filters)
        self._catalog.refuse_unrunnable(wanted)
        state, environment = await asyncio.to_thread(self._states, wanted)
        lineage = self._environments.lineage(environment)
        if changed := self._environments.find_changes(state, environment):
            notes = (*notes, f"same code as in the last run, but changed since: {', '.join(changed[:_SHOWN_CHANGED])}")
        return RunPlan(
            began_at=rfc3339(self._clock.now_ns()),
            state=state,
            environment=environment,
            lineage=lineage,
            head=await asyncio.to_thread(self.head),
            reused=self._reusable_outcomes(request, wanted, filters, f"{state} {lineage}"),
            wanted=tuple(wanted),
            filters=filters,
            workers=self.workers(request.parallelism),
            seconds=self._config.run_timeout_sec,
            rerun_failed=request.rerun_failed,
            remembered=request.failed_only,
            reasons=reasons,
            notes=notes,
        )

    async def preview(self, request: RunRequest, *, unsandboxed: str) -> Preview:
        """Show a person the commands and folders of a run, and what it may reach; `unsandboxed` says why no sandbox."""
        targets = await self._catalog.targets()
        wanted, _, _ = await self._select(request, targets)
        filters = _filters(request)
        _check(wanted, filters)
        open_to_all = unsandboxed or self._config.sandbox == "off"
        offline = not open_to_all and not self._config.network
        where = f"WITHOUT a sandbox{f' ({unsandboxed})' if unsandboxed else ''}" if open_to_all else "in the sandbox"
        return await asyncio.to_thread(
            preview_run,
            wanted,
            self._catalog.snapshot,
            self._programs,
            filters,
            root=self._root,
            where=where,
            offline=offline,
            rerun_failed=request.rerun_failed,
        )

    async def observe(self, before: EnvironmentState) -> tuple[str, EnvironmentState]:
        """Return the states of the code and of its environment after a run."""
        snapshot = await (await self._knowledge.fresh()).snapshot(strict=True)
        return await asyncio.to_thread(
            lambda: (code_state((), snapshot), after_run(before, self._root, belongs=snapshot.files))
        )

    def head(self) -> Head | None:
        """Return the commit that is checked out; None without git, where nothing is compared with a commit."""
        try:
            return read_head(self._root)
        except (NotGit, pygit2.GitError, KeyError, ValueError):
            return None

    def workers(self, requested: int | None) -> int:
        """Return how many processes run at once."""
        return requested or self._config.workers or min(os.cpu_count() or 1, _MAX_WORKERS)

    async def _select(
        self, request: RunRequest, targets: tuple[Target, ...]
    ) -> tuple[list[TargetSelection], dict[str, str], tuple[str, ...]]:
        """Return the requested targets, why each of them was selected, and notes on the selection."""
        reasons: dict[str, str] = {}
        notes: tuple[str, ...] = ()
        if request.targets:
            wanted = select_named(request.targets, targets, self._root)
        else:
            wanted = [TargetSelection(target=target) for target in targets]
        if request.is_impacted:
            wanted, reasons, notes = await self._select_impacted(request, wanted)
        if request.failed_only:
            wanted = select_failed(wanted, self._history)
            notes = (*notes, "") if wanted else (*notes, "nothing failed last time")
        return wanted, reasons, tuple(filter(None, notes))

    async def _select_impacted(
        self, request: RunRequest, among: list[TargetSelection]
    ) -> tuple[list[TargetSelection], dict[str, str], tuple[str, ...]]:
        paths = [canonical(path, root=self._root) for path in request.paths]
        impact = await self._impact.selection(paths or None, since=request.since)
        reasons = {reached.path: reached.reason for reached in impact.reached}
        return [selection for selection in among if selection.target_id in reasons], reasons, impact.notes

    def _states(self, wanted: Sequence[TargetSelection]) -> tuple[str, EnvironmentState]:
        snapshot = self._catalog.snapshot
        environment = environment_state(
            self._root,
            belongs=snapshot.files,
            programs=sorted(self._catalog.programs_of(wanted)),
            variables=clean_environment(self._environment, network=self._config.network),
            settings=f"{__version__} {self._config.model_dump_json()}",
        )
        return code_state((), snapshot), environment

    def _reusable_outcomes(
        self, request: RunRequest, wanted: Sequence[TargetSelection], filters: Filters, state: str
    ) -> dict[str, Outcome]:
        """Return the outcomes of whole targets at this state; a target with a flaky test always runs again."""
        if request.fresh or request.rerun_failed or request.failed_only or not filters.is_whole:
            return {}
        outcomes = self._reusable.find(state, wanted, kept=self._runs.ids(), now_ns=self._clock.now_ns())
        return {target: outcome for target, outcome in outcomes.items() if not self._flakiness.has_flaky(target)}

    def _trim_cache(self) -> str:
        now = time.monotonic()
        if self._trimmed_at is not None and now - self._trimmed_at < _TRIM_EVERY_SEC:
            return ""
        self._trimmed_at = now
        return self._tool_cache.trim()


def _filters(request: RunRequest) -> Filters:
    return Filters(pattern=request.pattern, tags=request.tags, fail_fast=request.fail_fast)


def _check(wanted: list[TargetSelection], filters: Filters) -> None:
    """Refuse a filter that a runner does not support: it would run all of its tests instead."""
    for selection in wanted:
        target = selection.target
        if selection.names and not can_run_single_tests(target):
            raise InvalidArgument(
                f"{target.runner_name} cannot run one test alone of {target.target_id}",
                hint=f"run all of it: targets=[{target.target_id!r}]",
            )
        if selection.names and filters.pattern and target.runner is not None and not target.runner.node_ids:
            raise InvalidArgument(
                f"{target.runner_name} takes the name of a test as its pattern, and one is given beside",
                hint="name the test, or give a pattern",
            )
        if target.runner is not None and target.custom is None and (unknown := filters.list_unsupported(target.runner)):
            raise InvalidArgument(
                f"{target.runner_name} cannot be given {' or '.join(unknown)}",
                hint="name targets of other runners, or leave it out",
            )
