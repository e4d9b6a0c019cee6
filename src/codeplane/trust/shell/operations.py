"""The shell operations: `run_bash`, `shell.output` and `shell.cancel`."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from codeplane.kernel.actor import Actor
from codeplane.kernel.call import Call, Failure
from codeplane.kernel.clock import Clock
from codeplane.kernel.config import ShellConfig
from codeplane.kernel.errors import CodePlaneError, NotFound, Overloaded
from codeplane.kernel.ids import new_id
from codeplane.kernel.operation import Assessment, Budget, Preview, Risk, assesses, operation, previews
from codeplane.kernel.redaction import Redactor
from codeplane.kernel.trace import span
from codeplane.trust.people import require_person
from codeplane.trust.shell.command import BashRequest, CheckedCommand, CommandCheck, program
from codeplane.trust.shell.command_run import CommandExit, CommandRun, Program, RunLimits
from codeplane.trust.shell.execution import Execution
from codeplane.trust.shell.models import (
    MAX_MASKED,
    BashResult,
    CancelRequest,
    CancelResult,
    OutputRequest,
    OutputResult,
)
from codeplane.trust.shell.recorded_output import read_output
from codeplane.trust.shell.sandbox import Environment, Processes, ShellSandbox

_MAX_WAITING = 64
_BOUNDS = RunLimits()

# Records that a call brings in untrusted content: (call, source, what).
Ingest = Callable[[Call, str, str], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellParts:
    """The dependencies of the shell operations."""

    root: Path
    config: ShellConfig
    clock: Clock
    sandbox: ShellSandbox
    processes: Processes
    environment: Environment
    ingest: Ingest
    redactor: Redactor = field(default_factory=Redactor)
    bounds: RunLimits = _BOUNDS


@dataclass(frozen=True, slots=True, kw_only=True)
class _Live:
    actor: Actor
    running: CommandRun


class ShellOperations:
    """Runs approved shell commands in the sandbox."""

    def __init__(self, parts: ShellParts) -> None:
        self._parts = parts
        self._check = CommandCheck(root=parts.root, config=parts.config, sandbox=parts.sandbox)
        self._slots = asyncio.Semaphore(parts.config.max_running)
        self._waiting = 0
        self._live: dict[str, _Live] = {}

    @operation("run_bash", risk=Risk.HIGH, budget=Budget.MUTATION, capability="execute_shell", timeout_sec=0)
    async def run_bash(self, call: Call, request: BashRequest) -> BashResult:
        """Run a bash command in the repository, in a sandbox, after a person agreed.

        The repository can be written, but not .git (use the git tools) and .codeplane; there is no home and, unless
        granted, no network. Everything it starts ends with it. Answers with the exit code and the end of stdout and
        stderr; shell_output gives the rest. It cannot be undone.
        """
        checked = await asyncio.to_thread(self._check.check, request)
        if self._waiting >= _MAX_WAITING:
            raise Overloaded(f"{self._waiting} commands wait for their turn")
        self._waiting += 1
        try:
            await self._slots.acquire()
        finally:
            self._waiting -= 1
        try:
            return await self._run(call, checked)
        finally:
            self._slots.release()

    @assesses("run_bash")
    def assess_run_bash(self, request: BashRequest) -> Assessment:
        """The risk is always HIGH; the warnings are for the person who decides, and change nothing else."""
        checked = self._check.check(request)
        remotes = ("*",) if checked.network or not checked.enclosed else ()
        return Assessment(risk=Risk.HIGH, effects=checked.effects, remotes=remotes, trusted_as=checked.bounds)

    @previews("run_bash")
    async def preview_run_bash(self, request: BashRequest) -> Preview:
        """The command, its folder and its limits."""
        return (await asyncio.to_thread(self._check.check, request)).preview()

    @operation("shell.output", risk=Risk.READ, capability="execute_shell")
    async def output(self, call: Call, request: OutputRequest) -> OutputResult:
        """Read more of what a command of run_bash printed, also while it runs; offsets are bytes of one stream."""
        part, outside = await read_output(call, request, running=request.execution_id in self._live)
        if outside:
            await self._parts.ingest(call, "shell", request.execution_id)
        return part

    @operation("shell.cancel", risk=Risk.WRITE, capability="execute_shell")
    async def cancel(self, call: Call, request: CancelRequest) -> CancelResult:
        """End a running command of run_bash with all it started: one's own, or any as a person."""
        live = self._live.get(request.execution_id)
        if live is None:
            if not await call.log.read(stream=f"execution/{request.execution_id}", limit=1):
                raise NotFound(
                    f"there is no command {request.execution_id!r}", hint="execution_id is in the events of run_bash"
                )
            return CancelResult(execution_id=request.execution_id, cancelled=False)
        if live.actor != call.actor:
            require_person(call.actor)
        live.running.asked_to_stop.set()
        return CancelResult(execution_id=request.execution_id, cancelled=True)

    async def _run(self, call: Call, checked: CheckedCommand) -> BashResult:
        parts, request = self._parts, checked.request
        execution_id = new_id("exec")
        hidden = await asyncio.to_thread(parts.sandbox.hidden_secrets) if checked.enclosed else []
        execution = Execution(
            call=call, execution_id=execution_id, output_bytes=parts.config.output_kb * 1024, redactor=parts.redactor
        )
        running = CommandRun(
            program=await asyncio.to_thread(self._program, checked, execution_id),
            bounds=replace(parts.bounds, seconds=request.timeout_ms / 1000),
            processes=parts.processes,
            out=execution.out,
            err=execution.err,
            tell=execution.tell,
        )
        # Before its start is recorded, so that a reader of the log can cancel it.
        self._live[execution_id] = _Live(actor=call.actor, running=running)
        began = parts.clock.monotonic_ns()
        ended: CommandExit | None = None
        try:
            if checked.network or not checked.enclosed:
                # Before it runs, because its output can be read meanwhile.
                await parts.ingest(call, "shell", execution_id)
            await execution.record_start(checked)
            with span("sandbox", kind="shell", enclosed=checked.enclosed) as enclosed:
                ended = await running.run()
                enclosed.note(outcome="timed_out" if ended.timed_out else "failed" if ended.code else "ok")
        finally:
            del self._live[execution_id]
            draft = execution.end_event(
                exit_code=ended.code if ended is not None else None,
                duration_ms=(parts.clock.monotonic_ns() - began) // 1_000_000,
                timed_out=ended is not None and ended.timed_out,
                stopped=ended.stopped if ended is not None else "it was cut off",
            )
            if ended is None:
                # The caller is gone; the call's own record says that it was cut off.
                with suppress(CodePlaneError):
                    call.log.append_soon([draft])
        await call.log.append([draft])
        if ended.code or ended.stopped:
            trace = execution.tail(execution.err)[-2000:]
            call.report_failure(Failure(kind="command", trace=trace, exit_code=ended.code))
        duration_ms = (parts.clock.monotonic_ns() - began) // 1_000_000
        named = [path for path in hidden if _is_named(path, request.command)]
        # An empty secrets file surprises a caller that names it, and may be why a command fails.
        masked = named or (hidden if ended.code else [])
        return _result(execution, checked, ended, duration_ms, masked)

    def _program(self, checked: CheckedCommand, execution_id: str) -> Program:
        parts, argv = self._parts, program(checked.request.command)
        if checked.enclosed:
            argv = parts.sandbox.command(argv, cwd=checked.cwd, network=checked.network)
        return Program(
            argv=argv,
            cwd=parts.root if checked.enclosed else checked.cwd,
            environment=parts.environment(network=checked.network or not checked.enclosed),
            mark=execution_id,
            enclosed=checked.enclosed,
        )


def _is_named(path: str, command: str) -> bool:
    """Whether a command contains a file's name, with or without its folder."""
    return re.search(rf"(?<![\w.-]){re.escape(path.rpartition('/')[2])}(?![\w.-])", command) is not None


def _result(
    execution: Execution, checked: CheckedCommand, ended: CommandExit, duration_ms: int, masked: Sequence[str]
) -> BashResult:
    out, err = execution.out, execution.err
    return BashResult(
        execution_id=execution.execution_id,
        exit_code=ended.code,
        duration_ms=duration_ms,
        timed_out=ended.timed_out,
        truncated=bool(out.dropped or err.dropped),
        stopped=ended.stopped,
        sandbox=checked.enclosed,
        network=checked.network,
        stdout=execution.tail(out),
        stderr=execution.tail(err),
        stdout_bytes=out.seen,
        stderr_bytes=err.seen,
        stdout_cut=out.cut_bytes,
        stderr_cut=err.cut_bytes,
        masked=tuple(masked[:MAX_MASKED]),
        masked_total=len(masked),
    )
