"""Changelogs and other documents about the past, which stay as they were written."""

import re

# What was true for a version stays true.
_RECORD = re.compile(
    r"(?i)(?:^|/)(?:changes?|changelogs?|history|news|releases?|release[-_ ]?notes|newsfragments|whats[-_]?new|"
    r"upgrading|authors|contributors|licen[cs]es?|copying|notice)(?:[-_.][^/]*)?(?:/|$)"
)
_PINNED = re.compile(r"(?i)(?:^|/)(?:requirements|constraints)[^/]*(?:\.txt$|/)")


def is_historical(path: str) -> bool:
    """Whether a document describes the past, or pins names of other projects."""
    return _RECORD.search(path) is not None or _PINNED.search(path) is not None
