"""Errors of the repository's index."""

from codeplane.kernel.errors.error import CodePlaneError


class IndexNotReady(
    CodePlaneError,
    name="INDEX_NOT_READY",
    code=4002,
    http=503,
    rpc="unavailable",
    hint="call again in a moment; cpl status shows how far it is",
    retryable=True,
):
    """The repository is still being read for the first time."""


class EmbedderFailed(
    CodePlaneError,
    name="EMBEDDER_FAILED",
    acp="ERR_MODEL_UNAVAILABLE",
    code=4003,
    http=502,
    rpc="unavailable",
    hint="look at the cause; without vectors, search with mode=literal",
    retryable=True,
):
    """The embedding model is missing, does not answer, or gives an invalid answer."""


class ArchiveRefused(
    CodePlaneError,
    name="ARCHIVE_REFUSED",
    code=4004,
    http=422,
    rpc="failed_precondition",
    hint="make a new one where the index is complete: cpl index export",
):
    """The index archive is damaged, from another version of CodePlane, or of another repository."""
