"""One hash over the state of a repository: HEAD, git's index and the files."""

import asyncio
import os
import time
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path

import pygit2

from codeplane.git.read.index_file import index_lines
from codeplane.git.read.repository import git_dir_of
from codeplane.index.snapshot import Snapshot
from codeplane.kernel.errors import CodePlaneError

_DIGITS = 32
_MAX_HEAD = 1 << 16
_SETTLED_NS = 100_000_000
# Ends a hash without the files, which are unknown until the index is ready.
WITHOUT_FILES = "~"

_Stamp = tuple[int, int, int, int]
_NO_FILE: _Stamp = (0, 0, 0, 0)


class StateHash:
    """Hash the state of one repository; the files come from our index, not from disk.

    The hash covers HEAD and its commit; mode, id, stage and path of every entry in git's index; and path, content
    and executable bit of every file in our index.
    """

    def __init__(self, *, root: Path, head: Callable[[], str | None], snapshot: Callable[[], Snapshot | None]) -> None:
        self._root = root
        # Made once: twice a mutation, making paths would cost more than what is asked of them.
        self._place = root / ".git"
        self._folder = ""
        self._head = head
        self._snapshot = snapshot
        self._entries: tuple[_Stamp, str] | None = None
        self._head_file: tuple[_Stamp, str] | None = None

    async def state(self) -> tuple[str, str | None]:
        """Return the hash of the current state, and the commit of HEAD; None without git or without commits."""
        folder, stamp = self._find_index()
        index = await self._index(f"{folder}/index", stamp) if folder else ""
        snapshot, commit = self._snapshot(), self._head()
        files = f"{snapshot.state:x}" if snapshot is not None else ""
        parts = (self._head_text(f"{folder}/HEAD") if folder else "", commit or "", index, files)
        hexdigest = sha256("\0".join(parts).encode()).hexdigest()[:_DIGITS]
        return hexdigest if snapshot is not None else f"{hexdigest}{WITHOUT_FILES}", commit

    def _find_index(self) -> tuple[str, _Stamp]:
        """The git folder, empty without one, and the stamp of its index."""
        stamp = _stamp(f"{self._folder}/index") if self._folder else _NO_FILE
        if stamp == _NO_FILE:
            # It was not looked for yet, or is gone, or has no index.
            self._folder = self._find_folder()
            stamp = _stamp(f"{self._folder}/index") if self._folder else _NO_FILE
        return self._folder, stamp

    def _find_folder(self) -> str:
        try:
            return str(self._place if self._place.is_dir() else git_dir_of(self._root))
        except CodePlaneError:
            return ""

    async def _index(self, name: str, stamp: _Stamp) -> str:
        if self._entries is None or self._entries[0] != stamp:
            # Read again only after git has written it, since a large index takes a while.
            self._entries = (stamp, await asyncio.to_thread(self._hash_index, Path(name)))
        return self._entries[1]

    def _head_text(self, name: str) -> str:
        stamp = _stamp(name)
        if self._head_file is not None and self._head_file[0] == stamp:
            return self._head_file[1]
        text = _text(name)
        # What changed just now can change again without another time.
        self._head_file = (stamp, text) if time.time_ns() - stamp[0] > _SETTLED_NS else None
        return text

    def _hash_index(self, file: Path) -> str:
        lines: Iterable[bytes] | None = index_lines(file)
        hashed = sha256()
        for line in sorted(lines if lines is not None else self._list_entries()):
            hashed.update(line + b"\0")
        return hashed.hexdigest()

    def _list_entries(self) -> list[bytes]:
        """List the entries through libgit2, for an index that is large or of another version."""
        try:
            index = pygit2.Repository(str(self._root), pygit2.enums.RepositoryOpenFlag.NO_SEARCH).index
        except (pygit2.GitError, KeyError):
            return []
        lines = [f"{entry.mode:06o} {entry.id} 0\t{entry.path}" for entry in index]
        for sides in index.conflicts or ():
            named = ((number, side) for number, side in enumerate(sides, start=1) if side is not None)
            lines += [f"{side.mode:06o} {side.id} {number}\t{side.path}" for number, side in named]
        return [line.encode("utf-8", "surrogateescape") for line in lines]


def _stamp(name: str) -> _Stamp:
    try:
        stat = os.stat(name)  # noqa: PTH116  # four times a mutation: twice as fast
    except OSError:
        return _NO_FILE
    return stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size, stat.st_ino


def _text(file: str) -> str:
    # Twice a mutation, so without the layers of `open`.
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        return os.read(descriptor, _MAX_HEAD).decode("utf-8", "replace").strip()
    except OSError:
        return ""
    finally:
        os.close(descriptor)
