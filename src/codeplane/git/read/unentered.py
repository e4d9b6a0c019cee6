"""Repositories inside the work tree are not entered by what is asked of, or done to, the one around them.

Git would run what their own settings name (filters, monitors), and whoever can write files can write those. That one
is at another commit is still seen.
"""

import os
import subprocess
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import pygit2

from codeplane.git.read.opened import git_dir_of, opened
from codeplane.git.read.store import settings_in
from codeplane.kernel.errors import CodePlaneError

_LOOKS = frozenset({"status", "diff"})
_COUNT = "GIT_CONFIG_COUNT"
_SECTION, _IGNORE = "submodule.", ".ignore"
_ASK_SEC = 20.0
_GITMODULES = ".gitmodules"


def unentered(arguments: Sequence[str]) -> list[str]:
    """The same command; whether files inside a submodule changed is not looked at."""
    if arguments and arguments[0] in _LOOKS:
        return [arguments[0], "--ignore-submodules=dirty", *arguments[1:]]
    return list(arguments)


def unentered_settings(
    root: Path, config: Path, environment: Mapping[str, str], more: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Variables that tell the same to commands that have no option for it; `config` is the repository's own file.

    `more` are settings that git is told beside these.
    """
    said = {"diff.ignoreSubmodules": "dirty", **(more or {})}
    # The last commit and the index too: some commands put their file in place before they look at submodules.
    for settings in (
        _recorded(root, environment),
        _settings(root / _GITMODULES, environment),
        _settings(config, environment),
    ):
        said |= _said(settings)
    return as_variables(said, environment)


def as_variables(settings: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """Settings as variables that tell git of them, beside those that the environment tells of already."""
    first = int(environment.get(_COUNT) or 0)
    variables = {_COUNT: str(first + len(settings))}
    for number, (key, value) in enumerate(settings.items(), start=first):
        variables |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return variables


def unnamed(root: Path, links: Collection[str], environment: Mapping[str, str]) -> list[str]:
    """The repositories inside of which nothing can be said, since `.gitmodules` does not name them."""
    there = [link for link in links if os.path.lexists(root / link / ".git")]
    settings = _settings(root / _GITMODULES, environment) if there else ()
    named = {value.rstrip("/") for key, value in settings if key.endswith(".path")}
    return sorted(link for link in there if link not in named)


def _said(settings: Sequence[tuple[str, str]]) -> dict[str, str]:
    """How each submodule shall be looked at: what is said of one is stronger than what is said of all."""
    said: dict[str, str] = {}
    for key, value in settings:
        section, _, name = key.rpartition(".")
        if section.startswith(_SECTION):
            looked = said.setdefault(f"{section}{_IGNORE}", "dirty")
            said[f"{section}{_IGNORE}"] = "all" if name == "ignore" and value == "all" else looked
    return said


def _settings(place: Path, environment: Mapping[str, str]) -> Sequence[tuple[str, str]]:
    if not place.is_file():
        return ()
    found = settings_in(place, _SECTION)
    return _asked(place, environment) if found is None else found


def _recorded(root: Path, environment: Mapping[str, str]) -> Sequence[tuple[str, str]]:
    """What the last commit and the index say of submodules: git goes by these where the work tree has no such file."""
    folder = git_dir_of(root)
    marks = tuple(_mark(folder / name) for name in ("index", "HEAD", "logs/HEAD"))
    return _recorded_at(root, marks, tuple(sorted(environment.items())))


@lru_cache(maxsize=64)
def _recorded_at(
    root: Path, marks: tuple[tuple[int, int, int], ...], environment: tuple[tuple[str, str], ...]
) -> tuple[tuple[str, str], ...]:
    blobs = [f"HEAD:{_GITMODULES}", f":{_GITMODULES}"] if _has_recorded(root) else []
    return tuple(setting for blob in blobs for setting in _asked_of(("--blob", blob), dict(environment), root))


def _has_recorded(root: Path) -> bool:
    """Whether the index or the last commit has the file; in doubt it has."""
    try:
        repository = opened(root)
        repository.index.read(False)
        in_head = not repository.head_is_unborn and _GITMODULES in repository.head.peel(pygit2.Tree)
        return in_head or _GITMODULES in repository.index
    except (CodePlaneError, pygit2.GitError, KeyError, ValueError, OSError):
        return True


def _mark(place: Path) -> tuple[int, int, int]:
    try:
        found = place.stat()
    except OSError:
        return 0, 0, 0
    return found.st_mtime_ns, found.st_size, found.st_ino


def _asked(place: Path, environment: Mapping[str, str]) -> list[tuple[str, str]]:
    """The same from git, for files that libgit2 does not read, or reads otherwise."""
    return _asked_of(("--file", str(place), "--includes"), environment, place.parent)


def _asked_of(where: Sequence[str], environment: Mapping[str, str], folder: Path) -> list[tuple[str, str]]:
    command = ["git", "config", *where, "-z", "--get-regexp", r"^submodule\."]
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=_ASK_SEC,
        check=False,
    )
    lines = done.stdout.decode("utf-8", "surrogateescape").split("\0")
    return [(key, value) for key, _, value in (line.partition("\n") for line in lines) if key]
