"""The bounded cache that tools keep between test runs; what was unused for longest is deleted first."""

import os
import shutil
import stat
from pathlib import Path

MAX_MB = 1024
_MB = 1024 * 1024
_ROOM = 0.8


class ToolCache:
    """The folder that sandboxed tools use as their cache."""

    def __init__(self, folder: Path, *, max_mb: int = MAX_MB) -> None:
        self._folder = folder
        self._max = max_mb * _MB

    def trim(self) -> str:
        """Delete the oldest folders when the cache is too large; return a note on that, or nothing. Blocks."""
        if not self._folder.is_dir():
            return ""
        oldest = sorted((*_usage(place), place) for place in self._folder.iterdir())
        size = sum(part for _, part, _ in oldest)
        if size <= self._max:
            return ""
        removed = 0
        # Whole folders only: tools take a partly deleted folder for a broken one.
        for _, part, place in oldest:
            if size - removed <= self._max * _ROOM:
                break
            _remove(place)
            removed += part
        return f"the tools' cache held {size // _MB} MB, more than {self._max // _MB}; {removed // _MB} MB were removed"


def _usage(place: Path) -> tuple[float, int]:
    """Return when a file below was last written or read, and the total size."""
    last, size, waiting = 0.0, 0, [place]
    while waiting:
        here = waiting.pop()
        try:
            found = here.lstat()
            if stat.S_ISDIR(found.st_mode):
                waiting += [Path(entry.path) for entry in os.scandir(here)]
                continue
        except OSError:
            continue
        last, size = max(last, found.st_mtime, found.st_atime), size + found.st_size
    return last, size


def _remove(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place, ignore_errors=True)
    else:
        place.unlink(missing_ok=True)
