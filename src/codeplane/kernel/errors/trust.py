"""Errors of identity, grants, policies and approvals."""

from codeplane.kernel.errors.error import CodePlaneError


class Unauthorized(
    CodePlaneError,
    name="UNAUTHORIZED",
    acp="ERR_UNAUTHORIZED",
    code=2001,
    http=401,
    rpc="unauthenticated",
    hint="send the owner's token as `Authorization: Bearer …`; cpl reads it from .codeplane/owner.token",
):
    """The caller is unknown."""


class CapabilityDenied(
    CodePlaneError,
    name="CAPABILITY_DENIED",
    acp="ERR_UNAUTHORIZED",
    code=2002,
    http=403,
    rpc="permission_denied",
    hint="ask for it: capability_request; a person decides with: cpl grants",
):
    """No grant of the caller covers this call."""


class PolicyDenied(
    CodePlaneError,
    name="POLICY_DENIED",
    acp="ERR_UNAUTHORIZED",
    code=2003,
    http=403,
    rpc="permission_denied",
    hint="see what the rules say of it: cpl policy explain OPERATION KEY=VALUE",
):
    """The rules say no, with the reasons in details."""


class PathDenied(
    CodePlaneError,
    name="PATH_DENIED",
    acp="ERR_PATH_DENIED",
    code=2004,
    http=403,
    rpc="permission_denied",
    hint="name a path inside the repository, outside .git and .codeplane",
):
    """A path outside the workspace, or one no operation may write."""


class OriginDenied(
    CodePlaneError,
    name="ORIGIN_DENIED",
    acp="ERR_UNAUTHORIZED",
    code=2005,
    http=403,
    rpc="permission_denied",
    hint="talk to 127.0.0.1 or localhost; the owner allows others with server.allowed_hosts and allowed_origins",
):
    """The Host or Origin header names somebody else: a page trying to reach a local server."""


class ApprovalPending(
    CodePlaneError,
    name="APPROVAL_PENDING",
    acp="ERR_UNAUTHORIZED",
    code=2009,
    http=409,
    rpc="failed_precondition",
    hint="a person decides with: cpl approvals; then call again with the same arguments and this idempotency_key",
    retryable=True,
):
    """A person was asked and has not answered yet."""


class ApprovalRejected(
    CodePlaneError,
    name="REJECTED",
    acp="ERR_UNAUTHORIZED",
    code=2010,
    http=403,
    rpc="permission_denied",
    hint="do something else, or ask the person why; a new idempotency_key asks again",
):
    """A person rejected it."""


class ApprovalExpired(
    CodePlaneError,
    name="EXPIRED",
    acp="ERR_UNAUTHORIZED",
    code=2011,
    http=403,
    rpc="permission_denied",
    hint="a new idempotency_key asks again",
):
    """No answer came in time, or what was approved is no longer what would be done."""


class ApprovalNotFound(
    CodePlaneError,
    name="APPROVAL_NOT_FOUND",
    code=2012,
    http=404,
    rpc="not_found",
    hint="see those that there are: cpl approvals --all",
):
    """There is no such action."""


class PairingRefused(
    CodePlaneError,
    name="PAIRING_REFUSED",
    acp="ERR_UNAUTHORIZED",
    code=2013,
    http=403,
    rpc="permission_denied",
    hint="make a new code: cpl devices pair",
):
    """The pairing code is wrong, used or too old."""


class RateLimited(
    CodePlaneError,
    name="RATE_LIMITED",
    acp="ERR_RATE_LIMIT",
    code=2014,
    http=429,
    rpc="resource_exhausted",
    hint="wait as long as details say, then try again",
    retryable=True,
):
    """Too many tries in a short time."""


class DeviceNotFound(
    CodePlaneError,
    name="DEVICE_NOT_FOUND",
    code=2015,
    http=404,
    rpc="not_found",
    hint="see those that there are: cpl devices",
):
    """There is no such device."""


class GrantNotFound(
    CodePlaneError,
    name="GRANT_NOT_FOUND",
    code=2016,
    http=404,
    rpc="not_found",
    hint="see those that there are: cpl grants",
):
    """There is no such grant."""


class PolicyInvalid(
    CodePlaneError,
    name="POLICY_INVALID",
    code=2017,
    http=422,
    rpc="failed_precondition",
    hint="see what is wrong with: cpl policy check",
):
    """A policy cannot be used as it is written."""


class TokenExpired(
    CodePlaneError,
    name="TOKEN_EXPIRED",
    acp="ERR_UNAUTHORIZED",
    code=2020,
    http=401,
    rpc="unauthenticated",
    hint="get a new one: cpl devices pair, or cpl agents token",
):
    """The token was good once and is no longer."""


class ApprovalSettled(
    CodePlaneError,
    name="APPROVAL_SETTLED",
    code=2021,
    http=409,
    rpc="failed_precondition",
    hint="see how it was decided: cpl approvals show ID",
):
    """Somebody has decided that already."""
