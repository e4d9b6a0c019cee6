"""What the client tests need to know of a running CodePlane."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, Protocol

# The tool that the clients call; its text names the commit.
ASKED: Final = "git_status"

# Nothing listens on the discard port, so a client that reports this as connected reports nothing.
NOWHERE: Final = "http://127.0.0.1:9/mcp"


class RunningServer(Protocol):
    """A running CodePlane, as the `codeplane_server` and `fixture_server` fixtures give it."""

    @property
    def mcp_url(self) -> str:
        """Where Streamable HTTP is served."""

    @property
    def stdio(self) -> Sequence[str]:
        """The argv of the stdio shim for the same repository."""

    @property
    def repo(self) -> Path:
        """The repository that is served."""
