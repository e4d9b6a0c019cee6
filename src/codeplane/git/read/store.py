"""Git's objects and refs, read and written in this process; None wherever only git itself can."""

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeVar

import pygit2

from codeplane.git.read.opened import opened
from codeplane.kernel.errors import CodePlaneError

T = TypeVar("T")
_MAX_TAKEN = 32 * 1024 * 1024
_LINK = "120000"
_SUBJECT = 72


class Store:
    """One repository by libgit2, opened anew for each question: others write to it, too."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def taken(self, modes: Mapping[str, str], *, write: bool) -> dict[str, str | None] | None:
        """The mode and object of each file, which is kept where it is to be written; empty modes are no files."""
        return self._by(lambda repository: self._taken(repository, modes, write))

    def tree(self, files: Mapping[str, str | None]) -> str | None:
        """A tree of the files that are there."""
        return self._by(lambda repository: _tree(repository, files))

    def sizes(self, oids: Iterable[str]) -> dict[str, int] | None:
        """How large objects are; None when one of them is not there."""
        wanted = list(oids)
        return self._by(lambda repository: {oid: repository.odb.read_header(oid)[1] for oid in wanted})

    def contents(self, oids: Iterable[str]) -> dict[str, bytes] | None:
        """What is in objects; None when one of them is not there."""
        wanted = list(oids)
        return self._by(lambda repository: {oid: repository.odb.read(oid)[1] for oid in wanted})

    def subject(self, commit: str) -> str | None:
        """The first line of what a commit says."""
        found = self._by(lambda repository: repository[commit].peel(pygit2.Commit).message)
        lines = found.strip().splitlines() if found else []
        return lines[0][:_SUBJECT] if lines else None

    def is_commit(self, oid: str) -> bool | None:
        """Whether an object is a commit, not a tag of one."""
        return self._by(lambda repository: repository[oid].type_str == "commit")

    def head(self) -> tuple[str | None, str | None]:
        """The branch that is checked out, in full, and its commit; None for what is not known."""
        name = self._by(lambda repository: repository.lookup_reference("HEAD").raw_target)
        commit = self._by(lambda repository: str(repository.head.target))
        return os.fsdecode(name) if isinstance(name, bytes) else None, commit

    def refs(self) -> dict[str, str] | None:
        """Every ref that names an object, in full."""
        # Where work trees share a repository, which refs belong to which is git's own affair.
        return self._by(_refs) if (self._root / ".git").is_dir() else None

    def _by(self, ask: Callable[[pygit2.Repository], T | None]) -> T | None:
        try:
            return ask(opened(self._root))
        except (CodePlaneError, pygit2.GitError, KeyError, ValueError, TypeError, OSError):
            return None

    def _taken(
        self, repository: pygit2.Repository, modes: Mapping[str, str], write: bool
    ) -> dict[str, str | None] | None:
        places = {path: self._root / path for path in modes}
        if sum(os.lstat(places[path]).st_size for path, mode in modes.items() if mode) > _MAX_TAKEN:
            return None
        found: dict[str, str | None] = dict.fromkeys(modes)
        for path, mode in modes.items():
            if mode:
                place = places[path]
                content = os.fsencode(place.readlink()) if mode == _LINK else place.read_bytes()
                oid = repository.create_blob(content) if write else pygit2.hash(content)
                found[path] = f"{mode} {oid}"
        return found


def settings_in(config: Path, prefix: str) -> tuple[tuple[str, str], ...] | None:
    """The settings of one file whose keys begin with a prefix, as in `branch.`."""
    try:
        raw = config.read_bytes().lower()
        if b"[" + prefix.removesuffix(".").encode() not in raw:
            return ()
        if b"[include" in raw:
            return None
        return tuple((one.name, one.value or "") for one in pygit2.Config(str(config)) if one.name.startswith(prefix))
    except (OSError, pygit2.GitError, ValueError):
        return None


def _tree(repository: pygit2.Repository, files: Mapping[str, str | None]) -> str:
    index = pygit2.Index()
    for path, entry in files.items():
        if entry is not None:
            mode, oid = entry.split(" ")
            index.add(pygit2.IndexEntry(path, pygit2.Oid(hex=oid), pygit2.enums.FileMode(int(mode, 8))))
    return str(index.write_tree(repository))


def _refs(repository: pygit2.Repository) -> dict[str, str]:
    found = {}
    for ref in repository.listall_reference_objects():
        if ref.type == pygit2.enums.ReferenceType.DIRECT:
            found[os.fsdecode(ref.raw_name)] = str(ref.target)
    return found
