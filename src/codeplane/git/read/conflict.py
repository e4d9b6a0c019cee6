"""Merge conflicts: the three versions of a path that git could not merge."""

import pygit2

from codeplane.index.files.paths import path_text
from codeplane.kernel.operation import Result


class Conflict(Result):
    """A path in conflict; a version that is missing was deleted, or never there."""

    path: str
    ancestor_oid: str | None = None
    ours_oid: str | None = None
    theirs_oid: str | None = None

    def text(self) -> str:
        return f"{self.kind} {self.path}"

    @property
    def kind(self) -> str:
        """The two letters that `git status --short` prints."""
        there = (self.ancestor_oid is not None, self.ours_oid is not None, self.theirs_oid is not None)
        return _KINDS.get(there, "UU")


_KINDS = {
    (True, False, False): "DD",
    (False, True, False): "AU",
    (True, True, False): "UD",
    (False, False, True): "UA",
    (True, False, True): "DU",
    (False, True, True): "AA",
    (True, True, True): "UU",
}


def conflict(path: str, oids: dict[int, str]) -> Conflict:
    """Build a conflict from the object ids of the index stages that exist."""
    return Conflict(path=path_text(path), ancestor_oid=oids.get(1), ours_oid=oids.get(2), theirs_oid=oids.get(3))


def conflicts(repository: pygit2.Repository) -> tuple[Conflict, ...]:
    """List the conflicts in the index on disk, by path."""
    repository.index.read()
    conflicts_in_index = repository.index.conflicts
    if conflicts_in_index is None:
        return ()
    by_path: dict[str, dict[int, str]] = {}
    for versions in conflicts_in_index:
        for stage, entry in enumerate(versions, start=1):
            if entry is not None:
                by_path.setdefault(entry.path, {})[stage] = str(entry.id)
    return tuple(conflict(path, by_path[path]) for path in sorted(by_path))
