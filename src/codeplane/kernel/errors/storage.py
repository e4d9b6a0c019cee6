"""Errors of the ledger's files, and of the log that several nodes share."""

from codeplane.kernel.errors.error import CodePlaneError


class StorageReadOnly(
    CodePlaneError,
    name="STORAGE_READ_ONLY",
    code=3002,
    http=503,
    rpc="unavailable",
    hint="make .codeplane/ writable for this user, then: cpl up",
):
    """The ledger's folder cannot be written."""


class StorageFull(
    CodePlaneError,
    name="STORAGE_FULL",
    code=3003,
    http=507,
    rpc="resource_exhausted",
    hint="free space on the disk that holds .codeplane/, then call again; nothing was left half-done",
    retryable=True,
):
    """The disk is full; everything acknowledged is safe, and nothing else was written."""


class SchemaTooNew(
    CodePlaneError,
    name="SCHEMA_TOO_NEW",
    code=3004,
    http=503,
    rpc="failed_precondition",
    hint="upgrade CodePlane: pipx upgrade codeplane",
):
    """The files were written by a newer CodePlane; this one leaves them alone."""


class LedgerCorrupt(
    CodePlaneError,
    name="LEDGER_CORRUPT",
    code=3005,
    http=503,
    rpc="data_loss",
    hint="salvage what can be read, keeping the damaged file: cpl doctor --salvage",
):
    """The log on disk cannot be read."""


class StorageFailed(
    CodePlaneError,
    name="STORAGE_FAILED",
    code=3006,
    http=503,
    rpc="unavailable",
    hint="look at the cause; then: cpl doctor",
    retryable=True,
):
    """The log could not be written because of an error of the disk or the system."""


class SharedLogUnavailable(
    CodePlaneError,
    name="SHARED_LOG_UNAVAILABLE",
    code=3011,
    http=503,
    rpc="unavailable",
    hint="make the folder that ledger.shared names reachable, then call again with the same idempotency_key",
    retryable=True,
):
    """The shared log cannot be reached; whether the last append arrived is unknown."""


class SharedLogGap(
    CodePlaneError,
    name="SHARED_LOG_GAP",
    code=3012,
    http=503,
    rpc="out_of_range",
    hint="restart this node, which then starts from the newest snapshot: cpl down && cpl up",
):
    """The shared log no longer holds the next events that this node needs."""


class SharedLogMismatch(
    CodePlaneError,
    name="SHARED_LOG_MISMATCH",
    code=3013,
    http=503,
    rpc="failed_precondition",
    hint="correct ledger.shared, or move .codeplane/ledger.db aside to join with a new ledger",
):
    """This ledger and the shared log have different histories."""
