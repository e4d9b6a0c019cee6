"""Reading git repositories through libgit2."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pygit2

_SETTLED_NS = 100_000_000
_SYMBOLIC = b"ref: "
_LONGEST = 4096
_Stamp = tuple[int, int, int, int]


class _ReadHead:
    """The commit of HEAD as it was read, with the stamps of the files that it was read from."""

    def __init__(self, repository: pygit2.Repository, settled_ns: int) -> None:
        self.commit = str(repository.head.target)
        names = list(_files_of_head(repository))
        self._stamps = [(name, _stamp(name)) for name in names]
        since_ns = time.time_ns() - settled_ns
        # Read once more after the stamps, which must be of what was read.
        is_same = bool(names) and self.commit == str(repository.head.target)
        changed_ns = [max(stamp[:2]) for _, stamp in self._stamps if stamp is not None]
        self._is_settled = is_same and max(changed_ns, default=since_ns) <= since_ns

    def is_current(self) -> bool:
        """Whether none of the files has changed since."""
        return self._is_settled and all(_stamp(name) == stamp for name, stamp in self._stamps)


def _files_of_head(repository: pygit2.Repository) -> Iterator[str]:
    """The files that say what HEAD is; none where a reference leads to another one."""
    head = f"{repository.path}HEAD"
    text = _text(head)
    if not text.startswith(_SYMBOLIC):
        yield head
        return
    branch = os.fsdecode(text.removeprefix(_SYMBOLIC).strip())
    # In a linked work tree branches are those of the repository that it belongs to.
    shared = _text(f"{repository.path}commondir")
    folder = Path(repository.path, os.fsdecode(shared.strip()))
    named = str(folder / branch)
    if not _text(named).startswith(_SYMBOLIC):
        yield from (head, named, str(folder / "packed-refs"))


def _stamp(name: str) -> _Stamp | None:
    try:
        status = os.stat(name)  # noqa: PTH116  # asked for every answer that names a commit
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


def _text(name: str) -> bytes:
    try:
        with open(name, "rb") as file:  # noqa: PTH123  # a name of libgit2
            return file.read(_LONGEST)
    except OSError:
        return b""


class GitRepo:
    """The facts CodePlane needs from git; a folder without git has no commits."""

    def __init__(self, root: Path, *, settled_ns: int = _SETTLED_NS) -> None:
        """Files of git that have not changed for `settled_ns` change no more without another time."""
        self._root = root
        self._settled_ns = settled_ns
        self._repository: pygit2.Repository | None = None
        self._head: _ReadHead | None = None

    def tracks(self, *paths: str) -> list[str]:
        """Return the paths that are in git's index, or contain something that is."""
        try:
            index = pygit2.Repository(str(self._root), pygit2.enums.RepositoryOpenFlag.NO_SEARCH).index
        except (pygit2.GitError, KeyError):
            return []
        heads = tuple({path.partition("/")[0] for path in paths})
        near = [entry.path for entry in index if entry.path.startswith(heads)]
        return [
            path for path in paths if any(neighbour == path or neighbour.startswith(f"{path}/") for neighbour in near)
        ]

    def head(self) -> str | None:
        """Return the commit of HEAD, read again where its files may have changed."""
        if self._head is not None and self._head.is_current():
            return self._head.commit
        try:
            if self._repository is None:
                self._repository = pygit2.Repository(str(self._root), pygit2.enums.RepositoryOpenFlag.NO_SEARCH)
            self._head = _ReadHead(self._repository, self._settled_ns)
            return self._head.commit
        except (pygit2.GitError, KeyError):
            self._repository = self._head = None
            return None


def find_root(start: Path) -> Path | None:
    """Return the work tree that contains a folder, or None outside git."""
    try:
        repository = pygit2.discover_repository(str(start))
    except (pygit2.GitError, KeyError):
        return None
    if repository is None:
        return None
    work_tree = pygit2.Repository(repository).workdir
    return Path(work_tree) if work_tree else None
