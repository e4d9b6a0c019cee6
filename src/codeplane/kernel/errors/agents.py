"""Errors of outside agents."""

from codeplane.kernel.errors.error import CodePlaneError


class OutsideAgentUnknown(
    CodePlaneError,
    name="OUTSIDE_AGENT_UNKNOWN",
    code=6130,
    http=404,
    rpc="not_found",
    hint="list them: cpl agents acp; add one: cpl agents add NAME",
):
    """The settings have no such outside agent, or disable it."""


class OutsideAgentFailed(
    CodePlaneError,
    name="OUTSIDE_AGENT_FAILED",
    code=6131,
    http=502,
    rpc="unavailable",
    hint="see what is wrong with it: cpl agents test NAME; for files that it cannot find: cpl agents add --readable; "
    "what it changed waits in its work tree: thread_diff",
):
    """An outside agent did not start, ended, or answered with an error."""


class OutsideAgentRefused(
    CodePlaneError,
    name="OUTSIDE_AGENT_REFUSED",
    code=6132,
    http=502,
    rpc="internal",
    hint="it broke its protocol and was stopped; see what it changed: thread_diff",
):
    """An outside agent sent invalid, too large or too many messages, or repeated a question that was refused."""


class OutsideAgentTimeout(
    CodePlaneError,
    name="OUTSIDE_AGENT_TIMEOUT",
    code=6133,
    http=504,
    rpc="deadline_exceeded",
    hint="see what it changed: thread_diff; its limits are agents.start_sec, silence_sec and turn_minutes",
):
    """An outside agent was silent or worked longer than the settings allow, and was stopped."""


class OutsideAgentSignIn(
    CodePlaneError,
    name="OUTSIDE_AGENT_SIGN_IN",
    acp="ERR_UNAUTHORIZED",
    code=6134,
    http=401,
    rpc="failed_precondition",
    hint="sign in with the agent's own program, then pass the login on with `home` or `env` in its settings",
):
    """The user has to sign in to the outside agent first."""


class ThreadTreeGone(
    CodePlaneError,
    name="THREAD_TREE_GONE",
    code=6135,
    http=409,
    rpc="failed_precondition",
    hint="thread_show says who runs it; only threads of outside agents have a work tree",
):
    """The thread has no work tree: no outside agent has worked in it, or its changes were discarded."""
