"""Whether a path has symbolic links on its way."""

import os
import stat


def is_free_of_links(root: str, path: str) -> bool:
    """Whether each part of a path below a real folder exists and is no link; False if that is unknown."""
    at = root
    for part in path.split("/"):
        if part in ("", ".", ".."):
            return False
        at = f"{at}/{part}"
        try:
            if stat.S_ISLNK(os.lstat(at).st_mode):
                return False
        except (OSError, ValueError):
            return False
    return True
