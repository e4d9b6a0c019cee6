"""Runs one command in a session of its own, within limits, and ends everything it started."""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from codeplane.kernel.errors import NotFound
from codeplane.processes.child import PIPE, Child
from codeplane.trust.shell.output_capture import OutputCapture
from codeplane.trust.shell.sandbox import MARK, Processes

_CHECK_SEC = 0.1
_DRAIN_SEC = 2.0
_READ_BYTES = 64 * 1024
# Output that is not kept is read slowly, so that a flood slows down the command and not the server.
_PAUSE_SEC = 0.001
# The shortest time between two records, so that the log is not flooded.
_RECORD_INTERVAL_SEC = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLimits:
    """The limits of a command."""

    seconds: float = 10.0
    processes: int = 1000
    resident_bytes: int = 4 * 1024**3
    grace_sec: float = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """The program to start."""

    argv: Sequence[str]
    cwd: Path
    environment: Mapping[str, str]
    mark: str
    enclosed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandExit:
    """How a command ended; `stopped` says why it was stopped."""

    code: int
    timed_out: bool = False
    stopped: str = ""


class CommandRun:
    """Runs one command; `tell` records the output from time to time."""

    def __init__(
        self,
        *,
        program: Program,
        bounds: RunLimits,
        processes: Processes,
        out: OutputCapture,
        err: OutputCapture,
        tell: Callable[[bool], Awaitable[None]],
    ) -> None:
        self._program = program
        self._bounds = bounds
        self._processes = processes
        self._out = out
        self._err = err
        self._tell = tell
        self._output_seen = asyncio.Event()
        self.asked_to_stop = asyncio.Event()

    async def run(self) -> CommandExit:
        """Run to the end, or stop it; either way nothing that it started is left."""
        process = self._start()
        waiting = asyncio.create_task(process.wait())
        reading = [
            asyncio.create_task(self._read(process.out, self._out)),
            asyncio.create_task(self._read(process.err, self._err)),
        ]
        telling = asyncio.create_task(self._record_output())
        stopped, timed_out = "", False
        try:
            stopped, timed_out = await self._watch(process, waiting, telling)
            if stopped:
                await self._terminate(process.pid, waiting)
        finally:
            await _finish_work(self._finish(process, waiting, reading, telling))
        await self._tell(True)
        if telling.done() and not telling.cancelled() and (error := telling.exception()) is not None:
            raise error
        code = process.returncode if process.returncode is not None else -signal.SIGKILL
        # As a shell and a sandbox report a signal: 128 and more.
        return CommandExit(code=code if code >= 0 else 128 - code, timed_out=timed_out, stopped=stopped)

    def _start(self) -> Child:
        program = self._program
        capped = self._processes.cap_command(program.argv, program.mark, most=self._bounds.processes)
        try:
            return Child(
                capped, cwd=program.cwd, env={**program.environment, MARK: program.mark}, stdout=PIPE, stderr=PIPE
            )
        except OSError as error:
            raise NotFound(
                f"{program.argv[0]} cannot be started: {error.strerror}", hint="install bash and bubblewrap"
            ) from error

    async def _watch(
        self, process: Child, waiting: "asyncio.Task[int]", telling: "asyncio.Task[None]"
    ) -> tuple[str, bool]:
        """Wait for the end; returns why it has to be stopped, if so, and whether it timed out."""
        loop, bounds = asyncio.get_running_loop(), self._bounds
        until = loop.time() + bounds.seconds
        cancelled = asyncio.create_task(self.asked_to_stop.wait())
        try:
            while True:
                left = until - loop.time()
                await asyncio.wait(
                    {waiting, cancelled, telling},
                    timeout=min(_CHECK_SEC, max(left, 0)),
                    return_when=asyncio.FIRST_COMPLETED,
                )
                # `waiting` also lasts until the pipes are closed, and a daemon may hold them.
                if process.returncode is not None:
                    return "", False
                if telling.done():
                    return "what it prints can no longer be recorded", False
                if cancelled.done():
                    return "it was cancelled", False
                if loop.time() >= until:
                    return f"it ran longer than {bounds.seconds:g} s", True
                usage = await asyncio.to_thread(self._processes.census, process.pid, most=bounds.processes)
                if usage.processes > bounds.processes:
                    return f"it had more than {bounds.processes:,} processes", False
                if usage.resident_bytes > bounds.resident_bytes:
                    return f"it held more than {bounds.resident_bytes >> 20:,} MB of memory", False
        finally:
            cancelled.cancel()

    async def _terminate(self, pid: int, waiting: "asyncio.Task[int]") -> None:
        await asyncio.to_thread(self._processes.terminate, pid, enclosed=self._program.enclosed)
        await asyncio.wait({waiting}, timeout=self._bounds.grace_sec)

    async def _read(self, stream: asyncio.StreamReader, captured: OutputCapture) -> None:
        while data := await stream.read(_READ_BYTES):
            captured.take(data)
            self._output_seen.set()
            if captured.dropped:
                await asyncio.sleep(_PAUSE_SEC)

    async def _record_output(self) -> None:
        while True:
            await self._output_seen.wait()
            self._output_seen.clear()
            await self._tell(False)
            await asyncio.sleep(_RECORD_INTERVAL_SEC)

    async def _finish(
        self,
        process: Child,
        waiting: "asyncio.Task[int]",
        reading: "Sequence[asyncio.Task[None]]",
        telling: "asyncio.Task[None]",
    ) -> None:
        """End what is left; a daemon that outlived its parent would hold the pipe and keep running."""
        pid = process.pid if process.returncode is None else 0
        await asyncio.to_thread(self._processes.end, pid, self._program.mark)
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
        await asyncio.wait((*reading, waiting), timeout=_DRAIN_SEC)
        process.close()
        for task in (*reading, telling, waiting):
            task.cancel()
        await asyncio.wait((*reading, telling, waiting))


async def _finish_work(work: Awaitable[None]) -> None:
    """Finish the work even when the waiting task is cancelled."""
    doing = asyncio.ensure_future(work)
    try:
        await asyncio.shield(doing)
    except asyncio.CancelledError:
        await asyncio.wait({doing})
        raise
