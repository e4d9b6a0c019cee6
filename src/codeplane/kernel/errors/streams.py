"""Errors of the log's streams."""

from codeplane.kernel.errors.error import CodePlaneError


class SequenceConflict(
    CodePlaneError,
    name="SEQUENCE_CONFLICT",
    code=8001,
    http=409,
    rpc="aborted",
    hint="read the stream again, then decide",
    retryable=True,
):
    """The stream has grown since it was read."""


class StreamGap(
    CodePlaneError,
    name="STREAM_GAP",
    code=8002,
    http=410,
    rpc="out_of_range",
    hint="read the present state, then watch from the first sequence named in details",
):
    """Retention has dropped the requested events."""
