"""One process of a runner, bounded in time and output, and ended with everything it started."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from codeplane.kernel.errors import TestRunnerNotFound
from codeplane.processes.child import PIPE, STDOUT, Child
from codeplane.testing.output import Output
from codeplane.testing.sandbox import ProcessTree

MARK = "CODEPLANE_TEST_PROCESS"
_POLL_SEC = 0.25
_DRAIN_SEC = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessExit:
    """How a process ended: its exit code, and whether it was killed for its time or its silence."""

    code: int
    seconds: float
    timed_out: bool = False
    silent: bool = False
    output_cut: int = 0

    @property
    def signal_name(self) -> str:
        """The signal that killed it, if any; sandboxes and shells report it as 128 and more."""
        number = -self.code if self.code < 0 else self.code - 128 if 128 < self.code < 160 else 0
        with suppress(ValueError):
            return signal.Signals(number).name if number else ""
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long a process may run, and how long it may print nothing."""

    seconds: float
    silence: float


async def run(
    argv: Sequence[str],
    *,
    cwd: Path,
    environment: Mapping[str, str],
    mark: str,
    output: Path,
    limits: Limits,
    tree: ProcessTree,
    on_line: Callable[[str], Awaitable[None]],
) -> ProcessExit:
    """Run a command to its end, or kill it; in either case nothing that it started is left."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    process = _start(argv, cwd, {**environment, MARK: mark})
    captured = Output(output)
    draining = asyncio.create_task(captured.drain(process.out))
    waiting = asyncio.create_task(process.wait())
    timed_out = silent = False
    printed_at, printed_bytes, last_line = began, 0, ""
    try:
        while not waiting.done():
            await asyncio.wait({waiting}, timeout=_POLL_SEC)
            now = loop.time()
            if captured.total != printed_bytes:
                printed_at, printed_bytes = now, captured.total
                if captured.last_line != last_line:
                    last_line = captured.last_line
                    await on_line(last_line)
            silent = now - printed_at > limits.silence
            timed_out = silent or now - began > limits.seconds
            if timed_out and not waiting.done():
                break
        timed_out = timed_out and not waiting.done()
    finally:
        await _finish(process, waiting, draining, mark, tree)
    return ProcessExit(
        code=process.returncode if process.returncode is not None else -signal.SIGKILL,
        seconds=loop.time() - began,
        timed_out=timed_out,
        silent=timed_out and silent,
        output_cut=captured.cut,
    )


def _start(argv: Sequence[str], cwd: Path, environment: Mapping[str, str]) -> Child:
    """Start a process in a session of its own."""
    try:
        return Child(argv, cwd=cwd, env=environment, stdout=PIPE, stderr=STDOUT)
    except (FileNotFoundError, PermissionError) as error:
        raise TestRunnerNotFound(f"{argv[0]} cannot be started: {error.strerror}") from error


async def _finish(
    process: Child,
    waiting: "asyncio.Task[int]",
    draining: "asyncio.Task[None]",
    mark: str,
    tree: ProcessTree,
) -> None:
    """Kill what is left: a daemon that outlived its parent would hold the pipe and go on working."""

    async def finish() -> None:
        await asyncio.to_thread(tree.end, process.pid if process.returncode is None else 0, mark)
        await asyncio.wait({waiting}, timeout=_DRAIN_SEC)
        await asyncio.wait({draining}, timeout=_DRAIN_SEC)
        draining.cancel()
        process.close()
        await asyncio.wait({draining})
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
            await waiting

    # Also when the caller is cancelled: nothing else kills it.
    ending = asyncio.ensure_future(finish())
    while not ending.done():
        try:
            await asyncio.shield(ending)
        except asyncio.CancelledError:
            if ending.cancelled():
                raise
            await asyncio.wait({ending})
            raise
