"""Child processes on the event loop, started without copying this process.

A loop that forks copies the tables of all of our memory first: on uvloop that takes longer than most commands, and
everyone waits meanwhile. `subprocess` has the system leave that out. Nothing is awaited while a process starts, so that
whoever is cancelled leaves none behind that is half started.
"""

import asyncio
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import cast

PIPE, STDOUT, DEVNULL = subprocess.PIPE, subprocess.STDOUT, subprocess.DEVNULL
_READ_BYTES = 256 * 1024


class ReadPipe(asyncio.ReadTransport):
    """The end of a pipe, read as its protocol has room for it; closed by the other end, or by us."""

    def __init__(self, file: FileIO, protocol: asyncio.Protocol) -> None:
        super().__init__()
        self._loop = asyncio.get_running_loop()
        self._file = file
        self._protocol = protocol
        os.set_blocking(file.fileno(), False)
        protocol.connection_made(self)
        self.resume_reading()

    def pause_reading(self) -> None:
        """Read nothing for now."""
        if not self._file.closed:
            self._loop.remove_reader(self._file.fileno())

    def resume_reading(self) -> None:
        """Read whenever there is something."""
        if not self._file.closed:
            self._loop.add_reader(self._file.fileno(), self._ready)

    def is_closing(self) -> bool:
        """Whether it is over."""
        return self._file.closed

    def close(self) -> None:
        """Read no more; what was not read is lost."""
        if not self._file.closed:
            self._loop.remove_reader(self._file.fileno())
            self._file.close()
            self._protocol.connection_lost(None)

    def _ready(self) -> None:
        try:
            data = self._file.read(_READ_BYTES)
        except OSError:
            data = b""
        if data:
            self._protocol.data_received(data)
        elif data is not None:
            self._protocol.eof_received()
            self.close()


class Child:
    """A process in a session of its own; what it prints into pipes is read from `out` and `err`."""

    def __init__(
        self,
        command: Sequence[str | bytes],
        *,
        cwd: Path,
        env: Mapping[str, str],
        given: bytes | None = None,
        stdout: int = DEVNULL,
        stderr: int = DEVNULL,
        pass_fds: Sequence[int] = (),
    ) -> None:
        """Start it; `given` is what it reads, and OSError says why it cannot be started."""
        self._ended = asyncio.Event()
        with _held(given) as stdin:
            self._popen = subprocess.Popen(
                command,
                bufsize=0,
                cwd=cwd,
                env=env,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
                pass_fds=pass_fds,
            )
        self._pipes: list[ReadPipe] = []
        try:
            self.out = self._reader(self._popen.stdout)
            self.err = self._reader(self._popen.stderr)
            self._watch()
        except BaseException:
            # No descriptor was left to watch it with, say.
            self.end()
            self._popen.wait()
            self.close()
            raise

    @property
    def pid(self) -> int:
        """Its number, which is also that of its group."""
        return self._popen.pid

    @property
    def returncode(self) -> int | None:
        """How it ended, or None while it runs."""
        return self._popen.returncode

    async def wait(self) -> int:
        """How it ended, once it has; what it started may still hold its pipes."""
        await self._ended.wait()
        assert self._popen.returncode is not None
        return self._popen.returncode

    def end(self) -> None:
        """End it with everything in its group."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)

    def kill(self) -> None:
        """End it alone."""
        self._popen.kill()

    def close(self) -> None:
        """Read nothing more of it."""
        for pipe in self._pipes:
            pipe.close()

    def _reader(self, file: object) -> asyncio.StreamReader:
        reader = asyncio.StreamReader()
        if file is None:
            reader.feed_eof()
        else:
            self._pipes.append(ReadPipe(cast(FileIO, file), asyncio.StreamReaderProtocol(reader)))
        return reader

    def _watch(self) -> None:
        loop = asyncio.get_running_loop()
        if not hasattr(os, "pidfd_open"):
            threading.Thread(target=self._waited, args=(loop,), name="child", daemon=True).start()
            return
        descriptor = os.pidfd_open(self.pid)

        def over() -> None:
            if self._popen.poll() is not None:
                loop.remove_reader(descriptor)
                os.close(descriptor)
                self._ended.set()

        loop.add_reader(descriptor, over)

    def _waited(self, loop: asyncio.AbstractEventLoop) -> None:
        self._popen.wait()
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(self._ended.set)


@contextmanager
def _held(given: bytes | None) -> Iterator[int]:
    """Bytes as a file: nobody has to feed them, and nobody waits for a child that does not read."""
    if given is None:
        yield DEVNULL
        return
    with tempfile.TemporaryFile() as file:
        file.write(given)
        file.seek(0)
        yield file.fileno()
