"""Errors of jobs and schedules."""

from codeplane.kernel.errors.error import CodePlaneError


class JobNotFound(
    CodePlaneError,
    name="JOB_NOT_FOUND",
    code=6040,
    http=404,
    rpc="not_found",
    hint="list them: job_list",
):
    """There is no such job, or it is not the caller's."""


class JobLimitReached(
    CodePlaneError,
    name="JOB_LIMIT_REACHED",
    acp="ERR_RATE_LIMIT",
    code=6041,
    http=429,
    rpc="resource_exhausted",
    hint="use the existing jobs; the owner's settings are jobs.max_depth and jobs.max_spawned",
):
    """The job or turn may not start more jobs: they would be too many or nested too deep."""


class JobTreeGone(
    CodePlaneError,
    name="JOB_TREE_GONE",
    code=6042,
    http=410,
    rpc="failed_precondition",
    hint="job_show says whether its changes were applied or discarded; create the job again for new ones",
):
    """The job has no work tree: it changes no files, has not started, or its tree was removed."""


class JobConflict(
    CodePlaneError,
    name="JOB_CONFLICT",
    code=6043,
    http=409,
    rpc="aborted",
    hint="restore the files named in details and apply again, or apply the diff by hand: job_diff",
):
    """The checkout has changed in the same places as the job's changes; nothing was applied."""


class JobUnfinished(
    CodePlaneError,
    name="JOB_UNFINISHED",
    code=6044,
    http=409,
    rpc="failed_precondition",
    hint="wait until it ends, or cancel it: job_cancel",
    retryable=True,
):
    """The job has not ended, so its changes are not final."""


class ScheduleNotFound(
    CodePlaneError,
    name="SCHEDULE_NOT_FOUND",
    code=6060,
    http=404,
    rpc="not_found",
    hint="list them: schedule_list",
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
    """The number of schedules has reached the limit in the settings."""


class ScheduleBusy(
    CodePlaneError,
    name="SCHEDULE_BUSY",
    code=6062,
    http=409,
    rpc="aborted",
    retryable=True,
    hint="wait until the previous run ends, or cancel it",
):
    """The previous run has not ended, and the schedule's runs may not overlap."""


class ServiceManagerMissing(
    CodePlaneError,
    name="SERVICE_MANAGER_MISSING",
    code=6063,
    http=501,
    rpc="unimplemented",
    hint="start the server after a reboot in another way, for example with cron: @reboot cpl up --detach --repo PATH",
):
    """The systemd of this account, which would start the server, cannot be reached."""
