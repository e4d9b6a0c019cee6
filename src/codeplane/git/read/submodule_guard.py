"""Keeps git commands out of the repositories inside a work tree.

Git would run the programs that their settings name (filters, monitors), and agents can write those settings. A
submodule at another commit still shows as changed.
"""

import os
import subprocess
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import pygit2

from codeplane.git.read.object_store import settings_in
from codeplane.git.read.repository import git_dir_of, open_repository
from codeplane.kernel.errors import CodePlaneError

_LOOKS = frozenset({"status", "diff"})
_COUNT = "GIT_CONFIG_COUNT"
_SECTION, _IGNORE = "submodule.", ".ignore"
_ASK_SEC = 20.0
_GITMODULES = ".gitmodules"


def skip_submodules(arguments: Sequence[str]) -> list[str]:
    """Return the command with an option not to inspect files inside submodules."""
    if arguments and arguments[0] in _LOOKS:
        return [arguments[0], "--ignore-submodules=dirty", *arguments[1:]]
    return list(arguments)


def skip_submodule_variables(
    root: Path, config: Path, environment: Mapping[str, str], more: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return variables with the same effect for commands without such an option.

    `config` is the repository's config file, `more` are further settings for git.
    """
    overrides = {"diff.ignoreSubmodules": "dirty", **(more or {})}
    # The last commit and the index too: some commands check out their `.gitmodules` before they inspect submodules.
    for settings in (
        _recorded_settings(root, environment),
        _settings(root / _GITMODULES, environment),
        _settings(config, environment),
    ):
        overrides |= _ignore_settings(settings)
    return settings_as_variables(overrides, environment)


def settings_as_variables(settings: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """Turn settings into environment variables, beside those already in the environment."""
    first = int(environment.get(_COUNT) or 0)
    variables = {_COUNT: str(first + len(settings))}
    for number, (key, value) in enumerate(settings.items(), start=first):
        variables |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return variables


def unnamed_submodules(root: Path, links: Collection[str], environment: Mapping[str, str]) -> list[str]:
    """List the submodules that are checked out but not in `.gitmodules`, so that no setting can cover them."""
    checked_out = [link for link in links if os.path.lexists(root / link / ".git")]
    settings = _settings(root / _GITMODULES, environment) if checked_out else ()
    named = {value.rstrip("/") for key, value in settings if key.endswith(".path")}
    return sorted(link for link in checked_out if link not in named)


def _ignore_settings(settings: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return an ignore setting for each submodule, which overrides the general one."""
    overrides: dict[str, str] = {}
    for key, value in settings:
        section, _, name = key.rpartition(".")
        if section.startswith(_SECTION):
            present = overrides.setdefault(f"{section}{_IGNORE}", "dirty")
            overrides[f"{section}{_IGNORE}"] = "all" if name == "ignore" and value == "all" else present
    return overrides


def _settings(file: Path, environment: Mapping[str, str]) -> Sequence[tuple[str, str]]:
    if not file.is_file():
        return ()
    settings = settings_in(file, _SECTION)
    if settings is not None:
        return settings
    return _ask_git(("--file", str(file), "--includes"), environment, file.parent)


def _recorded_settings(root: Path, environment: Mapping[str, str]) -> Sequence[tuple[str, str]]:
    """Read the submodule settings of the last commit and the index, which git uses without a `.gitmodules` on disk."""
    folder = git_dir_of(root)
    stamps = tuple(_stamp(folder / name) for name in ("index", "HEAD", "logs/HEAD"))
    return _recorded_submodules(root, stamps, tuple(sorted(environment.items())))


@lru_cache(maxsize=64)
def _recorded_submodules(
    root: Path, stamps: tuple[tuple[int, int, int], ...], environment: tuple[tuple[str, str], ...]
) -> tuple[tuple[str, str], ...]:
    blobs = [f"HEAD:{_GITMODULES}", f":{_GITMODULES}"] if _has_recorded(root) else []
    return tuple(setting for blob in blobs for setting in _ask_git(("--blob", blob), dict(environment), root))


def _has_recorded(root: Path) -> bool:
    """Whether the index or the last commit has a `.gitmodules`; in doubt, yes."""
    try:
        repository = open_repository(root)
        repository.index.read(False)
        in_head = not repository.head_is_unborn and _GITMODULES in repository.head.peel(pygit2.Tree)
        return in_head or _GITMODULES in repository.index
    except (CodePlaneError, pygit2.GitError, KeyError, ValueError, OSError):
        return True


def _stamp(file: Path) -> tuple[int, int, int]:
    try:
        stat = file.stat()
    except OSError:
        return 0, 0, 0
    return stat.st_mtime_ns, stat.st_size, stat.st_ino


def _ask_git(where: Sequence[str], environment: Mapping[str, str], folder: Path) -> list[tuple[str, str]]:
    """Read submodule settings with git, from files that libgit2 cannot read or reads differently."""
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
