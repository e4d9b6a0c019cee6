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
    hint="see how the rules decide: cpl policy explain OPERATION KEY=VALUE",
):
    """A rule denies the call; details name the reasons."""


class PathDenied(
    CodePlaneError,
    name="PATH_DENIED",
    acp="ERR_PATH_DENIED",
    code=2004,
    http=403,
    rpc="permission_denied",
    hint="name a path inside the repository, outside .git and .codeplane",
):
    """The path is outside the workspace, or no operation may write it."""


class OriginDenied(
    CodePlaneError,
    name="ORIGIN_DENIED",
    acp="ERR_UNAUTHORIZED",
    code=2005,
    http=403,
    rpc="permission_denied",
    hint="talk to 127.0.0.1 or localhost; the owner allows others with server.allowed_hosts and allowed_origins",
):
    """The Host or Origin header names another site, such as a web page that tries to reach a local server."""


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
    """A person rejected the call."""


class ApprovalExpired(
    CodePlaneError,
    name="EXPIRED",
    acp="ERR_UNAUTHORIZED",
    code=2011,
    http=403,
    rpc="permission_denied",
    hint="a new idempotency_key asks again",
):
    """Nobody answered in time, or the call would no longer do what was approved."""


class ApprovalNotFound(
    CodePlaneError,
    name="APPROVAL_NOT_FOUND",
    code=2012,
    http=404,
    rpc="not_found",
    hint="list them: cpl approvals --all",
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
    hint="wait as long as the details say, then try again",
    retryable=True,
):
    """Too many attempts in a short time."""


class DeviceNotFound(
    CodePlaneError,
    name="DEVICE_NOT_FOUND",
    code=2015,
    http=404,
    rpc="not_found",
    hint="list them: cpl devices",
):
    """There is no such device."""


class GrantNotFound(
    CodePlaneError,
    name="GRANT_NOT_FOUND",
    code=2016,
    http=404,
    rpc="not_found",
    hint="list them: cpl grants",
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
    """A policy file is invalid."""


class TokenExpired(
    CodePlaneError,
    name="TOKEN_EXPIRED",
    acp="ERR_UNAUTHORIZED",
    code=2020,
    http=401,
    rpc="unauthenticated",
    hint="get a new one: cpl devices pair, or cpl agents token",
):
    """The token was valid but has expired."""


class ApprovalSettled(
    CodePlaneError,
    name="APPROVAL_SETTLED",
    code=2021,
    http=409,
    rpc="failed_precondition",
    hint="see how it was decided: cpl approvals show ID",
):
    """The action has been decided already."""
