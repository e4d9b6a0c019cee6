"""Errors of the Agent Client Protocol's handshake and prompts."""

from codeplane.kernel.errors.error import CodePlaneError


class ContentRefused(
    CodePlaneError,
    name="CONTENT_REFUSED",
    code=6170,
    http=415,
    rpc="invalid_argument",
    hint="send text, links to files, or files of text: promptCapabilities says what is taken",
):
    """A prompt holds a kind of content that nothing here reads."""


class NotInitialized(
    CodePlaneError,
    name="NOT_INITIALIZED",
    code=6171,
    http=409,
    rpc="failed_precondition",
    hint="send `initialize` first, once on each connection",
):
    """A request came before the protocol's handshake, or the handshake came twice."""


class VersionMismatch(
    CodePlaneError,
    name="VERSION_MISMATCH",
    acp="ERR_VERSION_MISMATCH",
    code=6172,
    http=400,
    rpc="invalid_argument",
    hint="speak 0.2.1, or version 1 of the public protocol (protocolVersion)",
):
    """A client of the specification's dialect of ACP speaks another version of it."""
