"""Errors of outside agents."""

from codeplane.kernel.errors.error import CodePlaneError


class OutsideAgentUnknown(
    CodePlaneError,
    name="OUTSIDE_AGENT_UNKNOWN",
    code=6130,
    http=404,
    rpc="not_found",
    hint="cpl agents acp shows which there are; add one: cpl agents add NAME",
):
    """The settings name no such outside agent, or have it disabled."""


class OutsideAgentFailed(
    CodePlaneError,
    name="OUTSIDE_AGENT_FAILED",
    code=6131,
    http=502,
    rpc="unavailable",
    hint="see what is wrong with it: cpl agents test NAME; what it changed waits in its work tree: thread_diff",
):
    """An outside agent did not come up, ended, or answered with an error."""


class OutsideAgentRefused(
    CodePlaneError,
    name="OUTSIDE_AGENT_REFUSED",
    code=6132,
    http=502,
    rpc="internal",
    hint="it did not behave as its protocol says, and was ended; look at what it changed: thread_diff",
):
    """An outside agent sent what cannot be taken: no messages, too large ones, too many, or the same question again."""


class OutsideAgentTimeout(
    CodePlaneError,
    name="OUTSIDE_AGENT_TIMEOUT",
    code=6133,
    http=504,
    rpc="deadline_exceeded",
    hint="look at what it changed: thread_diff; agents.start_sec, silence_sec and turn_minutes bound its time",
):
    """An outside agent was silent, or worked, for longer than the settings allow, and was ended."""


class OutsideAgentSignIn(
    CodePlaneError,
    name="OUTSIDE_AGENT_SIGN_IN",
    acp="ERR_UNAUTHORIZED",
    code=6134,
    http=401,
    rpc="failed_precondition",
    hint="sign in with the agent's own program, then show it that with `home` or `env` of its settings",
):
    """An outside agent wants its person to sign in first."""


class ThreadTreeGone(
    CodePlaneError,
    name="THREAD_TREE_GONE",
    code=6135,
    http=409,
    rpc="failed_precondition",
    hint="thread_show says who runs it; only threads of outside agents have a work tree",
):
    """The thread has no work tree: no outside agent has worked in it, or what it did was discarded."""
