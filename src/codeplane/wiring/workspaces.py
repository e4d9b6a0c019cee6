"""Attached workspaces, read-only."""

import os
from dataclasses import dataclass
from pathlib import Path

from codeplane.adapters.bubblewrap import Bubblewrap
from codeplane.adapters.file_replacement import replace_file
from codeplane.adapters.git_clone import GitClone
from codeplane.adapters.pygit2_repo import GitRepo
from codeplane.adapters.secret_files import SecretFiles
from codeplane.git.read.reader import Before
from codeplane.index.service import STREAM
from codeplane.index.workspaces.folders import Folders
from codeplane.index.workspaces.leases import Leases
from codeplane.index.workspaces.operations import WorkspaceOperations
from codeplane.index.workspaces.register import AttachedWorkspace, Register
from codeplane.index.workspaces.workspaces import CHECKOUT, Workspaces
from codeplane.kernel.call import Call
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.json import JsonObject
from codeplane.kernel.workspace import Workspace
from codeplane.testing.suite import CACHE
from codeplane.wiring.foundation import Foundation
from codeplane.wiring.part import House, Part, PlaneWiring
from codeplane.wiring.repository import Repository, build_repository


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opened:
    """An attached workspace that somebody has asked about."""

    repository: Repository
    catalogue: Catalogue
    leases: Leases

    @property
    def is_idle(self) -> bool:
        return self.leases.is_idle

    def state(self, call: Call) -> JsonObject:
        return self.repository.index.state(call)

    async def stop(self) -> None:
        await self.leases.close()
        await self.repository.index.stop()


def build_workspaces(foundation: Foundation) -> tuple[Workspaces, WorkspaceOperations]:
    """The further workspaces of a serving one, and the operations that attach and detach them."""
    config, workspace = foundation.config.workspaces, foundation.workspace
    logger = foundation.logs.logger("workspaces")
    folder = workspace.workspaces.resolve()
    folders = Folders(serving=workspace.root.resolve(), home=Path.home().resolve(), roots=config.roots)

    def open_attached(attached: AttachedWorkspace, home: Path) -> _Opened:
        built = build_repository(
            foundation,
            root=attached.root,
            home=home,
            exports=workspace.exports / attached.name,
            repo=GitRepo(attached.root),
            stream=f"{STREAM}/{attached.name}",
            attached=True,
            before=_enclosure(workspace, attached.root, foundation.secrets),
            hidden=workspace.home,
        )
        leases = Leases()
        return _Opened(repository=built, catalogue=Catalogue(built.operations, around=leases.around), leases=leases)

    register = Register(
        workspace.attached,
        write=replace_file,
        clone_at=lambda name: folder / name / CHECKOUT,
        refuse=folders.refuse,
        logger=lambda event, facts: logger.warning(event, **facts),
    )
    workspaces = Workspaces(folder=folder, register=register, opened=open_attached)
    cloner = GitClone(max_mb=config.max_clone_mb, timeout_sec=config.clone_timeout_sec, outside=workspace.root)
    operations = WorkspaceOperations(
        workspaces=workspaces, folders=folders, cloner=cloner, max_attached=config.max_attached
    )
    return workspaces, operations


def _enclosure(workspace: Workspace, root: Path, secrets: SecretFiles) -> Before | None:
    """The sandbox of the git that reads a folder inside the served repository.

    Tests and commands can write all of it, also its git settings, and git would run the filters they name.
    """
    home = workspace.home.resolve()
    if workspace.root.resolve() not in root.parents or home in root.parents:
        return None
    sandbox = Bubblewrap(
        home=Path.home(),
        hidden=(home,),
        cache=workspace.home / "tests" / CACHE,
        environment=os.environ,
        secrets=secrets,
    )
    if sandbox.unavailable_reason():
        return None
    reach = _Reach(root=root)
    return lambda folder, _: sandbox.command([], cwd=folder, enclosure=reach)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reach:
    """One folder, and nothing else."""

    root: Path
    writable: tuple[Path, ...] = ()
    tools: tuple[Path, ...] = ()
    network: bool = False
    copy: None = None
    secrets: tuple[str, ...] = ()


class WorkspacesWiring(PlaneWiring):
    """Attaches and detaches them."""

    def __init__(self, house: House) -> None:
        super().__init__(house)
        self.workspaces, self._operations = build_workspaces(self.foundation)

    def part(self, conveyor: Conveyor) -> Part:
        return Part(operations=(self._operations,), stop=self.workspaces.stop)
