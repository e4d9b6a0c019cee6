"""The operations on what a job changed: look at it, apply it to the checkout, or discard it."""

from codeplane.kernel.call import Call
from codeplane.kernel.errors import JobTreeGone, JobUnfinished
from codeplane.kernel.job_tree import JobTrees
from codeplane.kernel.operation import Budget, Preview, Risk, operation, previews
from codeplane.work.jobs.job import Job, TreeState
from codeplane.work.jobs.models import JobRequest
from codeplane.work.jobs.operations import JobAccess
from codeplane.work.jobs.store import JobStore
from codeplane.work.jobs.tree_lifecycle import TreeLifecycle
from codeplane.work.jobs.tree_models import AppliedJob, DiscardedJob, FileChangeView, JobDiff


class ApplyJobRequest(JobRequest):
    """A job whose changes are wanted in the checkout."""


class DiscardJobRequest(JobRequest):
    """A job whose changes nobody wants."""


class JobTreeOperations:
    """What clients can do with the changes of a job."""

    def __init__(self, *, access: JobAccess, jobs: JobStore, trees: JobTrees, lifecycle: TreeLifecycle) -> None:
        self._access = access
        self._jobs = jobs
        self._trees = trees
        self._lifecycle = lifecycle

    @operation("job.diff", risk=Risk.READ, timeout_sec=120)
    async def diff(self, call: Call, request: JobRequest) -> JobDiff:
        """What a job changed in its own work tree, as one diff, and which files of the checkout stand in its way."""
        job = await self._with_tree(call, request.job_id)
        found = await self._trees.diff(job.job_id, job.base_commit)
        return JobDiff(
            job_id=job.job_id,
            base_commit=job.base_commit,
            files=tuple(map(FileChangeView.of, found.files)),
            diff=found.diff,
            truncated=found.truncated,
            conflicts=found.conflicts,
        )

    @operation(
        "job.apply",
        risk=Risk.WRITE,
        budget=Budget.MUTATION,
        capability="write_files",
        people=True,
        timeout_sec=300,
    )
    async def apply(self, call: Call, request: ApplyJobRequest) -> AppliedJob:
        """Make the changes of a job in the checkout, as one mutation that undo takes back; nothing is changed when the
        checkout has moved on in one of these files. For a person."""
        job = await self._with_tree(call, request.job_id)
        self._refuse_unfinished(job)
        applied = await self._trees.apply(call, job.job_id, job.base_commit)
        await self._lifecycle.record_applied(job, applied.mutation_id, by=str(call.actor))
        return AppliedJob(
            job_id=job.job_id,
            mutation_id=applied.mutation_id,
            files=tuple(map(FileChangeView.of, applied.files)),
        )

    @previews("job.apply")
    async def preview_apply(self, request: ApplyJobRequest) -> Preview:
        """The diff that is applied."""
        job = await self._jobs.get(request.job_id)
        self._refuse_gone(job)
        found = await self._trees.diff(job.job_id, job.base_commit)
        return Preview(summary=f"apply what {job.job_id} changed: {job.item.title}", body=found.diff)

    @operation("job.discard", risk=Risk.WRITE, timeout_sec=120)
    async def discard(self, call: Call, request: DiscardJobRequest) -> DiscardedJob:
        """Remove the work tree of a job with all that it changed there; the checkout stays as it is."""
        job = await self._with_tree(call, request.job_id)
        self._refuse_unfinished(job)
        await self._lifecycle.discard(job, "it was discarded", by=str(call.actor))
        return DiscardedJob(job_id=job.job_id, tree=TreeState.DISCARDED.value)

    async def _with_tree(self, call: Call, job_id: str) -> Job:
        job = await self._access.job(call, job_id)
        self._refuse_gone(job)
        return job

    @staticmethod
    def _refuse_gone(job: Job) -> None:
        if job.tree is TreeState.OPEN:
            return
        reason = {
            TreeState.NONE: "has not started" if job.changes_files else "changes no files",
            TreeState.APPLIED: "was applied already",
            TreeState.DISCARDED: "was discarded already, or changed nothing",
        }[job.tree]
        raise JobTreeGone(f"{job.job_id} {reason}")

    @staticmethod
    def _refuse_unfinished(job: Job) -> None:
        if not job.has_ended:
            raise JobUnfinished(f"{job.job_id} is {job.status.value}")
