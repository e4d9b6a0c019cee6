"""Child processes on the event loop, started without copying this process.

uvloop forks, which copies this process's page tables: that takes longer than most commands, and blocks the loop.
`subprocess` uses vfork. Nothing is awaited while a process starts, so a cancelled task leaves no half-started one.
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

from codeplane.processes.home_core import every_core

PIPE, STDOUT, DEVNULL = subprocess.PIPE, subprocess.STDOUT, subprocess.DEVNULL
_READ_BYTES = 256 * 1024


class ReadPipe(asyncio.ReadTransport):
    """The reading end of a pipe, read as fast as its protocol has room."""

    def __init__(self, file: FileIO, protocol: asyncio.Protocol) -> None:
        super().__init__()
        self._loop = asyncio.get_running_loop()
        self._file = file
        self._protocol = protocol
        os.set_blocking(file.fileno(), False)
        protocol.connection_made(self)
        self.resume_reading()

    def pause_reading(self) -> None:
        """Stop reading for now."""
        if not self._file.closed:
            self._loop.remove_reader(self._file.fileno())

    def resume_reading(self) -> None:
        """Read whenever there is data."""
        if not self._file.closed:
            self._loop.add_reader(self._file.fileno(), self._on_readable)

    def is_closing(self) -> bool:
        """Whether the pipe is closed."""
        return self._file.closed

    def close(self) -> None:
        """Close the pipe; unread data is lost."""
        if not self._file.closed:
            self._loop.remove_reader(self._file.fileno())
            self._file.close()
            self._protocol.connection_lost(None)

    def _on_readable(self) -> None:
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
    """A process in a session of its own; its pipes are read from `out` and `err`."""

    def __init__(
        self,
        command: Sequence[str | bytes],
        *,
        cwd: Path,
        env: Mapping[str, str],
        given: bytes | int | None = None,
        stdout: int = DEVNULL,
        stderr: int = DEVNULL,
        pass_fds: Sequence[int] = (),
    ) -> None:
        """Start the process with `given` as its input, or PIPE for `into`; OSError when it cannot be started."""
        self._ended = asyncio.Event()
        with _stdin_file(given) as stdin, every_core():
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
            # For example, no descriptor was left to watch it with.
            self.end()
            self._popen.wait()
            self.close()
            raise

    @property
    def into(self) -> FileIO:
        """The writing end of its input, which the caller closes; only with `given=PIPE`."""
        return cast(FileIO, self._popen.stdin)

    @property
    def pid(self) -> int:
        """The process id, which is also its group's."""
        return self._popen.pid

    @property
    def returncode(self) -> int | None:
        """The exit code, or None while it runs."""
        return self._popen.returncode

    async def wait(self) -> int:
        """Wait for the exit code; its children may still hold its pipes."""
        await self._ended.wait()
        assert self._popen.returncode is not None
        return self._popen.returncode

    def end(self) -> None:
        """Kill the whole process group."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)

    def kill(self) -> None:
        """Kill the process alone."""
        self._popen.kill()

    def close(self) -> None:
        """Close its pipes."""
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
            threading.Thread(target=self._wait_in_thread, args=(loop,), name="child", daemon=True).start()
            return
        descriptor = os.pidfd_open(self.pid)

        def over() -> None:
            if self._popen.poll() is not None:
                loop.remove_reader(descriptor)
                os.close(descriptor)
                self._ended.set()

        loop.add_reader(descriptor, over)

    def _wait_in_thread(self, loop: asyncio.AbstractEventLoop) -> None:
        self._popen.wait()
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(self._ended.set)


@contextmanager
def _stdin_file(given: bytes | int | None) -> Iterator[int]:
    """The bytes as a file for stdin, so that no task has to feed them or wait for a child that does not read."""
    if not isinstance(given, bytes):
        yield DEVNULL if given is None else given
        return
    with tempfile.TemporaryFile() as file:
        file.write(given)
        file.seek(0)
        yield file.fileno()
