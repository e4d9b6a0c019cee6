"""Documents that record what was: they stay as they were written."""

import re

# What was true of a version stays true of it.
_RECORD = re.compile(
    r"(?i)(?:^|/)(?:changes?|changelogs?|history|news|releases?|release[-_ ]?notes|newsfragments|whats[-_]?new|"
    r"upgrading|authors|contributors|licen[cs]es?|copying|notice)(?:[-_.][^/]*)?(?:/|$)"
)
_PINNED = re.compile(r"(?i)(?:^|/)(?:requirements|constraints)[^/]*(?:\.txt$|/)")


def is_record(path: str) -> bool:
    """Whether a document speaks of the past, or pins what others call things."""
    return _RECORD.search(path) is not None or _PINNED.search(path) is not None
