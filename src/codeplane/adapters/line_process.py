"""A program that speaks JSON lines over stdin and stdout: bounded lines, bounded errors, nothing left behind."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from codeplane.adapters.process_tree import LinuxProcessTree
from codeplane.kernel.errors import ToolAnswerRefused, ToolServerUnavailable
from codeplane.processes.child import PIPE, Child

MARK = "CODEPLANE_TOOL_SERVER"
_GRACE_SEC = 2.0
_READ_BYTES = 64 * 1024
_ERROR_LINES = 20
_MAX_ERROR_LINE = 500
# A program that does not read its input must not make us keep all that is meant for it.
_MAX_UNREAD = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramStart:
    """What is started, and how."""

    argv: Sequence[str]
    cwd: Path
    environment: Mapping[str, str]
    # Tells its processes from others, for the end.
    mark: str


class LineProcess:
    """A running program; `start` starts it and ends all that it started."""

    def __init__(self, child: Child, writer: asyncio.StreamWriter, *, max_line: int) -> None:
        self._child = child
        self._writer = writer
        self._max_line = max_line
        self._errors: deque[str] = deque(maxlen=_ERROR_LINES)

    @property
    def last_words(self) -> str:
        """The newest lines that it wrote to stderr."""
        return "\n".join(self._errors)

    async def send(self, line: bytes) -> None:
        """Write a line; ToolServerUnavailable when it takes none."""
        transport = self._writer.transport
        if transport.is_closing() or transport.get_write_buffer_size() > _MAX_UNREAD:
            raise ToolServerUnavailable("the program does not read its input")
        self._writer.write(line + b"\n")
        with suppress(ConnectionError):
            await self._writer.drain()

    async def lines(self) -> AsyncIterator[bytes]:
        """Its lines, until it ends; ToolAnswerRefused for one that is too long."""
        buffer = bytearray()
        while data := await self._child.out.read(_READ_BYTES):
            start = len(buffer)
            buffer += data
            while (end := buffer.find(b"\n", start)) >= 0:
                line = bytes(buffer[:end]).strip()
                del buffer[: end + 1]
                start = 0
                if line:
                    yield line
            if len(buffer) > self._max_line:
                raise ToolAnswerRefused(f"a line has more than {self._max_line} bytes")

    async def wait(self) -> str:
        """Wait a little for the end of a process that has closed its output; returns how it ended, with its last
        words."""
        try:
            async with asyncio.timeout(_GRACE_SEC):
                end = f"the program ended with {await self._child.wait()}"
        except TimeoutError:
            end = "the program closed its output"
        words = self.last_words.strip()
        return f"{end}{f': {words}' if words else ''}"

    async def read_errors(self) -> None:
        """Read what it writes to stderr, and keep the newest lines."""
        while data := await self._child.err.read(_READ_BYTES):
            for line in data.decode("utf-8", "replace").splitlines():
                self._errors.append(line[:_MAX_ERROR_LINE])

    async def stop(self, mark: str) -> None:
        """Close its input, wait a little, then kill it and everything that it started."""
        self._writer.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(_GRACE_SEC):
                await self._child.wait()
        pid = self._child.pid if self._child.returncode is None else 0
        await asyncio.to_thread(LinuxProcessTree(variable=MARK).end, pid, mark)
        if pid:
            self._child.end()
            await self._child.wait()
        self._child.close()


@asynccontextmanager
async def start_program(start: ProgramStart, *, max_line: int) -> AsyncIterator[LineProcess]:
    """Run a program; ToolServerUnavailable when it cannot be started."""
    try:
        child = Child(
            start.argv,
            cwd=start.cwd,
            env={**start.environment, MARK: start.mark},
            given=PIPE,
            stdout=PIPE,
            stderr=PIPE,
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ToolServerUnavailable(
            f"{Path(start.argv[0]).name} cannot be started: {reason}", hint="look at command and cwd"
        ) from error
    loop = asyncio.get_running_loop()
    try:
        transport, protocol = await loop.connect_write_pipe(_WriteProtocol, child.into)
    except BaseException:
        child.end()
        child.close()
        raise
    writer = asyncio.StreamWriter(transport, protocol, None, loop)
    process = LineProcess(child, writer, max_line=max_line)
    reading = asyncio.ensure_future(process.read_errors())
    try:
        yield process
    finally:
        stopping = asyncio.ensure_future(process.stop(start.mark))
        try:
            await asyncio.shield(stopping)
        except asyncio.CancelledError:
            await asyncio.wait({stopping})
            raise
        finally:
            reading.cancel()
            await asyncio.wait({reading})


class _WriteProtocol(asyncio.streams.FlowControlMixin):
    """What a writer waits by for a pipe that is full."""

    def __init__(self) -> None:
        super().__init__()
        self._closed = asyncio.get_running_loop().create_future()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if not self._closed.done():
            self._closed.set_result(None)

    def _get_close_waiter(self, _stream: asyncio.StreamWriter) -> "asyncio.Future[None]":
        return self._closed
