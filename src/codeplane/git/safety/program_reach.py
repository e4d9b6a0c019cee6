"""The paths that hooks and filters of git may write and use."""

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from codeplane.git.read.repository import common_dir
from codeplane.git.safety import hook_watch

# More mounts would make each hook slow to start.
_MAX_MODULES = 100
# Folders in a git folder from which git runs programs.
_PROGRAM_FOLDERS = ("hooks", "worktrees", "modules")
# Git believes what a commit graph says of a commit's files, and takes objects from the folders that are named there.
_OBJECT_INFO = "objects/info"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramReach:
    """The paths that hooks and filters may write and use besides the work tree, and whether they are offline."""

    root: Path
    # The git folder of the work tree, and the one that all work trees share.
    folder: Path
    own: Path
    fixed: tuple[Path, ...] = ()
    # What Git LFS reads and writes outside a sandbox.
    lfs: tuple[Path, ...] = ()
    written: tuple[Path, ...] = ()
    used: tuple[Path, ...] = ()
    # Their search path, when it differs from git's own.
    path: str = ""
    offline: bool

    def for_hook(self, name: str) -> "ProgramReach":
        """Return the reach of a hook; that of a push runs beside commands whose Git LFS has looked for links already.

        In one work tree other hooks run alone, but commands in further ones run beside all of them.
        """
        is_alone = name != "pre-push" and not _subfolders(self.own / "worktrees")
        return self if is_alone else replace(self, fixed=(*self.fixed, *self.lfs))

    def for_filter(self, folders: Sequence[str]) -> "ProgramReach":
        """Return the reach of a filter or merge driver, which writes only its own folders in git's folder.

        Git goes on while they run.
        """
        for name in folders:
            with suppress(OSError):
                (self.own / name).mkdir(exist_ok=True)
        git_place, root = Path(os.path.realpath(self.root / ".git")), self.root.resolve()
        written = [own for name in folders if (own := self.own / name).is_dir() and not own.is_symlink()]
        return replace(
            self,
            fixed=(git_place,) if root in git_place.parents else (),
            written=tuple(written),
            used=(*self.used, *self.written),
            # Only programs of the owner write there.
            path="" if folders else self.path,
        )


def shared_folder(folder: Path) -> Path:
    """Return the git folder that all work trees share."""
    return Path(os.path.normpath(common_dir(folder)))


def fixed_places(root: Path, folder: Path, own: Path) -> tuple[Path, ...]:
    """Return the places that decide what git runs and reads, also those of other work trees and submodules.

    Missing ones are created, since a sandbox cannot prevent that they are created later.
    """
    folders = tuple(dict.fromkeys((own, folder)))
    modules = [module for base in folders for module in _modules(base / "modules")]
    for created in (
        *(base / "modules" for base in folders),
        *(base / name for base in (own, *modules) for name in (*_PROGRAM_FOLDERS, _OBJECT_INFO)),
    ):
        with suppress(OSError):
            created.mkdir(exist_ok=True)
    for base in (*folders, *modules):
        # One that is there keeps its time, by which changed settings are known.
        with suppress(OSError):
            (base / "config.worktree").touch(exist_ok=False)
    places = [own / name for name in ("hooks", "config", "worktrees", _OBJECT_INFO)]
    places += [base / name for base in folders for name in ("config.worktree", "commondir", "gitdir", "modules")]
    of_module = (*_PROGRAM_FOLDERS, _OBJECT_INFO, "config", "config.worktree", "commondir")
    places += [base / name for base in modules for name in of_module]
    existing = [place for place in (root / ".git", *places) if place.exists() and place != own]
    # Git runs commands and strategies named in these folders, which come and go while it runs.
    return (*existing, *(base / name for base in folders for name in hook_watch.STATE_FOLDERS))


def lfs_places(own: Path) -> tuple[Path, ...]:
    """Return the folders that Git LFS reads and writes outside a sandbox, which are created when they are missing.

    A hook could put a link there after Git LFS of another command has looked for links.
    """
    places = [own / "lfs" / name for name in ("objects", "incomplete", "tmp", "logs")]
    for place in places:
        with suppress(OSError):
            place.mkdir(parents=True, exist_ok=True)
    return tuple(place for place in places if place.is_dir())


def _subfolders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return sorted(Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []


def _modules(folder: Path) -> list[Path]:
    """Return the git folders of submodules, whose names may have slashes, and of nested ones."""
    modules: list[Path] = []
    left = _subfolders(folder)
    while left and len(modules) < _MAX_MODULES:
        place = left.pop()
        if (place / "HEAD").exists():
            modules.append(place)
            left += _subfolders(place / "modules")
        else:
            left += _subfolders(place)
    return sorted(modules)
