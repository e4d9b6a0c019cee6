"""`git.submodule_init`, `_update`, `_sync`, `_add`, `_deinit` and `_remove`."""

import asyncio
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import Field

from codeplane.git.read.git_error import redact_urls
from codeplane.git.safety.command import Git
from codeplane.git.safety.contents import Contents
from codeplane.git.safety.loss import Loss, assess_losses, preview_losses
from codeplane.git.safety.loss_finder import LossFinder
from codeplane.git.safety.recovery_refs import RecoveryRefs
from codeplane.git.safety.removed_files import LockHolder, RemovedFiles, ignored_files, no_lock_holder, refuse_served
from codeplane.git.write.git_delta import Changed
from codeplane.git.write.git_snapshot import take_snapshot
from codeplane.git.write.mutation import GitMutation
from codeplane.git.write.preview_facts import PreviewFacts, list_lines
from codeplane.git.write.revision import check_ref
from codeplane.git.write.submodule_checkout import SubmoduleCheckout
from codeplane.git.write.submodule_settings import SubmoduleSettings
from codeplane.git.write.writer import Writer
from codeplane.index.files.paths import canonical, path_text
from codeplane.index.workspaces.remote import MAX_URL, Remote
from codeplane.kernel.call import Call
from codeplane.kernel.errors import InvalidArgument, NotFound
from codeplane.kernel.operation import Assessment, Budget, Preview, Risk, assesses, operation, previews
from codeplane.kernel.workspace_request import WorkspaceRequest

_PATHS = Field((), max_length=500, description="else all of them")
_PATH = Field(min_length=1, max_length=4096)


class SubmoduleInitRequest(WorkspaceRequest):
    """Which submodules."""

    paths: tuple[str, ...] = _PATHS


class SubmoduleSyncRequest(SubmoduleInitRequest):
    """Which submodules."""


class SubmoduleUpdateRequest(SubmoduleInitRequest):
    """Which submodules, and how deep."""

    recursive: bool = False
    init: bool = True


class SubmoduleAddRequest(WorkspaceRequest):
    """What to add, and where."""

    url: str = Field(min_length=1, max_length=MAX_URL, description="https, ssh, git@host:path, git or file")
    path: str = _PATH
    branch: str = Field("", max_length=250)


class SubmoduleDeinitRequest(WorkspaceRequest):
    """Which submodule."""

    path: str = _PATH
    force: bool = Field(False, description="also when something in it was changed")


class SubmoduleRemoveRequest(SubmoduleDeinitRequest):
    """Which submodule."""


