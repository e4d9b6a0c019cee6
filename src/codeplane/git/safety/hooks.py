"""The hooks of a repository, which may change files that git itself does not."""

import asyncio
import os
from pathlib import Path

from codeplane.git.read.repository import common_dir
from codeplane.git.safety.command import Git
from codeplane.kernel.clock import SECOND_NS, Clock

# Settings outside the repository can name another folder too, so git is asked again now and then.
_ASKED_NS = 600 * SECOND_NS


class Hooks:
    """Find the hooks folder of a repository, cached while its settings stay the same."""

    def __init__(self, git: Git, clock: Clock) -> None:
        self._git = git
        self._clock = clock
        self._known: tuple[tuple[int, int, int], int, Path] | None = None

    async def exist(self) -> bool:
        """Whether the repository has a hook that git would run."""
        settings, now = await asyncio.to_thread(self._settings), self._clock.now_ns()
        if self._known is None or self._known[0] != settings or now - self._known[1] > _ASKED_NS:
            done = await self._git.run("rev-parse", "--git-path", "hooks")
            self._known = settings, now, self._git.root / done.line
        return await asyncio.to_thread(_has_hook, self._known[2])

    def _settings(self) -> tuple[int, int, int]:
        stat = (common_dir(self._git.folder) / "config").stat()
        return stat.st_mtime_ns, stat.st_size, stat.st_ino


def _has_hook(folder: Path) -> bool:
    try:
        with os.scandir(folder) as entries:
            return any(not entry.name.endswith(".sample") and os.access(entry.path, os.X_OK) for entry in entries)
    except OSError:
        return False
