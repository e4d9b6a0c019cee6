"""One hash for the state of a repository: HEAD, git's index and the files, before and after each recorded change."""

import asyncio
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path

import pygit2

from codeplane.git.read.index_file import index_lines
from codeplane.git.read.opened import git_dir_of
from codeplane.index.snapshot import Snapshot
from codeplane.kernel.errors import CodePlaneError

_DIGITS = 32
# At the end of a hash that says nothing of the files, since the index is not ready.
WITHOUT_FILES = "~"

_Stamp = tuple[int, int, int, int]


class StateHash:
    """Hashes the state of one repository without looking at its files: the index knows them.

    What goes in: what HEAD holds and the commit it leads to; mode, id, stage and path of every entry of git's index;
    path, content and executable bit of every file that the index covers, as it saw them last.
    """

    def __init__(self, *, root: Path, head: Callable[[], str | None], snapshot: Callable[[], Snapshot | None]) -> None:
        self._root = root
        self._head = head
        self._snapshot = snapshot
        self._entries: tuple[_Stamp, str] | None = None

    def head(self) -> str | None:
        """The commit HEAD points at; None without git or without commits."""
        return self._head()

    async def state(self) -> str:
        """The hash now; equal states have equal ones."""
        try:
            folder = git_dir_of(self._root)
        except CodePlaneError:
            folder = None
        index = await self._index(folder / "index") if folder is not None else ""
        snapshot = self._snapshot()
        files = f"{snapshot.state:x}" if snapshot is not None else ""
        parts = (_text(folder / "HEAD") if folder is not None else "", self._head() or "", index, files)
        found = sha256("\0".join(parts).encode()).hexdigest()[:_DIGITS]
        return found if snapshot is not None else f"{found}{WITHOUT_FILES}"

    async def _index(self, file: Path) -> str:
        stamp = _stamp(file)
        if self._entries is None or self._entries[0] != stamp:
            # Read only when git has written it since; what is large takes a while.
            self._entries = (stamp, await asyncio.to_thread(self._hashed, file))
        return self._entries[1]

    def _hashed(self, file: Path) -> str:
        lines: Iterable[bytes] | None = index_lines(file)
        found = sha256()
        for line in sorted(lines if lines is not None else self._listed()):
            found.update(line + b"\0")
        return found.hexdigest()

    def _listed(self) -> list[bytes]:
        """The entries as libgit2 reads them, for an index that is large or of another form."""
        try:
            index = pygit2.Repository(str(self._root), pygit2.enums.RepositoryOpenFlag.NO_SEARCH).index
        except (pygit2.GitError, KeyError):
            return []
        lines = [f"{entry.mode:06o} {entry.id} 0\t{entry.path}" for entry in index]
        for sides in index.conflicts or ():
            named = ((number, side) for number, side in enumerate(sides, start=1) if side is not None)
            lines += [f"{side.mode:06o} {side.id} {number}\t{side.path}" for number, side in named]
        return [line.encode("utf-8", "surrogateescape") for line in lines]


def _stamp(file: Path) -> _Stamp:
    try:
        found = file.stat()
    except OSError:
        return 0, 0, 0, 0
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
