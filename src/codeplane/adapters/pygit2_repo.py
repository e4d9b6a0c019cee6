"""Reading git repositories through libgit2."""

from pathlib import Path

import pygit2


class GitRepo:
    """The facts CodePlane needs from git; a folder without git has no commits."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._repository: pygit2.Repository | None = None

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
        """Return the commit of HEAD, read each time."""
        try:
            if self._repository is None:
                self._repository = pygit2.Repository(str(self._root), pygit2.enums.RepositoryOpenFlag.NO_SEARCH)
            return str(self._repository.head.target)
        except (pygit2.GitError, KeyError):
            self._repository = None
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
