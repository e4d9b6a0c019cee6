"""File events of the system through watchfiles; they are hints only."""

from collections.abc import AsyncIterator
from pathlib import Path

from watchfiles import Change, awatch

_DEBOUNCE_MS = 50
_STEP_MS = 10


class Watcher:
    """Reports which files below a root were touched."""

    def __init__(self, root: Path) -> None:
        self._root = root

    async def touched(self) -> AsyncIterator[set[str]]:
        """Yield sets of touched paths, relative to the root; OSError when watches run out."""
        prefix = f"{self._root}/"
        async for changes in awatch(
            self._root, watch_filter=self._is_wanted, debounce=_DEBOUNCE_MS, step=_STEP_MS, recursive=True
        ):
            yield {path.removeprefix(prefix) for _, path in changes}

    def _is_wanted(self, change: Change, path: str) -> bool:
        inner = path.removeprefix(f"{self._root}/")
        return not inner.startswith((".codeplane/", ".git/objects/", ".git/logs/")) and not inner.endswith(".lock")
