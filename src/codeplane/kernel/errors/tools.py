"""Errors of tools that other programs serve."""

from codeplane.kernel.errors.error import CodePlaneError


class ToolServerUnavailable(
    CodePlaneError,
    name="TOOL_SERVER_UNAVAILABLE",
    code=6080,
    http=503,
    rpc="unavailable",
    hint="see what is wrong with the server: cpl tools; then try it: cpl tools test NAME",
    retryable=True,
):
    """The server of an outside tool is not connected, or ended during the call."""


class ToolTimeout(
    CodePlaneError,
    name="TOOL_TIMEOUT",
    code=6081,
    http=504,
    rpc="deadline_exceeded",
    hint="check what it did before calling again; the owner can raise timeout_sec of the server",
):
    """An outside tool did not answer in time; what it did is unknown."""


class ToolAnswerRefused(
    CodePlaneError,
    name="TOOL_ANSWER_REFUSED",
    code=6082,
    http=502,
    rpc="internal",
    hint="the tool broke its protocol; check what it did before calling again",
):
    """The answer of an outside tool is invalid, too large, or a question that CodePlane does not accept."""


class ToolSignInNeeded(
    CodePlaneError,
    name="TOOL_SIGN_IN_NEEDED",
    acp="ERR_UNAUTHORIZED",
    code=6083,
    http=401,
    rpc="failed_precondition",
    hint="the owner signs in: cpl tools login NAME",
):
    """The server of an outside tool needs a token, or no longer accepts the one it was given."""
