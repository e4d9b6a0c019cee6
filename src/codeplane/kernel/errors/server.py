"""Errors of starting and reaching a server, and of its settings."""

from codeplane.kernel.errors.error import CodePlaneError


class WorkspaceNotFound(
    CodePlaneError,
    name="WORKSPACE_NOT_FOUND",
    acp="ERR_PATH_DENIED",
    code=3001,
    http=404,
    rpc="not_found",
    hint="run it inside a repository, or name one with --repo DIR",
):
    """There is no workspace here."""


class ServerRunning(
    CodePlaneError,
    name="SERVER_RUNNING",
    code=3007,
    http=409,
    rpc="already_exists",
    hint="use the running one (cpl status), or stop it first: cpl down",
):
    """Another process already serves this repository."""


class ConfigInvalid(
    CodePlaneError,
    name="CONFIG_INVALID",
    code=3008,
    http=400,
    rpc="failed_precondition",
    hint="fix the file or variable named above; all settings: docs/reference/settings.md",
):
    """A setting is unknown or has an impossible value."""


class ServerUnreachable(
    CodePlaneError,
    name="SERVER_UNREACHABLE",
    code=3009,
    http=503,
    rpc="unavailable",
    hint="start it: cpl up",
    retryable=True,
):
    """No server answers for this repository."""


class BindRefused(
    CodePlaneError,
    name="BIND_REFUSED",
    code=3010,
    http=400,
    rpc="failed_precondition",
    hint="set server.host to 127.0.0.1 or ::1",
):
    """The address is not loopback, or cannot be bound."""


class Overloaded(
    CodePlaneError,
    name="OVERLOADED",
    acp="ERR_RATE_LIMIT",
    code=8003,
    http=503,
    rpc="resource_exhausted",
    hint="call again in a moment",
    retryable=True,
):
    """A queue is full."""


class ShuttingDown(
    CodePlaneError,
    name="SHUTTING_DOWN",
    code=8004,
    http=503,
    rpc="unavailable",
    hint="reconnect when the server is back: cpl up",
    retryable=True,
):
    """The server is shutting down and accepts no new calls."""


class Internal(
    CodePlaneError,
    name="INTERNAL",
    code=9001,
    http=500,
    rpc="internal",
    hint="this is a bug in CodePlane: please report it with the output of `cpl doctor --logs`",
):
    """Something broke inside CodePlane."""
