"""Errors of changing files, and of undoing a change."""

from codeplane.kernel.errors.error import CodePlaneError


class EditMismatch(
    CodePlaneError,
    name="EDIT_MISMATCH",
    code=5001,
    http=422,
    rpc="failed_precondition",
    hint="take the text from the answer as it stands now, with enough of it to be unique; nothing was written",
):
    """The text or lines to be replaced are not there, or are there more than once."""


class FileChanged(
    CodePlaneError,
    name="FILE_CHANGED",
    code=5002,
    http=409,
    rpc="aborted",
    hint="read the file again and decide anew; nothing was written",
):
    """A file is not as the caller, or the plan, expected it."""


class EditOverlap(
    CodePlaneError,
    name="EDIT_OVERLAP",
    code=5003,
    http=409,
    rpc="aborted",
    hint="call again when the other edit has ended; nothing was written",
    retryable=True,
):
    """Another mutation is at work on the same files."""


class CannotUndo(
    CodePlaneError,
    name="CANNOT_UNDO",
    code=5004,
    http=409,
    rpc="failed_precondition",
    hint="things moved on since; look at what is there now (git_diff, read_files) and edit it",
):
    """A mutation cannot be taken back or done again: things are not as it left them, or it is no longer kept."""


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
    hint="leave those lines as they are: replace others by old_text and new_text; code that is to hold this very word "
    "can put it together from two parts",
):
    """Text to be written holds what stands in answers for a secret; nothing was written."""
