"""Errors of changing files, and of undoing a change."""

from codeplane.kernel.errors.error import CodePlaneError


class EditMismatch(
    CodePlaneError,
    name="EDIT_MISMATCH",
    code=5001,
    http=422,
    rpc="failed_precondition",
    hint="copy the present text from the answer, enough of it to be unique; nothing was written",
):
    """The text or lines to replace are missing, or occur more than once."""


class FileChanged(
    CodePlaneError,
    name="FILE_CHANGED",
    code=5002,
    http=409,
    rpc="aborted",
    hint="read the file again, then decide; nothing was written",
):
    """A file differs from what the caller or the plan expects."""


class EditOverlap(
    CodePlaneError,
    name="EDIT_OVERLAP",
    code=5003,
    http=409,
    rpc="aborted",
    hint="call again when the other edit has ended; nothing was written",
    retryable=True,
):
    """Another mutation is changing the same files."""


class CannotUndo(
    CodePlaneError,
    name="CANNOT_UNDO",
    code=5004,
    http=409,
    rpc="failed_precondition",
    hint="see what is there now (git_diff, read_files) and edit it",
):
    """A mutation cannot be undone or redone: its files have changed since, or its record was dropped."""


class NotText(
    CodePlaneError,
    name="NOT_TEXT",
    acp="ERR_ENCODING",
    code=5005,
    http=422,
    rpc="failed_precondition",
    hint="give the whole content, or delete and create it",
):
    """A file that is not text cannot be edited by lines or by text."""


class PlaceholderWritten(
    CodePlaneError,
    name="PLACEHOLDER_WRITTEN",
    code=5006,
    http=422,
    rpc="failed_precondition",
    hint="leave those lines alone: edit others with old_text and new_text; code that needs this very word can "
    "join it from two parts",
):
    """The text to write contains the placeholder for a redacted secret; nothing was written."""
