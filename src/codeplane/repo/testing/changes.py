"""Which files and lines differ from a commit: of the working tree, with what git does not track yet."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pygit2

from codeplane.kernel.errors import NotGit, RefNotFound

Lines = tuple[tuple[int, int], ...]
"""Ranges of lines as they are now, from 1, both ends included; none for a file that is new or gone as a whole."""


class Changes:
    """What was changed in a repository."""

    def __init__(self, root: Path) -> None:
        self._root = root

    async def since(self, ref: str = "") -> Mapping[str, Lines]:
        """The changed files with their changed lines, against a ref or HEAD."""
        return await asyncio.to_thread(self._since, ref)

    def _since(self, ref: str) -> Mapping[str, Lines]:
        try:
            repository = pygit2.Repository(str(self._root))
        except (pygit2.GitError, KeyError) as error:
            raise NotGit(
                "what changed is known only in a git repository", hint="name the changed files as paths"
            ) from error
        if repository.is_bare or repository.workdir is None:
            raise NotGit("a bare repository has no files that change", hint="name the changed files as paths")
        flags = pygit2.enums.DiffOption.INCLUDE_UNTRACKED | pygit2.enums.DiffOption.RECURSE_UNTRACKED_DIRS
        diff = _tree(repository, ref).diff_to_workdir(flags, context_lines=0)
        prefix = self._root.resolve().relative_to(Path(repository.workdir).resolve()).as_posix()
        start = "" if prefix == "." else f"{prefix}/"
        found: dict[str, Lines] = {}
        for patch in diff:
            if patch is None:
                continue
            delta = patch.delta
            for path in {delta.old_file.path, delta.new_file.path}:
                if path.startswith(start):
                    found[path[len(start) :]] = _lines(patch) if delta.status_char() == "M" else ()
        return {path: lines for path, lines in found.items() if not path.startswith(".codeplane/")}


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


def _lines(patch: pygit2.Patch) -> Lines:
    # Where lines were only taken away, those around it.
    return tuple(
        (hunk.new_start, hunk.new_start + max(hunk.new_lines - 1, 0 if hunk.new_lines else 1)) for hunk in patch.hunks
    )
