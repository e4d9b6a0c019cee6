"""The folders that belong to git and to CodePlane, under every name that a disk takes for theirs."""

from functools import lru_cache
from pathlib import PurePosixPath

# With the short names that Windows gives them.
_GIT = frozenset({".git", "git~1"})
_CODEPLANE = frozenset({".codeplane", "codepl~1"})
# What disks of macOS leave out when they compare names.
_IGNORED = dict.fromkeys([*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF])


def is_reserved(path: str) -> bool:
    """Whether a path leads into a folder of git or of CodePlane."""
    return not (_GIT | _CODEPLANE).isdisjoint(fold_path(path))


def is_codeplanes(path: str) -> bool:
    """Whether a path leads into a folder of CodePlane."""
    return not _CODEPLANE.isdisjoint(fold_path(path))


@lru_cache(maxsize=1024)
def fold_path(path: str) -> tuple[str, ...]:
    """The parts of a path as a disk may take them: without case, streams, trailing dots and spaces, invisible signs."""
    return tuple(map(_fold_part, PurePosixPath(path.replace("\\", "/")).parts))


def _fold_part(part: str) -> str:
    return part.translate(_IGNORED).partition(":")[0].rstrip(". ").casefold()
