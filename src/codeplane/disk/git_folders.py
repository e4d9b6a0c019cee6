"""Where git keeps a work tree's repository: `.git` can be a link, or a file that names another folder."""

import os
import re
import stat
import time
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from codeplane.kernel.disk_names import fold_path

_GITFILE = b"gitdir: "
_MAX_BYTES = 4096
_MAX_MODULES = 100_000
_MAX_LINKS = 40
_SUBMODULE = re.compile(rb"(?m)^[ \t]*path[ \t]*=[ \t]*\"?(.+?)\"?[ \t]*$")


class GitFolders:
    """The paths in one work tree, other than those called `.git`, that lead to its git folder and its submodules'."""

    __slots__ = ("_folders", "paths")

    def __init__(self, paths: frozenset[str]) -> None:
        self.paths = paths
        self._folders = tuple(map(fold_path, paths))

    def __bool__(self) -> bool:
        return bool(self.paths)

    def cover(self, path: str) -> bool:
        """Whether a path below the root is one of them or lies in one, under any name that a disk takes for it."""
        if not self._folders:
            return False
        parts = fold_path(path)
        return any(parts[: len(folder)] == folder for folder in self._folders)


_NONE = GitFolders(frozenset())


# What changed just now can change again without another time, on some disks for seconds.
_SETTLED_NS = 3_000_000_000
_Stamp = tuple[int, int, int, int]


def git_folders(root: Path) -> GitFolders:
    """The git folders of a work tree that lie in it under another name, as git would find them now."""
    named = str(root)
    stamps = _settled_stamps(named)
    if stamps is not None and _is_plain(named, stamps):
        return _NONE
    found = _find_folders(root, named)
    return GitFolders(frozenset(found)) if found else _NONE


def _settled_stamps(root: str) -> tuple[_Stamp, _Stamp] | None:
    """The stamps of a work tree and of its `.git`; None unless that is a folder and neither changed lately."""
    try:
        top, git = os.lstat(root), os.lstat(f"{root}/.git")
    except OSError:
        return None
    latest = max(top.st_mtime_ns, top.st_ctime_ns, git.st_mtime_ns, git.st_ctime_ns)
    if not stat.S_ISDIR(git.st_mode) or latest > time.time_ns() - _SETTLED_NS:
        return None
    return (
        (top.st_dev, top.st_ino, top.st_mtime_ns, top.st_ctime_ns),
        (git.st_dev, git.st_ino, git.st_mtime_ns, git.st_ctime_ns),
    )


@lru_cache(maxsize=64)
def _is_plain(root: str, stamps: tuple[_Stamp, _Stamp]) -> bool:
    """Whether no file is there that could lead elsewhere: to make one changes the stamp of its folder.

    Asked several times a call, so that what is looked for each time are the stamps.
    """
    return not os.path.lexists(f"{root}/.gitmodules") and not os.path.lexists(f"{root}/.git/commondir")


def _find_folders(root: Path, named: str) -> list[str]:
    found = _inside(named, named)
    for holder in _submodules(named):
        # Anyone who writes files can name any folder as a submodule; only repositories count.
        found += [path for path in _inside(named, holder) if is_git_folder(root / path) or (root / path).is_symlink()]
    return found


def git_places(root: Path) -> frozenset[str]:
    """Where the repository of a work tree lies, wherever that is: absolute, with links followed."""
    return frozenset(_places(str(root)))


def repository_name(root: Path) -> str:
    """What a repository is called by its folder; a linked work tree is called like the one it belongs to."""
    places = [Path(os.path.realpath(place)) for place in _places(str(root))]
    return next((place.parent.name for place in reversed(places) if place.name == ".git"), root.name)


def is_git_folder(folder: Path) -> bool:
    """Whether git would take a folder itself for a repository: a bare one, or the inside of another's `.git`."""
    return os.path.lexists(folder / "HEAD") and (folder / "objects").is_dir() and (folder / "refs").is_dir()


def _places(holder: str, mode: int | None = None) -> Iterator[str]:
    """The git folder of one work tree and the one it shares with others, with the links on the way to them.

    `mode` is that of its `.git`, where it was just looked at.
    """
    named = f"{holder}/.git"
    if mode is None:
        try:
            mode = os.lstat(named).st_mode
        except OSError:
            return
    folder = named
    if not stat.S_ISDIR(mode):
        yield from (ways := _follow_links(named))
        folder = ways[-1]
        if (content := _read(folder)) is not None:
            if not content.startswith(_GITFILE):
                return
            yield from (ways := _follow_links(str(Path(holder, os.fsdecode(content.removeprefix(_GITFILE))))))
            folder = ways[-1]
    if (shared := _read(f"{folder}/commondir")) is not None:
        yield from _follow_links(str(Path(folder, os.fsdecode(shared))))


def _inside(root: str, holder: str) -> list[str]:
    """Those of them below a root that are not called `.git`, relative to it."""
    try:
        state = os.lstat(f"{holder}/.git")
    except OSError:
        return []
    is_file = stat.S_ISREG(state.st_mode)
    if is_file and _is_apart(root, holder, (state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)):
        return []
    return _below(root, _places(holder, state.st_mode))


@lru_cache(maxsize=1024)
def _is_apart(root: str, holder: str, mark: tuple[int, ...]) -> bool:
    """Whether a `.git` that is a file leads nowhere in the work tree; then no file written there changes that."""
    return not _below(root, _places(holder))


def _below(root: str, places: Iterable[str]) -> list[str]:
    found = list(places)
    prefix = f"{os.path.realpath(root).rstrip('/')}/" if found else ""
    inside = [place.removeprefix(prefix) for place in found if place.startswith(prefix)]
    return [path for path in inside if ".git" not in path.split("/")]


def _follow_links(path: str) -> list[str]:
    """The links that an absolute path passes, each where it really lies, and last of all where it ends."""
    links: list[str] = []
    at, rest = "", [part for part in reversed(path.split("/")) if part not in ("", ".")]
    while rest:
        part = rest.pop()
        if part == "..":
            at = at.rpartition("/")[0]
            continue
        there = f"{at}/{part}"
        try:
            leads_to = os.readlink(there) if len(links) < _MAX_LINKS else None  # noqa: PTH115  # asked for every path
        except (OSError, ValueError):
            leads_to = None
        if leads_to is None:
            at = there
            continue
        links.append(there)
        at = "" if leads_to.startswith("/") else at
        rest += [step for step in reversed(leads_to.split("/")) if step not in ("", ".")]
    return [*links, at]


def _submodules(root: str) -> list[str]:
    """The folders that `.gitmodules` names, inside the root."""
    modules = _read(f"{root}/.gitmodules", _MAX_MODULES)
    names = [os.fsdecode(name) for name in _SUBMODULE.findall(modules)] if modules else []
    return [f"{root}/{name}" for name in names if not name.startswith("/") and ".." not in name.split("/")]


def _read(file: str, limit: int = _MAX_BYTES) -> bytes | None:
    """What a regular file says, without the line end; None where there is none."""
    try:
        # Not waiting on a FIFO that is called so.
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        return os.read(descriptor, limit).rstrip(b"\r\n")
    except OSError:
        return None
    finally:
        os.close(descriptor)
