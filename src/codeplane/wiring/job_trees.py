"""The work trees of jobs: each has a repository of its own, whose operations the calls of its job run."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from codeplane.adapters.pygit2_repo import GitRepo
from codeplane.git.write.job_trees import GitJobTrees, trees_folder
from codeplane.index.service import STREAM
from codeplane.index.workspaces.leases import Leases
from codeplane.kernel.bounded_cache import BoundedCache
from codeplane.kernel.call import Operation
from codeplane.kernel.catalogue import Catalogue, operation_names
from codeplane.kernel.errors import JobNotFound, JobTreeGone, PolicyDenied
from codeplane.wiring.edit import Edits
from codeplane.wiring.foundation import Foundation
from codeplane.wiring.repository import Repository, build_repository
from codeplane.wiring.trust import build_shell
from codeplane.work.jobs.store import JobStore

_MAX_KNOWN = 1024
_READING, _SPAWNING = "read_files", "spawn_agents"
# What ids of threads begin with: only those that an outside agent runs have a work tree.
_THREAD = "thr_"
_CREATE_JOB = "job.create"
_SHELL = frozenset({"run_bash", "shell.output", "shell.cancel"})
# Branches, tags, stashes and remotes are the repository's, which the person shares with every work tree of it.
_GIT_FAMILIES = frozenset({"git", "checkpoint"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _OpenTree:
    """A work tree that its job has asked about."""

    repository: Repository
    catalogue: Catalogue
    leases: Leases
    root: Path


class JobWorkspaces:
    """Opens the work trees of jobs, and finds the operations that calls of jobs run."""

    def __init__(self, *, foundation: Foundation, edits: Edits, operations: Iterable[object]) -> None:
        """`edits` and `operations` are those of the checkout."""
        self._foundation = foundation
        # What a work tree has of its own.
        self._served = _SHELL | operation_names(operations)
        self._jobs = JobStore(foundation.log)
        self._isolated = BoundedCache[str, bool](_MAX_KNOWN)
        self._open: dict[str, _OpenTree] = {}
        # Work trees of commits, which belong to no job.
        self._commits: set[str] = set()
        config = foundation.config.jobs
        self.trees = GitJobTrees(
            folder=trees_folder(foundation.workspace, config),
            git=edits.git,
            scope=edits.scope,
            engine=edits.engine,
            mutations=edits.kept,
            diff_bytes=config.diff_kb * 1024,
        )
        self.trees.on_close = self.close
        self.trees.list_open = lambda: [*{*self._open, *self._commits}]

    async def operation_of(self, job_id: str, operation: Operation) -> Operation:
        """The operation that a call of a job runs: that of its own work tree, if it has one.

        PolicyDenied for what would change the person's checkout, or git's own records, which all work trees share, and
        for starting work that is no job, which would not be held to that.
        """
        if operation.mark.capability == _SPAWNING and operation.name != _CREATE_JOB:
            raise PolicyDenied(
                f"a job starts only jobs, so it cannot call {operation.name}",
                hint="start a further job: job_create; or propose it: proposal_create",
            )
        if operation.name not in self._served:
            return operation
        is_isolated = await self._is_isolated(job_id)
        if operation.mutates and operation.name.partition(".")[0] in _GIT_FAMILIES:
            raise PolicyDenied(
                f"a job changes files and not git: {operation.name} is for a person",
                hint="change the files; the person applies them as one change and commits that",
            )
        if not is_isolated:
            if operation.mutates and operation.mark.capability != _READING:
                raise PolicyDenied(
                    f"this job only reads the repository, so it cannot call {operation.name}",
                    hint="a job with changes_files=true changes files and runs tests in a work tree of its own",
                )
            return operation
        return self._opened(job_id).catalogue.get(operation.name)

    async def open_commit(self, tree_id: str, commit: str) -> None:
        """Check a commit out into a work tree that belongs to no job; calls with that id run its operations."""
        self._isolated.put(tree_id, True)
        self._commits.add(tree_id)
        try:
            await self.trees.create(tree_id, commit)
        except BaseException:
            self._commits.discard(tree_id)
            raise

    async def remove_commit(self, tree_id: str) -> None:
        """Remove the work tree of a commit."""
        try:
            await self.trees.remove(tree_id)
        finally:
            self._commits.discard(tree_id)

    async def close(self, job_id: str) -> None:
        """End the index of a work tree, once its calls have ended."""
        opened = self._open.pop(job_id, None)
        if opened is None:
            return
        await opened.leases.close()
        if opened.repository.edits is not None:
            await opened.repository.edits.suite.stop()
        await opened.repository.index.stop()
        self._foundation.secrets.remove(opened.root)

    async def stop(self) -> None:
        """Close all open work trees."""
        await asyncio.gather(*(self.close(job_id) for job_id in [*self._open]))

    async def _is_isolated(self, job_id: str) -> bool:
        known = True if job_id.startswith(_THREAD) else self._isolated.get(job_id)
        if known is None:
            try:
                known = (await self._jobs.get(job_id, whole=True)).changes_files
            except JobNotFound:
                known = False
            self._isolated.put(job_id, known)
        return known

    def _opened(self, job_id: str) -> _OpenTree:
        opened = self._open.get(job_id)
        if opened is None:
            if not self.trees.exists(job_id):
                raise JobTreeGone(f"the work tree of {job_id} is gone")
            opened = self._open[job_id] = self._build(job_id)
        return opened

    def _build(self, job_id: str) -> _OpenTree:
        foundation, root, home = self._foundation, self.trees.tree(job_id), self.trees.home(job_id)
        repository = build_repository(
            foundation,
            root=root,
            home=home,
            exports=home / "exports",
            repo=GitRepo(root),
            stream=f"{STREAM}/{job_id}",
            hidden=foundation.workspace.home,
            watches=False,
        )
        leases = Leases()
        owners = (*repository.operations, build_shell(foundation, root))
        return _OpenTree(
            repository=repository, catalogue=Catalogue(owners, around=leases.around), leases=leases, root=root
        )
