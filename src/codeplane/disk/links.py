"""Whether a path below a folder is what it is called: without links on the way, and with everything on it there."""

import os
import stat


def is_free_of_links(root: str, path: str) -> bool:
    """Whether each part of a path below a real folder is there and no link; False too where that is not known."""
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
