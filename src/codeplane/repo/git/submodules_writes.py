"""`git.submodule_init`, `_update`, `_sync`, `_add`, `_deinit` and `_remove`."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from codeplane.kernel.call import Call
from codeplane.kernel.errors import InvalidArgument, NotFound
from codeplane.kernel.operation import Assessment, Budget, Preview, Risk, assesses, operation, previews
from codeplane.kernel.place import InWorkspace
from codeplane.repo.git.answered import Changed
from codeplane.repo.git.contents import Contents
from codeplane.repo.git.losses import Losses, judged, lost_files, previewed
from codeplane.repo.git.picture import pictured
from codeplane.repo.git.recovery import Recovery
from codeplane.repo.git.refusal import redacted
from codeplane.repo.git.remote_names import talking
from codeplane.repo.git.revision import checked
from codeplane.repo.git.writing import Writer, Writing
from codeplane.repo.truth.paths import canonical, shown
from codeplane.repo.workspaces.remote import MAX_URL, Remote

_PATHS = Field((), max_length=500, description="else all of them")
_PATH = Field(min_length=1, max_length=4096)


class SubmoduleInitRequest(InWorkspace):
    """Which submodules."""

    paths: tuple[str, ...] = _PATHS


class SubmoduleSyncRequest(SubmoduleInitRequest):
    """Which submodules."""


class SubmoduleUpdateRequest(SubmoduleInitRequest):
    """Which submodules, and how deep."""

    recursive: bool = False
    init: bool = True


class SubmoduleAddRequest(InWorkspace):
    """What to add, and where."""

    url: str = Field(min_length=1, max_length=MAX_URL, description="https, ssh, git@host:path, git or file")
    path: str = _PATH
    branch: str = Field("", max_length=250)


class SubmoduleDeinitRequest(InWorkspace):
    """Which submodule."""

    path: str = _PATH
    force: bool = Field(False, description="also when something in it was changed")


class SubmoduleRemoveRequest(SubmoduleDeinitRequest):
    """Which submodule."""


class SubmoduleWrites:
    """Changes what submodules there are, and what is checked out in them; none of it can be undone by undo."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._git = writer.git

    @operation("git.submodule_init", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=0)
    async def init(self, call: Call, request: SubmoduleInitRequest) -> Changed:
        """Take the addresses of submodules from .gitmodules into git's settings; git_submodule_update fetches them."""
        return await self._plain(call, "init", request.paths)

    @operation("git.submodule_sync", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=0)
    async def sync(self, call: Call, request: SubmoduleSyncRequest) -> Changed:
        """Take addresses that changed in .gitmodules over into git's settings."""
        return await self._plain(call, "sync", request.paths)

    @operation(
        "git.submodule_update",
        risk=Risk.EXFILTRATION,
        budget=Budget.MUTATION,
        capability="execute_tools",
        timeout_sec=0,
    )
    async def update(self, call: Call, request: SubmoduleUpdateRequest) -> Changed:
        """Check out in each submodule the commit that is recorded for it, fetching what is missing."""
        options = [*(["--init"] if request.init else []), *(["--recursive"] if request.recursive else [])]
        return await self._plain(call, "update", request.paths, *options, remote=True)

    @operation(
        "git.submodule_add", risk=Risk.EXFILTRATION, budget=Budget.MUTATION, capability="execute_tools", timeout_sec=0
    )
    async def add(self, call: Call, request: SubmoduleAddRequest) -> Changed:
        """Add a repository as a submodule and stage it."""
        remote = _remote(request)
        (path,) = self._writer.paths(call, [request.path])
        if path == ".":
            raise InvalidArgument("a submodule needs a folder of its own")
        branch = ["--branch", checked(request.branch)] if request.branch else []
        async with self._writer.writing(call, "submodule_add", undoable=False) as writing:
            await self._talk("add", *branch, "--", remote.url, path)
            return Changed(delta=await writing.finished(compared="index"))

    @operation("git.submodule_deinit", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=0)
    async def deinit(self, call: Call, request: SubmoduleDeinitRequest) -> Changed:
        """Empty a submodule's folder and forget its settings; it stays recorded, and its history stays below .git."""
        async with self._writer.writing(call, "submodule_deinit", undoable=False) as writing:
            path = await self._submodule(call, request.path)
            await self._keep(writing, path, request.force)
            await self._git.run("submodule", "deinit", *(["--force"] if request.force else []), "--", path)
            return Changed(delta=await writing.finished())

    @operation("git.submodule_remove", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=0)
    async def remove(self, call: Call, request: SubmoduleRemoveRequest) -> Changed:
        """Remove a submodule and stage that; its history stays below .git/modules."""
        force = ["--force"] if request.force else []
        async with self._writer.writing(call, "submodule_remove", undoable=False) as writing:
            path = await self._submodule(call, request.path)
            await self._keep(writing, path, request.force)
            await self._git.run("submodule", "deinit", *force, "--", path)
            await self._git.run("rm", "--quiet", *force, "--", path)
            return Changed(delta=await writing.finished(compared="index"))

    @assesses("git.submodule_update")
    def assess_update(self, request: SubmoduleUpdateRequest) -> Assessment:
        """It reaches the remotes that .gitmodules and git's settings name."""
        found: list[str] = []
        for place in (["--file", ".gitmodules"], ["--local"]):
            done = self._git.ask("config", *place, "-z", "--get-regexp", r"^submodule\..*\.url$", check=False)
            found += [redacted(line.partition("\n")[2]) for line in done.fields]
        urls = tuple(dict.fromkeys(found))
        return Assessment(risk=Risk.EXFILTRATION, effects=tuple(f"it fetches from {url}" for url in urls), remotes=urls)

    @assesses("git.submodule_add")
    def assess_add(self, request: SubmoduleAddRequest) -> Assessment:
        """It reaches another machine; a bad address is refused before anyone is asked."""
        remote = _remote(request)
        return Assessment(risk=Risk.EXFILTRATION, effects=(f"it fetches from {remote.shown}",), remotes=(remote.shown,))

    @assesses("git.submodule_deinit")
    def assess_deinit(self, request: SubmoduleDeinitRequest) -> Assessment:
        """With force, changes in the submodule are lost."""
        return judged(self._lost(request))

    @assesses("git.submodule_remove")
    def assess_remove(self, request: SubmoduleRemoveRequest) -> Assessment:
        """With force, changes in the submodule are lost."""
        return judged(self._lost(request))

    @previews("git.submodule_deinit")
    async def preview_deinit(self, request: SubmoduleDeinitRequest) -> Preview:
        """The changes in the submodule."""
        return previewed(f"Empty the submodule {request.path}", self._lost(request))

    @previews("git.submodule_remove")
    async def preview_remove(self, request: SubmoduleRemoveRequest) -> Preview:
        """The changes in the submodule."""
        return previewed(f"Remove the submodule {request.path}", self._lost(request))

    async def _plain(self, call: Call, verb: str, given: Sequence[str], *options: str, remote: bool = False) -> Changed:
        paths = [await self._submodule(call, path) for path in given]
        async with self._writer.writing(call, f"submodule_{verb}", undoable=False) as writing:
            if remote:
                await self._talk(verb, *options, "--", *paths)
            else:
                await self._git.run("submodule", "--quiet", verb, *options, "--", *paths)
            return Changed(delta=await writing.finished())

    async def _talk(self, *arguments: str) -> None:
        limit = self._git.config.remote_timeout_sec
        await self._git.run("submodule", "--quiet", *arguments, env=await talking(self._git), timeout=limit)

    async def _submodule(self, call: Call, path: str) -> str:
        (name,) = self._writer.paths(call, [path])
        done = await self._git.run("ls-files", "--stage", "-z", "--", name)
        if not any(line.startswith("160000 ") and line.endswith(f"\t{name}") for line in done.fields):
            raise NotFound(f"{shown(name)} is no submodule", hint="see git_submodules")
        return name

    async def _keep(self, writing: Writing, path: str, force: bool) -> None:
        """Keep changes in the submodule's own repository, which stays below .git."""
        if not force or not _is_there(self._git.root / path):
            return
        git = self._git.at(self._git.root / path)
        inner = await pictured(git)
        files = await Contents(git).taken(one for one in inner.dirty if not one.endswith("/"))
        if any(files.values()):
            commits = [inner.head] if inner.head else []
            await Recovery(git, self._writer.clock).keep(
                writing.mutation_id, name="work", what="submodule removal", files=files, commits=commits
            )

    def _lost(self, request: SubmoduleDeinitRequest) -> list[str]:
        place = self._git.root / canonical(request.path, root=self._git.root)
        if not request.force or not _is_there(place):
            return []
        losses = Losses(self._git.at(place))
        return lost_files([*losses.edited(against=losses.head), *losses.untracked()], "changes")


def _is_there(place: Path) -> bool:
    return (place / ".git").exists()


def _remote(request: SubmoduleAddRequest) -> Remote:
    remote = Remote.of(request.url)
    if remote.url != remote.shown:
        raise InvalidArgument(
            "the address holds a user or token, which .gitmodules would give to everybody", hint="leave it out"
        )
    return remote
