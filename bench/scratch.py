"""A copy of a checkout that is changed and put back, and a plane on it that is asked as agents ask."""

import json
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from codeplane.kernel.actor import Caller
from codeplane.kernel.workspace import Workspace
from codeplane.wiring.app import load_workspace_config, run_plane

_GIT = ("git", "-c", "user.name=bench", "-c", "user.email=bench@example.org")
_LEFT_OUT = shutil.ignore_patterns(".git", "__pycache__", ".codeplane", "target")
Envelope = dict[str, object]
Ask = Callable[..., Awaitable[Envelope]]


@contextmanager
def scratch_copy(folder: Path) -> Iterator[Path]:
    """A copy of a folder with one commit, deleted afterwards."""
    with tempfile.TemporaryDirectory(prefix="codeplane-bench-") as temporary:
        root = Path(temporary).resolve() / folder.name
        shutil.copytree(folder, root, ignore=_LEFT_OUT, symlinks=True)
        subprocess.run([*_GIT, "init", "--quiet"], cwd=root, check=True)
        commit_all(root, "as it was")
        yield root


def commit_all(root: Path, message: str) -> None:
    """Commit everything that is in a folder."""
    for arguments in (["add", "-A"], ["commit", "--quiet", "--allow-empty", "-m", message]):
        subprocess.run([*_GIT, *arguments], cwd=root, check=True)


@asynccontextmanager
async def asking(root: Path) -> AsyncIterator[Ask]:
    """A plane on a folder: call an operation, get the envelope with the text that an agent reads."""
    workspace = Workspace(root=root)
    loaded = load_workspace_config(workspace, [], {}).without_terminal()
    async with run_plane(workspace, loaded=loaded) as plane:

        async def ask(operation: str, **arguments: object) -> Envelope:
            caller = Caller(surface="mcp", client="bench", connection_id="bench")
            outcome = await plane.conveyor.call(operation, arguments, caller)  # type: ignore[arg-type]  # plain JSON
            envelope: Envelope = json.loads(outcome.to_json(with_text=True))
            return envelope

        yield ask


def changed_files(root: Path) -> list[str]:
    """The files that differ from the commit, new ones included."""
    command = ["git", "status", "--porcelain", "--no-renames", "-z", "--untracked-files=all"]
    status = subprocess.run(command, cwd=root, capture_output=True, check=True).stdout.decode()
    return [entry[3:] for entry in status.split("\0") if entry]


async def undo(ask: Ask, root: Path) -> str:
    """Undo the last mutation: nothing, or what differs from before; the folder is put back in any case."""
    undone = await ask("undo")
    left = changed_files(root)
    if "error" not in undone and not left:
        return ""
    subprocess.run(["git", "reset", "--quiet", "--hard"], cwd=root, check=True)
    subprocess.run(["git", "clean", "--quiet", "-fd"], cwd=root, check=True)
    return str(undone.get("error") or left)[:300]
