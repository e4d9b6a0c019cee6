"""Files that are removed with a work tree or submodule: which git may keep, and which are lost for good."""

import os
import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path, PurePath

from codeplane.git.read.git_error import name_first
from codeplane.git.safety.command import Git
from codeplane.git.safety.loss import Loss
from codeplane.index.files.paths import path_text
from codeplane.kernel.call import Call
from codeplane.kernel.errors import GitRefused, ServerRunning
from codeplane.kernel.plural import plural
from codeplane.kernel.reserved_folders import is_codeplanes
from codeplane.kernel.secret_paths import NOTHING_SHOWN, SecretRules
from codeplane.kernel.workspace import Workspace

# Returns the process that holds a lock, 0 when the system does not tell which, None when none does.
LockHolder = Callable[[Path], int | None]
_CACHES = frozenset(
    {"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".cache", "node_modules"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovedFiles:
    """Files by what becomes of them: sandboxes see what git stores, so secrets and CodePlane's files are not kept."""

    root: Path
    kept: tuple[str, ...]
    secrets: tuple[str, ...]
    has_own: bool

    @classmethod
    def of(cls, folder: Path, paths: Iterable[str], *, root: Path, secrets: SecretRules) -> "RemovedFiles":
        """Sort the files below a folder; hard links to secrets files and targets of links to them count as secrets.

        `secrets` are the rules of the repository at `root`; exceptions that they make do not apply in the folder.
        """
        prefix = f"{folder.relative_to(root)}/" if root in folder.parents else ""
        given = sorted(set(paths))
        others = [path for path in given if not is_codeplanes(path)]
        named = {path for path in others if NOTHING_SHOWN.covers(path) or (prefix and secrets.covers(prefix + path))}
        inodes = {inode for path in named for inode in _inodes(folder / path)}
        lost = {path for path in others if path in named or (inodes and inodes.intersection(_inodes(folder / path)))}
        return cls(
            root=folder,
            kept=tuple(path for path in others if path not in lost),
            secrets=tuple(sorted(lost)),
            has_own=len(others) < len(given),
        )

    @property
    def lost(self) -> tuple[str, ...]:
        """The names of what is kept nowhere."""
        return (*((".codeplane/",) if self.has_own else ()), *map(path_text, self.secrets))

    def losses(self) -> list[Loss]:
        """Describe the losses that no recovery ref keeps."""
        files = tuple(self.root / path for path in self.secrets)
        count = plural(len(files), "secrets file")
        text = f"for good, since git is given no secrets: {count}: {name_first(self.secrets)}"
        own = "for good: .codeplane/ in it, with its log, settings and keys"
        lost = [Loss(text=own, kind="work", for_good=True)] if self.has_own else []
        return [*lost, *([Loss(text=text, kind="work", files=files, for_good=True)] if files else [])]

    def warn(self, call: Call) -> None:
        """Warn the caller about what is lost for good."""
        if self.lost:
            call.warn(f"lost for good, since git is given no secrets: {', '.join(self.lost)}")

    def refuse(self) -> None:
        """Raise GitRefused when something would be lost for good."""
        if self.lost:
            raise GitRefused(
                f"{name_first(self.lost)} in {path_text(str(self.root))} would be lost for good: "
                "secrets files and .codeplane/ are not kept under a recovery ref",
                hint="copy what is needed elsewhere, then call again with force=true",
                details={"paths": list(self.lost[:100])},
            )


def no_lock_holder(lock: Path) -> int | None:
    """Report that no process holds the lock."""
    return None


def refuse_served(folder: Path, lock_holder: LockHolder) -> None:
    """Raise ServerRunning when a CodePlane server serves a folder that would be removed."""
    pid = lock_holder(Workspace(root=folder).lock)
    if pid is not None:
        which = f"a CodePlane server (pid {pid})" if pid else "a CodePlane server"
        raise ServerRunning(
            f"{which} serves {path_text(str(folder))}",
            hint=f"the owner ends it: cpl down --repo {shlex.quote(path_text(str(folder)))}; then call again",
        )


def ignored_files(git: Git) -> list[str]:
    """List ignored files, without caches that tools create again."""
    listed = git.ask("ls-files", "--others", "--ignored", "--exclude-standard", "-z").fields
    return [path for path in listed if is_codeplanes(path) or not _CACHES.intersection(PurePath(path).parts)]


def _inodes(place: Path) -> set[tuple[int, int]]:
    """Return the device and inode of a path, and of the file that a link leads to."""
    inodes = set()
    for stat in (os.stat, os.lstat):
        try:
            status = stat(place)
        except (OSError, ValueError):
            continue
        inodes.add((status.st_dev, status.st_ino))
    return inodes
