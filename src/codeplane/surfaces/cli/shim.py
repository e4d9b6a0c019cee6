"""`cpl mcp`: a plain byte proxy between a client's stdio and the server, which it finds or starts.

It speaks one HTTP exchange: what comes in on stdin is the request's body, what the server answers goes to stdout.
"""

import os
import socket
import sys
import threading
from pathlib import Path
from urllib.parse import quote, urlencode

from codeplane.kernel.errors import CodePlaneError, InvalidArgument, ServerUnreachable
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.discovery import ServerFacts, find_workspace, start_server

USAGE = """Usage: cpl mcp [--repo DIR] [--toolset NAMES] [--structured]

Serve MCP on stdin and stdout for the repository around the current folder; starts its server if need be.

  --repo DIR        the repository, instead of the one around the current folder
  --toolset NAMES   core (default), all, or families joined by commas, such as git,core
  --structured      add structured content to the answers
"""
_CHUNK = 65_536


def main(arguments: list[str]) -> int:
    """Run the shim; returns the exit code."""
    if {"-h", "--help"} & set(arguments):
        sys.stdout.write(USAGE)
        return 0
    try:
        options = _options(arguments)
        repo = options.pop("repo", None)
        workspace = find_workspace(Path(repo or _project_folder()), explicit=repo is not None)
        facts = start_server(workspace)
        with _connect(facts, workspace, options) as connection:
            return _relay(connection)
    except CodePlaneError as error:
        sys.stderr.write(f"error: {error.message}\n\nhint: {error.hint}\n")
        return 1
    except KeyboardInterrupt:
        return 130


def _project_folder() -> str:
    """Some clients start servers elsewhere and say where the project is."""
    return os.environ.get("CLAUDE_PROJECT_DIR") or "."


def _options(arguments: list[str]) -> dict[str, str]:
    options: dict[str, str] = {}
    rest = iter(arguments)
    for argument in rest:
        name, given, value = argument.partition("=")
        if name == "--structured":
            options["structured"] = "true"
        elif name in ("--repo", "--toolset"):
            found = value if given else next(rest, None)
            if not found:
                raise InvalidArgument(f"{name} needs a value", hint="cpl mcp --help")
            options[name[2:]] = found
        else:
            raise InvalidArgument(f"unknown option {argument!r}", hint="cpl mcp --help")
    return options


def _connect(facts: ServerFacts, workspace: Workspace, query: dict[str, str]) -> socket.socket:
    connection = socket.create_connection((facts.host, facts.port))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    path = "/mcp/stdio" + (f"?{urlencode(query, quote_via=quote)}" if query else "")
    host = f"[{facts.host}]" if ":" in facts.host else facts.host
    connection.sendall(
        f"POST {path} HTTP/1.1\r\nHost: {host}:{facts.port}\r\nContent-Type: application/x-ndjson\r\n"
        "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n".encode()
    )
    return connection


def _relay(connection: socket.socket) -> int:
    """Copy in both directions until either side ends."""
    answers = connection.makefile("rb")
    status = answers.readline().split(b" ", 2)
    chunked = False
    while (line := answers.readline().strip()) != b"":
        chunked |= line.lower().replace(b" ", b"") == b"transfer-encoding:chunked"
    if status[1:2] != [b"200"] or not chunked:
        raise ServerUnreachable(f"the server refused the connection: {b' '.join(status).decode(errors='replace')}")
    threading.Thread(target=_send_stdin, args=(connection,), daemon=True).start()
    while (size := answers.readline()) != b"":
        length = int(size, 16)
        if length == 0:
            return 0
        data = answers.read(length)
        answers.readline()
        _write_all(1, data)
    sys.stderr.write("error: the server ended\n\nhint: reconnect; the shim starts it again\n")
    return 1


def _send_stdin(connection: socket.socket) -> None:
    try:
        while data := os.read(0, _CHUNK):
            connection.sendall(b"%x\r\n%b\r\n" % (len(data), data))
        connection.sendall(b"0\r\n\r\n")
    except OSError:
        return


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
