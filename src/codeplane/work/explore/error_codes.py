"""Errors in the words of the specification's error model."""

from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.json import JsonObject
from codeplane.work.explore.agent_op import AgentOp


def agent_error(op: AgentOp, error: CodePlaneError) -> JsonObject:
    """An error of an operation as its event has it."""
    return {
        "op": op.kind,
        "opId": op.op_id,
        "code": error.acp,
        "error": error.name,
        "message": error.message,
        "retryable": error.retryable,
    }
