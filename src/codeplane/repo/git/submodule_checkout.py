"""Submodules fetched first and checked out afterwards, when every file of theirs may be written."""

import asyncio
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from codeplane.kernel.call import Call
from codeplane.kernel.errors import CodePlaneError, GitRefused, RefNotFound
from codeplane.repo.git.command import Git
from codeplane.repo.git.remote_names import talking
from codeplane.repo.git.writing import Writer, to_its_end
from codeplane.repo.truth.paths import shown

_UPDATE = "CODEPLANE_UPDATE"
# Git fetches the commit and has this check it out.
_FETCH_ALONE = "!true"
_LEFT_ALONE = "none"
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
    is_checked_out: bool
    is_set_up: bool
    head: str
    branch: str


class SubmoduleCheckout:
    """Checks submodules out for one call; when one is refused, none is left behind that was not there before."""

    def __init__(self, writer: Writer, call: Call) -> None:
        self._writer = writer
        self._call = call

    async def add(self, url: str, path: str, branch: str) -> None:
        """Clone a repository into a new folder of the work tree, and stage it as a submodule."""
        git = self._writer.git
        options = ["--branch", branch] if branch else []
        place = git.root / path
        if _is_repository(place):
            # It is a repository already: nothing is fetched or checked out.
            await git.run("submodule", "--quiet", "add", *options, "--", url, path, env=_NO_TRANSPORT)
            return
        made, folder = _first_missing(place), await _git_folder(git, path)
        if made is None:
            raise GitRefused(f"{shown(path)} is there already, and is no repository", hint="name another folder")
        if folder.exists():
            raise GitRefused(
                f"the git folder of an earlier submodule {shown(path)} is there still",
                hint=f"choose another path, or remove {shown(str(folder))}",
            )
        try:
            words = ("--quiet", "--path", path, "--name", path, "--url", url)
            await self._talk(git, "submodule--helper", "clone", *words, env=_NOT_FROM_USER)
            inner = git.at(place)
            await self._check_tree(inner, await _commit(inner, branch), path)
            start = ["-B", branch, f"origin/{branch}"] if branch else []
            await self._talk(inner, "checkout", "--force", "--quiet", *start)
            await git.run("submodule", "--quiet", "add", *options, "--", url, path, env=_NO_TRANSPORT)
        except (Exception, asyncio.CancelledError):
            await to_its_end(asyncio.to_thread(_remove, made, folder))
            raise

    async def update(self, paths: Sequence[str], *, init: bool, recursive: bool) -> None:
        """Check out the commits that are recorded for submodules, fetching what is missing."""
        await self._update(self._writer.git, "", paths, init=init, recursive=recursive)

    async def _update(self, git: Git, prefix: str, paths: Sequence[str], *, init: bool, recursive: bool) -> None:
        commits = await _recorded(git, paths)
        if not commits:
            return
        await self._writer.may_write_all(self._call, (f"{prefix}{path}" for path in commits))
        before = [await _standing(git, path, name) for path, name in (await _names(git)).items() if path in commits]
        update = ("submodule", "--quiet", "update")
        try:
            if init:
                await git.run("submodule", "--quiet", "init", "--", *paths)
            fetching = [f"--config-env=submodule.{one.name}.update={_UPDATE}" for one in before]
            await self._talk(git, *fetching, *update, "--", *paths, env={_UPDATE: _FETCH_ALONE})
            there = [one for one in before if _is_repository(git.root / one.path)]
            for one in there:
                await self._check_tree(git.at(git.root / one.path), commits[one.path], f"{prefix}{one.path}")
            # What was never checked out is at its commit already, and git would leave it empty.
            for force in ((), ("--force",)):
                wanted = [one.path for one in there if one.is_checked_out is not bool(force)]
                if wanted:
                    await self._talk(git, *update, "--no-fetch", *force, "--", *wanted)
            for one in there if recursive else ():
                await self._update(
                    git.at(git.root / one.path), f"{prefix}{one.path}/", (), init=init, recursive=recursive
                )
        except (Exception, asyncio.CancelledError):
            await to_its_end(_take_back(git, before))
            raise

    async def _check_tree(self, inner: Git, commit: str, path: str) -> None:
        """Ask about every file of a commit of a submodule."""
        listed = await inner.run("ls-tree", "-r", "-z", "--name-only", "--full-tree", commit)
        await self._writer.may_write_all(self._call, (f"{path}/{name}" for name in listed.fields))

    async def _talk(self, git: Git, *arguments: str, env: Mapping[str, str] | None = None) -> None:
        limit = git.config.remote_timeout_sec
        await git.run(*arguments, env={**await talking(git), **(env or {})}, timeout=limit, remote=True)


