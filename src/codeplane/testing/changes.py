"""The files and lines of the work tree that differ from a commit, untracked files included."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import pygit2

from codeplane.kernel.errors import NotGit, RefNotFound

_LINK = 0o120000
_MAX_READ = 32 * 1024 * 1024

Lines = tuple[tuple[int, int], ...]
"""Ranges of lines of the present file, from 1, both ends included; empty for a file that is new or deleted."""


class Changes:
    """Compares the work tree with commits."""

    def __init__(self, root: Path) -> None:
        self._root = root

    async def since(self, ref: str = "", paths: Sequence[str] | None = None) -> Mapping[str, Lines]:
        """Return the same as `changed_since`, without blocking."""
        return await asyncio.to_thread(self.changed_since, ref, paths)

    def changed_since(self, ref: str = "", paths: Sequence[str] | None = None) -> Mapping[str, Lines]:
        """Return the files that differ from a ref or HEAD with their changed lines; only those in `paths` if given."""
        try:
            repository = pygit2.Repository(str(self._root))
        except (pygit2.GitError, KeyError) as error:
            raise NotGit(
                "what changed is known only in a git repository", hint="name the changed files as paths"
            ) from error
        if repository.is_bare or repository.workdir is None:
            raise NotGit("a bare repository has no files that change", hint="name the changed files as paths")
        prefix = self._root.resolve().relative_to(Path(repository.workdir).resolve()).as_posix()
        start = "" if prefix == "." else f"{prefix}/"
        tree = _tree(repository, ref)
        if paths is None:
            # The index knows most files by their stamps, while a diff of a tree reads every file.
            names = set(repository.status(untracked_files="all"))
            head = _tree(repository, "")
            for delta in tree.diff_to_tree(head).deltas:
                names |= {delta.old_file.path, delta.new_file.path}
            paths = [name[len(start) :] for name in names if name.startswith(start)]
        found: dict[str, Lines] = {}
        for path in sorted(paths):
            if not path.startswith(".codeplane/") and (lines := self._lines(tree, start + path, path)) is not None:
                found[path] = lines
        return found

    def _lines(self, tree: pygit2.Tree, name: str, path: str) -> Lines | None:
        """Return the changed lines of a file; None when it is unchanged."""
        try:
            old = tree[name]
        except KeyError:
            return ()
        try:
            new = os.fsencode((self._root / path).readlink()) if old.filemode == _LINK else _bytes(self._root / path)
        except OSError:
            return ()
        if not isinstance(old, pygit2.Blob) or old.data == new:
            return None
        return changed_lines(old.data, new)


def changed_lines(old: bytes, new: bytes) -> Lines:
    """Return the lines of the new text that differ from the old one."""
    return _ranges(pygit2.Patch.create_from(old, new, context_lines=0))


def _bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_MAX_READ)


def _tree(repository: pygit2.Repository, ref: str) -> pygit2.Tree:
    if not ref:
        if repository.head_is_unborn:
            # Everything is new.
            return repository[repository.TreeBuilder().write()].peel(pygit2.Tree)
        return repository.head.peel(pygit2.Tree)
    try:
        return repository.revparse_single(ref).peel(pygit2.Tree)
    except (KeyError, ValueError, pygit2.GitError) as error:
        raise RefNotFound(f"{ref!r} is no commit, branch or tag here") from error


def _ranges(patch: pygit2.Patch) -> Lines:
    # Where lines were only removed, the lines around them.
    return tuple(
        (hunk.new_start, hunk.new_start + max(hunk.new_lines - 1, 0 if hunk.new_lines else 1)) for hunk in patch.hunks
    )
