"""The owner at the command line: a client of the server that runs, or of a CodePlane in this process."""

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from codeplane.kernel.errors import ServerRunning
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.client import Client
from codeplane.surfaces.cli.discovery import find_server
from codeplane.surfaces.cli.embedded import EmbeddedClient
from codeplane.surfaces.cli.launch import POLL_SEC

_WAIT_SEC = 30.0


@contextmanager
def owner_client(workspace: Workspace, overrides: Sequence[str] = ()) -> Iterator[Client | EmbeddedClient]:
    """Whichever there is; waits while another command has the repository, or a server starts or ends."""
    deadline = time.monotonic() + _WAIT_SEC
    with ExitStack() as stack:
        while True:
            facts = find_server(workspace)
            if facts is not None:
                if overrides:
                    print("warning: the server is running; --set has no effect on it", file=sys.stderr)
                client: Client | EmbeddedClient = Client(workspace, facts)
                break
            try:
                client = stack.enter_context(EmbeddedClient.open(workspace, overrides))
                break
            except ServerRunning:
                if time.monotonic() > deadline:
                    raise
            time.sleep(POLL_SEC)
        yield client