async def _recorded(git: Git, paths: Sequence[str]) -> dict[str, str]:
    """The commits that submodules are recorded with, by their paths."""
    found = {}
    for line in (await git.run("ls-files", "--stage", "-z", "--", *paths)).fields:
        facts, _, path = line.partition("\t")
        if facts.startswith("160000 "):
            found[path] = facts.split(" ")[1]
    return found


async def _names(git: Git) -> dict[str, str]:
    """The submodules that git updates, by their paths."""
    paths = await _settings(git, "path", "--file", ".gitmodules")
    # What git's own settings say of one counts before what .gitmodules says.
    updates = await _settings(git, "update", "--file", ".gitmodules") | await _settings(git, "update")
    return {path: name for name, path in paths.items() if updates.get(name) != _LEFT_ALONE}


async def _settings(git: Git, key: str, *place: str) -> dict[str, str]:
    """What is set of submodules under a key, by their names."""
    done = await git.run("config", *place, "-z", "--get-regexp", rf"^submodule\..*\.{key}$", check=False)
    pairs = (line.partition("\n") for line in done.fields)
    return {name.removeprefix("submodule.").removesuffix(f".{key}"): value for name, _, value in pairs}


async def _standing(git: Git, path: str, name: str) -> _Before:
    place, folder = git.root / path, await _git_folder(git, name)
    url = await git.run("config", "--get", f"submodule.{name}.url", check=False)
    inner = git.at(place) if _is_repository(place) else None
    head = (await inner.run("rev-parse", "--verify", "--quiet", "HEAD", check=False)).line if inner else ""
    branch = (await inner.run("symbolic-ref", "--quiet", "--short", "HEAD", check=False)).line if inner else ""
    return _Before(
        path=path,
        name=name,
        folder=folder,
        is_folder=folder.exists(),
        is_place=place.exists(),
        is_checked_out=inner is not None and (inner.folder / "index").exists(),
        is_set_up=bool(url.line),
        head=head,
        branch=branch,
    )


async def _take_back(git: Git, before: Sequence[_Before]) -> None:
    """Have submodules as they were."""
    for one in before:
        place = git.root / one.path
        with suppress(CodePlaneError, OSError):
            if one.is_checked_out:
                await _go_back(git.at(place), one)
                continue
            if not one.is_set_up:
                await git.run("submodule", "--quiet", "deinit", "--force", "--", one.path)
            await asyncio.to_thread(_empty, place)
            await asyncio.to_thread(_remove, None if one.is_place else place, None if one.is_folder else one.folder)


async def _go_back(inner: Git, one: _Before) -> None:
    now = await inner.run("rev-parse", "--verify", "--quiet", "HEAD", check=False)
    if now.line == one.head or not one.head:
        return
    if one.branch and (await inner.run("rev-parse", "--verify", "--quiet", one.branch, check=False)).line == one.head:
        await inner.run("checkout", "--quiet", one.branch)
    else:
        await inner.run("checkout", "--quiet", "--detach", one.head)


async def _git_folder(git: Git, name: str) -> Path:
    """Where git keeps the git folder of a submodule of that name."""
    done = await git.run("rev-parse", "--git-path", f"modules/{name}")
    return git.root / done.line


async def _commit(inner: Git, branch: str) -> str:
    """The commit that a new submodule is checked out at."""
    ref = f"refs/remotes/origin/{branch}" if branch else "HEAD"
    done = await inner.run("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}", check=False)
    if done.code != 0:
        what = f"no branch {shown(branch)}" if branch else "no commit"
        raise RefNotFound(f"the repository has {what}", hint="try: git ls-remote URL")
    return done.line


def _is_repository(place: Path) -> bool:
    return os.path.lexists(place / ".git")


def _first_missing(place: Path) -> Path | None:
    """The outermost folder that has to be made for a place; None when it is there."""
    missing = None
    for folder in (place, *place.parents):
        if os.path.lexists(folder):
            return missing
        missing = folder
    return missing


def _remove(place: Path | None, folder: Path | None) -> None:
    for one in filter(None, (place, folder)):
        shutil.rmtree(one, ignore_errors=True)


def _empty(place: Path) -> None:
    for one in place.iterdir() if place.is_dir() else ():
        if one.is_dir() and not one.is_symlink():
            shutil.rmtree(one, ignore_errors=True)
        else:
            one.unlink()
