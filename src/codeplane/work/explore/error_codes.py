"""Errors in the words of the specification's error model."""

from codeplane.kernel.errors import (
    CodePlaneError,
    NotText,
    OpCanceled,
    PathDenied,
    ProviderDenied,
    ProviderUnavailable,
    RateLimited,
    TooLarge,
    Unauthorized,
)
from codeplane.kernel.json import JsonObject
from codeplane.work.explore.agent_op import AgentOp

_CODES: tuple[tuple[type[CodePlaneError], str], ...] = (
    (OpCanceled, "ERR_OP_CANCELED"),
    (PathDenied, "ERR_PATH_DENIED"),
    (Unauthorized, "ERR_UNAUTHORIZED"),
    (TooLarge, "ERR_TOO_LARGE"),
    (RateLimited, "ERR_RATE_LIMIT"),
    (ProviderUnavailable, "ERR_MODEL_UNAVAILABLE"),
    (ProviderDenied, "ERR_EXTERNAL_LLM_DISABLED"),
    (NotText, "ERR_ENCODING"),
)


def error_code(error: CodePlaneError) -> str:
    """The specification's code for an error; ERR_INTERNAL where it has none of its own."""
    return next((code for kind, code in _CODES if isinstance(error, kind)), "ERR_INTERNAL")


def agent_error(op: AgentOp, error: CodePlaneError) -> JsonObject:
    """An error of an operation as its event has it."""
    return {
        "op": op.kind,
        "opId": op.op_id,
        "code": error_code(error),
        "error": error.name,
        "message": error.message,
        "retryable": error.retryable,
    }
