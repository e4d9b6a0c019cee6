"""What stays of a folder that is deleted: files that nobody here looks at."""

import os
from pathlib import Path

from codeplane.index.files.paths import shown
from codeplane.refactor.draft import Danger

_MOST = 10_000
_NAMED = 5


def left_behind(folder: Path, root: Path, known: frozenset[str]) -> Danger | None:
    """The files on disk that are no part of what is deleted, if there are any."""
    found: list[str] = []
    looked = 0
    for above, folders, names in os.walk(folder):
        folders.sort()
        looked += len(names)
        found += [path for name in sorted(names) if (path := os.path.relpath(Path(above, name), root)) not in known]
        if looked > _MOST:
            break
    if not found:
        return None
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    what = f"left out here, so they stay: {', '.join(map(shown, found[:_NAMED]))}{more}"
    return Danger(kind="files_stay", what=what, count=len(found))
