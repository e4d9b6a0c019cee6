"""The execution of a run: its batches on their workers, from the first process to the last outcome."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from codeplane.kernel.config import TestsConfig
from codeplane.kernel.errors import InvalidArgument, TestRunnerNotFound
from codeplane.kernel.trace import span, traceparent
from codeplane.testing import output_errors, process
from codeplane.testing.batches import Batch
from codeplane.testing.case import Case, UnreadableReport
from codeplane.testing.case_names import missing_names, without_deselected
from codeplane.testing.command import Filters, custom_words, words
from codeplane.testing.commit_copy import CommitCopy
from codeplane.testing.outcome import (
    NO_REPORT,
    Outcome,
    assign_cases,
    is_accounted,
    is_unexplained,
    not_found,
    not_run,
    not_started,
    outcome_of,
)
from codeplane.testing.program import Program, Programs
from codeplane.testing.report import read_report
from codeplane.testing.sandbox import Enclosure, ProcessTree, Sandbox
from codeplane.testing.start_failure import NotStarted, start_failure
from codeplane.testing.target import TargetSelection

_TAIL = 4000
_MAX_OUTPUT = 1024 * 1024
_USAGE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionContext:
    """The settings and tools that the processes of a run share."""

    root: Path
    config: TestsConfig
    programs: Programs
    environment: Callable[[], Mapping[str, str]]
    tree: ProcessTree
    sandbox: Sandbox | None
    slots: asyncio.Semaphore
    copy: CommitCopy | None = None
    """The copy of a commit that is mounted in place of the root."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _ProcessOutcomes:
    """The outcomes of the targets of one process; None for targets to run again, each alone or all `together`.

    `missing`: test names that do not exist, because of which nothing was run at all.
    """

    outcomes: Sequence[Outcome | None]
    missing: Mapping[str, set[str]] = field(default_factory=dict)
    together: bool = False


