"""A temporary folder with the sample repository and its server, removed afterwards."""

import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from codeplane.adapters.file_replacement import storage_error
from codeplane.kernel.errors import ServerRunning
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.demo.sample_repository import NAME, create_repository
from codeplane.surfaces.cli.demo.signals import SignalGuard
from codeplane.surfaces.cli.discovery import ServerFacts
from codeplane.surfaces.cli.server_process import start_server, stop_server

_OURS = "CODEPLANE__"


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleServer:
    """A running server of the sample repository."""

    folder: Path
    workspace: Workspace
    server: ServerFacts


@contextmanager
def serve_sample(overrides: Sequence[str], ending: SignalGuard, *, keep: bool) -> Iterator[SampleServer]:
    """Serve the sample repository within the context; with `keep` it stays."""
    folder = _folder()
    server: ServerFacts | None = None
    try:
        workspace = Workspace(root=folder / NAME)
        create_repository(workspace.root)
        ending.check()
        server, _ = start_server(workspace, overrides=overrides, environ=_environment(folder))
        ending.check()
        yield SampleServer(folder=folder, workspace=workspace, server=server)
    finally:
        if server is None or not keep:
            _tear_down(folder, server)


def _folder() -> Path:
    try:
        return Path(tempfile.mkdtemp(prefix="cpl-demo-")).resolve()
    except OSError as error:
        raise storage_error(error, Path(tempfile.gettempdir())) from error


def _environment(folder: Path) -> dict[str, str]:
    """Return the server's environment: without CodePlane settings, and with this Python on PATH."""
    environment = {name: value for name, value in os.environ.items() if not name.upper().startswith(_OURS)}
    path = [*filter(None, [environment.get("PATH")]), str(Path(sys.executable).parent)]
    return environment | {"XDG_CONFIG_HOME": str(folder / "settings"), "PATH": os.pathsep.join(path)}


def _tear_down(folder: Path, server: ServerFacts | None) -> None:
    if server is not None and _is_child(server.pid):
        try:
            stop_server(server)
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
        raise storage_error(error, folder) from error


def _is_child(pid: int) -> bool:
    """Return whether a process is a child that still runs; only a child's id cannot have been reused."""
    try:
        return os.waitpid(pid, os.WNOHANG) == (0, 0)
    except ChildProcessError:
        return False
