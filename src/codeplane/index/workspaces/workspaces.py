"""The attached workspaces of a running CodePlane: each opened when it is first asked about, closed at the end."""

import asyncio
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from codeplane.index.workspaces.register import Attached, Register
from codeplane.kernel.call import Call
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.errors import NotFound, StorageFailed
from codeplane.kernel.json import JsonObject

CHECKOUT = "checkout"
PARTIAL = "checkout.part"
_MAX_SHOWN = 100


class Opened(Protocol):
    """A workspace with its own operations and index."""

    @property
    def catalogue(self) -> Catalogue: ...

    def state(self, call: Call) -> JsonObject: ...

    async def stop(self) -> None: ...


class Workspaces:
    """What is attached, and what of it is open."""

    def __init__(self, *, folder: Path, register: Register, opened: Callable[[Attached, Path], Opened]) -> None:
        self._folder = folder
        self._register = register
        self._opening = opened
        self._attached = register.load()
        self._open: dict[str, Opened] = {}
        for partial in folder.glob(f"*/{PARTIAL}"):
            # A clone that was under way when the last run ended.
            shutil.rmtree(partial, ignore_errors=True)

    def __len__(self) -> int:
        return len(self._attached)

    def all(self) -> list[Attached]:
        """Everything attached, by name."""
        return [self._attached[name] for name in sorted(self._attached)]

    def get(self, name: str) -> Attached:
        """The workspace of that name, or NotFound with the names there are."""
        found = self._attached.get(name)
        if found is None:
            names = ", ".join(sorted(self._attached))
            hint = f"there are {names}" if names else "none is attached; see workspace.attach and git.clone"
            raise NotFound(f"there is no workspace {name[:_MAX_SHOWN]!r}", hint=hint)
        return found

    def at(self, root: Path) -> Attached | None:
        """The workspace that has this folder, by whichever name the disk knows it."""
        return next((one for one in self.all() if one.root.is_dir() and one.root.samefile(root)), None)

    def home(self, name: str) -> Path:
        """Where a workspace's index is, and its checkout when it is a clone."""
        return self._folder / name

    def elsewhere(self, name: str) -> Catalogue:
        """The operations of a workspace, which is opened if it is not yet."""
        found = self.get(name)
        if not found.root.is_dir() or os.path.realpath(found.root) != str(found.root):
            raise NotFound(
                f"the folder of workspace {name!r} is gone, or now leads elsewhere",
                hint=f"put it back, or: cpl call workspace.detach name={name}",
            )
        opened = self._open.get(name)
        if opened is None:
            home = self.home(name)
            try:
                home.mkdir(parents=True, exist_ok=True)
                opened = self._open[name] = self._opening(found, home)
            except (OSError, sqlite3.Error) as error:
                raise StorageFailed(f"the index of workspace {name!r} cannot be opened: {error}") from error
        return opened.catalogue

    def state(self, name: str, call: Call) -> JsonObject | None:
        """How far a workspace's index is; None while nobody has asked about it."""
        opened = self._open.get(name)
        return opened.state(call) if opened is not None else None

    def add(self, attached: Attached) -> None:
        """Attach a workspace, durably."""
        self._register.save([*self.all(), attached])
        self._attached[attached.name] = attached

    async def remove(self, name: str, *, delete_index: bool) -> bool:
        """Close a workspace and remove its clone, and its index if that is wanted; whether all of it is gone."""
        self.get(name)
        self._register.save(one for one in self.all() if one.name != name)
        del self._attached[name]
        opened = self._open.pop(name, None)
        if opened is not None:
            await opened.stop()
        going = self.home(name) if delete_index else self.home(name) / CHECKOUT
        await asyncio.to_thread(shutil.rmtree, going, ignore_errors=True)
        return not going.exists()

    async def stop(self) -> None:
        """Close all that are open."""
        opened, self._open = self._open, {}
        await asyncio.gather(*(one.stop() for one in opened.values()))
