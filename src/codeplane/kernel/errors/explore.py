"""Errors of explorations."""

from codeplane.kernel.errors.error import CodePlaneError


class ExploreNotFound(
    CodePlaneError,
    name="EXPLORE_NOT_FOUND",
    code=6110,
    http=404,
    rpc="not_found",
    hint="list them: cpl explore --list",
):
    """No exploration that the caller may see has that id."""


class OpCanceled(
    CodePlaneError,
    name="OP_CANCELED",
    acp="ERR_OP_CANCELED",
    code=6111,
    http=409,
    rpc="aborted",
    hint="start the exploration again, or ask for it directly",
):
    """An operation of an exploration was dropped before it started."""


class ExploreNetworkDenied(
    CodePlaneError,
    name="EXPLORE_NETWORK_DENIED",
    acp="ERR_UNAUTHORIZED",
    code=6112,
    http=403,
    rpc="permission_denied",
    hint="send policy.network=true to let it clone",
):
    """The exploration has to clone a repository, but its policy denies the network."""


class ExploreInterrupted(
    CodePlaneError,
    name="EXPLORE_INTERRUPTED",
    acp="ERR_OP_CANCELED",
    code=6113,
    http=409,
    rpc="aborted",
    hint="continue from what it found: cpl explore --resume ID",
):
    """The server ended while an exploration ran."""
