"""Errors of the Agent Client Protocol's handshake and prompts."""

from codeplane.kernel.errors.error import CodePlaneError


class ContentRefused(
    CodePlaneError,
    name="CONTENT_REFUSED",
    code=6170,
    http=415,
    rpc="invalid_argument",
    hint="send text, links to files, or text files: promptCapabilities names what is supported",
):
    """A prompt contains a kind of content that is not supported."""


class NotInitialized(
    CodePlaneError,
    name="NOT_INITIALIZED",
    code=6171,
    http=409,
    rpc="failed_precondition",
    hint="send `initialize` first, once on each connection",
):
    """A request arrived before the protocol's handshake, or the handshake was sent twice."""


class VersionMismatch(
    CodePlaneError,
    name="VERSION_MISMATCH",
    acp="ERR_VERSION_MISMATCH",
    code=6172,
    http=400,
    rpc="invalid_argument",
    hint="speak 0.2.1, or version 1 of the public protocol (protocolVersion)",
):
    """The client speaks another version of the ACP dialect."""
