"""A conflict as data: the three versions of a path that git could not bring together."""

import pygit2

from codeplane.index.files.paths import shown
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
        """What each side did, as `git status --short` has it."""
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
    """A conflict from the object of each of the index's stages that is there."""
    return Conflict(path=shown(path), ancestor_oid=oids.get(1), ours_oid=oids.get(2), theirs_oid=oids.get(3))


def conflicts(repository: pygit2.Repository) -> tuple[Conflict, ...]:
    """Every conflict in the index as it is on disk now, by path."""
    repository.index.read()
    found = repository.index.conflicts
    if found is None:
        return ()
    by_path: dict[str, dict[int, str]] = {}
    for versions in found:
        for stage, entry in enumerate(versions, start=1):
            if entry is not None:
                by_path.setdefault(entry.path, {})[stage] = str(entry.id)
    return tuple(conflict(path, by_path[path]) for path in sorted(by_path))
