"""Errors of jobs and schedules."""

from codeplane.kernel.errors.error import CodePlaneError


class JobNotFound(
    CodePlaneError,
    name="JOB_NOT_FOUND",
    code=6040,
    http=404,
    rpc="not_found",
    hint="job_list shows which there are",
):
    """There is no such job, or it is not the caller's."""


class JobLimitReached(
    CodePlaneError,
    name="JOB_LIMIT_REACHED",
    acp="ERR_RATE_LIMIT",
    code=6041,
    http=429,
    rpc="resource_exhausted",
    hint="let the jobs that there are do it; the owner's settings are jobs.max_depth and jobs.max_spawned",
):
    """A job or turn may not start further jobs: they would be too deep or too many."""


class JobTreeGone(
    CodePlaneError,
    name="JOB_TREE_GONE",
    code=6042,
    http=410,
    rpc="failed_precondition",
    hint="job_show says whether its changes were applied or discarded; create the job again for new ones",
):
    """A job has no work tree (any more): it changes no files, has not started, or the tree was removed."""


class JobConflict(
    CodePlaneError,
    name="JOB_CONFLICT",
    code=6043,
    http=409,
    rpc="aborted",
    hint="put the files named in details back as they were and apply again, or take the diff over by hand: job_diff",
):
    """The checkout has changed where a job changed it too, so nothing was applied."""


class JobUnfinished(
    CodePlaneError,
    name="JOB_UNFINISHED",
    code=6044,
    http=409,
    rpc="failed_precondition",
    hint="wait until it has ended, or end it: job_cancel",
    retryable=True,
):
    """The job has not ended, so what it changed may still change."""


class ScheduleNotFound(
    CodePlaneError,
    name="SCHEDULE_NOT_FOUND",
    code=6060,
    http=404,
    rpc="not_found",
    hint="schedule_list shows which there are",
):
    """There is no such schedule, or it is not the caller's."""


class ScheduleLimitReached(
    CodePlaneError,
    name="SCHEDULE_LIMIT_REACHED",
    acp="ERR_RATE_LIMIT",
    code=6061,
    http=429,
    rpc="resource_exhausted",
    hint="delete one with schedule_delete, or raise schedules.max_schedules",
):
    """There are as many schedules as the settings allow."""


class ScheduleBusy(
    CodePlaneError,
    name="SCHEDULE_BUSY",
    code=6062,
    http=409,
    rpc="aborted",
    retryable=True,
    hint="wait until the run before has ended, or cancel it",
):
    """The run before has not ended, and the schedule's runs do not overlap."""


class ServiceManagerMissing(
    CodePlaneError,
    name="SERVICE_MANAGER_MISSING",
    code=6063,
    http=501,
    rpc="unimplemented",
    hint="start the server by other means after a reboot, as with cron: @reboot cpl up --detach --repo PATH",
):
    """No systemd of this account can be reached that would start the server."""
