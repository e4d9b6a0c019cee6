"""What a failure is, for every list and every count: a call that ended with an error, or without what was asked for."""

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
# Ended well, or not yet, or by whoever asked, such as one who followed a stream and left.
_NEITHER = ("ok", "running", "replayed", "PENDING", "APPROVED", "EXECUTED", "APPROVAL_PENDING", "CANCELLED")
_WELL = frozenset((*REFUSED, *_NEITHER))
# The same of a row of `operations`; names of errors are words, so that they need no quoting.
FAILED_SQL = (
    f"(status NOT IN ({', '.join(repr(name) for name in sorted(_WELL))})"
    " OR (status = 'ok' AND failure_class IS NOT NULL))"
)


def is_failure(status: str, failure: str | None) -> bool:
    """Whether a call that ended has failed; `failure` is what it found though it was answered, such as red tests."""
    return status not in _WELL or (status == "ok" and failure is not None)
