"""`cpl mcp`: a byte proxy between a client's stdio and the server, which it finds or starts.

It speaks one HTTP exchange: what comes in on stdin is the request's body, what the server answers goes to stdout.
"""

import socket
import sys
import threading
from io import BufferedReader
from pathlib import Path
from urllib.parse import quote, urlencode

from codeplane.kernel.errors import CodePlaneError, InvalidArgument, ServerUnreachable
from codeplane.kernel.workspace import INSTANCE_HEADER
from codeplane.surfaces.cli.client_secret import HEADER, ClientSecret
from codeplane.surfaces.cli.discovery import ServerFacts, find_workspace
from codeplane.surfaces.cli.server_process import start_server
from codeplane.surfaces.cli.stdio import owner_token, project_folder, read_stdin, report, write_stdout

USAGE = """Usage: cpl mcp [--repo DIR] [--client NAME] [--toolset NAMES] [--structured]

Serve MCP on stdin and stdout for the repository around the current folder; starts its server if need be.

  --repo DIR        the repository, instead of the one around the current folder
  --client NAME     who starts it, as registered; see `cpl clients` for what its person may answer
  --toolset NAMES   core (default), all, or families joined by commas, such as session,core
  --structured      add structured content to the answers
"""


def main(arguments: list[str]) -> int:
    """Run the shim and return the exit code, as documented for all commands."""
    if {"-h", "--help"} & set(arguments):
        sys.stdout.write(USAGE)
        return 0
    try:
        options = _options(arguments)
        repo, client = options.pop("repo", None), options.pop("client", None)
        workspace = find_workspace(Path(repo or project_folder()), explicit=repo is not None)
        facts, _ = start_server(workspace)
        secret = ClientSecret.of(workspace, client).read() if client else ""
        with _connect(facts, options, owner_token(workspace), secret) as connection:
            return _relay(connection, facts)
    except CodePlaneError as error:
        return report(error)
    except KeyboardInterrupt:
        return 130


def _options(arguments: list[str]) -> dict[str, str]:
    options: dict[str, str] = {}
    rest = iter(arguments)
    for argument in rest:
        name, given, value = argument.partition("=")
        if argument == "--structured":
            options["structured"] = "true"
        elif name in ("--repo", "--client", "--toolset"):
            found = value if given else next(rest, None)
            if not found:
                raise InvalidArgument(f"{name} needs a value", hint="cpl mcp --help")
            options[name[2:]] = found
        else:
            raise InvalidArgument(f"unknown option {argument!r}", hint="cpl mcp --help")
    return options


def _connect(facts: ServerFacts, query: dict[str, str], token: str, secret: str) -> socket.socket:
    path = "/mcp/stdio" + (f"?{urlencode(query, quote_via=quote)}" if query else "")
    host = f"[{facts.host}]" if ":" in facts.host else facts.host
    lines = [
        f"POST {path} HTTP/1.1",
        f"Host: {host}:{facts.port}",
        "Content-Type: application/x-ndjson",
        *([f"Authorization: Bearer {token}"] if token else []),
        *([f"{HEADER}: {secret}"] if secret else []),
        "Transfer-Encoding: chunked",
        "Connection: close",
    ]
    try:
        connection = socket.create_connection((facts.host, facts.port))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
    except OSError as error:
        raise ServerUnreachable(f"the server at {facts.url} does not answer: {error}") from error
    return connection


def _relay(connection: socket.socket, facts: ServerFacts) -> int:
    """Copy in both directions until the client has closed its input and been answered."""
    all_sent = threading.Event()
    try:
        answers = connection.makefile("rb")
        _check_head(answers, facts)
        threading.Thread(target=_send_stdin, args=(connection, all_sent), daemon=True).start()
        while True:
            length = int(answers.readline(), 16)
            if length == 0:
                break
            data = answers.read(length)
            answers.readline()
            try:
                write_stdout(data)
            except BrokenPipeError:
                return 0  # the client has disconnected
    except (OSError, ValueError) as error:
        raise _connection_error() from error
    if not all_sent.is_set():
        raise _connection_error()
    return 0


def _connection_error() -> ServerUnreachable:
    return ServerUnreachable("the server ended", hint="reconnect; the shim starts it again")


def _check_head(answers: BufferedReader, facts: ServerFacts) -> None:
    status = answers.readline().split(b" ", 2)
    headers: dict[bytes, bytes] = {}
    while (line := answers.readline().strip()) != b"":
        name, _, value = line.partition(b":")
        headers[name.lower()] = value.strip()
    if headers.get(INSTANCE_HEADER.encode()) != facts.instance.encode():
        raise ServerUnreachable("what answers is not the server of this repository")
    if status[1:2] != [b"200"] or headers.get(b"transfer-encoding") != b"chunked":
        raise ServerUnreachable(f"the server refused the connection: {b' '.join(status).decode(errors='replace')}")


def _send_stdin(connection: socket.socket, all_sent: threading.Event) -> None:
    try:
        while data := read_stdin():
            connection.sendall(b"%x\r\n%b\r\n" % (len(data), data))
        all_sent.set()
        connection.sendall(b"0\r\n\r\n")
    except OSError:
        return
