"""The owner's client: of the running server, or of a CodePlane in this process."""

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from codeplane.client.client import CALL_SEC, Client
from codeplane.kernel.errors import ServerRunning, Unauthorized
from codeplane.kernel.json import JsonObject
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.discovery import ServerFacts, find_server
from codeplane.surfaces.cli.embedded_client import EmbeddedClient
from codeplane.surfaces.cli.server_process import POLL_SEC
from codeplane.surfaces.cli.terminal import for_terminal

_WAIT_SEC = 30.0


class OwnerClient(Client):
    """A client with the owner's token."""

    def __init__(self, workspace: Workspace, facts: ServerFacts) -> None:
        try:
            token = workspace.owner_token.read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise Unauthorized(f"{workspace.owner_token} cannot be read: {error}") from error
        super().__init__(facts.host, facts.port, token=token, user_agent="cpl")

    def call(
        self, operation: str, arguments: JsonObject, *, text: bool = False, timeout_sec: float = CALL_SEC
    ) -> JsonObject:
        """Return the envelope of one call, as it may be printed."""
        return for_terminal(super().call(operation, arguments, text=text, timeout_sec=timeout_sec))

    def stream(self, operation: str, arguments: JsonObject) -> Iterator[JsonObject]:
        """Yield the items of a stream, as they may be printed."""
        return map(for_terminal, super().stream(operation, arguments))


@contextmanager
def open_owner_client(workspace: Workspace, overrides: Sequence[str] = ()) -> Iterator[OwnerClient | EmbeddedClient]:
    """Connect to the server, or run in this process; wait while another process holds the repository."""
    deadline = time.monotonic() + _WAIT_SEC
    with ExitStack() as stack:
        while True:
            facts = find_server(workspace)
            if facts is not None:
                if overrides:
                    print("warning: the server is running; --set has no effect on it", file=sys.stderr)
                client: OwnerClient | EmbeddedClient = OwnerClient(workspace, facts)
                break
            try:
                client = stack.enter_context(EmbeddedClient.open(workspace, overrides))
                break
            except ServerRunning:
                if time.monotonic() > deadline:
                    raise
            time.sleep(POLL_SEC)
        yield client
