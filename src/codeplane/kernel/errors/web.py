"""Errors of fetching pages from the web."""

from codeplane.kernel.errors.error import CodePlaneError


class AddressDenied(
    CodePlaneError,
    name="ADDRESS_DENIED",
    acp="ERR_UNAUTHORIZED",
    code=2018,
    http=403,
    rpc="permission_denied",
    hint="name a public http or https address; the owner's lists are web.allow and web.deny",
):
    """The address is private, local, or denied by the owner's lists."""


class FetchFailed(
    CodePlaneError,
    name="FETCH_FAILED",
    code=2019,
    http=502,
    rpc="unavailable",
    hint="see the reason, then try again or another address",
    retryable=True,
):
    """A page could not be fetched."""
