"""Decides which calls count as failed: those that ended with an error or without the requested result."""

# Stopped by a rule, a person or a limit before anything went wrong.
REFUSED = (
    "UNAUTHORIZED",
    "TOKEN_EXPIRED",
    "CAPABILITY_DENIED",
    "POLICY_DENIED",
    "PATH_DENIED",
    "ORIGIN_DENIED",
    "ADDRESS_DENIED",
    "PAIRING_REFUSED",
    "REJECTED",
    "EXPIRED",
    "RATE_LIMITED",
    "TASK_BUDGET_EXCEEDED",
)
# Succeeded, still open, or ended by the caller, such as one that stopped following a stream.
_NEITHER = ("ok", "running", "replayed", "PENDING", "APPROVED", "EXECUTED", "APPROVAL_PENDING", "CANCELLED")
NOT_FAILED = frozenset((*REFUSED, *_NEITHER))
_FOUND = {"command": "the command failed"}


def is_failure(status: str, failure: str | None) -> bool:
    """Whether a call that ended has failed; `failure` is what it found though it was answered, such as red tests."""
    return status not in NOT_FAILED or (status == "ok" and failure is not None)


def failure_in_words(kind: str | None) -> str | None:
    """Describe what a call found though it was answered."""
    return _FOUND.get(kind, kind) if kind is not None else None