@dataclass(kw_only=True)
class Execution:
    """Runs batches and collects outcomes; if it is ended early, it has those known until then."""

    context: ExecutionContext
    folder: Path
    filters: Filters
    timeout_sec: float | None
    notify: Callable[["Outcome | None", str], Awaitable[None]]
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    _missing: dict[str, list[str]] = field(default_factory=dict)
    _processes: int = 0
    _stopped: bool = False

    async def run_all(self, workers: Sequence[Sequence[Batch]]) -> None:
        """Run every worker's batches, all workers at once."""
        try:
            async with asyncio.TaskGroup() as group:
                for batches in workers:
                    group.create_task(self._worker(batches))
        except BaseExceptionGroup as failed:
            # The first one says what is wrong.
            raise failed.exceptions[0] from None

    async def _worker(self, batches: Sequence[Batch]) -> None:
        for batch in batches:
            if self._stopped:
                break
            async with self.context.slots:
                if not self._stopped:
                    await self._batch(batch.wanted)

    async def _batch(self, wanted: Sequence[TargetSelection]) -> None:
        """Run targets in one process, and those without an outcome again, each alone."""
        result = await self._process(wanted)
        for outcome in result.outcomes:
            if outcome is not None:
                await self._add(outcome)
        left = [selection for selection, outcome in zip(wanted, result.outcomes, strict=True) if outcome is None]
        if result.missing:
            left = await self._without_missing(left, result.missing)
        groups = [left] if result.together and left else [[selection] for selection in left]
        for group in groups:
            if self._stopped:
                break
            await self._batch(group)

    async def _without_missing(
        self, wanted: Sequence[TargetSelection], missing: Mapping[str, set[str]]
    ) -> list[TargetSelection]:
        """Return what is left to run without the names that do not exist."""
        left: list[TargetSelection] = []
        for selection in wanted:
            gone = missing.get(selection.target_id, set())
            self._missing.setdefault(selection.target_id, []).extend(sorted(gone))
            names = tuple(name for name in selection.names if name not in gone)
            if names or not gone:
                left.append(replace(selection, names=names))
            else:
                await self._add(not_found(selection, ()))
        return left

    async def _add(self, outcome: Outcome) -> None:
        if missing := self._missing.get(outcome.target_id):
            outcome = replace(outcome, missing=tuple(missing))
        self.outcomes[outcome.target_id] = outcome
        if self.filters.fail_fast and outcome.bad:
            self._stopped = True
        await self.notify(outcome, "")

    async def _process(self, wanted: Sequence[TargetSelection]) -> _ProcessOutcomes:
        """Run one process and return the outcome of each target."""
        number = self._processes
        self._processes += 1
        folder = self.folder / str(number)
        folder.mkdir()
        output = self.folder / f"{number}.txt"
        report = folder / "report"
        try:
            program, command = self._command(wanted, report)
            began = time.time()
            ended = await self._run(wanted, program, command, folder, output)
        except TestRunnerNotFound as error:
            why = NotStarted(reason=error.message, fix=error.hint or "")
            return _ProcessOutcomes(outcomes=[not_started(selection, why) for selection in wanted])
        cases, problem = await asyncio.to_thread(self._read_report, wanted, report, output, began)
        tail = await asyncio.to_thread(_tail, output)
        tail = tail.replace(f"file://{self.context.root}/", "").replace(f"{self.context.root}/", "")
        network = self.context.config.network or self.context.sandbox is None
        failure = start_failure(wanted[0].target, cases, ended, tail, network=network)
        if failure is not None:
            shared = len(wanted)
            outcomes = [not_started(selection, failure, output=output.name, shared=shared) for selection in wanted]
            return _ProcessOutcomes(outcomes=outcomes)
        if ended.code == _USAGE and wanted[0].target.runner_name == "pytest" and not cases:
            text = await asyncio.to_thread(_output_text, output)
            if wrong := output_errors.wrong_expression(text):
                raise InvalidArgument(wrong, hint="pattern and tags are pytest's -k and -m: names with and, or, not")
            if missing := output_errors.unknown_tests(text, wanted):
                return _ProcessOutcomes(outcomes=[None] * len(wanted), missing=missing, together=True)
            if len(wanted) > 1 and (blamed := output_errors.blamed_targets(text, wanted, str(self.context.root))):
                return self._not_loaded(wanted, blamed, ended, problem, tail, output.name)
        return _ProcessOutcomes(outcomes=self._outcomes(wanted, cases, ended, problem, tail, output.name))

    def _outcomes(
        self,
        wanted: Sequence[TargetSelection],
        cases: Sequence[Case],
        ended: process.ProcessExit,
        problem: str,
        tail: str,
        output: str,
    ) -> list[Outcome | None]:
        """Return the outcome of each target by the cases of one report; None where they do not tell."""
        pattern = self.filters.pattern_for(wanted)
        selected = without_deselected(cases, wanted[0].target.runner, pattern)
        by_target, unassigned = assign_cases(selected, wanted, self.context.root)
        is_sound = not ended.timed_out and not ended.signal_name and not problem
        is_complete = is_sound and not unassigned and is_accounted(cases, ended, wanted[0], self.filters, tail)
        shared = len(wanted)
        outcomes: list[Outcome | None] = []
        for selection in wanted:
            own_cases = by_target[selection.target_id]
            if shared > 1 and (is_unexplained(own_cases) or (not own_cases and not is_complete)):
                # It is not known which target is to blame: running each alone will tell.
                outcomes.append(None)
                continue
            if is_sound and not unassigned and (gone := missing_names(selection, own_cases)):
                self._missing.setdefault(selection.target_id, []).extend(gone)
                if len(gone) == len(selection.names):
                    outcomes.append(replace(not_found(selection, gone), output=output, shared=shared))
                    continue
            filtered = self.filters.chooses
            if shared > 1:
                quiet = replace(ended, code=0, timed_out=False)
                outcome = outcome_of(selection, own_cases, quiet, problem="", tail="", filtered=filtered)
            else:
                all_cases = [*own_cases, *unassigned]
                report_problem = problem if not own_cases else ""
                outcome = outcome_of(selection, all_cases, ended, problem=report_problem, tail=tail, filtered=filtered)
            outcomes.append(replace(outcome, output=output, shared=shared))
        return outcomes

    def _not_loaded(
        self,
        wanted: Sequence[TargetSelection],
        blamed: Sequence[TargetSelection],
        ended: process.ProcessExit,
        problem: str,
        tail: str,
        output: str,
    ) -> _ProcessOutcomes:
        """Return an error for the targets that keep pytest from starting; the others run again without them."""
        blamed_ids = {selection.target_id for selection in blamed}
        outcomes = [
            replace(outcome_of(selection, [], ended, problem=problem, tail=tail), output=output, shared=len(wanted))
            if selection.target_id in blamed_ids
            else None
            for selection in wanted
        ]
        return _ProcessOutcomes(outcomes=outcomes, together=True)

    def _command(self, wanted: Sequence[TargetSelection], report: Path) -> tuple[Program, list[str]]:
        target = wanted[0].target
        if target.custom is not None:
            word = target.custom.cmd[0]
            program = self.context.programs.command(word, target.root)
            if program is None:
                raise TestRunnerNotFound(f"Test runner '{word}' not found in PATH")
            return program, custom_words(target, program.words, report)
        assert target.runner is not None
        program = self.context.programs.find(target.runner, target.root)
        offline = self.context.sandbox is not None and not self.context.config.network
        return program, words(target.runner, program.words, wanted, report, self.filters, offline=offline)

    async def _run(
        self, wanted: Sequence[TargetSelection], program: Program, command: list[str], folder: Path, output: Path
    ) -> process.ProcessExit:
        target = wanted[0].target
        cwd = self.context.root / target.root if target.root else self.context.root
        environment = dict(self.context.environment())
        sandbox = self.context.sandbox
        if sandbox is not None:
            network = self.context.config.network
            enclosure = Enclosure(
                root=self.context.root,
                writable=(folder,),
                tools=program.tools,
                network=network,
                copy=self.context.copy,
                secrets=self.context.config.secrets,
            )
            command = await asyncio.to_thread(sandbox.command, command, cwd=cwd, enclosure=enclosure)
            environment["TMPDIR"] = "/tmp"  # nosec B108  # the sandbox's own
            if target.runner is not None and not network:
                environment |= dict(target.runner.offline_variables)
        own = target.custom.timeout_sec if target.custom is not None else None
        each = self.timeout_sec or own or self.context.config.timeout_sec
        building = target.runner.startup_sec if target.runner is not None and target.custom is None else 0.0

        async def on_line(line: str) -> None:
            await self.notify(None, line)

        with span("sandbox", kind="tests", enclosed=sandbox is not None, targets=len(wanted)) as running:
            if (caused_by := traceparent()) is not None:
                environment["TRACEPARENT"] = caused_by
            ended = await process.run(
                command,
                cwd=cwd,
                environment=environment,
                mark=str(folder),
                output=output,
                limits=process.Limits(seconds=each * len(wanted) + building, silence=each + building),
                tree=self.context.tree,
                on_line=on_line,
            )
            running.note(outcome="timed_out" if ended.timed_out else "failed" if ended.code else "ok")
        return ended

    def _read_report(
        self, wanted: Sequence[TargetSelection], report: Path, output: Path, began: float
    ) -> tuple[list[Case], str]:
        """Return the cases of the report, and what is wrong with it."""
        target = wanted[0].target
        if target.runner is None:
            return [], ""
        copy = self.context.copy
        root = (copy.folder if copy is not None else self.context.root) / target.root
        try:
            cases = read_report(target.runner, report, output=output, root=root, began=began)
        except UnreadableReport as error:
            return [], str(error)
        return ([], NO_REPORT) if cases is None else (cases, "")

    def mark_unfinished(self, wanted: Sequence[TargetSelection], why: str) -> None:
        """Give every target without an outcome one that says why it did not run."""
        for selection in wanted:
            if selection.target_id not in self.outcomes:
                self.outcomes[selection.target_id] = not_run(selection, why)


def _output_text(output: Path) -> str:
    with output.open("rb") as file:
        return file.read(_MAX_OUTPUT).decode(errors="replace")


def _tail(output: Path) -> str:
    try:
        with output.open("rb") as file:
            cut = max(0, output.stat().st_size - _TAIL)
            file.seek(cut)
            tail = file.read().decode(errors="replace").strip()
            return f"…{tail}" if cut else tail
    except OSError:
        return ""
