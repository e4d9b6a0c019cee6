"""The life of a job's work tree: made before the job runs, applied or discarded in the end, and swept."""

from contextlib import suppress

from codeplane.kernel.clock import SECOND_NS, Clock
from codeplane.kernel.errors import JobNotFound, JobTreeGone, StorageFailed
from codeplane.kernel.job_tree import JobTrees
from codeplane.kernel.json import JsonObject
from codeplane.kernel.ports import Ledger
from codeplane.work.items.item import WorkState
from codeplane.work.jobs.events import TREE_APPLIED, TREE_DISCARDED, TREE_FINISHED, TREE_OPENED, job_draft
from codeplane.work.jobs.job import Job, JobStatus, TreeState
from codeplane.work.jobs.store import JobStore

_DAY_NS = 86_400 * SECOND_NS
_BATCH = 100
_SYSTEM = "system"


class TreeLifecycle:
    """Records what becomes of the work trees of jobs, and removes those that nobody needs any more."""

    def __init__(self, *, log: Ledger, jobs: JobStore, trees: JobTrees, clock: Clock, keep_days: float) -> None:
        self._log = log
        self._jobs = jobs
        self._trees = trees
        self._clock = clock
        self._keep_ns = int(keep_days * _DAY_NS)

    async def prepare(self, job: Job) -> None:
        """Make the work tree of a job that changes files, before it runs for the first time."""
        if not job.changes_files:
            return
        if job.tree is TreeState.NONE:
            base = await self._trees.create(job.job_id)
            await self._record(job, TREE_OPENED, {"base_commit": base}, by=_SYSTEM)
        elif job.tree is not TreeState.OPEN or not self._trees.exists(job.job_id):
            raise JobTreeGone(f"the work tree of {job.job_id} is gone")

    async def record_applied(self, job: Job, mutation_id: str, *, by: str) -> None:
        """Record that the changes are in the checkout now, and remove the work tree."""
        await self._record(job, TREE_APPLIED, {"mutation_id": mutation_id}, by=by)
        await self._remove(job.job_id)

    async def discard(self, job: Job, reason: str, *, by: str) -> None:
        """Remove the work tree with all that the job changed."""
        await self._record(job, TREE_DISCARDED, {"reason": reason}, by=by)
        await self._remove(job.job_id)

    async def sweep(self) -> None:
        """Close the trees of jobs that do not run, and find out what those changed that have ended."""
        for job_id in self._trees.list_open():
            with suppress(JobNotFound):
                if (await self._jobs.get(job_id, whole=True)).item.state is not WorkState.RUNNING:
                    await self._trees.close(job_id)
        for job in await self._jobs.select(
            "j.tree = ? AND w.state IN ('COMPLETED', 'FAILED', 'CANCELLED') AND j.changed_files IS NULL LIMIT ?",
            (TreeState.OPEN.value, _BATCH),
        ):
            await self._settle(job)

    async def remove_leftovers(self) -> None:
        """Remove the folders of jobs that are gone, and of trees that were applied or discarded; and old changes."""
        for job_id in self._trees.list_jobs():
            try:
                job = await self._jobs.get(job_id, whole=True)
            except JobNotFound:
                # Some that belong to no job are in use.
                if job_id not in self._trees.list_open():
                    await self._remove(job_id)
                continue
            if job.tree in (TreeState.APPLIED, TreeState.DISCARDED):
                await self._remove(job_id)
            elif job.has_ended and self._clock.now_ns() - job.item.updated_ns > self._keep_ns:
                await self.discard(job, "nobody applied it in time", by=_SYSTEM)

    async def _settle(self, job: Job) -> None:
        """Discard the tree of a job that was cancelled or changed nothing; others wait for a person."""
        if job.status is JobStatus.CANCELLED:
            await self.discard(job, "the job was cancelled", by=_SYSTEM)
            return
        if not self._trees.exists(job.job_id):
            await self.discard(job, "its folder is gone", by=_SYSTEM)
            return
        diff = await self._trees.diff(job.job_id, job.base_commit)
        if diff.files:
            await self._record(job, TREE_FINISHED, {"files": len(diff.files)}, by=_SYSTEM)
        else:
            await self.discard(job, "it changed nothing", by=_SYSTEM)

    async def _remove(self, job_id: str) -> None:
        # What cannot be removed now is tried again.
        with suppress(StorageFailed):
            await self._trees.remove(job_id)

    async def _record(self, job: Job, kind: str, payload: JsonObject, *, by: str) -> None:
        await self._log.append([job_draft(kind, payload, actor=by, ids=job.ids)])