class SubmoduleWrites:
    """Add, update and remove submodules; none of it can be undone by undo."""

    def __init__(self, writer: Writer, lock_holder: LockHolder = no_lock_holder) -> None:
        self._writer = writer
        self._lock_holder = lock_holder
        self._git = writer.git

    @operation("git.submodule_init", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=0)
    async def init(self, call: Call, request: SubmoduleInitRequest) -> Changed:
        """Take the addresses of submodules from .gitmodules into git's settings; git_submodule_update fetches them."""
        return await self._run_submodule(call, "init", request.paths)

    @operation("git.submodule_sync", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=0)
    async def sync(self, call: Call, request: SubmoduleSyncRequest) -> Changed:
        """Take addresses that changed in .gitmodules over into git's settings."""
        return await self._run_submodule(call, "sync", request.paths)

    @operation(
        "git.submodule_update",
        risk=Risk.EXFILTRATION,
        budget=Budget.MUTATION,
        capability="execute_tools",
        timeout_sec=0,
    )
    async def update(self, call: Call, request: SubmoduleUpdateRequest) -> Changed:
        """Check out in each submodule the commit that is recorded for it, fetching what is missing."""
        await asyncio.to_thread(self._refuse_replaced, request.paths, nested=request.recursive)
        paths = [await self._submodule(call, path) for path in request.paths]
        async with self._writer.mutation(call, "submodule_update", undoable=False) as mutation:
            checkout = SubmoduleCheckout(self._writer, call)
            await checkout.update(mutation, paths, init=request.init, recursive=request.recursive)
            return Changed(delta=await mutation.finish())

    @operation(
        "git.submodule_add", risk=Risk.EXFILTRATION, budget=Budget.MUTATION, capability="execute_tools", timeout_sec=0
    )
    async def add(self, call: Call, request: SubmoduleAddRequest) -> Changed:
        """Add a repository as a submodule and stage it."""
        remote = _remote(request)
        (path,) = self._writer.permission.admit_paths(call, [request.path])
        if path == ".":
            raise InvalidArgument("a submodule needs a folder of its own")
        branch = check_ref(request.branch) if request.branch else ""
        async with self._writer.mutation(call, "submodule_add", undoable=False) as mutation:
            await SubmoduleCheckout(self._writer, call).add(mutation, remote.url, path, branch)
            return Changed(delta=await mutation.finish(compared="index"))

    @operation("git.submodule_deinit", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=0)
    async def deinit(self, call: Call, request: SubmoduleDeinitRequest) -> Changed:
        """Empty a submodule's folder and forget its settings; it stays recorded, and its history stays below .git."""
        async with self._writer.mutation(call, "submodule_deinit", undoable=False) as mutation:
            path = await self._submodule(call, request.path)
            await asyncio.to_thread(self._refuse_replaced, [path])
            await self._keep(call, mutation, path, request.force)
            force = ["--force"] if request.force else []
            await self._git.run("submodule", "deinit", *force, "--", path, env=await self._variables(path))
            return Changed(delta=await mutation.finish())

    @operation("git.submodule_remove", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=0)
    async def remove(self, call: Call, request: SubmoduleRemoveRequest) -> Changed:
        """Remove a submodule and stage that; its history stays below .git/modules."""
        force = ["--force"] if request.force else []
        async with self._writer.mutation(call, "submodule_remove", undoable=False) as mutation:
            path = await self._submodule(call, request.path)
            await asyncio.to_thread(self._refuse_replaced, [path])
            await self._keep(call, mutation, path, request.force)
            await self._git.run("submodule", "deinit", *force, "--", path, env=await self._variables(path))
            await self._git.run("rm", "--quiet", *force, "--", path)
            return Changed(delta=await mutation.finish(compared="index"))

    @assesses("git.submodule_update")
    def assess_update(self, request: SubmoduleUpdateRequest) -> Assessment:
        """It reaches the remotes that .gitmodules and git's settings name; one without is refused before anyone is
        asked."""
        settings = SubmoduleSettings(self._git)
        settings.names_to_update(
            self._recorded_commits([canonical(path, root=self._git.root) for path in request.paths])
        )
        urls = tuple(dict.fromkeys(redact_urls(url) for _, url in settings.addresses))
        return Assessment(risk=Risk.EXFILTRATION, effects=tuple(f"it fetches from {url}" for url in urls), remotes=urls)

    @previews("git.submodule_update")
    async def preview_update(self, request: SubmoduleUpdateRequest) -> Preview:
        """Preview the submodules with their commits and addresses."""
        return await asyncio.to_thread(self._preview_update, request)

    @assesses("git.submodule_add")
    def assess_add(self, request: SubmoduleAddRequest) -> Assessment:
        """It reaches another machine; a bad address is refused before anyone is asked."""
        remote = _remote(request)
        return Assessment(risk=Risk.EXFILTRATION, effects=(f"it fetches from {remote.shown}",), remotes=(remote.shown,))

    @previews("git.submodule_add")
    async def preview_add(self, request: SubmoduleAddRequest) -> Preview:
        """Preview the address, branch and folder of a new submodule."""
        remote, path = _remote(request), canonical(request.path, root=self._git.root)
        facts = [f"from {remote.shown}", f"branch: {path_text(request.branch) or 'the one of the remote'}"]
        facts += [f"into the folder {path_text(path)}, which is staged with .gitmodules"]
        facts.append(f"in {await asyncio.to_thread(PreviewFacts(self._git).head)}")
        return preview_losses(f"Add the submodule {path} from {remote.shown}", [], facts)

    @assesses("git.submodule_deinit")
    def assess_deinit(self, request: SubmoduleDeinitRequest) -> Assessment:
        """Assess the loss of changes in the submodule, with force."""
        return assess_losses(self._find_losses(request), kinds=("delete",))

    @assesses("git.submodule_remove")
    def assess_remove(self, request: SubmoduleRemoveRequest) -> Assessment:
        """Assess the loss of changes in the submodule, with force."""
        return assess_losses(self._find_losses(request), kinds=("delete",))

    @previews("git.submodule_deinit")
    async def preview_deinit(self, request: SubmoduleDeinitRequest) -> Preview:
        """Preview the changes in the submodule."""
        return await asyncio.to_thread(self._preview, f"Empty the submodule {request.path}", request)

    @previews("git.submodule_remove")
    async def preview_remove(self, request: SubmoduleRemoveRequest) -> Preview:
        """Preview the changes in the submodule."""
        return await asyncio.to_thread(self._preview, f"Remove the submodule {request.path}", request)

    def _preview(self, summary: str, request: SubmoduleDeinitRequest) -> Preview:
        path = canonical(request.path, root=self._git.root)
        facts = [f"recorded at {self._recorded_commits([path]).get(path, 'nothing')}"]
        if _is_there(self._git.root / path):
            facts.append(f"in it {PreviewFacts(self._git.at(self._git.root / path)).head()}")
        facts += ["also with changes in it"] if request.force else []
        return preview_losses(summary, self._find_losses(request), facts)

    def _preview_update(self, request: SubmoduleUpdateRequest) -> Preview:
        recorded = self._recorded_commits([canonical(path, root=self._git.root) for path in request.paths])
        lines = [f"{path_text(path)} at {oid}" for path, oid in sorted(recorded.items())]
        facts = list_lines(f"{len(lines)} submodules", lines, len(lines))
        addresses = sorted(SubmoduleSettings(self._git).addresses)
        urls = [f"{path_text(name)} = {path_text(redact_urls(url))}" for name, url in addresses]
        facts += list_lines("addresses that are set", urls, len(urls))
        facts += ["with those inside of them, wherever those lead"] if request.recursive else []
        facts += ["those that were not used before are set up"] if request.init else []
        return preview_losses(f"Update {len(lines)} submodules", [], facts, bound=[repr(lines + urls).encode()])

    def _recorded_commits(self, paths: Sequence[str]) -> dict[str, str]:
        """Return the recorded commits of submodules by path."""
        commits = {}
        for line in self._git.ask("ls-files", "--stage", "-z", "--", *paths).fields:
            facts, _, path = line.partition("\t")
            if facts.startswith("160000 "):
                commits[path] = facts.split(" ")[1]
        return commits

    def _refuse_replaced(self, paths: Sequence[str], *, nested: bool = False) -> None:
        """Raise GitRefused when git would enter a submodule whose git folder is outside the repository's own."""
        for path in self._recorded_commits([canonical(path, root=self._git.root) for path in paths]):
            for folder in _repositories(self._git.root / path, nested=nested):
                self._git.at(folder).refuse_outside()

    async def _variables(self, path: str) -> dict[str, str]:
        """Return the variables that sandbox what git runs to check files in a submodule."""
        place = self._git.root / path
        return await asyncio.to_thread(self._git.at(place).settings_variables) if _is_there(place) else {}

    async def _run_submodule(self, call: Call, verb: str, given: Sequence[str]) -> Changed:
        paths = [await self._submodule(call, path) for path in given]
        async with self._writer.mutation(call, f"submodule_{verb}", undoable=False) as mutation:
            await self._git.run("submodule", "--quiet", verb, "--", *paths)
            return Changed(delta=await mutation.finish())

    async def _submodule(self, call: Call, path: str) -> str:
        (name,) = self._writer.permission.admit_paths(call, [path])
        done = await self._git.run("ls-files", "--stage", "-z", "--", name)
        if not any(line.startswith("160000 ") and line.endswith(f"\t{name}") for line in done.fields):
            raise NotFound(f"{path_text(name)} is no submodule", hint="see git_submodules")
        return name

    async def _keep(self, call: Call, mutation: GitMutation, path: str, force: bool) -> None:
        """Keep uncommitted changes in the submodule's own repository, which stays below .git."""
        if not _is_there(self._git.root / path):
            return
        git = self._git.at(self._git.root / path)
        await asyncio.to_thread(refuse_served, git.root, self._lock_holder)
        removed = await asyncio.to_thread(self._removed_files, git, force)
        if not force:
            removed.refuse()
            return
        inner = await take_snapshot(git)
        kept = set(removed.kept)
        files = await Contents(git).capture(path for path in inner.dirty if path in kept)
        if any(files.values()):
            commits = [inner.head] if inner.head else []
            await RecoveryRefs(git, self._writer.clock).keep(
                mutation.mutation_id, name="work", what="submodule removal", files=files, commits=commits
            )
        removed.warn(call)

    def _removed_files(self, git: Git, force: bool) -> RemovedFiles:
        """Return the files that are removed with a submodule; without force git refuses when there are changes."""
        losses = LossFinder(git)
        changed = losses.list_edited(against=losses.head) if force else []
        paths = [*changed, *losses.list_untracked(), *ignored_files(git)]
        return RemovedFiles.of(
            git.root,
            (path for path in paths if not path.endswith("/")),
            root=self._git.root,
            secrets=self._writer.secrets,
        )

    def _find_losses(self, request: SubmoduleDeinitRequest) -> list[Loss]:
        place = self._git.root / canonical(request.path, root=self._git.root)
        if not _is_there(place):
            return []
        git = self._git.at(place)
        refuse_served(place, self._lock_holder)
        removed = self._removed_files(git, request.force)
        if not request.force:
            removed.refuse()
            return []
        losses, kept = LossFinder(git), set(removed.kept)
        changed = [*losses.list_edited(against=losses.head), *losses.list_untracked()]
        return [*removed.losses(), *losses.files([path for path in changed if path in kept], "changes")]


def _repositories(place: Path, *, nested: bool) -> Iterator[Path]:
    """Find the repositories in a folder, the submodule itself first."""
    for folder, folders, files in os.walk(place):
        if ".git" in folders or ".git" in files:
            yield Path(folder)
        if not nested:
            return


def _is_there(place: Path) -> bool:
    return (place / ".git").exists()


def _remote(request: SubmoduleAddRequest) -> Remote:
    remote = Remote.of(request.url)
    if remote.url != remote.shown:
        raise InvalidArgument(
            "the address holds a user or token, which .gitmodules would give to everybody", hint="leave it out"
        )
    return remote
