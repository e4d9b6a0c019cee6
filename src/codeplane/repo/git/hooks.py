"""Hooks of the repository: git runs them, and they may change what git itself does not."""

import asyncio
import os
from pathlib import Path

from codeplane.repo.git.command import Git


async def has_hooks(git: Git) -> bool:
    """Whether anything but git itself may have written into the work tree."""
    done = await git.run("rev-parse", "--git-path", "hooks")
    return await asyncio.to_thread(_any, git.root / done.line)


def _any(folder: Path) -> bool:
    try:
        with os.scandir(folder) as entries:
            return any(not one.name.endswith(".sample") and os.access(one.path, os.X_OK) for one in entries)
    except OSError:
        return False
