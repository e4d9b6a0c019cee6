"""`workspace.attach`, `workspace.detach`, `workspace.list` and `git.clone`."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from pydantic import Field

from codeplane.index.files.paths import path_text
from codeplane.index.workspaces.folders import Folders
from codeplane.index.workspaces.register import AttachedWorkspace
from codeplane.index.workspaces.remote import MAX_URL, Remote
from codeplane.index.workspaces.workspace_name import check_name, suggest_name
from codeplane.index.workspaces.workspaces import CHECKOUT, PARTIAL, Workspaces
from codeplane.kernel.call import Call
from codeplane.kernel.errors import InvalidArgument, PathDenied, TooLarge
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Assessment, Budget, Preview, Request, Result, Risk, assesses, operation, previews
from codeplane.kernel.plural import plural

_NAME = Field("", max_length=100, description="made from the folder's or remote's without it")
_TEMPORARY = Field(False, description="it may be detached again when there is no more room, the oldest first")


class Cloner(Protocol):
    """Clones repositories with git."""

    async def clone(
        self, remote: Remote, target: Path, *, branch: str, recurse_submodules: bool, fetch_lfs: bool, call: Call
    ) -> None:
        """Clone into a new folder, which is removed on failure."""
        ...


class AttachRequest(Request):
    """Which folder."""

    path: str = Field(min_length=1, max_length=4096, description="absolute, from ~, or relative to the repository")
    name: str = _NAME
    temporary: bool = _TEMPORARY


class DetachRequest(Request):
    """Which workspace."""

    name: str = Field(min_length=1, max_length=100)
    delete_index: bool = True


class CloneRequest(Request):
    """What to clone, and how much of it."""

    url: str = Field(min_length=1, max_length=MAX_URL, description="https, ssh, git@host:path, git or file")
    name: str = _NAME
    branch: str = Field("", max_length=250, description="or tag; the remote's own without it")
    recurse_submodules: bool = False
    fetch_lfs: bool = False
    temporary: bool = _TEMPORARY


class ListRequest(Request):
    """No arguments."""


class WorkspaceInfo(Result):
    """An attached workspace, and how far its index is; without `index` nobody has asked about it yet."""

    name: str
    root: str
    url: str | None = None
    index: dict[str, int | str | bool | None] | None = None

    def text(self) -> str:
        where = f"{self.name}  {self.root}" + (f"  from {self.url}" if self.url else "")
        if self.index is None:
            return f"{where}  not opened"
        return f"{where}  epoch {self.index['epoch']}, {plural(int(str(self.index['files'])), 'file')}"


class WorkspaceList(Result):
    """Everything attached."""

    workspaces: tuple[WorkspaceInfo, ...]

    def text(self) -> str:
        return "\n".join(workspace.text() for workspace in self.workspaces) or "[no further workspaces]"


class DetachResult(Result):
    """What is no longer attached, and what was removed with it."""

    name: str
    index_deleted: bool
    clone_deleted: bool

    def text(self) -> str:
        gone = [word for word, is_gone in (("index", self.index_deleted), ("clone", self.clone_deleted)) if is_gone]
        return f"{self.name} detached" + (f"; removed: {', '.join(gone)}" if gone else "")


class WorkspaceOperations:
    """Attaches folders and clones as workspaces that other operations take by name."""

    def __init__(self, *, workspaces: Workspaces, folders: Folders, cloner: Cloner, max_attached: int) -> None:
        self._workspaces = workspaces
        self._folders = folders
        self._cloner = cloner
        self._max_attached = max_attached
        self._busy: set[str] = set()

    @operation("workspace.attach", risk=Risk.WRITE, budget=Budget.MUTATION, capability="execute_tools")
    async def attach(self, call: Call, request: AttachRequest) -> WorkspaceInfo:
        """Make another folder searchable and readable: give its name as `workspace` to search, read_files and others.

        Nothing is written into the folder. Folders outside `workspaces.roots` need the owner's leave.
        """
        root = await asyncio.to_thread(self._folders.check, request.path)
        name = check_name(request.name) if request.name else suggest_name(root.name)
        same = self._workspaces.at(root)
        if same is not None and same.temporary and not request.temporary and request.name in ("", same.name):
            same = replace(same, temporary=False)
            self._workspaces.add(same)
            await call.record([("workspaces", "workspace.attached", {"name": same.name, "root": path_text(str(root))})])
            return self._info(call, same)
        async with self._reserve(call, name):
            if same := self._workspaces.at(root):
                raise InvalidArgument(f"that folder is attached already, as {same.name}", hint="use it as it is")
            attached = AttachedWorkspace(name=name, root=root, temporary=request.temporary)
            self._workspaces.add(attached)
        await call.record([("workspaces", "workspace.attached", {"name": name, "root": path_text(str(root))})])
        return self._info(call, attached)

    @assesses("workspace.attach")
    def assess_attach(self, request: AttachRequest) -> Assessment:
        """Reading another folder is a write where the owner allowed it, else exfiltration.

        What nobody can open is refused before anyone is asked: no leave would help.
        """
        real = self._folders.resolve_path(request.path)
        self._folders.refuse(real)
        if self._folders.is_allowed(real):
            return Assessment(risk=Risk.WRITE)
        return Assessment(risk=Risk.EXFILTRATION, effects=("it opens a folder outside workspaces.roots to agents",))

    @previews("workspace.attach")
    async def preview_attach(self, request: AttachRequest) -> Preview:
        """Show where the folder really lies."""
        root = await asyncio.to_thread(self._folders.check, request.path)
        name = check_name(request.name) if request.name else suggest_name(root.name)
        position = "is inside" if self._folders.is_allowed(root) else "is OUTSIDE"
        facts = [
            f"folder: {path_text(str(root))}",
            f"asked for as: {path_text(request.path)}",
            f"it {position} workspaces.roots",
            "its files can be searched and read by agents then; nothing is written into it",
        ]
        return Preview(summary=f"attach {path_text(str(root))} as {name}", body="\n".join(facts))

    @operation("workspace.detach", risk=Risk.WRITE, budget=Budget.MUTATION, capability="execute_tools")
    async def detach(self, call: Call, request: DetachRequest) -> DetachResult:
        """Forget an attached workspace; its index goes too unless delete_index is false, and so does a clone."""
        name = request.name
        attached = self._workspaces.get(name)
        self._refuse_busy(name)
        gone = await self._remove(call, name, delete_index=request.delete_index)
        return DetachResult(
            name=name,
            index_deleted=gone and request.delete_index,
            clone_deleted=gone and attached.url is not None,
        )

    @operation("workspace.list", risk=Risk.READ)
    async def list(self, call: Call, request: ListRequest) -> WorkspaceList:
        """The workspaces that can be named beside the repository itself."""
        return WorkspaceList(workspaces=tuple(self._info(call, workspace) for workspace in self._workspaces.all()))

    @operation("git.clone", risk=Risk.EXFILTRATION, budget=Budget.MUTATION, capability="execute_tools", timeout_sec=0)
    async def clone(self, call: Call, request: CloneRequest) -> WorkspaceInfo:
        """Clone a remote and attach it: give its name as `workspace` to search, read_files and others.

        The user's git credentials are used and nobody is asked for any; submodules and LFS files are left out.
        """
        remote = self._remote(request)
        if request.branch.startswith("-") or not request.branch.isprintable():
            raise InvalidArgument("that is no branch's name", hint="leave branch out for the remote's own")
        name = check_name(request.name) if request.name else suggest_name(remote.last)
        async with self._reserve(call, name):
            home = self._workspaces.home(name)
            partial, target = home / PARTIAL, home / CHECKOUT
            await asyncio.to_thread(_clear, home, partial, target)
            try:
                await self._cloner.clone(
                    remote,
                    partial,
                    branch=request.branch,
                    recurse_submodules=request.recurse_submodules,
                    fetch_lfs=request.fetch_lfs,
                    call=call,
                )
                partial.rename(target)
                attached = AttachedWorkspace(name=name, root=target, url=remote.shown, temporary=request.temporary)
                self._workspaces.add(attached)
            except BaseException:
                await asyncio.shield(asyncio.to_thread(shutil.rmtree, target, ignore_errors=True))
                raise
        await call.record([("workspaces", "workspace.cloned", {"name": name, "url": remote.shown})])
        return self._info(call, attached)

    @assesses("git.clone")
    def assess_clone(self, request: CloneRequest) -> Assessment:
        """Cloning reaches another machine; a bad address is refused before approval."""
        remote = self._remote(request)
        return Assessment(risk=Risk.EXFILTRATION, effects=(f"it fetches from {remote.shown}",), remotes=(remote.shown,))

    @previews("git.clone")
    async def preview_clone(self, request: CloneRequest) -> Preview:
        """Show what is cloned from where into which folder."""
        remote = self._remote(request)
        name = check_name(request.name) if request.name else suggest_name(remote.last)
        facts = [
            f"from: {remote.shown}",
            f"branch: {path_text(request.branch) or 'the one of the remote'}",
            f"into: {path_text(str(self._workspaces.home(name) / CHECKOUT))}",
            f"submodules: {'fetched too, wherever they lead' if request.recurse_submodules else 'left out'}",
            f"LFS files: {'fetched too' if request.fetch_lfs else 'left out'}",
        ]
        return Preview(summary=f"clone {remote.shown} as {name}", body="\n".join(facts))

    def _remote(self, request: CloneRequest) -> Remote:
        remote = Remote.of(request.url)
        if remote.folder is not None and not self._folders.is_allowed(self._folders.resolve_path(remote.folder)):
            # Leave to clone from other machines is no leave to read all of this one.
            raise PathDenied(
                "that repository of this machine is outside workspaces.roots",
                hint="the owner can name a folder around it under workspaces.roots in .codeplane/config.yaml",
            )
        return remote

    @asynccontextmanager
    async def _reserve(self, call: Call, name: str) -> AsyncIterator[None]:
        """Reserve a free name while it is being attached, and make room for it."""
        self._refuse_busy(name)
        if any(workspace.name == name for workspace in self._workspaces.all()):
            raise InvalidArgument(f"a workspace is called {name} already", hint="give another name, or detach it first")
        self._busy.add(name)
        try:
            await self._make_room(call)
            yield
        finally:
            self._busy.discard(name)

    async def _make_room(self, call: Call) -> None:
        """Detach the oldest temporary workspaces that nobody is asking, as far as there is no room."""
        while len(self._workspaces) + len(self._busy) > self._max_attached:
            oldest = self._workspaces.oldest_temporary()
            if oldest is None:
                raise TooLarge(
                    f"{len(self._workspaces)} workspaces are attached, and no more may be",
                    hint="detach one, or raise workspaces.max_attached",
                    details={"limit": "workspaces.max_attached"},
                )
            await self._remove(call, oldest.name, delete_index=True)

    async def _remove(self, call: Call, name: str, *, delete_index: bool) -> bool:
        self._busy.add(name)
        try:
            gone = await self._workspaces.remove(name, delete_index=delete_index)
        finally:
            self._busy.discard(name)
        if not gone:
            call.warn(f"some files below {self._workspaces.home(name)} could not be removed")
        await call.record([("workspaces", "workspace.detached", {"name": name})])
        return gone

    def _refuse_busy(self, name: str) -> None:
        if name in self._busy:
            raise InvalidArgument(f"{name} is just being attached or detached", hint="call again when that has ended")

    def _info(self, call: Call, attached: AttachedWorkspace) -> WorkspaceInfo:
        state = self._workspaces.state(attached.name, call)
        return WorkspaceInfo(
            name=attached.name, root=path_text(str(attached.root)), url=attached.url, index=state and _index(state)
        )


def _index(state: JsonObject) -> dict[str, int | str | bool | None]:
    version, files, commit = state.get("version"), state.get("file_count"), state.get("commit")
    return {
        "epoch": version if isinstance(version, int) else 0,
        "files": files if isinstance(files, int) else 0,
        "commit": commit if isinstance(commit, str) else None,
        "healthy": state.get("healthy") is True,
    }


def _clear(home: Path, *leftovers: Path) -> None:
    """Remove leftovers of an earlier clone."""
    home.mkdir(parents=True, exist_ok=True)
    for leftover in leftovers:
        shutil.rmtree(leftover, ignore_errors=True)
