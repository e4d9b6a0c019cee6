"""The folders that belong to git and to CodePlane, under every name that a disk takes for theirs."""

import re

from codeplane.kernel.disk_names import fold_path

# With the short names that Windows gives them; git makes its folder before others could have its number.
_GIT = re.compile(r"\.git|git~1")
_CODEPLANE = re.compile(r"\.codeplane|codepl~[0-9]+")


def is_reserved(path: str) -> bool:
    """Whether a path leads into a folder of git or of CodePlane."""
    return any(_GIT.fullmatch(part) or _CODEPLANE.fullmatch(part) for part in fold_path(path))


def is_codeplanes(path: str) -> bool:
    """Whether a path leads into a folder of CodePlane."""
    return any(map(_CODEPLANE.fullmatch, fold_path(path)))
