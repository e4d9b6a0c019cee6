"""Where the demo plays: a temporary folder with the sample repository and its server, both gone afterwards."""

import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from codeplane.adapters.disk import refusal
from codeplane.kernel.errors import ServerRunning
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.commands.down import end_server
from codeplane.surfaces.cli.demo.ending import Ending
from codeplane.surfaces.cli.demo.sample import NAME, lay_out
from codeplane.surfaces.cli.discovery import ServerFacts
from codeplane.surfaces.cli.launch import start_server

_OURS = "CODEPLANE__"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A sample repository that is served."""

    folder: Path
    workspace: Workspace
    server: ServerFacts


@contextmanager
def set_up(overrides: Sequence[str], ending: Ending, *, keep: bool) -> Iterator[Stage]:
    """The time during which it is there; kept, it stays once the server runs."""
    folder = _folder()
    server: ServerFacts | None = None
    try:
        workspace = Workspace(root=folder / NAME)
        lay_out(workspace.root)
        ending.check()
        server, _ = start_server(workspace, overrides=overrides, environ=_environment(folder))
        ending.check()
        yield Stage(folder=folder, workspace=workspace, server=server)
    finally:
        if server is None or not keep:
            _strike(folder, server)


def _folder() -> Path:
    try:
        return Path(tempfile.mkdtemp(prefix="cpl-demo-")).resolve()
    except OSError as error:
        raise refusal(error, Path(tempfile.gettempdir())) from error


def _environment(folder: Path) -> dict[str, str]:
    """What the server knows of this process: nobody's settings of CodePlane, and a Python that is there for sure."""
    kept = {name: value for name, value in os.environ.items() if not name.upper().startswith(_OURS)}
    path = [*filter(None, [kept.get("PATH")]), str(Path(sys.executable).parent)]
    return kept | {"XDG_CONFIG_HOME": str(folder / "settings"), "PATH": os.pathsep.join(path)}


def _strike(folder: Path, server: ServerFacts | None) -> None:
    if server is not None and _is_child(server.pid):
        try:
            end_server(server)
        except ServerRunning:
            # Nothing in there is anybody's work.
            with suppress(ProcessLookupError):
                os.kill(server.pid, signal.SIGKILL)
                os.waitpid(server.pid, 0)
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise refusal(error, folder) from error


def _is_child(pid: int) -> bool:
    """Whether it still runs; only a child's number is sure to be nobody else's by now."""
    try:
        return os.waitpid(pid, os.WNOHANG) == (0, 0)
    except ChildProcessError:
        return False
