"""One run: its batches on their workers, from the first process to the last result."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from codeplane.kernel.config import TestsConfig
from codeplane.kernel.errors import TestRunnerNotFound
from codeplane.repo.testing import process
from codeplane.repo.testing.case import Case
from codeplane.repo.testing.command import Filters, custom_words, words
from codeplane.repo.testing.outcome import Outcome, not_run, outcome, sorted_out
from codeplane.repo.testing.packing import Batch
from codeplane.repo.testing.program import Program, Programs
from codeplane.repo.testing.report import cases as cases_of
from codeplane.repo.testing.report import contents
from codeplane.repo.testing.reports.unreadable import Unreadable
from codeplane.repo.testing.sandbox import Enclosure, ProcessTree, Sandbox
from codeplane.repo.testing.target import Wanted

_TAIL = 4000
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


@dataclass(kw_only=True)
class Execution:
    """Runs batches and gathers outcomes; ended early it has what was known until then."""

    means: Means
    folder: Path
    filters: Filters
    timeout_sec: float | None
    told: Callable[["Outcome | None", str], Awaitable[None]]
    outcomes: dict[str, Outcome] = field(default_factory=dict)
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
        for ended in found:
            if ended is not None:
                await self._over(ended)
        for one in (one for one, ended in zip(wanted, found, strict=True) if ended is None):
            if self._stopped:
                break
            (ended,) = await self._process([one])
            assert ended is not None
            await self._over(ended)

    async def _over(self, ended: Outcome) -> None:
        self.outcomes[ended.target_id] = ended
        if self.filters.fail_fast and ended.bad:
            self._stopped = True
        await self.told(ended, "")

    async def _process(self, wanted: Sequence[Wanted]) -> list[Outcome | None]:
        """How each target went in one process; None for those that are to be run by themselves."""
        number = self._processes
        self._processes += 1
        folder = self.folder / str(number)
        folder.mkdir()
        output = self.folder / f"{number}.txt"
        report = folder / "report"
        try:
            program, command = self._command(wanted, report)
        except TestRunnerNotFound as error:
            return [self._unrunnable(one, f"{error.message}; {error.hint}") for one in wanted]
        began = time.time()
        ended = await self._run(wanted, program, command, folder, output)
        cases, problem = await asyncio.to_thread(self._read, wanted, report, output, began)
        tail = await asyncio.to_thread(_tail, output)
        by_target, nobodys = sorted_out(cases, wanted, self.means.root)
        is_sound = not ended.timed_out and not ended.signal_name and not problem
        shared = len(wanted)
        found: list[Outcome | None] = []
        for one in wanted:
            its = by_target[one.target_id]
            if shared > 1 and not its and not (is_sound and ended.code == 0 and not nobodys):
                # Who is to blame is not known: each by itself will tell.
                found.append(None)
                continue
            if shared > 1:
                quiet = replace(ended, code=0 if its else ended.code, timed_out=False)
                quiet = quiet if not ended.signal_name else replace(quiet, code=0)
                made = outcome(one, its, quiet, problem="", tail="")
            else:
                made = outcome(one, [*its, *nobodys], ended, problem=problem if not its else "", tail=tail)
            found.append(replace(made, output=output.name, shared=shared))
        return found

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
            enclosure = Enclosure(root=self.means.root, writable=(folder,), tools=program.tools, network=network)
            command = sandbox.command(command, cwd=cwd, enclosure=enclosure)
            environment["TMPDIR"] = "/tmp"
            if target.runner is not None and not network:
                environment |= dict(target.runner.offline_variables)
        own = target.custom.timeout_sec if target.custom is not None else None
        each = self.timeout_sec or own or self.means.config.timeout_sec
        building = target.runner.startup_sec if target.runner is not None and target.custom is None else 0.0

        async def heard(line: str) -> None:
            await self.told(None, line)

        return await process.run(
            command,
            cwd=cwd,
            environment=environment,
            mark=str(folder),
            output=output,
            limits=process.Limits(seconds=each * len(wanted) + building, silence=each + building),
            tree=self.means.tree,
            heard=heard,
        )

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
                return [], "it wrote no report"
            return cases_of(runner.report, data), ""
        except Unreadable as error:
            return [], str(error)

    def _placed(self, wanted: Sequence[Wanted], began: float) -> tuple[list[Case], str]:
        """The cases of reports that the runner places below its root itself; older ones are of other runs."""
        target = wanted[0].target
        assert target.runner is not None
        root = self.means.root / target.root
        files: dict[Path, None] = {}
        for pattern in target.runner.found:
            for file in sorted(root.glob(pattern))[:_MAX_FOUND]:
                with suppress(OSError):
                    if file.lstat().st_mtime >= began - 1:
                        files[file] = None
        found = [case for file in files for case in cases_of(target.runner.report, contents(file) or b"")]
        return found, "" if files else "it wrote no report"

    def _unrunnable(self, wanted: Wanted, why: str) -> Outcome:
        case = Case(name=wanted.target.runner_name, status="error", kind="TestRunnerNotFound", message=why)
        return Outcome(wanted=wanted, status="error", cases=(case,), seconds=0.0)

    def unfinished(self, wanted: Sequence[Wanted], why: str) -> None:
        """Say of every target without an outcome why it has none."""
        for one in wanted:
            if one.target_id not in self.outcomes:
                self.outcomes[one.target_id] = not_run(one, f"not run: {why}")


def _tail(output: Path) -> str:
    try:
        with output.open("rb") as file:
            file.seek(max(0, output.stat().st_size - _TAIL))
            return file.read().decode(errors="replace").strip()
    except OSError:
        return ""
