"""`cpl lsp`: the Language Server Protocol on stdin and stdout, for as long as the client lives.

A server that ends is started again, and gets the state of the previous one.
"""

import json
import sys
import threading
import time

from codeplane.kernel.errors import CodePlaneError, ServerUnreachable
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.cli.content_length import ContentLength
from codeplane.surfaces.cli.lsp_state import ClientState, shortened
from codeplane.surfaces.cli.socket_shim import Connect, Framing, SocketShim
from codeplane.surfaces.cli.stdio import read_stdin, write_stdout
from codeplane.surfaces.cli.web_socket import NORMAL, ClientSocket, WebSocketEnd

USAGE = """Usage: cpl lsp [--repo DIR] [--client NAME] [--stdio]

Serve the Language Server Protocol on stdin and stdout for the repository around the current folder: what editors run.
Starts its server if need be, and again when it ends under a running client.

  --repo DIR        the repository, instead of the one around the current folder
  --client NAME     who starts it, as registered; see `cpl clients` for what its person may answer
  --stdio           taken and ignored: editors say it
"""
_END = b""
# A server that ends more often than this is broken: to start it again and again helps nobody.
_MAX_RESTARTS = 5
_WITHIN_SEC = 60.0
# What the server takes as one message; it ends the connection for more.
MAX_SENT_BYTES = 16 * 1024 * 1024


class LspRelay:
    """Carries messages between a client and a server that may be replaced."""

    def __init__(self, connect: Connect, framing: Framing) -> None:
        self._connect = connect
        self._framing = framing
        self._state = ClientState()
        self._connection: ClientSocket = connect()
        # Held while a message goes to the server, and while there is none.
        self._lock = threading.Lock()
        self._restarts: list[float] = []
        self._failure: CodePlaneError | None = None

    def run(self) -> int:
        """Carry messages until the client is done; return the exit code."""
        threading.Thread(target=self._send_all, daemon=True).start()
        while True:
            try:
                if not self._pass_on(self._connection.receive()):
                    return 0
            except WebSocketEnd as end:
                if self._failure is not None:
                    raise self._failure from end
                if self._state.is_ended:
                    return 0 if self._state.has_shut_down or end.code != NORMAL else 1
                self._reconnect(str(end))
            except OSError as error:
                if self._state.is_ended:
                    return 0
                self._reconnect(str(error))

    def _pass_on(self, text: bytes) -> bool:
        """Write a server's message; False when the client has gone."""
        message: JsonObject = json.loads(text)
        with self._lock:
            is_wanted = self._state.take_from_server(message)
        return not is_wanted or self._write(text)

    def _write(self, text: bytes) -> bool:
        try:
            write_stdout(self._framing.join(text))
        except BrokenPipeError:
            return False
        return True

    def _send_all(self) -> None:
        try:
            for text in self._framing.split(iter(read_stdin, _END)):
                self._send(text)
        except CodePlaneError as error:
            self._failure = error
        with self._lock:
            self._state.has_shut_down = self._state.has_shut_down or not self._state.is_ended
            self._state.is_ended = True
            self._transmit(_END)

    def _send(self, text: bytes) -> None:
        # The server ends a connection for other bytes than UTF-8.
        text = text.decode("utf-8", "replace").encode()
        try:
            message = json.loads(text)
        except (ValueError, RecursionError):
            message = None
        with self._lock:
            # What is no message is refused by the server.
            if not isinstance(message, dict) or self._state.take_from_client(message):
                self._transmit_fitting(text, message)
            if self._state.is_ended:
                self._transmit(_END)

    def _transmit(self, text: bytes) -> None:
        try:
            self._connection.send(text)
        except OSError:
            # The other thread notices as well, connects again, and tells the new server what is known by then.
            return

    def _reconnect(self, why: str) -> None:
        """Find or start a server, and tell it what the one before knew; ServerUnreachable when that keeps failing."""
        now = time.monotonic()
        self._restarts = [*(at for at in self._restarts if now - at < _WITHIN_SEC), now]
        if len(self._restarts) > _MAX_RESTARTS:
            raise ServerUnreachable(
                f"the server ended {len(self._restarts)} times within {_WITHIN_SEC:g} s, last: {why}", hint="cpl doctor"
            )
        sys.stderr.write(f"the server ended ({why}); connecting again\n")
        with self._lock:
            for answer in self._state.lost_answers():
                self._write(json.dumps(answer).encode())
            self._connection = self._connect()
            for message in self._state.introduction():
                self._transmit_fitting(json.dumps(message).encode(), message)

    def _transmit_fitting(self, text: bytes, message: JsonValue) -> None:
        """Send a message; one that the server would not take is sent without its text, or refused here."""
        if len(text) <= MAX_SENT_BYTES:
            self._transmit(text)
        elif isinstance(message, dict) and (short := shortened(message)) is not None:
            self._transmit(json.dumps(short).encode())
        elif (refusal := self._state.refuse(message, f"a message has more than {MAX_SENT_BYTES} bytes")) is not None:
            self._write(json.dumps(refusal).encode())


SHIM = SocketShim(
    name="lsp",
    path="/lsp",
    usage=USAGE,
    framing=ContentLength(),
    flags=frozenset({"stdio"}),
    relay=lambda connect, framing: LspRelay(connect, framing).run(),
)


def main(arguments: list[str]) -> int:
    """Run the shim and return the exit code."""
    return SHIM.main(arguments)
