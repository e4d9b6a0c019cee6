"""A process whose output is read through pipes of our own: its end never waits for what nobody reads any more."""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from io import FileIO
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Piped:
    """A process that runs, and what it prints and says."""

    process: asyncio.subprocess.Process
    out: asyncio.StreamReader
    err: asyncio.StreamReader

    def end(self) -> None:
        """End it with everything it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)


@asynccontextmanager
async def piped(command: Sequence[str | bytes], *, cwd: Path, env: Mapping[str, str]) -> AsyncIterator[Piped]:
    """Run a command that is given no input; it has ended when the block is left, however that comes about.

    Pipes of asyncio's own would not do: a call that is given up while they are being connected, or with output that
    is not read to its end, waits for ever.
    """
    ends: list[FileIO] = []
    starts: list[int] = []
    pipes: list[asyncio.BaseTransport] = []
    try:
        for _ in range(2):
            end, start = os.pipe()
            ends.append(FileIO(end, "rb"))
            starts.append(start)
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                cwd=cwd,
                env=env,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=starts[0],
                stderr=starts[1],
                # A group of its own: filters and whatever else git starts end with it.
                start_new_session=True,
            )
        finally:
            for start in starts:
                os.close(start)
        readers = [asyncio.StreamReader(), asyncio.StreamReader()]
        running = Piped(process=process, out=readers[0], err=readers[1])
        try:
            for reader, file in zip(readers, ends, strict=True):
                pipes.append(await _connected(reader, file))
            yield running
        finally:
            if process.returncode is None:
                running.end()
                await process.wait()
    finally:
        for pipe in pipes:
            pipe.close()
        # What is connected is closed by its transport.
        for file in ends[len(pipes) :]:
            file.close()


async def _connected(reader: asyncio.StreamReader, file: FileIO) -> asyncio.BaseTransport:
    loop = asyncio.get_running_loop()
    pipe, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), file)
    return pipe
