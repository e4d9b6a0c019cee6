"""The listing of a workspace's files, and of those left out with the reason."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from codeplane.disk.git_folders import git_folders
from codeplane.index.files.ignore import IgnoreRules
from codeplane.index.files.include import BEYOND, MAX_INCLUDED, NOTHING_INCLUDED, IncludeRules
from codeplane.kernel.errors import StorageFailed
from codeplane.kernel.secret_paths import NOTHING_SHOWN, SecretRules

SUBMODULE = 0o160000
APART = "a repository of its own"
_MAX_DEPTH = 400


class Git(Protocol):
    """The git queries of a listing."""

    def list_tracked(self) -> list[tuple[str, int]]: ...

    def list_untracked(self) -> list[str]: ...

    def list_ignored(self) -> list[str]: ...


class GitAt(Protocol):
    """Git in a given folder."""

    def __call__(self, root: Path) -> Git: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """All paths, sorted as bytes; `skipped` maps a reason to the paths left out."""

    tracked: frozenset[str]
    paths: tuple[str, ...]
    skipped: dict[str, tuple[str, ...]] = field(default_factory=dict)
    included: frozenset[str] = frozenset()


def list_files(
    root: Path,
    git_at: GitAt,
    secrets: SecretRules = NOTHING_SHOWN,
    include: IncludeRules = NOTHING_INCLUDED,
) -> Listing:
    """List a workspace's files: tracked, untracked without a rule against them, and included ones."""
    rules = IgnoreRules.of(root, secrets)
    if (root / ".git").exists():
        tracked, untracked, ignored, apart = _from_git(root, git_at, prefix="")
    else:
        tracked, untracked, ignored, apart = [], _walk(root), [], []
    if gits := git_folders(root):
        tracked, untracked, ignored, apart = (
            [path for path in paths if not gits.cover(path)] for paths in (tracked, untracked, ignored, apart)
        )
    kept, hidden = rules.split_paths(tracked, tracked=True)
    extra, noise = rules.split_paths(untracked, tracked=False)
    brought = include.below(root, [*ignored, *noise]) if include else ()
    named = {path for path in brought if not rules.is_withheld(path) and not gits.cover(path)}
    included = set(sorted(named)[:MAX_INCLUDED])
    ruled_out = {*ignored, *hidden, *noise} - included
    secret = set(filter(secrets.covers, ruled_out))
    left_out = {
        "ignored": ruled_out - secret,
        "secrets": secret,
        APART: set(apart),
        BEYOND: named - included,
    }
    skipped = {reason: tuple(sorted(paths)) for reason, paths in left_out.items() if paths}
    return Listing(
        tracked=frozenset(kept),
        paths=tuple(sorted({*kept, *extra, *included}, key=os.fsencode)),
        skipped=skipped,
        included=frozenset(included),
    )


def _from_git(root: Path, git_at: GitAt, *, prefix: str) -> tuple[list[str], list[str], list[str], list[str]]:
    git = git_at(root)
    tracked: list[str] = []
    named = [prefix + path for path in git.list_untracked()]
    untracked = [path for path in named if not path.endswith("/")]
    # Git does not look into a repository that lies inside and is no submodule; neither do we, but the answer names it.
    apart = [path for path in named if path.endswith("/")]
    ignored = [prefix + path for path in git.list_ignored() if not path.startswith(".codeplane/")]
    for path, mode in git.list_tracked():
        if mode != SUBMODULE:
            tracked.append(prefix + path)
        elif (root / path / ".git").exists():
            # A submodule is a repository of its own; one that is not initialised has nothing to show.
            try:
                inner = _from_git(root / path, git_at, prefix=f"{prefix}{path}/")
            except StorageFailed:
                # Others may have put a repository there that git cannot read; the rest of the files has to be listed.
                apart.append(f"{prefix}{path}/")
                continue
            for mine, theirs in zip((tracked, untracked, ignored, apart), inner, strict=True):
                mine.extend(theirs)
    return tracked, untracked, ignored, apart


def _walk(root: Path) -> list[str]:
    """All files below a folder without git; links are not followed."""
    paths: list[str] = []
    folders = [("", 0)]
    while folders:
        folder, depth = folders.pop()
        try:
            entries = list(os.scandir(root / folder))
        except OSError:
            continue
        for entry in entries:
            path = f"{folder}{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in (".git", ".codeplane", "node_modules", "__pycache__") and depth < _MAX_DEPTH:
                    folders.append((f"{path}/", depth + 1))
            elif entry.is_file(follow_symlinks=False) or entry.is_symlink():
                paths.append(path)
    return paths
