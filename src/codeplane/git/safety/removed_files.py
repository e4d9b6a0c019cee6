"""The files that go away with a work tree or a submodule: what git may keep of them, and what is lost for good."""

import os
import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path, PurePath

from codeplane.git.safety.command import Git
from codeplane.git.safety.loss import Loss, few_of
from codeplane.index.files.paths import shown
from codeplane.kernel.call import Call
from codeplane.kernel.counted import counted
from codeplane.kernel.errors import GitRefused, ServerRunning
from codeplane.kernel.own_folders import is_codeplanes
from codeplane.kernel.secret_files import NOTHING_SHOWN, SecretRules
from codeplane.kernel.workspace import Workspace

# The process that holds a lock, 0 when the system does not say which; None when nobody does.
LockHolder = Callable[[Path], int | None]
_CACHES = frozenset(
    {"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".cache", "node_modules"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovedFiles:
    """A sandbox shows what git holds: secrets files and what belongs to CodePlane are never given to it."""

    root: Path
    kept: tuple[str, ...]
    secrets: tuple[str, ...]
    has_own: bool

    @classmethod
    def of(cls, folder: Path, paths: Iterable[str], *, root: Path, secrets: SecretRules) -> "RemovedFiles":
        """Sort the files below a folder; another name of a secrets file, or what a link called so leads to, is one.

        `secrets` are the rules of the repository at `root`: what they show there is not shown in the folder.
        """
        prefix = f"{folder.relative_to(root)}/" if root in folder.parents else ""
        given = sorted(set(paths))
        others = [path for path in given if not is_codeplanes(path)]
        named = {path for path in others if NOTHING_SHOWN.covers(path) or (prefix and secrets.covers(prefix + path))}
        marks = {mark for path in named for mark in _marks(folder / path)}
        lost = {path for path in others if path in named or (marks and marks.intersection(_marks(folder / path)))}
        return cls(
            root=folder,
            kept=tuple(path for path in others if path not in lost),
            secrets=tuple(sorted(lost)),
            has_own=len(others) < len(given),
        )

    @property
    def lost(self) -> tuple[str, ...]:
        """What is kept nowhere, by name."""
        return (*((".codeplane/",) if self.has_own else ()), *map(shown, self.secrets))

    def losses(self) -> list[Loss]:
        """The losses that no recovery ref keeps, as people are told."""
        files = tuple(self.root / path for path in self.secrets)
        said = f"for good, since git is given no secrets: {counted(len(files), 'secrets file')}: {few_of(self.secrets)}"
        own = "for good: .codeplane/ in it, with its log, settings and keys"
        lost = [Loss(said=own, kind="work", for_good=True)] if self.has_own else []
        return [*lost, *([Loss(said=said, kind="work", files=files, for_good=True)] if files else [])]

    def warn(self, call: Call) -> None:
        """Say in the answer what is lost for good."""
        if self.lost:
            call.warn(f"lost for good, since git is given no secrets: {', '.join(self.lost)}")

    def refuse(self) -> None:
        """GitRefused when something in it would be lost for good."""
        if self.lost:
            raise GitRefused(
                f"{few_of(self.lost)} in {shown(str(self.root))} would be lost for good: secrets files and .codeplane/ "
                "are not kept under a recovery ref",
                hint="copy what is needed elsewhere, then call again with force=true",
                details={"paths": list(self.lost[:100])},
            )


def nobody(lock: Path) -> int | None:
    """No process holds any lock."""
    return None


def refuse_served(folder: Path, lock_holder: LockHolder) -> None:
    """ServerRunning when a CodePlane server serves a folder that is to go: it would write into it meanwhile."""
    pid = lock_holder(Workspace(root=folder).lock)
    if pid is not None:
        which = f"a CodePlane server (pid {pid})" if pid else "a CodePlane server"
        raise ServerRunning(
            f"{which} serves {shown(str(folder))}",
            hint=f"the owner ends it: cpl down --repo {shlex.quote(shown(str(folder)))}; then call again",
        )


def ignored_files(git: Git) -> list[str]:
    """Files that git ignores and that no tool makes anew by itself."""
    listed = git.ask("ls-files", "--others", "--ignored", "--exclude-standard", "-z").fields
    return [one for one in listed if is_codeplanes(one) or not _CACHES.intersection(PurePath(one).parts)]


def _marks(place: Path) -> set[tuple[int, int]]:
    """The file itself and the one that a link leads to, as the disk knows them."""
    found = set()
    for look in (os.stat, os.lstat):
        try:
            state = look(place)
        except (OSError, ValueError):
            continue
        found.add((state.st_dev, state.st_ino))
    return found
