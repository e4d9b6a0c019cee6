"""Errors of sessions and work items."""

from codeplane.kernel.errors.error import CodePlaneError


class TaskBudgetExceeded(
    CodePlaneError,
    name="TASK_BUDGET_EXCEEDED",
    acp="ERR_RATE_LIMIT",
    code=6001,
    http=429,
    rpc="resource_exhausted",
    hint="session_configure (limits_delta) asks a person for more; or session_close and start a new session",
):
    """The task used up its mutations, test runs or time."""


class SessionNotFound(
    CodePlaneError,
    name="SESSION_NOT_FOUND",
    code=6002,
    http=404,
    rpc="not_found",
    hint="leave session_id out to get a session of your own, or make one with session_create",
):
    """No session has that id."""


class SessionClosed(
    CodePlaneError,
    name="SESSION_CLOSED",
    code=6003,
    http=409,
    rpc="failed_precondition",
    hint="make a new one with session_create; closed tasks are never reopened by themselves",
):
    """The session has ended."""


class WorkNotFound(
    CodePlaneError,
    name="WORK_NOT_FOUND",
    code=6010,
    http=404,
    rpc="not_found",
    hint="list them: work_list",
):
    """There is no such work item, or it is not the caller's."""


class WorkEnded(
    CodePlaneError,
    name="WORK_ENDED",
    code=6011,
    http=409,
    rpc="failed_precondition",
    hint="work_show says how it ended; start it again with work_start",
):
    """The work item has ended, so nothing can be changed about it."""


class ArtifactNotFound(
    CodePlaneError,
    name="ARTIFACT_NOT_FOUND",
    code=6100,
    http=404,
    rpc="not_found",
    hint="list them: artifact_list",
):
    """No artifact that the caller may see has that id, or its body is gone."""


class SkillNotFound(
    CodePlaneError,
    name="SKILL_NOT_FOUND",
    code=6101,
    http=404,
    rpc="not_found",
    hint="list them: skill_list",
):
    """No skill has that name, or its folder cannot be used."""


class SkillNotTrusted(
    CodePlaneError,
    name="SKILL_NOT_TRUSTED",
    acp="ERR_UNAUTHORIZED",
    code=6102,
    http=403,
    rpc="permission_denied",
    hint="the owner reads it, then runs: cpl skills trust",
):
    """The owner has not trusted the present version of this skill of the repository."""


class ProposalNotFound(
    CodePlaneError,
    name="PROPOSAL_NOT_FOUND",
    code=6103,
    http=404,
    rpc="not_found",
    hint="list them: proposal_list",
):
    """No proposal that the caller may see has that id, or it has been decided."""


class DeferredCallNotFound(
    CodePlaneError,
    name="DEFERRED_CALL_NOT_FOUND",
    code=6104,
    http=404,
    rpc="not_found",
    hint="make the call again; a task belongs to its caller and is kept for a few days",
):
    """No deferred call of the caller has that id, or it is too old."""
