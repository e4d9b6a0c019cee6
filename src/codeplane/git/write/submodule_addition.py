"""A submodule that is being added: the state before, so that a partial addition can be rolled back."""

import asyncio
import os
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from codeplane.git.read.repository import git_dir_of
from codeplane.git.safety.command import Git
from codeplane.git.write.submodule_settings import GITMODULES, SubmoduleSettings
from codeplane.index.files.paths import path_text
from codeplane.kernel.errors import CodePlaneError, GitRefused
from codeplane.kernel.json import JsonObject

Ending = Literal["done", "not_done", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmoduleAddition:
    """The path of a new submodule, which is also its name, and the state before it was added."""

    path: str
    # Whether its folder and git folder are created; existing ones are never removed.
    is_cloned: bool
    settings: frozenset[str]
    gitmodules: bytes | None
    # The line of .gitmodules in the index.
    staged: str | None

    @classmethod
    async def before(cls, git: Git, path: str) -> "SubmoduleAddition":
        """Record the state before an addition; GitRefused when something is in the way."""
        await asyncio.to_thread(_refuse_in_the_way, git.root, path, await git_folder(git, path))
        listed = (await git.run("ls-files", "--stage", "-z", "--", GITMODULES)).fields
        return cls(
            path=path,
            is_cloned=not is_repository(git.root / path),
            settings=(await asyncio.to_thread(SubmoduleSettings, git)).keys,
            gitmodules=await asyncio.to_thread(_content, git.root / GITMODULES),
            staged=listed[0] if len(listed) == 1 else None,
        )

    def to_json(self) -> JsonObject:
        """Return it for a later run."""
        return {
            "path": self.path,
            "is_cloned": self.is_cloned,
            "settings": sorted(self.settings),
            "gitmodules": None if self.gitmodules is None else self.gitmodules.decode("utf-8", "surrogateescape"),
            "staged": self.staged,
        }

    @classmethod
    def of_json(cls, raw: JsonObject) -> "SubmoduleAddition":
        """Read what an earlier run recorded."""
        gitmodules, staged = raw["gitmodules"], raw["staged"]
        return cls(
            path=str(raw["path"]),
            is_cloned=bool(raw["is_cloned"]),
            settings=frozenset(cast(list[str], raw["settings"])),
            gitmodules=None if gitmodules is None else str(gitmodules).encode("utf-8", "surrogateescape"),
            staged=None if staged is None else str(staged),
        )

    async def settle(self, git: Git) -> Ending:
        """Roll back a partial addition of an earlier run, and return how it has ended."""
        if await self._is_staged(git) and await self._is_named(git, "--blob", f":{GITMODULES}"):
            return "done"
        place, folder = git.root / self.path, await git_folder(git, self.path)
        if self.is_cloned and not await contains_only_submodule(git, place, folder):
            return "unknown"
        await self.roll_back(git)
        left = self.is_cloned and (is_repository(place) or folder.exists())
        return "unknown" if left or await self._is_staged(git) else "not_done"

    async def roll_back(self, git: Git) -> None:
        """Restore everything as it was before."""
        with suppress(CodePlaneError, OSError):
            await self._unstage(git)
        with suppress(CodePlaneError, OSError):
            await self._unregister(git)
        with suppress(CodePlaneError, OSError):
            await unset_new(git, self.settings)
        with suppress(CodePlaneError, OSError):
            for folder in (git.root / self.path, await git_folder(git, self.path)) if self.is_cloned else ():
                await asyncio.to_thread(remove_folder, folder)

    async def _unstage(self, git: Git) -> None:
        gone = [self.path] if await self._is_staged(git) else []
        if await self._is_named(git, "--blob", f":{GITMODULES}"):
            gone.append(GITMODULES)
        if gone:
            await git.run("update-index", "--force-remove", "--", *gone)
        if GITMODULES in gone and self.staged is not None:
            await git.run("update-index", "-z", "--index-info", input=os.fsencode(self.staged) + b"\0")

    async def _unregister(self, git: Git) -> None:
        """Remove its section from `.gitmodules`, which others may have changed since."""
        if not await self._is_named(git, "--file", GITMODULES):
            return
        await git.run("config", "--file", GITMODULES, "--remove-section", f"submodule.{self.path}")
        await asyncio.to_thread(self._restore, git.root / GITMODULES)

    def _restore(self, file: Path) -> None:
        if (_content(file) or b"").strip() != (self.gitmodules or b"").strip():
            return
        if self.gitmodules is None:
            file.unlink(missing_ok=True)
        else:
            file.write_bytes(self.gitmodules)

    async def _is_staged(self, git: Git) -> bool:
        listed = (await git.run("ls-files", "--stage", "-z", "--", self.path)).fields
        return any(line.startswith("160000 ") for line in listed)

    async def _is_named(self, git: Git, *place: str) -> bool:
        done = await git.run("config", *place, "--get", f"submodule.{self.path}.path", check=False)
        return done.code == 0


def _refuse_in_the_way(root: Path, path: str, folder: Path) -> None:
    file = root / GITMODULES
    if os.path.lexists(file) and (file.is_symlink() or not file.is_file()):
        raise GitRefused(f"{GITMODULES} is not a plain file", hint="replace it with one")
    if is_repository(root / path):
        return
    if os.path.lexists(root / path):
        raise GitRefused(f"{path_text(path)} is there already, and is no repository", hint="name another folder")
    if folder.exists():
        raise GitRefused(
            f"the git folder of an earlier submodule {path_text(path)} is there still",
            hint=f"choose another path, or remove {path_text(str(folder))}",
        )


async def contains_only_submodule(git: Git, place: Path, folder: Path) -> bool:
    """Whether a submodule's folder contains only what git put there."""
    if not await asyncio.to_thread(_leads_to, place, folder):
        return False
    if not (folder / "index").exists() or not is_repository(place):
        return True
    return not (await git.at(place).run("status", "--porcelain", "--untracked-files=all")).line


def _leads_to(place: Path, folder: Path) -> bool:
    """Whether a folder is the work tree of a git folder, or is missing or empty."""
    if not is_repository(place):
        return not os.path.lexists(place) or (place.is_dir() and not any(place.iterdir()))
    try:
        return os.path.realpath(git_dir_of(place)) == os.path.realpath(folder)
    except (CodePlaneError, OSError):
        return False


def is_repository(place: Path) -> bool:
    """Whether a folder is a repository."""
    return os.path.lexists(place / ".git")


async def git_folder(git: Git, name: str) -> Path:
    """Return the git folder of a submodule with that name."""
    done = await git.run("rev-parse", "--git-path", f"modules/{name}")
    return git.root / done.line


async def unset_new(git: Git, keys: frozenset[str]) -> None:
    """Unset the repository's submodule settings except for these keys."""
    now = await asyncio.to_thread(SubmoduleSettings, git)
    for key in sorted(now.keys - keys):
        await git.run("config", "--local", "--unset-all", key)


def remove_folder(folder: Path) -> None:
    """Remove a folder and its parents that are empty then."""
    shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):
        for parent in folder.parents:
            parent.rmdir()


def _content(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None
