"""One run: its batches on their workers, from the first process to the last result."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from codeplane.kernel.config import TestsConfig
from codeplane.kernel.errors import InvalidArgument, TestRunnerNotFound
from codeplane.kernel.trace import span, traceparent
from codeplane.testing import complaint, process
from codeplane.testing.case import Case
from codeplane.testing.command import Filters, custom_words, words
from codeplane.testing.matching import absent, listed
from codeplane.testing.outcome import (
    NO_REPORT,
    Outcome,
    is_accounted,
    is_unexplained,
    not_found,
    not_run,
    not_started,
    outcome,
    sorted_out,
)
from codeplane.testing.packing import Batch
from codeplane.testing.parent_tree import ParentTree
from codeplane.testing.program import Program, Programs
from codeplane.testing.report import cases as cases_of
from codeplane.testing.report import contents
from codeplane.testing.reports.unreadable import Unreadable
from codeplane.testing.sandbox import Enclosure, ProcessTree, Sandbox
from codeplane.testing.start_failure import NotStarted, start_failure
from codeplane.testing.target import Wanted

_TAIL = 4000
_MAX_SAID = 1024 * 1024
_USAGE = 4
_MAX_FOUND = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What processes of a workspace's tests are run with."""

    root: Path
    config: TestsConfig
    programs: Programs
    environment: Callable[[], Mapping[str, str]]
    tree: ProcessTree
    sandbox: Sandbox | None
    slots: asyncio.Semaphore
    copy: ParentTree | None = None
    """The files that are mounted instead of those at the root."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Over:
    """How the targets of one process went, None for those that are to be run again: by themselves, or together.

    `missing` are names that are not there, for which nothing at all was run.
    """

    outcomes: Sequence[Outcome | None]
    missing: Mapping[str, set[str]] = field(default_factory=dict)
    together: bool = False


@dataclass(kw_only=True)
class Execution:
    """Runs batches and gathers outcomes; ended early it has what was known until then."""

    means: Means
    folder: Path
    filters: Filters
    timeout_sec: float | None
    told: Callable[["Outcome | None", str], Awaitable[None]]
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    _missing: dict[str, list[str]] = field(default_factory=dict)
    _processes: int = 0
    _stopped: bool = False

    async def all(self, workers: Sequence[Sequence[Batch]]) -> None:
        """Run every worker's batches, all workers at once."""
        try:
            async with asyncio.TaskGroup() as group:
                for batches in workers:
                    group.create_task(self._worker(batches))
        except BaseExceptionGroup as failed:
            # One is enough to say what is wrong.
            raise failed.exceptions[0] from None

    async def _worker(self, batches: Sequence[Batch]) -> None:
        for batch in batches:
            if self._stopped:
                break
            async with self.means.slots:
                if not self._stopped:
                    await self._batch(batch.wanted)

    async def _batch(self, wanted: Sequence[Wanted]) -> None:
        """Run targets in one process; those it does not account for are run by themselves."""
        found = await self._process(wanted)
        for ended in found.outcomes:
            if ended is not None:
                await self._over(ended)
        left = [one for one, ended in zip(wanted, found.outcomes, strict=True) if ended is None]
        if found.missing:
            left = await self._without(left, found.missing)
        groups = [left] if found.together and left else [[one] for one in left]
        for group in groups:
            if self._stopped:
                break
            await self._batch(group)

    async def _without(self, wanted: Sequence[Wanted], missing: Mapping[str, set[str]]) -> list[Wanted]:
        """What is left to run when these names are not there."""
        left: list[Wanted] = []
        for one in wanted:
            gone = missing.get(one.target_id, set())
            self._missing.setdefault(one.target_id, []).extend(sorted(gone))
            names = tuple(name for name in one.names if name not in gone)
            if names or not gone:
                left.append(replace(one, names=names))
            else:
                await self._over(not_found(one, ()))
        return left

    async def _over(self, ended: Outcome) -> None:
        if missing := self._missing.get(ended.target_id):
            ended = replace(ended, missing=tuple(missing))
        self.outcomes[ended.target_id] = ended
        if self.filters.fail_fast and ended.bad:
            self._stopped = True
        await self.told(ended, "")

    async def _process(self, wanted: Sequence[Wanted]) -> _Over:
        """How each target went in one process."""
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
            return _Over(outcomes=[not_started(one, why) for one in wanted])
        cases, problem = await asyncio.to_thread(self._read, wanted, report, output, began)
        tail = await asyncio.to_thread(_tail, output)
        tail = tail.replace(f"file://{self.means.root}/", "").replace(f"{self.means.root}/", "")
        network = self.means.config.network or self.means.sandbox is None
        failure = start_failure(wanted[0].target, cases, ended, tail, network=network)
        if failure is not None:
            outcomes = [not_started(one, failure, output=output.name, shared=len(wanted)) for one in wanted]
            return _Over(outcomes=outcomes)
        if ended.code == _USAGE and wanted[0].target.runner_name == "pytest" and not cases:
            said = await asyncio.to_thread(_said, output)
            if wrong := complaint.wrong_expression(said):
                raise InvalidArgument(wrong, hint="pattern and tags are pytest's -k and -m: names with and, or, not")
            if missing := complaint.unknown(said, wanted):
                return _Over(outcomes=[None] * len(wanted), missing=missing, together=True)
            if len(wanted) > 1 and (blamed := complaint.to_blame(said, wanted, str(self.means.root))):
                return self._unbegun(wanted, blamed, ended, problem, tail, output.name)
        return _Over(outcomes=self._sorted(wanted, cases, ended, problem, tail, output.name))

    def _sorted(
        self,
        wanted: Sequence[Wanted],
        cases: Sequence[Case],
        ended: process.Ended,
        problem: str,
        tail: str,
        output: str,
    ) -> list[Outcome | None]:
        """How each target went by the cases of one report; None where they do not say."""
        pattern = self.filters.pattern_for(wanted)
        by_target, nobodys = sorted_out(listed(cases, wanted[0].target.runner, pattern), wanted, self.means.root)
        is_sound = not ended.timed_out and not ended.signal_name and not problem
        is_told = is_sound and not nobodys and is_accounted(cases, ended, wanted[0], self.filters, tail)
        shared = len(wanted)
        found: list[Outcome | None] = []
        for one in wanted:
            its = by_target[one.target_id]
            if shared > 1 and (is_unexplained(its) or (not its and not is_told)):
                # Who is to blame is not known: each by itself will tell.
                found.append(None)
                continue
            if is_sound and not nobodys and (gone := absent(one, its)):
                self._missing.setdefault(one.target_id, []).extend(gone)
                if len(gone) == len(one.names):
                    found.append(replace(not_found(one, gone), output=output, shared=shared))
                    continue
            if shared > 1:
                quiet = replace(ended, code=0, timed_out=False)
                made = outcome(one, its, quiet, problem="", tail="", filtered=self.filters.chooses)
            else:
                kept = [*its, *nobodys]
                told = problem if not its else ""
                made = outcome(one, kept, ended, problem=told, tail=tail, filtered=self.filters.chooses)
            found.append(replace(made, output=output, shared=shared))
        return found

    def _unbegun(
        self,
        wanted: Sequence[Wanted],
        blamed: Sequence[Wanted],
        ended: process.Ended,
        problem: str,
        tail: str,
        output: str,
    ) -> _Over:
        """The same for all that cannot be begun; the others go without them."""
        names = {one.target_id for one in blamed}
        found = [
            replace(outcome(one, [], ended, problem=problem, tail=tail), output=output, shared=len(wanted))
            if one.target_id in names
            else None
            for one in wanted
        ]
        return _Over(outcomes=found, together=True)

    def _command(self, wanted: Sequence[Wanted], report: Path) -> tuple[Program, list[str]]:
        target = wanted[0].target
        if target.custom is not None:
            word = target.custom.cmd[0]
            program = self.means.programs.command(word, target.root)
            if program is None:
                raise TestRunnerNotFound(f"Test runner '{word}' not found in PATH")
            return program, custom_words(target, program.words, report)
        assert target.runner is not None
        program = self.means.programs.find(target.runner, target.root)
        offline = self.means.sandbox is not None and not self.means.config.network
        return program, words(target.runner, program.words, wanted, report, self.filters, offline=offline)

    async def _run(
        self, wanted: Sequence[Wanted], program: Program, command: list[str], folder: Path, output: Path
    ) -> process.Ended:
        target = wanted[0].target
        cwd = self.means.root / target.root if target.root else self.means.root
        environment = dict(self.means.environment())
        sandbox = self.means.sandbox
        if sandbox is not None:
            network = self.means.config.network
            enclosure = Enclosure(
                root=self.means.root,
                writable=(folder,),
                tools=program.tools,
                network=network,
                copy=self.means.copy,
                secrets=self.means.config.secrets,
            )
            command = await asyncio.to_thread(sandbox.command, command, cwd=cwd, enclosure=enclosure)
            environment["TMPDIR"] = "/tmp"  # nosec B108  # the sandbox's own
            if target.runner is not None and not network:
                environment |= dict(target.runner.offline_variables)
        own = target.custom.timeout_sec if target.custom is not None else None
        each = self.timeout_sec or own or self.means.config.timeout_sec
        building = target.runner.startup_sec if target.runner is not None and target.custom is None else 0.0

        async def heard(line: str) -> None:
            await self.told(None, line)

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
                tree=self.means.tree,
                heard=heard,
            )
            running.note(outcome="timed_out" if ended.timed_out else "failed" if ended.code else "ok")
        return ended

    def _read(self, wanted: Sequence[Wanted], report: Path, output: Path, began: float) -> tuple[list[Case], str]:
        """The cases of the report, and what is wrong with it."""
        runner = wanted[0].target.runner
        if runner is None:
            return [], ""
        try:
            if runner.from_output:
                return cases_of(runner.report, output.read_bytes()), ""
            if runner.found:
                return self._placed(wanted, began)
            data = contents(report)
            if data is None:
                return [], NO_REPORT
            return cases_of(runner.report, data), ""
        except Unreadable as error:
            return [], str(error)

    def _placed(self, wanted: Sequence[Wanted], began: float) -> tuple[list[Case], str]:
        """The cases of reports that the runner places below its root itself; older ones are of other runs."""
        target = wanted[0].target
        assert target.runner is not None
        copy = self.means.copy
        root = (copy.folder if copy is not None else self.means.root) / target.root
        files: dict[Path, None] = {}
        for pattern in target.runner.found:
            for file in sorted(root.glob(pattern))[:_MAX_FOUND]:
                with suppress(OSError):
                    if file.lstat().st_mtime >= began - 1:
                        files[file] = None
        found = [case for file in files for case in cases_of(target.runner.report, contents(file) or b"")]
        return found, "" if files else NO_REPORT

    def unfinished(self, wanted: Sequence[Wanted], why: str) -> None:
        """Say of every target without an outcome why it has none."""
        for one in wanted:
            if one.target_id not in self.outcomes:
                self.outcomes[one.target_id] = not_run(one, why)


def _said(output: Path) -> str:
    with output.open("rb") as file:
        return file.read(_MAX_SAID).decode(errors="replace")


def _tail(output: Path) -> str:
    try:
        with output.open("rb") as file:
            cut = max(0, output.stat().st_size - _TAIL)
            file.seek(cut)
            tail = file.read().decode(errors="replace").strip()
            return f"…{tail}" if cut else tail
    except OSError:
        return ""
