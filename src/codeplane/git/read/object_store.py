"""Git's objects and refs through libgit2; None wherever only git itself can read them."""

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeVar

import pygit2

from codeplane.disk.plain_file import read_below
from codeplane.git.read.repository import open_repository
from codeplane.kernel.errors import CodePlaneError

T = TypeVar("T")
_MAX_TAKEN = 32 * 1024 * 1024
_LINK = "120000"
_SUBJECT = 72


class ObjectStore:
    """Access one repository through libgit2, opened for each call since others write to it too."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def hash_files(self, modes: Mapping[str, str], *, write: bool) -> dict[str, str | None] | None:
        """Return mode and object id of each file, storing the blobs with `write`; an empty mode is no file."""
        return self._ask(lambda repository: self._hash_files(repository, modes, write))

    def write_tree(self, files: Mapping[str, str | None]) -> str | None:
        """Write a tree of the files that have an entry."""
        return self._ask(lambda repository: _tree(repository, files))

    def sizes(self, oids: Iterable[str]) -> dict[str, int] | None:
        """Return the sizes of objects; None when one is missing."""
        wanted = list(oids)
        return self._ask(lambda repository: {oid: repository.odb.read_header(oid)[1] for oid in wanted})

    def contents(self, oids: Iterable[str]) -> dict[str, bytes] | None:
        """Return the contents of objects; None when one is missing."""
        wanted = list(oids)
        return self._ask(lambda repository: {oid: repository.odb.read(oid)[1] for oid in wanted})

    def subject(self, commit: str) -> str | None:
        """Return the first line of a commit message."""
        message = self._ask(lambda repository: repository[commit].peel(pygit2.Commit).message)
        lines = message.strip().splitlines() if message else []
        return lines[0][:_SUBJECT] if lines else None

    def is_commit(self, oid: str) -> bool | None:
        """Whether an object is a commit, not a tag of one."""
        return self._ask(lambda repository: repository[oid].type_str == "commit")

    def head(self) -> tuple[str | None, str | None]:
        """Return the full name of the current branch and its commit; None for what is unknown."""
        name = self._ask(lambda repository: repository.lookup_reference("HEAD").raw_target)
        commit = self._ask(lambda repository: str(repository.head.target))
        return os.fsdecode(name) if isinstance(name, bytes) else None, commit

    def refs(self) -> dict[str, str] | None:
        """Return the refs that name an object, by full name."""
        # With linked work trees only git knows which refs belong to which.
        return self._ask(_refs) if (self._root / ".git").is_dir() else None

    def _ask(self, ask: Callable[[pygit2.Repository], T | None]) -> T | None:
        try:
            return ask(open_repository(self._root))
        except (CodePlaneError, pygit2.GitError, KeyError, ValueError, TypeError, OSError):
            return None

    def _hash_files(
        self, repository: pygit2.Repository, modes: Mapping[str, str], write: bool
    ) -> dict[str, str | None] | None:
        places = {path: self._root / path for path in modes}
        if sum(os.lstat(places[path]).st_size for path, mode in modes.items() if mode) > _MAX_TAKEN:
            return None
        entries: dict[str, str | None] = dict.fromkeys(modes)
        for path, mode in modes.items():
            if mode:
                content = os.fsencode(places[path].readlink()) if mode == _LINK else read_below(self._root, path)
                oid = repository.create_blob(content) if write else pygit2.hash(content)
                entries[path] = f"{mode} {oid}"
        return entries


def settings_in(config: Path, prefix: str) -> tuple[tuple[str, str], ...] | None:
    """Read the settings of one file whose keys begin with a prefix such as `branch.`; None when only git can."""
    try:
        raw = config.read_bytes().lower()
        if b"[" + prefix.removesuffix(".").encode() not in raw:
            return ()
        if b"[include" in raw:
            return None
        entries = pygit2.Config(str(config))
        return tuple((entry.name, entry.value or "") for entry in entries if entry.name.startswith(prefix))
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
    refs = {}
    for ref in repository.listall_reference_objects():
        if ref.type == pygit2.enums.ReferenceType.DIRECT:
            refs[os.fsdecode(ref.raw_name)] = str(ref.target)
    return refs
