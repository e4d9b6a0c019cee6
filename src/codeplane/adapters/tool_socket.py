"""A Unix socket in a folder of its own over which a sandboxed program reaches CodePlane's tools, as MCP over stdio."""

import asyncio
import json
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from codeplane.adapters import socket_pipe
from codeplane.kernel.json import JsonObject, dumps

_MAX_CONNECTIONS = 8
_SOCKET, _SCRIPT = "tools.sock", "pipe.py"
# Not that of a virtual environment, which is a link to it.
_INTERPRETER = Path(sys.executable).resolve()

Answer = Callable[[JsonObject], Awaitable[JsonObject | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSocket:
    """Where the socket is, and the command that speaks MCP over it."""

    folder: Path

    @property
    def command(self) -> tuple[str, ...]:
        """Speaks MCP over stdin and stdout; needs no more than the interpreter itself."""
        return str(_INTERPRETER), "-I", "-S", str(self.folder / _SCRIPT), str(self.folder / _SOCKET)

    @property
    def interpreter_folders(self) -> tuple[Path, ...]:
        """What the command needs beside the folder."""
        return _INTERPRETER.parent, Path(sys.base_prefix)


@asynccontextmanager
async def open_tool_socket(answer: Answer, *, max_line: int) -> AsyncIterator[ToolSocket]:
    """Listen until the end of the block; the path stays short, as sockets need it."""
    folder = Path(tempfile.mkdtemp(prefix="cpl-"))
    connections: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        if len(connections) >= _MAX_CONNECTIONS:
            writer.close()
            return
        connections.add(task)
        try:
            await _serve(reader, writer, answer)
        finally:
            connections.discard(task)
            writer.close()

    try:
        shutil.copyfile(socket_pipe.__file__, folder / _SCRIPT)
        server = await asyncio.start_unix_server(serve, folder / _SOCKET, limit=max_line)
        try:
            yield ToolSocket(folder=folder)
        finally:
            server.close()
            for task in (waiting := [*connections]):
                task.cancel()
            if waiting:
                await asyncio.wait(waiting)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, answer: Answer) -> None:
    """Answer a line at a time; a connection that sends no messages, or too long ones, ends."""
    with suppress(ConnectionError, ValueError, RecursionError):
        while line := await reader.readline():
            message = json.loads(line)
            if not isinstance(message, dict):
                return
            if (reply := await answer(message)) is not None:
                writer.write(dumps(reply).encode("utf-8", "backslashreplace") + b"\n")
                await writer.drain()
