"""Fetches submodules, checks that every file may be written, and only then checks them out."""

import asyncio
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from codeplane.git.safety.command import Git
from codeplane.git.write.mutation import GitMutation, run_to_end
from codeplane.git.write.remote_names import remote_environment
from codeplane.git.write.submodule_addition import (
    SubmoduleAddition,
    git_folder,
    is_repository,
    remove_folder,
    unset_new,
)
from codeplane.git.write.submodule_settings import SubmoduleSettings
from codeplane.git.write.writer import Writer
from codeplane.index.files.paths import shown
from codeplane.kernel.call import Call
from codeplane.kernel.errors import CodePlaneError, RefNotFound

_UPDATE = "CODEPLANE_UPDATE"
# Makes git fetch the commit and run this instead of checking it out.
_FETCH_ALONE = "!true"
_NO_TRANSPORT = {"GIT_ALLOW_PROTOCOL": "none"}
# As in `git submodule`: only transports that the settings allow for addresses that no user typed.
_NOT_FROM_USER = {"GIT_PROTOCOL_FROM_USER": "0"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Before:
    """The state of a submodule before an update."""

    path: str
    name: str
    # The place of its git folder, which may not exist yet.
    folder: Path
    is_folder: bool
    is_place: bool
    # The entries of its folder.
    entries: frozenset[str]
    is_checked_out: bool
    head: str
    branch: str


class SubmoduleCheckout:
    """Check out submodules for one call; when one is refused, roll back all of them."""

    def __init__(self, writer: Writer, call: Call) -> None:
        self._writer = writer
        self._call = call

    async def add(self, mutation: GitMutation, url: str, path: str, branch: str) -> None:
        """Clone a repository into a new folder of the work tree, and stage it as a submodule."""
        git = self._writer.git
        options = ["--branch", branch] if branch else []
        addition = await SubmoduleAddition.before(git, path)
        await mutation.record_submodule(addition.to_json())
        try:
            if addition.is_cloned:
                await self._clone(git, url, path, branch)
            # Everything is cloned by now, so nothing is fetched or checked out.
            await git.run("submodule", "--quiet", "add", *options, "--", url, path, env=_NO_TRANSPORT)
        except (Exception, asyncio.CancelledError):
            await run_to_end(addition.roll_back(git))
            raise

    async def _clone(self, git: Git, url: str, path: str, branch: str) -> None:
        words = ("--quiet", "--path", path, "--name", path, "--url", url)
        await self._run_remote(git, "submodule--helper", "clone", *words, env=_NOT_FROM_USER)
        inner = git.at(git.root / path)
        await self._check_tree(inner, await _commit(inner, branch), path)
        start = ["-B", branch, f"origin/{branch}"] if branch else []
        await self._run_remote(inner, "checkout", "--force", "--quiet", *start)

    async def update(self, paths: Sequence[str], *, init: bool, recursive: bool) -> None:
        """Check out the commits that are recorded for submodules, fetching what is missing."""
        await self._update(self._writer.git, "", paths, init=init, recursive=recursive)

    async def _update(self, git: Git, prefix: str, paths: Sequence[str], *, init: bool, recursive: bool) -> None:
        commits = await _recorded(git, paths)
        if not commits:
            return
        await self._writer.permission.admit_all(self._call, (f"{prefix}{path}" for path in commits))
        settings = await asyncio.to_thread(SubmoduleSettings, git)
        before = [await _present_state(git, path, name) for path, name in settings.updated(commits).items()]
        update = ("submodule", "--quiet", "update")
        try:
            if init:
                await git.run("submodule", "--quiet", "init", "--", *paths)
            if not before:
                return
            # Always with a path, or git would update submodules that were not checked. One by one, since each has
            # settings of its own, whose programs are sandboxed.
            for module in before:
                fetch_only = f"--config-env=submodule.{module.name}.update={_UPDATE}"
                env = {_UPDATE: _FETCH_ALONE, **await _variables(git, module.path)}
                await self._run_remote(git, fetch_only, *update, "--", module.path, env=env)
            fetched = [module for module in before if is_repository(git.root / module.path)]
            for module in fetched:
                inner = git.at(git.root / module.path)
                await self._check_tree(inner, commits[module.path], f"{prefix}{module.path}")
            for module in fetched:
                # A submodule that was never checked out is at its commit already, and git would leave it empty.
                force = () if module.is_checked_out else ("--force",)
                env = await _variables(git, module.path)
                await self._run_remote(git, *update, "--no-fetch", *force, "--", module.path, env=env)
            for module in fetched if recursive else ():
                inner = git.at(git.root / module.path)
                await self._update(inner, f"{prefix}{module.path}/", (), init=init, recursive=recursive)
        except (Exception, asyncio.CancelledError):
            await run_to_end(_roll_back(git, before, settings.keys))
            raise

    async def _check_tree(self, inner: Git, commit: str, path: str) -> None:
        """Check that the caller may write every file of a submodule's commit."""
        listed = await inner.run("ls-tree", "-r", "-z", "--name-only", "--full-tree", commit)
        await self._writer.permission.admit_all(self._call, (f"{path}/{name}" for name in listed.fields))

    async def _run_remote(self, git: Git, *arguments: str, env: Mapping[str, str] | None = None) -> None:
        limit = git.config.remote_timeout_sec
        await git.run(*arguments, env={**await remote_environment(git), **(env or {})}, timeout=limit, remote=True)


async def _variables(git: Git, path: str) -> dict[str, str]:
    """Return the variables that sandbox the programs of a submodule, once it exists."""
    place = git.root / path
    return await asyncio.to_thread(git.at(place).settings_variables) if is_repository(place) else {}


async def _recorded(git: Git, paths: Sequence[str]) -> dict[str, str]:
    """Return the recorded commits of submodules by path."""
    commits = {}
    for line in (await git.run("ls-files", "--stage", "-z", "--", *paths)).fields:
        facts, _, path = line.partition("\t")
        if facts.startswith("160000 "):
            commits[path] = facts.split(" ")[1]
    return commits


async def _present_state(git: Git, path: str, name: str) -> _Before:
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


async def _roll_back(git: Git, before: Sequence[_Before], keys: frozenset[str]) -> None:
    """Restore submodules as they were; `keys` are the settings that existed."""
    for module in before:
        place = git.root / module.path
        with suppress(CodePlaneError, OSError):
            if module.is_checked_out:
                await _check_out_again(git.at(place), module)
                continue
            await asyncio.to_thread(_remove_new_entries, place, module.entries)
            if not module.is_place:
                await asyncio.to_thread(remove_folder, place)
            if not module.is_folder:
                await asyncio.to_thread(remove_folder, module.folder)
    with suppress(CodePlaneError, OSError):
        await unset_new(git, keys)


async def _check_out_again(inner: Git, before: _Before) -> None:
    now = await inner.run("rev-parse", "--verify", "--quiet", "HEAD", check=False)
    if now.line == before.head or not before.head:
        return
    tip = await inner.run("rev-parse", "--verify", "--quiet", before.branch, check=False) if before.branch else None
    if tip is not None and tip.line == before.head:
        await inner.run("checkout", "--quiet", before.branch)
    else:
        await inner.run("checkout", "--quiet", "--detach", before.head)


async def _commit(inner: Git, branch: str) -> str:
    """Return the commit to check out in a new submodule."""
    ref = f"refs/remotes/origin/{branch}" if branch else "HEAD"
    done = await inner.run("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}", check=False)
    if done.code != 0:
        what = f"no branch {shown(branch)}" if branch else "no commit"
        raise RefNotFound(f"the repository has {what}", hint="try: git ls-remote URL")
    return done.line


def _entries(place: Path) -> frozenset[str]:
    return frozenset(entry.name for entry in place.iterdir()) if place.is_dir() else frozenset()


def _remove_new_entries(place: Path, entries: frozenset[str]) -> None:
    """Remove what is in a folder except for entries that existed before."""
    for name in _entries(place) - entries:
        entry = place / name
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink()
