"""Errors of threads and their turns."""

from codeplane.kernel.errors.error import CodePlaneError


class ThreadNotFound(
    CodePlaneError,
    name="THREAD_NOT_FOUND",
    code=6020,
    http=404,
    rpc="not_found",
    hint="list them: thread_list",
):
    """There is no such thread, or it is not the caller's."""


class TurnNotFound(
    CodePlaneError,
    name="TURN_NOT_FOUND",
    code=6021,
    http=404,
    rpc="not_found",
    hint="thread_show names the turns of its messages",
):
    """There is no such turn, or it is not in a thread of the caller's."""


class ThreadBusy(
    CodePlaneError,
    name="THREAD_BUSY",
    code=6022,
    http=409,
    rpc="failed_precondition",
    hint="wait for the turn to end, or send with queue_mode QUEUE_AFTER_TURN or INTERRUPT_AFTER_CURRENT_TOOL",
    retryable=True,
):
    """A turn of the thread has not ended yet, or too many wait already."""


class FailedModelOutput(
    CodePlaneError,
    name="FAILED_MODEL_OUTPUT",
    acp="ERR_MODEL_UNAVAILABLE",
    code=6023,
    http=502,
    rpc="internal",
    hint="send the message again, or name another model with it",
    retryable=True,
):
    """The model's answer could not be used, even after repair and fallback."""


class TurnBudgetExceeded(
    CodePlaneError,
    name="TURN_BUDGET_EXCEEDED",
    acp="ERR_RATE_LIMIT",
    code=6024,
    http=429,
    rpc="resource_exhausted",
    hint="send another message to continue, or send one with a larger requested_budget",
):
    """A turn has used up its steps or tokens."""
