"""Files on disk in the way of files that git would write: at, above and below their paths."""

import os
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from codeplane.index.files.paths import path_text
from codeplane.kernel.errors import GitRefused, TooLarge

MAX_BELOW = 20_000
_GITLINK = "160000"
_NOTHING = "000000"


@dataclass(frozen=True, slots=True, kw_only=True)
class Obstacles:
    """Files in the way, tracked or not, and folders that are nested repositories."""

    files: frozenset[str]
    repositories: frozenset[str]

    def refuse_repositories(self) -> None:
        """Raise GitRefused when a nested repository would be removed, which cannot be kept for undo."""
        if self.repositories:
            raise GitRefused(
                f"{path_text(min(self.repositories))} is a repository of its own, and lies where a file is to come",
                hint="move it elsewhere, or deinit the submodule, first",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedPaths:
    """Paths that differ; `links` are the submodules among them, which are a file on neither side."""

    paths: frozenset[str]
    links: frozenset[str]

    @property
    def files(self) -> frozenset[str]:
        """The paths that are a file on at least one side."""
        return self.paths - self.links


def find_obstacles(root: Path, paths: Iterable[str]) -> Obstacles:
    """Find what git would remove to write these files; TooLarge when it is too much to keep."""
    files: set[str] = set()
    repositories: set[str] = set()
    known: dict[str, str | None] = {}
    room = MAX_BELOW
    for path in paths:
        higher = find_blocking_parent(root, path.rpartition("/")[0], known)
        if higher is not None:
            files.add(higher)
            continue
        mode = mode_at(root / path)
        if stat.S_ISDIR(mode):
            below, inner = _below(root, path, room)
            room -= len(below)
            files |= below
            repositories |= inner
        elif mode:
            files.add(path)
    return Obstacles(files=frozenset(files), repositories=frozenset(repositories))


def parse_raw_diff(fields: Sequence[str]) -> ChangedPaths:
    """Parse the output of `git diff --raw -z --no-renames`."""
    pairs = list(zip(fields[::2], fields[1::2], strict=True))
    links = {path for facts, path in pairs if _GITLINK in (modes := _modes(facts)) and modes <= {_GITLINK, _NOTHING}}
    return ChangedPaths(paths=frozenset(path for _, path in pairs), links=frozenset(links))


def parse_tree_listing(fields: Sequence[str]) -> ChangedPaths:
    """Parse the output of `git ls-tree -r -z`."""
    pairs = [(facts, path) for facts, _, path in (line.partition("\t") for line in fields)]
    links = {path for facts, path in pairs if facts.startswith(_GITLINK)}
    return ChangedPaths(paths=frozenset(path for _, path in pairs), links=frozenset(links))


def _modes(facts: str) -> set[str]:
    return set(facts.removeprefix(":").split(" ")[:2])


def find_blocking_parent(root: Path, folder: str, known: dict[str, str | None]) -> str | None:
    """Return the file or link in the place of a folder or one of its parents; `known` caches results."""
    if not folder:
        return None
    if folder not in known:
        higher = find_blocking_parent(root, folder.rpartition("/")[0], known)
        if higher is None:
            mode = mode_at(root / folder)
            higher = folder if mode and not stat.S_ISDIR(mode) else None
        known[folder] = higher
    return known[folder]


def _below(root: Path, folder: str, room: int) -> tuple[set[str], set[str]]:
    files: set[str] = set()
    repositories: set[str] = set()
    for place, folders, names in os.walk(root / folder, onerror=_unreadable):
        inner = os.path.relpath(place, root)
        if ".git" in folders or ".git" in names:
            repositories.add(inner)
            folders.clear()
            continue
        # A link to a folder is not walked, and is a file to git.
        links = [name for name in folders if (Path(place) / name).is_symlink()]
        files.update(f"{inner}/{name}" for name in (*names, *links))
        if len(files) > room:
            raise TooLarge(
                f"{path_text(folder)} lies where a file is to come, and over {MAX_BELOW} files are too many to keep",
                hint="move that folder elsewhere, or remove it, first",
            )
    return files, repositories


def _unreadable(error: OSError) -> None:
    raise GitRefused(
        f"what lies in {path_text(str(error.filename))} cannot be read, and so not be kept: {error.strerror}",
        hint="make it readable, or move it elsewhere, first",
    ) from error


def mode_at(place: Path) -> int:
    """Return the mode of a path without following links; 0 when nothing is there."""
    try:
        return os.lstat(place).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return 0
