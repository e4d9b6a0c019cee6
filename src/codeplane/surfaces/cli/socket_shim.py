"""Stdio shims of protocols that the server speaks over a WebSocket: a proxy between both, message by message.

An empty message says that stdin has ended; the server answers what is left, and closes.
"""

import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import quote, urlencode

from codeplane.kernel.errors import CodePlaneError, InvalidArgument, ServerUnreachable
from codeplane.surfaces.cli.client_secret import HEADER, ClientSecret
from codeplane.surfaces.cli.discovery import find_workspace
from codeplane.surfaces.cli.server_process import start_server
from codeplane.surfaces.cli.stdio import owner_token, project_folder, read_stdin, report, write_stdout
from codeplane.surfaces.cli.web_socket import NORMAL, ClientSocket, WebSocketEnd

# The server's limit is smaller; what is longer is not gathered here until it is refused there.
MAX_MESSAGE_BYTES = 32 * 1024 * 1024
_END = b""


class Framing(Protocol):
    """The framing of messages on stdin and stdout."""

    def split(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """Yield the messages in what is read."""
        ...

    def join(self, message: bytes) -> bytes:
        """Return a message as it is written."""
        ...


class Lines:
    """A message is a line."""

    def split(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """Yield the lines that are not empty; a last one needs no end."""
        parts: list[bytes] = []
        size = 0
        for chunk in chunks:
            *ended, rest = chunk.split(b"\n")
            for line in ended:
                if message := b"".join([*parts, line]).strip():
                    yield message
                parts, size = [], 0
            parts.append(rest)
            size += len(rest)
            if size > MAX_MESSAGE_BYTES:
                raise InvalidArgument(
                    f"a line has more than {MAX_MESSAGE_BYTES} bytes", hint="end every message with a line feed"
                )
        if message := b"".join(parts).strip():
            yield message

    def join(self, message: bytes) -> bytes:
        """Return the message and the end of its line."""
        return message + b"\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class SocketShim:
    """One command, `cpl NAME`, and the path of the server that it is carried to."""

    name: str
    path: str
    usage: str
    framing: Framing
    # Options with a value beside --repo and --client, and those without; both become the path's query.
    options: frozenset[str] = frozenset()
    flags: frozenset[str] = frozenset()
    # Carries the messages; one that outlives its server connects again.
    relay: "Callable[[Connect, Framing], int]" = lambda connect, framing: relay_once(connect, framing)

    def main(self, arguments: list[str]) -> int:
        """Run the shim and return the exit code, as documented for all commands."""
        if {"-h", "--help"} & set(arguments):
            sys.stdout.write(self.usage)
            return 0
        try:
            query = self._parse(arguments)
            repo, client = query.pop("repo", None), query.pop("client", None)
            workspace = find_workspace(Path(repo or project_folder()), explicit=repo is not None)

            def connect() -> ClientSocket:
                facts, _ = start_server(workspace)
                secret = ClientSecret.of(workspace, client).read() if client else ""
                token = owner_token(workspace)
                headers = {
                    **({"Authorization": f"Bearer {token}"} if token else {}),
                    **({HEADER: secret} if secret else {}),
                }
                return ClientSocket(facts, self._address(query), headers)

            return self.relay(connect, self.framing)
        except CodePlaneError as error:
            return report(error)
        except KeyboardInterrupt:
            return 130

    def _parse(self, arguments: list[str]) -> dict[str, str]:
        parsed: dict[str, str] = {}
        rest = iter(arguments)
        for argument in rest:
            name, given, value = argument.partition("=")
            if argument.startswith("--") and argument[2:] in self.flags:
                parsed[argument[2:]] = "true"
            elif name.startswith("--") and name[2:] in {"repo", "client", *self.options}:
                found = value if given else next(rest, None)
                if not found:
                    raise InvalidArgument(f"{name} needs a value", hint=f"cpl {self.name} --help")
                parsed[name[2:]] = found
            else:
                raise InvalidArgument(f"unknown option {argument!r}", hint=f"cpl {self.name} --help")
        return parsed

    def _address(self, query: Mapping[str, str]) -> str:
        return self.path + (f"?{urlencode(query, quote_via=quote)}" if query else "")


Connect = Callable[[], ClientSocket]


def relay_once(connect: Connect, framing: Framing) -> int:
    """Carry messages over one connection, and return the exit code."""
    with connect() as connection:
        return _Relay(connection, framing).run()


class _Relay:
    """Copies in both directions until the client has closed its input and been answered."""

    def __init__(self, connection: ClientSocket, framing: Framing) -> None:
        self._connection = connection
        self._framing = framing
        self._all_sent = threading.Event()
        self._failure: CodePlaneError | None = None

    def run(self) -> int:
        threading.Thread(target=self._send_all, daemon=True).start()
        try:
            while True:
                message = self._framing.join(self._connection.receive())
                try:
                    write_stdout(message)
                except BrokenPipeError:
                    return 0  # the client has disconnected
        except WebSocketEnd as end:
            if self._failure is not None:
                raise self._failure from end
            if self._all_sent.is_set() and end.code == NORMAL:
                return 0
            raise ServerUnreachable(
                f"the server ended the connection: {end}", hint="reconnect; the shim starts it again"
            ) from end
        except OSError as error:
            raise ServerUnreachable("the server ended", hint="reconnect; the shim starts it again") from error

    def _send_all(self) -> None:
        try:
            try:
                for message in self._framing.split(iter(read_stdin, _END)):
                    self._connection.send(message)
            except CodePlaneError as error:
                self._failure = error
            self._all_sent.set()
            self._connection.send(_END)
        except OSError:
            return
