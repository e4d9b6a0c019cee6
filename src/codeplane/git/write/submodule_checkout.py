"""Fetches submodules, checks that every file may be written, and only then checks them out."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from codeplane.git.safety.command import Git
from codeplane.git.write.mutation import GitMutation, run_to_end
from codeplane.git.write.remote_names import remote_environment
from codeplane.git.write.submodule_addition import SubmoduleAddition, is_repository
from codeplane.git.write.submodule_update import SubmoduleUpdate, UpdateLevel, recorded_commits
from codeplane.git.write.writer import Writer
from codeplane.index.files.paths import path_text
from codeplane.kernel.call import Call
from codeplane.kernel.errors import RefNotFound

_UPDATE = "CODEPLANE_UPDATE"
# Makes git fetch the commit and run this instead of checking it out.
_FETCH_ALONE = "!true"
_NO_TRANSPORT = {"GIT_ALLOW_PROTOCOL": "none"}
# As in `git submodule`: only transports that the settings allow for addresses that no user typed.
_NOT_FROM_USER = {"GIT_PROTOCOL_FROM_USER": "0"}


class SubmoduleCheckout:
    """Check out submodules for one call; when one is refused, roll back all of them."""

    def __init__(self, writer: Writer, call: Call) -> None:
        self._writer = writer
        self._call = call
        self._update = SubmoduleUpdate(recursive=False)

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

    async def update(self, mutation: GitMutation, paths: Sequence[str], *, init: bool, recursive: bool) -> None:
        """Check out the commits that are recorded for submodules, fetching what is missing."""
        self._update = SubmoduleUpdate(recursive=recursive)
        await self._update_level(self._writer.git, "", paths, mutation, init=init)

    async def _update_level(
        self, git: Git, folder: str, paths: Sequence[str], mutation: GitMutation, *, init: bool
    ) -> None:
        commits = await recorded_commits(git, paths)
        if not commits:
            return
        await self._writer.permission.admit_all(self._call, (f"{folder}{path}" for path in commits))
        level = await UpdateLevel.before(git, folder, commits)
        self._update = replace(self._update, levels=(*self._update.levels, level))
        await mutation.record_submodule(self._update.to_json())
        update = ("submodule", "--quiet", "update")
        try:
            if init:
                await git.run("submodule", "--quiet", "init", "--", *paths)
            # Always with a path, or git would update submodules that were not checked. One by one, since each has
            # settings of its own, whose programs are sandboxed.
            for module in level.modules:
                fetch_only = f"--config-env=submodule.{module.name}.update={_UPDATE}"
                env = {_UPDATE: _FETCH_ALONE, **await _variables(git, module.path)}
                await self._run_remote(git, fetch_only, *update, "--", module.path, env=env)
            fetched = [module for module in level.modules if is_repository(git.root / module.path)]
            for module in fetched:
                inner = git.at(git.root / module.path)
                await self._check_tree(inner, module.commit, f"{folder}{module.path}")
            for module in fetched:
                # A submodule that was never checked out is at its commit already, and git would leave it empty.
                force = () if module.is_checked_out else ("--force",)
                env = await _variables(git, module.path)
                await self._run_remote(git, *update, "--no-fetch", *force, "--", module.path, env=env)
            for module in fetched if self._update.recursive else ():
                inner = git.at(git.root / module.path)
                await self._update_level(inner, f"{folder}{module.path}/", (), mutation, init=init)
        except (Exception, asyncio.CancelledError):
            await run_to_end(level.roll_back(git))
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


async def _commit(inner: Git, branch: str) -> str:
    """Return the commit to check out in a new submodule."""
    ref = f"refs/remotes/origin/{branch}" if branch else "HEAD"
    done = await inner.run("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}", check=False)
    if done.code != 0:
        what = f"no branch {path_text(branch)}" if branch else "no commit"
        raise RefNotFound(f"the repository has {what}", hint="try: git ls-remote URL")
    return done.line
