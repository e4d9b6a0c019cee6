"""Errors of git and its remotes."""

from codeplane.kernel.errors.error import CodePlaneError


class RemoteFailed(
    CodePlaneError,
    name="REMOTE_FAILED",
    code=4010,
    http=502,
    rpc="unavailable",
    hint="CodePlane never asks for passwords; test the access yourself: git ls-remote URL",
):
    """A git remote did not answer, refused, or lacks what was asked for."""


class NotGit(
    CodePlaneError,
    name="NOT_GIT",
    code=5010,
    http=409,
    rpc="failed_precondition",
    hint="run: git init",
):
    """The workspace is not a git repository, or has no work tree."""


class RefNotFound(
    CodePlaneError,
    name="REF_NOT_FOUND",
    code=5011,
    http=404,
    rpc="not_found",
    hint="see git_branches, git_tags, git_log",
):
    """No commit, branch, tag or stash has that name."""


class GitRefused(
    CodePlaneError,
    name="GIT_REFUSED",
    code=5012,
    http=422,
    rpc="failed_precondition",
    hint="see git's message above; git_status shows how things are",
):
    """Git or one of its hooks refused; the message quotes it."""


class GitBusy(
    CodePlaneError,
    name="GIT_BUSY",
    code=5013,
    http=409,
    rpc="failed_precondition",
    hint="finish or abort it first; git_status shows the state",
):
    """A merge, rebase, cherry-pick, revert or bisect is under way, or another git holds the lock."""
