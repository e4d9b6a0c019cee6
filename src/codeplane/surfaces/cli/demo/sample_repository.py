"""The sample repository, created from files that come with CodePlane."""

import subprocess
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from codeplane.adapters.file_replacement import storage_error
from codeplane.adapters.git_cli import clean_environment
from codeplane.kernel.errors import NotFound, StorageFailed

NAME = "tillroll"
# Below another name no tool takes them for modules and tests of CodePlane.
_SUFFIX = ".txt"
_GIT_SEC = 60.0
# What a person has in their own settings of git plays no part: signing, hooks, line endings.
_SETTINGS = {
    "user.name": "CodePlane demo",
    "user.email": "demo@localhost",
    "commit.gpgsign": "false",
    "core.hooksPath": ".git/hooks",
    "core.autocrlf": "false",
}


def create_repository(folder: Path) -> None:
    """Create the sample repository in a new folder, with one commit."""
    try:
        for name, source in _sample_files(files(__package__).joinpath("sample")):
            path = folder / name.removesuffix(_SUFFIX)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(source.read_bytes())
    except OSError as error:
        raise storage_error(error, folder) from error
    _git(folder, "init", "--quiet", "--initial-branch=main", "--template=")
    for key, value in _SETTINGS.items():
        _git(folder, "config", key, value)
    _git(folder, "add", "--all")
    _git(folder, "commit", "--quiet", "--message", "A basket and its receipt")


def _sample_files(folder: Traversable, below: str = "") -> Iterator[tuple[str, Traversable]]:
    for entry in sorted(folder.iterdir(), key=lambda child: child.name):
        if entry.is_dir():
            yield from _sample_files(entry, f"{below}{entry.name}/")
        elif entry.name.endswith(_SUFFIX):
            yield below + entry.name, entry


def _git(folder: Path, *arguments: str) -> None:
    try:
        done = subprocess.run(
            ["git", *arguments],
            cwd=folder,
            env=clean_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_GIT_SEC,
            # A Ctrl+C is for the demo, which ends what it began.
            start_new_session=True,
            check=False,
        )
    except FileNotFoundError as error:
        raise NotFound("git is not installed, or not on PATH", hint="install git, then: cpl demo") from error
    except subprocess.TimeoutExpired as error:
        raise StorageFailed(f"git {arguments[0]} took longer than {_GIT_SEC:.0f} s") from error
    if done.returncode != 0:
        message = done.stderr.decode(errors="replace").strip()[:500]
        raise StorageFailed(
            f"git {arguments[0]} failed: {message}", hint="see whether git itself works here: git --version"
        )
