"""One process of a runner: started enclosed, bounded in time and output, ended with all it started."""

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
_LOOK_SEC = 0.25
_LAST_WORDS_SEC = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a process ended: its status, and whether it was stopped for its time or its silence."""

    code: int
    seconds: float
    timed_out: bool = False
    silent: bool = False
    output_cut: int = 0

    @property
    def signal_name(self) -> str:
        """The signal that killed it, if one did; sandboxes and shells pass it on as 128 and more."""
        number = -self.code if self.code < 0 else self.code - 128 if 128 < self.code < 160 else 0
        with suppress(ValueError):
            return signal.Signals(number).name if number else ""
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long a process may run, and how long it may say nothing."""

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
    heard: Callable[[str], Awaitable[None]],
) -> Ended:
    """Run a command to its end, or end it; in either case nothing that it started is left."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    process = _started(argv, cwd, {**environment, MARK: mark})
    said = Output(output)
    draining = asyncio.create_task(said.drain(process.out))
    waiting = asyncio.create_task(process.wait())
    timed_out = silent = False
    heard_at, heard_bytes, told = began, 0, ""
    try:
        while not waiting.done():
            await asyncio.wait({waiting}, timeout=_LOOK_SEC)
            now = loop.time()
            if said.total != heard_bytes:
                heard_at, heard_bytes = now, said.total
                if said.last_line != told:
                    told = said.last_line
                    await heard(told)
            silent = now - heard_at > limits.silence
            timed_out = silent or now - began > limits.seconds
            if timed_out and not waiting.done():
                break
        timed_out = timed_out and not waiting.done()
    finally:
        await _finish(process, waiting, draining, mark, tree)
    return Ended(
        code=process.returncode if process.returncode is not None else -signal.SIGKILL,
        seconds=loop.time() - began,
        timed_out=timed_out,
        silent=timed_out and silent,
        output_cut=said.cut,
    )


def _started(argv: Sequence[str], cwd: Path, environment: Mapping[str, str]) -> Child:
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
    """End what is left; a daemon that outlived its parent would otherwise hold the pipe, and go on working."""

    async def finish() -> None:
        await asyncio.to_thread(tree.end, process.pid if process.returncode is None else 0, mark)
        await asyncio.wait({waiting}, timeout=_LAST_WORDS_SEC)
        await asyncio.wait({draining}, timeout=_LAST_WORDS_SEC)
        draining.cancel()
        process.close()
        await asyncio.wait({draining})
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
            await waiting

    # Also when the caller is being cancelled: nobody else ends it.
    ending = asyncio.ensure_future(finish())
    while not ending.done():
        try:
            await asyncio.shield(ending)
        except asyncio.CancelledError:
            if ending.cancelled():
                raise
            await asyncio.wait({ending})
            raise
