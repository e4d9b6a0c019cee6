"""File events of the system through watchfiles; they are hints only."""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Iterable
from pathlib import Path

from watchfiles import Change, awatch

_DEBOUNCE_MS = 50
_STEP_MS = 20
_OURS = ".codeplane"
_GIT = ".git"
_FileChanges = set[tuple[Change, str]]


class Watcher:
    """Reports which files below a root were touched, but for our own, which change with every call.

    The root is watched alone, and its folders with everything below them: nothing can be left out of a watched tree.
    """

    def __init__(self, root: Path) -> None:
        self._root = str(root)

    async def watch_paths(self) -> AsyncGenerator[set[str], None]:
        """Yield sets of touched paths, relative to the root; OSError when watches run out."""
        below = self._below()
        top = _Watch([self._root], recursive=False, is_wanted=self._is_wanted)
        try:
            while True:
                await asyncio.wait({top.changes, below.changes}, return_when=asyncio.FIRST_COMPLETED)
                changes, folders_changed = top.take(), False
                try:
                    changes |= below.take()
                    folders_changed = self._name_folders(changes, below.paths)
                except FileNotFoundError:
                    # A folder went away after it was listed.
                    folders_changed = True
                touched = {path for _, path in changes}
                if folders_changed:
                    await below.stop()
                    below = self._below()
                    # They are watched before anybody looks at what came into them meanwhile.
                    await asyncio.sleep(0)
                    touched |= below.paths
                yield {path.removeprefix(f"{self._root}/") for path in touched}
        finally:
            await top.stop()
            await below.stop()

    def _below(self) -> "_Watch":
        return _Watch(self._folders(), recursive=True, is_wanted=self._is_wanted)

    def _folders(self) -> set[str]:
        # Links are not followed: they may lead to the whole disk, or to themselves. Git's folder may be one.
        with os.scandir(self._root) as entries:
            return {
                entry.path
                for entry in entries
                if entry.name != _OURS
                and (entry.is_dir(follow_symlinks=False) or (entry.name == _GIT and Path(entry.path).is_dir()))
            }

    def _name_folders(self, changes: _FileChanges, watched: set[str]) -> bool:
        """Whether a folder of the root came or went; one that was replaced is no longer watched."""
        named = {path for change, path in changes if change is not Change.modified}
        return bool(named & watched) or bool(named & self._folders())

    def _is_wanted(self, change: Change, path: str) -> bool:
        inner = path.removeprefix(f"{self._root}/")
        return not inner.startswith((f"{_OURS}/", ".git/objects/", ".git/logs/")) and not inner.endswith(".lock")


class _Watch:
    """Watches some paths; `changes` is done once there are any."""

    def __init__(self, paths: Iterable[str], *, recursive: bool, is_wanted: Callable[[Change, str], bool]) -> None:
        self.paths = set(paths)
        self._stopping = asyncio.Event()
        self._stream = awatch(
            *self.paths,
            watch_filter=is_wanted,
            debounce=_DEBOUNCE_MS,
            step=_STEP_MS,
            stop_event=self._stopping,
            recursive=recursive,
        )
        self.changes = asyncio.ensure_future(anext(self._stream))

    def take(self) -> _FileChanges:
        """Return the changes so far, and wait for the next ones; raises what kept it from watching."""
        if not self.changes.done():
            return set()
        changes = self.changes.result()
        self.changes = asyncio.ensure_future(anext(self._stream))
        return changes

    async def stop(self) -> None:
        """Stop watching."""
        self._stopping.set()
        await asyncio.wait({self.changes})
        if not self.changes.cancelled():
            # That it ended, or why it could not begin.
            self.changes.exception()
        await self._stream.aclose()
