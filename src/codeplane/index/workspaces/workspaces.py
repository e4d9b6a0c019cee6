"""The attached workspaces, each opened on first use and closed at the end."""

import asyncio
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from codeplane.index.workspaces.register import AttachedWorkspace, Register
from codeplane.kernel.call import Call
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.errors import NotFound, StorageFailed
from codeplane.kernel.json import JsonObject

CHECKOUT = "checkout"
PARTIAL = "checkout.part"
_MAX_SHOWN = 100


class OpenWorkspace(Protocol):
    """A workspace with its own operations and index."""

    @property
    def catalogue(self) -> Catalogue: ...

    @property
    def is_idle(self) -> bool: ...

    def state(self, call: Call) -> JsonObject: ...

    async def stop(self) -> None: ...


class Workspaces:
    """The attached workspaces, and those that are open."""

    def __init__(
        self, *, folder: Path, register: Register, opened: Callable[[AttachedWorkspace, Path], OpenWorkspace]
    ) -> None:
        self._folder = folder
        self._register = register
        self._opening = opened
        self._attached = register.load()
        self._open: dict[str, OpenWorkspace] = {}
        for partial in folder.glob(f"*/{PARTIAL}"):
            # A clone that was under way when the last run ended.
            shutil.rmtree(partial, ignore_errors=True)

    def __len__(self) -> int:
        return len(self._attached)

    def all(self) -> list[AttachedWorkspace]:
        """All attached workspaces, by name."""
        return [self._attached[name] for name in sorted(self._attached)]

    def get(self, name: str) -> AttachedWorkspace:
        """The workspace of that name, or NotFound with the names there are."""
        workspace = self._attached.get(name)
        if workspace is None:
            names = ", ".join(sorted(self._attached))
            hint = f"there are {names}" if names else "none is attached; see workspace.attach and git.clone"
            raise NotFound(f"there is no workspace {name[:_MAX_SHOWN]!r}", hint=hint)
        return workspace

    def at(self, root: Path) -> AttachedWorkspace | None:
        """The workspace attached at a folder, compared by inode."""
        return next(
            (workspace for workspace in self.all() if workspace.root.is_dir() and workspace.root.samefile(root)), None
        )

    def oldest_temporary(self) -> AttachedWorkspace | None:
        """The temporary workspace that was attached first, of those without calls under way."""
        for name, workspace in self._attached.items():
            opened = self._open.get(name)
            if workspace.temporary and (opened is None or opened.is_idle):
                return workspace
        return None

    def home(self, name: str) -> Path:
        """The folder of a workspace's index, and of its checkout if it is a clone."""
        return self._folder / name

    def elsewhere(self, name: str) -> Catalogue:
        """The operations of a workspace, opened if needed."""
        workspace = self.get(name)
        if not workspace.root.is_dir() or os.path.realpath(workspace.root) != str(workspace.root):
            raise NotFound(
                f"the folder of workspace {name!r} is gone, or now leads elsewhere",
                hint=f"put it back, or: cpl call workspace.detach name={name}",
            )
        opened = self._open.get(name)
        if opened is None:
            home = self.home(name)
            try:
                home.mkdir(parents=True, exist_ok=True)
                opened = self._open[name] = self._opening(workspace, home)
            except (OSError, sqlite3.Error) as error:
                raise StorageFailed(f"the index of workspace {name!r} cannot be opened: {error}") from error
        return opened.catalogue

    def state(self, name: str, call: Call) -> JsonObject | None:
        """The state of a workspace's index, or None if it is not open."""
        opened = self._open.get(name)
        return opened.state(call) if opened is not None else None

    def add(self, attached: AttachedWorkspace) -> None:
        """Attach a workspace, or put it in the place of the one of its name, and save the register."""
        together = {**self._attached, attached.name: attached}
        self._register.save(together.values())
        self._attached = together

    async def remove(self, name: str, *, delete_index: bool) -> bool:
        """Close a workspace and remove its clone, and its index if wanted; return whether all is gone."""
        self.get(name)
        self._register.save(workspace for workspace in self._attached.values() if workspace.name != name)
        del self._attached[name]
        opened = self._open.pop(name, None)
        if opened is not None:
            await opened.stop()
        going = self.home(name) if delete_index else self.home(name) / CHECKOUT
        await asyncio.to_thread(shutil.rmtree, going, ignore_errors=True)
        return not going.exists()

    async def stop(self) -> None:
        """Close all open workspaces."""
        opened, self._open = self._open, {}
        await asyncio.gather(*(workspace.stop() for workspace in opened.values()))
