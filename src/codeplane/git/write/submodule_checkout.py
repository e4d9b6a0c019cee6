"""Submodules fetched first and checked out afterwards, when every file of theirs may be written."""

import asyncio
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from codeplane.git.safety.command import Git
from codeplane.git.write.remote_names import remote_environment
from codeplane.git.write.submodule_addition import (
    SubmoduleAddition,
    git_folder,
    is_repository,
    remove_folder,
    unset_new,
)
from codeplane.git.write.submodule_settings import SubmoduleSettings
from codeplane.git.write.writer import GitMutation, Writer, run_to_end
from codeplane.index.files.paths import shown
from codeplane.kernel.call import Call
from codeplane.kernel.errors import CodePlaneError, RefNotFound

_UPDATE = "CODEPLANE_UPDATE"
# Git fetches the commit and has this check it out.
_FETCH_ALONE = "!true"
_NO_TRANSPORT = {"GIT_ALLOW_PROTOCOL": "none"}
# As `git submodule` has it: of transports, those alone that the settings allow for addresses that nobody typed.
_NOT_FROM_USER = {"GIT_PROTOCOL_FROM_USER": "0"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Before:
    """How a submodule stood before it was updated."""

    path: str
    name: str
    # Where its git folder is, or will be.
    folder: Path
    is_folder: bool
    is_place: bool
    # What lies in its folder.
    entries: frozenset[str]
    is_checked_out: bool
    head: str
    branch: str


class SubmoduleCheckout:
    """Checks submodules out for one call; when one is refused, none is left behind that was not there before."""

    def __init__(self, writer: Writer, call: Call) -> None:
        self._writer = writer
        self._call = call

    async def add(self, writing: GitMutation, url: str, path: str, branch: str) -> None:
        """Clone a repository into a new folder of the work tree, and stage it as a submodule."""
        git = self._writer.git
        options = ["--branch", branch] if branch else []
        addition = await SubmoduleAddition.before(git, path)
        await writing.adds_submodule(addition.to_json())
        try:
            if addition.is_cloned:
                await self._clone(git, url, path, branch)
            # What it needs is there by now: nothing is fetched or checked out.
            await git.run("submodule", "--quiet", "add", *options, "--", url, path, env=_NO_TRANSPORT)
        except (Exception, asyncio.CancelledError):
            await run_to_end(addition.take_back(git))
            raise

    async def _clone(self, git: Git, url: str, path: str, branch: str) -> None:
        words = ("--quiet", "--path", path, "--name", path, "--url", url)
        await self._talk(git, "submodule--helper", "clone", *words, env=_NOT_FROM_USER)
        inner = git.at(git.root / path)
        await self._check_tree(inner, await _commit(inner, branch), path)
        start = ["-B", branch, f"origin/{branch}"] if branch else []
        await self._talk(inner, "checkout", "--force", "--quiet", *start)

    async def update(self, paths: Sequence[str], *, init: bool, recursive: bool) -> None:
        """Check out the commits that are recorded for submodules, fetching what is missing."""
        await self._update(self._writer.git, "", paths, init=init, recursive=recursive)

    async def _update(self, git: Git, prefix: str, paths: Sequence[str], *, init: bool, recursive: bool) -> None:
        commits = await _recorded(git, paths)
        if not commits:
            return
        await self._writer.may_write_all(self._call, (f"{prefix}{path}" for path in commits))
        settings = await asyncio.to_thread(SubmoduleSettings, git)
        before = [await _standing(git, path, name) for path, name in settings.updated(commits).items()]
        update = ("submodule", "--quiet", "update")
        try:
            if init:
                await git.run("submodule", "--quiet", "init", "--", *paths)
            if not before:
                return
            # Never without a path: git would go on to those that nobody looked at. One by one, as each has settings of
            # its own, and what those name is enclosed.
            for one in before:
                fetching = f"--config-env=submodule.{one.name}.update={_UPDATE}"
                env = {_UPDATE: _FETCH_ALONE, **await _variables(git, one.path)}
                await self._talk(git, fetching, *update, "--", one.path, env=env)
            there = [one for one in before if is_repository(git.root / one.path)]
            for one in there:
                await self._check_tree(git.at(git.root / one.path), commits[one.path], f"{prefix}{one.path}")
            for one in there:
                # What was never checked out is at its commit already, and git would leave it empty.
                force = () if one.is_checked_out else ("--force",)
                env = await _variables(git, one.path)
                await self._talk(git, *update, "--no-fetch", *force, "--", one.path, env=env)
            for one in there if recursive else ():
                await self._update(
                    git.at(git.root / one.path), f"{prefix}{one.path}/", (), init=init, recursive=recursive
                )
        except (Exception, asyncio.CancelledError):
            await run_to_end(_take_back(git, before, settings.keys))
            raise

    async def _check_tree(self, inner: Git, commit: str, path: str) -> None:
        """Ask about every file of a commit of a submodule."""
        listed = await inner.run("ls-tree", "-r", "-z", "--name-only", "--full-tree", commit)
        await self._writer.may_write_all(self._call, (f"{path}/{name}" for name in listed.fields))

    async def _talk(self, git: Git, *arguments: str, env: Mapping[str, str] | None = None) -> None:
        limit = git.config.remote_timeout_sec
        await git.run(*arguments, env={**await remote_environment(git), **(env or {})}, timeout=limit, remote=True)


async def _variables(git: Git, path: str) -> dict[str, str]:
    """What encloses what the settings of a submodule name, once it is there."""
    place = git.root / path
    return await asyncio.to_thread(git.at(place).settings_variables) if is_repository(place) else {}


async def _recorded(git: Git, paths: Sequence[str]) -> dict[str, str]:
    """The commits that submodules are recorded with, by their paths."""
    found = {}
    for line in (await git.run("ls-files", "--stage", "-z", "--", *paths)).fields:
        facts, _, path = line.partition("\t")
        if facts.startswith("160000 "):
            found[path] = facts.split(" ")[1]
    return found


async def _standing(git: Git, path: str, name: str) -> _Before:
    place, folder = git.root / path, await git_folder(git, name)
    inner = git.at(place) if is_repository(place) else None
    head = (await inner.run("rev-parse", "--verify", "--quiet", "HEAD", check=False)).line if inner else ""
    branch = (await inner.run("symbolic-ref", "--quiet", "--short", "HEAD", check=False)).line if inner else ""
    return _Before(
        path=path,
        name=name,
        folder=folder,
        is_folder=folder.exists(),
        is_place=place.exists(),
        entries=_entries(place),
        is_checked_out=inner is not None and (inner.folder / "index").exists(),
        head=head,
        branch=branch,
    )


async def _take_back(git: Git, before: Sequence[_Before], keys: frozenset[str]) -> None:
    """Have submodules as they were; `keys` are the settings that there were."""
    for one in before:
        place = git.root / one.path
        with suppress(CodePlaneError, OSError):
            if one.is_checked_out:
                await _go_back(git.at(place), one)
                continue
            await asyncio.to_thread(_empty, place, one.entries)
            if not one.is_place:
                await asyncio.to_thread(remove_folder, place)
            if not one.is_folder:
                await asyncio.to_thread(remove_folder, one.folder)
    with suppress(CodePlaneError, OSError):
        await unset_new(git, keys)


async def _go_back(inner: Git, one: _Before) -> None:
    now = await inner.run("rev-parse", "--verify", "--quiet", "HEAD", check=False)
    if now.line == one.head or not one.head:
        return
    if one.branch and (await inner.run("rev-parse", "--verify", "--quiet", one.branch, check=False)).line == one.head:
        await inner.run("checkout", "--quiet", one.branch)
    else:
        await inner.run("checkout", "--quiet", "--detach", one.head)


async def _commit(inner: Git, branch: str) -> str:
    """The commit that a new submodule is checked out at."""
    ref = f"refs/remotes/origin/{branch}" if branch else "HEAD"
    done = await inner.run("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}", check=False)
    if done.code != 0:
        what = f"no branch {shown(branch)}" if branch else "no commit"
        raise RefNotFound(f"the repository has {what}", hint="try: git ls-remote URL")
    return done.line


def _entries(place: Path) -> frozenset[str]:
    return frozenset(one.name for one in place.iterdir()) if place.is_dir() else frozenset()


def _empty(place: Path, entries: frozenset[str]) -> None:
    """Remove what is in a folder, but for the entries that were there before."""
    for name in _entries(place) - entries:
        one = place / name
        if one.is_dir() and not one.is_symlink():
            shutil.rmtree(one, ignore_errors=True)
        else:
            one.unlink()
