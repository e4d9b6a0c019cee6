"""Errors of calls that are made again with the same idempotency key."""

from codeplane.kernel.errors.error import CodePlaneError


class IdempotencyConflict(
    CodePlaneError,
    name="IDEMPOTENCY_CONFLICT",
    code=2006,
    http=409,
    rpc="already_exists",
    hint="use a new idempotency_key for a different request",
):
    """The key was used before with other arguments."""


class OutcomeUnknown(
    CodePlaneError,
    name="OUTCOME_UNKNOWN",
    code=2007,
    http=409,
    rpc="aborted",
    hint="look at the repository and at `cpl log`, then decide; a new idempotency_key runs it again",
):
    """The first call with this key was interrupted; running it again could do it twice."""


class ResultGone(
    CodePlaneError,
    name="RESULT_GONE",
    code=2008,
    http=410,
    rpc="data_loss",
    hint="the call was done, but its result was dropped; read the present state instead",
):
    """The call with this key succeeded before, but its result was dropped from the bounded store."""
