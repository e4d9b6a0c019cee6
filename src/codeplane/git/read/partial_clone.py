"""Partial clones: only remote operations, which need permission, fetch missing objects."""

from collections.abc import Mapping
from pathlib import Path

from codeplane.disk.git_variables import NO_FETCH, NO_LAZY_FETCH
from codeplane.kernel.errors import GitRefused

MISSING_OBJECTS_HINT = "this partial clone lacks objects, and only git_fetch with complete=true brings them"
# Or it says so in another file.
_SIGNS = (b"promisor", b"partialclone", b"[include")


def local_only(folder: Path) -> Mapping[str, str]:
    """Return environment variables that keep git from fetching missing objects."""
    # Hooks inherit the variable that works in every version, and they may fetch; so it is set in partial clones only.
    return NO_FETCH if is_partial(folder) else NO_LAZY_FETCH


def is_partial(folder: Path) -> bool:
    """Whether the repository may lack objects that a remote has."""
    try:
        settings = (folder / "config").read_bytes().lower()
    except OSError:
        return True
    return any(sign in settings for sign in _SIGNS)


def missing_objects_error() -> GitRefused:
    """Return the error for objects that are missing."""
    return GitRefused("objects of it are not here", hint=MISSING_OBJECTS_HINT)
