"""The ledger's file as it was opened: whether its name still leads to it."""

from pathlib import Path


class OpenedFile:
    """A file that is kept open, and that somebody may take away or replace meanwhile."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._identity = _identity(path)

    def problem(self) -> str:
        """What was done to it, and what that means; nothing when it is where it was."""
        found = _identity(self._path)
        if found == self._identity:
            return ""
        done = "replaced" if found is not None else "deleted"
        return f"{self._path.name} was {done} while it was served: nothing is recorded until a start"


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino
