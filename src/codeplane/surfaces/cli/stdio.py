"""Standard input and output of the shims, and what they show to the server; standard library only."""

import os
import sys

from codeplane.kernel.errors import CodePlaneError, InvalidArgument, ServerUnreachable
from codeplane.kernel.workspace import Workspace

_CHUNK = 65_536


def read_stdin() -> bytes:
    """Return what can be read now; empty at the end."""
    try:
        return os.read(0, _CHUNK)
    except OSError:
        return b""  # a stdin that cannot be read has nothing more to say


def write_stdout(data: bytes) -> None:
    """Write all of it at once."""
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]


def project_folder() -> str:
    """Return the project folder; some clients start servers elsewhere and name it in a variable."""
    return os.environ.get("CLAUDE_PROJECT_DIR") or "."


def owner_token(workspace: Workspace) -> str:
    """Return the owner's token, for servers that require one; calls over the shims still count as an agent's."""
    try:
        token = workspace.owner_token.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
    return token if token.isprintable() and " " not in token else ""


def report(error: CodePlaneError) -> int:
    """Write an error to stderr and return its exit code, as documented for all commands."""
    sys.stderr.write(f"error: {error.message} ({error.name})\n\nhint: {error.hint}\n")
    return 3 if isinstance(error, ServerUnreachable) else 2 if isinstance(error, InvalidArgument) else 1
