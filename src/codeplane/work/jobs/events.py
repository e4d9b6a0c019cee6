"""The events of jobs: in a job's own stream, and what its threads are shown of it."""

from codeplane.kernel.event import Correlation, Draft
from codeplane.kernel.json import JsonObject

JOB_CREATED, JOB_COMPLETED, JOB_FAILED, JOB_PAUSED = "job.created", "job.completed", "job.failed", "job.paused"
JOB_CALLED_BACK = "job.called_back"
# The work tree of a job: made, with the number of changed files in the end, and what became of these.
TREE_OPENED, TREE_FINISHED = "job.tree_opened", "job.tree_finished"
TREE_APPLIED, TREE_DISCARDED = "job.tree_applied", "job.tree_discarded"
# In threads: the job's own, and the thread that gets its result.
JOB_STATUS_CHANGED = "job.status_changed"


def job_stream(job_id: str) -> str:
    """The stream of a job's own facts; its transitions as work are in `work/<id>`."""
    return f"job/{job_id}"


def job_draft(kind: str, payload: JsonObject, *, actor: str, ids: Correlation) -> Draft:
    """An event of a job's stream."""
    assert ids.job_id is not None
    return Draft(stream=job_stream(ids.job_id), type=kind, payload=payload, actor=actor, correlation=ids)
