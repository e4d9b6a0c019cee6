"""Objects that a partial clone left out are fetched by remote operations alone, which are asked about."""

from collections.abc import Mapping
from pathlib import Path

from codeplane.kernel.errors import GitRefused

# Git knows the first since 2.44 and some earlier corrections; the second holds in every version, but is inherited by
# hooks, which may fetch, and so is set in partial clones alone.
LOCAL = {"GIT_NO_LAZY_FETCH": "1"}
_NO_TRANSPORT = {"GIT_ALLOW_PROTOCOL": "none"}
LACKING = "this partial clone lacks objects, and only git_fetch with complete=true brings them"
_SIGNS = (b"promisor", b"partialclone")


def local_only(folder: Path) -> Mapping[str, str]:
    """Variables that keep git commands of the repository with this git folder from fetching what they lack."""
    return LOCAL | _NO_TRANSPORT if is_partial(folder) else LOCAL


def is_partial(folder: Path) -> bool:
    """Whether the repository may lack objects that a remote has."""
    try:
        settings = (folder / "config").read_bytes().lower()
    except OSError:
        return True
    return any(sign in settings for sign in _SIGNS)


def lacking() -> GitRefused:
    """The error for objects that are not there."""
    return GitRefused("objects of it are not here", hint=LACKING)
