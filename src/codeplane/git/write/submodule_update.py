"""Submodules that are being updated: the state before, so that a partial update can be rolled back."""

import asyncio
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from codeplane.git.safety.command import Git
from codeplane.git.write.submodule_addition import (
    Ending,
    contains_only_submodule,
    git_folder,
    is_repository,
    remove_folder,
    unset_new,
)
from codeplane.git.write.submodule_settings import SubmoduleSettings
from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.ids import digest
from codeplane.kernel.json import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmoduleState:
    """A submodule before an update, and the commit that it is updated to."""

    path: str
    name: str
    commit: str
    # Whether its git folder existed, and its folder with which entries.
    is_folder: bool
    is_place: bool
    entries: frozenset[str]
    is_checked_out: bool
    head: str
    branch: str
    # The digest of its index.
    index: str

    @classmethod
    async def read(cls, git: Git, path: str, name: str, commit: str) -> "SubmoduleState":
        """Read the present state."""
        place = git.root / path
        inner = git.at(place) if is_repository(place) else None
        is_checked_out = inner is not None and (inner.folder / "index").exists()
        return cls(
            path=path,
            name=name,
            commit=commit,
            is_folder=(await git_folder(git, name)).exists(),
            is_place=place.exists(),
            entries=_entries(place),
            is_checked_out=is_checked_out,
            head=await _line(inner, "rev-parse", "--verify", "--quiet", "HEAD"),
            branch=await _line(inner, "symbolic-ref", "--quiet", "--short", "HEAD"),
            index=await _index_digest(inner) if inner is not None and is_checked_out else "",
        )

    async def is_updated(self, git: Git) -> bool:
        """Whether git has checked out the commit: it writes the files, then the index, then HEAD."""
        place = git.root / self.path
        if not is_repository(place):
            return False
        inner = git.at(place)
        if not (inner.folder / "index").exists() or (inner.folder / "index.lock").exists():
            return False
        return await _line(inner, "rev-parse", "--verify", "--quiet", "HEAD") == self.commit

    async def is_unchanged(self, git: Git) -> bool:
        """Whether the submodule is as it was before."""
        now = await self.read(git, self.path, self.name, self.commit)
        # The entries of one that is checked out are files of its work tree.
        return now == (replace(self, entries=now.entries) if self.is_checked_out else self)

    async def may_roll_back(self, git: Git) -> bool:
        """Whether a rollback in a later run loses nothing that others did since."""
        if self.is_checked_out:
            return True
        return await contains_only_submodule(git, git.root / self.path, await git_folder(git, self.name))

    async def roll_back(self, git: Git) -> None:
        """Restore it as it was."""
        place = git.root / self.path
        if self.is_checked_out:
            await self._check_out_again(git.at(place))
            return
        await asyncio.to_thread(_remove_new_entries, place, self.entries)
        if not self.is_place:
            await asyncio.to_thread(remove_folder, place)
        if not self.is_folder:
            await asyncio.to_thread(remove_folder, await git_folder(git, self.name))

    async def _check_out_again(self, inner: Git) -> None:
        if not self.head or await _line(inner, "rev-parse", "--verify", "--quiet", "HEAD") == self.head:
            return
        if self.branch and await _line(inner, "rev-parse", "--verify", "--quiet", self.branch) == self.head:
            await inner.run("checkout", "--quiet", self.branch)
        else:
            await inner.run("checkout", "--quiet", "--detach", self.head)

    def to_json(self) -> JsonObject:
        """Return it for a later run."""
        return {
            "path": self.path,
            "name": self.name,
            "commit": self.commit,
            "is_folder": self.is_folder,
            "is_place": self.is_place,
            "entries": sorted(self.entries),
            "is_checked_out": self.is_checked_out,
            "head": self.head,
            "branch": self.branch,
            "index": self.index,
        }

    @classmethod
    def of_json(cls, raw: JsonObject) -> "SubmoduleState":
        """Read what an earlier run recorded."""
        return cls(
            path=str(raw["path"]),
            name=str(raw["name"]),
            commit=str(raw["commit"]),
            is_folder=bool(raw["is_folder"]),
            is_place=bool(raw["is_place"]),
            entries=frozenset(cast(list[str], raw["entries"])),
            is_checked_out=bool(raw["is_checked_out"]),
            head=str(raw["head"]),
            branch=str(raw["branch"]),
            index=str(raw["index"]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateLevel:
    """The submodules of one repository; `folder` is its path from the root, the root's own is empty."""

    folder: str
    settings: frozenset[str]
    modules: tuple[SubmoduleState, ...]

    @classmethod
    async def before(cls, git: Git, folder: str, commits: Mapping[str, str]) -> "UpdateLevel":
        """Record the state before the submodules with these commits are updated."""
        settings = await asyncio.to_thread(SubmoduleSettings, git)
        modules = [
            await SubmoduleState.read(git, path, name, commits[path])
            for path, name in settings.names_to_update(commits).items()
        ]
        return cls(folder=folder, settings=settings.keys, modules=tuple(modules))

    async def roll_back(self, git: Git) -> None:
        """Restore the submodules and settings of the repository as they were."""
        for module in self.modules:
            with suppress(CodePlaneError, OSError):
                await module.roll_back(git)
        with suppress(CodePlaneError, OSError):
            await unset_new(git, self.settings)

    async def is_unchanged(self, git: Git) -> bool:
        """Whether everything is as it was before."""
        if not is_repository(git.root):
            # A repository that the update itself cloned, and that was rolled back.
            return True
        if (await asyncio.to_thread(SubmoduleSettings, git)).keys != self.settings:
            return False
        return all([await module.is_unchanged(git) for module in self.modules])


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmoduleUpdate:
    """The levels of submodules that an update has started with, the outermost first."""

    recursive: bool
    levels: tuple[UpdateLevel, ...] = ()

    async def settle(self, git: Git) -> Ending:
        """Roll back a partial update of an earlier run, and return how it has ended."""
        if await self._is_done(git):
            return "done"
        inside_out = [(level, git.at(git.root / level.folder) if level.folder else git) for level in self.levels[::-1]]
        for level, place in inside_out:
            if is_repository(place.root) and not await level.is_unchanged(place):
                # Strategies other than a checkout make commits, which a rollback would lose.
                if not await _is_checkout_only(place, level) or not all(
                    [await module.may_roll_back(place) for module in level.modules]
                ):
                    return "unknown"
                await level.roll_back(place)
        return "not_done" if all([await level.is_unchanged(place) for level, place in inside_out]) else "unknown"

    async def _is_done(self, git: Git) -> bool:
        started = {level.folder for level in self.levels}
        for level in self.levels:
            place = git.at(git.root / level.folder) if level.folder else git
            for module in level.modules:
                if not await module.is_updated(place):
                    return False
                folder = f"{level.folder}{module.path}/"
                inner = place.at(place.root / module.path)
                if self.recursive and folder not in started and await recorded_commits(inner):
                    return False
        return bool(self.levels)

    def to_json(self) -> JsonObject:
        """Return it for a later run."""
        levels = [
            {
                "folder": level.folder,
                "settings": sorted(level.settings),
                "modules": [module.to_json() for module in level.modules],
            }
            for level in self.levels
        ]
        return {"recursive": self.recursive, "levels": cast(list[JsonObject], levels)}

    @classmethod
    def of_json(cls, raw: JsonObject) -> "SubmoduleUpdate":
        """Read what an earlier run recorded."""
        levels = [
            UpdateLevel(
                folder=str(level["folder"]),
                settings=frozenset(cast(list[str], level["settings"])),
                modules=tuple(map(SubmoduleState.of_json, cast(list[JsonObject], level["modules"]))),
            )
            for level in cast(list[JsonObject], raw["levels"])
        ]
        return cls(recursive=bool(raw["recursive"]), levels=tuple(levels))


async def recorded_commits(git: Git, paths: Sequence[str] = ()) -> dict[str, str]:
    """Return the commits that git's index records for submodules, by path."""
    commits = {}
    for line in (await git.run("ls-files", "--stage", "-z", "--", *paths)).fields:
        facts, _, path = line.partition("\t")
        if facts.startswith("160000 "):
            commits[path] = facts.split(" ")[1]
    return commits


async def _is_checkout_only(git: Git, level: UpdateLevel) -> bool:
    settings = await asyncio.to_thread(SubmoduleSettings, git)
    return all(settings.is_checked_out_by_update(module.name) for module in level.modules)


async def _line(inner: Git | None, *arguments: str) -> str:
    return (await inner.run(*arguments, check=False)).line if inner is not None else ""


async def _index_digest(inner: Git) -> str:
    fields = (await inner.run("ls-files", "--stage", "-z")).fields
    return digest("\0".join(fields).encode("utf-8", "surrogateescape"))


def _entries(place: Path) -> frozenset[str]:
    return frozenset(os.listdir(place)) if place.is_dir() else frozenset()  # noqa: PTH208


def _remove_new_entries(place: Path, entries: frozenset[str]) -> None:
    """Remove what is in a folder except for entries that existed before."""
    for name in _entries(place) - entries:
        entry = place / name
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink()
