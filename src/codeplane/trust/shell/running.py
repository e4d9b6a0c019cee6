"""One command: started in a session of its own, watched, bounded, and ended with all it started."""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from codeplane.kernel.errors import NotFound
from codeplane.processes.child import PIPE, Child
from codeplane.trust.shell.captured import Captured
from codeplane.trust.shell.enclosure import MARK, Processes

_LOOK_SEC = 0.1
_LAST_WORDS_SEC = 2.0
_READ_BYTES = 64 * 1024
# A flood that nobody keeps is read slowly, so that it holds up the command and not everybody else.
_REST_SEC = 0.001
# Further apart than this, so that the log is not flooded.
_APART_SEC = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What a command may use up."""

    seconds: float = 10.0
    processes: int = 1000
    resident_bytes: int = 4 * 1024**3
    grace_sec: float = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What is started."""

    argv: Sequence[str]
    cwd: Path
    environment: Mapping[str, str]
    mark: str
    enclosed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a command ended; `stopped` says why we ended it."""

    code: int
    timed_out: bool = False
    stopped: str = ""


class Running:
    """Runs one command; `tell` is given what was printed, now and then."""

    def __init__(
        self,
        *,
        program: Program,
        bounds: Bounds,
        processes: Processes,
        out: Captured,
        err: Captured,
        tell: Callable[[bool], Awaitable[None]],
    ) -> None:
        self._program = program
        self._bounds = bounds
        self._processes = processes
        self._out = out
        self._err = err
        self._tell = tell
        self._heard = asyncio.Event()
        self.asked_to_stop = asyncio.Event()

    async def run(self) -> Ended:
        """Run to the end, or end it; in either case nothing that it started is left."""
        process = self._started()
        waiting = asyncio.create_task(process.wait())
        reading = [
            asyncio.create_task(self._read(process.out, self._out)),
            asyncio.create_task(self._read(process.err, self._err)),
        ]
        telling = asyncio.create_task(self._told())
        stopped, timed_out = "", False
        try:
            stopped, timed_out = await self._watched(process, waiting, telling)
            if stopped:
                await self._asked_nicely(process.pid, waiting)
        finally:
            await _to_the_end(self._finish(process, waiting, reading, telling))
        await self._tell(True)
        if telling.done() and not telling.cancelled() and (error := telling.exception()) is not None:
            raise error
        code = process.returncode if process.returncode is not None else -signal.SIGKILL
        # A shell and a sandbox pass a signal on as 128 and more; the same without them.
        return Ended(code=code if code >= 0 else 128 - code, timed_out=timed_out, stopped=stopped)

    def _started(self) -> Child:
        program = self._program
        capped = self._processes.capped(program.argv, program.mark, most=self._bounds.processes)
        try:
            return Child(
                capped, cwd=program.cwd, env={**program.environment, MARK: program.mark}, stdout=PIPE, stderr=PIPE
            )
        except OSError as error:
            raise NotFound(
                f"{program.argv[0]} cannot be started: {error.strerror}", hint="install bash and bubblewrap"
            ) from error

    async def _watched(
        self, process: Child, waiting: "asyncio.Task[int]", telling: "asyncio.Task[None]"
    ) -> tuple[str, bool]:
        """Wait for the end; otherwise why it has to be stopped, and whether that is its time."""
        loop, bounds = asyncio.get_running_loop(), self._bounds
        until = loop.time() + bounds.seconds
        asked = asyncio.create_task(self.asked_to_stop.wait())
        try:
            while True:
                left = until - loop.time()
                await asyncio.wait(
                    {waiting, asked, telling},
                    timeout=min(_LOOK_SEC, max(left, 0)),
                    return_when=asyncio.FIRST_COMPLETED,
                )
                # Waiting lasts until the pipes are closed, too, and a daemon may hold them.
                if process.returncode is not None:
                    return "", False
                if telling.done():
                    return "what it prints can no longer be recorded", False
                if asked.done():
                    return "it was cancelled", False
                if loop.time() >= until:
                    return f"it ran longer than {bounds.seconds:g} s", True
                seen = await asyncio.to_thread(self._processes.census, process.pid, most=bounds.processes)
                if seen.processes > bounds.processes:
                    return f"it had more than {bounds.processes:,} processes", False
                if seen.resident_bytes > bounds.resident_bytes:
                    return f"it held more than {bounds.resident_bytes >> 20:,} MB of memory", False
        finally:
            asked.cancel()

    async def _asked_nicely(self, pid: int, waiting: "asyncio.Task[int]") -> None:
        await asyncio.to_thread(self._processes.terminate, pid, enclosed=self._program.enclosed)
        await asyncio.wait({waiting}, timeout=self._bounds.grace_sec)

    async def _read(self, stream: asyncio.StreamReader, captured: Captured) -> None:
        while data := await stream.read(_READ_BYTES):
            captured.take(data)
            self._heard.set()
            if captured.dropped:
                await asyncio.sleep(_REST_SEC)

    async def _told(self) -> None:
        while True:
            await self._heard.wait()
            self._heard.clear()
            await self._tell(False)
            await asyncio.sleep(_APART_SEC)

    async def _finish(
        self,
        process: Child,
        waiting: "asyncio.Task[int]",
        reading: "Sequence[asyncio.Task[None]]",
        telling: "asyncio.Task[None]",
    ) -> None:
        """End what is left; a daemon that outlived its parent would hold the pipe, and go on working."""
        pid = process.pid if process.returncode is None else 0
        await asyncio.to_thread(self._processes.end, pid, self._program.mark)
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
        await asyncio.wait((*reading, waiting), timeout=_LAST_WORDS_SEC)
        process.close()
        for task in (*reading, telling, waiting):
            task.cancel()
        await asyncio.wait((*reading, telling, waiting))


async def _to_the_end(work: Awaitable[None]) -> None:
    """Do it all, also when whoever waits is being cancelled: nobody else does."""
    doing = asyncio.ensure_future(work)
    try:
        await asyncio.shield(doing)
    except asyncio.CancelledError:
        await asyncio.wait({doing})
        raise
