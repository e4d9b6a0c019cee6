"""Partial clones: only remote operations, which need permission, fetch missing objects."""

from collections.abc import Mapping
from pathlib import Path

from codeplane.kernel.errors import GitRefused

# Git knows the first since 2.44 and some earlier patch releases. The second works in every version, but hooks inherit
# it, and they may fetch; so it is set in partial clones only.
LOCAL = {"GIT_NO_LAZY_FETCH": "1"}
_NO_TRANSPORT = {"GIT_ALLOW_PROTOCOL": "none"}
MISSING_OBJECTS_HINT = "this partial clone lacks objects, and only git_fetch with complete=true brings them"
_SIGNS = (b"promisor", b"partialclone")


def local_only(folder: Path) -> Mapping[str, str]:
    """Return environment variables that keep git from fetching missing objects."""
    return LOCAL | _NO_TRANSPORT if is_partial(folder) else LOCAL


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
