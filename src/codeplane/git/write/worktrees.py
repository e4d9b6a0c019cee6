"""`git.worktree_add`, `_open`, `_remove`, `_lock`, `_unlock` and `_prune`."""

import asyncio
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from codeplane.git.safety.command import Git
from codeplane.git.safety.contents import Contents
from codeplane.git.safety.loss import Loss, assess_losses, preview_losses
from codeplane.git.safety.loss_finder import LossFinder
from codeplane.git.safety.recovery_refs import RecoveryRefs
from codeplane.git.safety.removed_files import LockHolder, RemovedFiles, ignored_files, no_lock_holder, refuse_served
from codeplane.git.write.branches import HEADS
from codeplane.git.write.git_delta import Changed
from codeplane.git.write.git_snapshot import take_snapshot
from codeplane.git.write.mutation import run_to_end
from codeplane.git.write.new_branch import refuse_taken, track
from codeplane.git.write.preview_facts import PreviewFacts
from codeplane.git.write.revision import MAX_REF, Revision, check_new_name, resolve_commit_now, resolve_revision
from codeplane.git.write.worktree_places import WorktreePlaces, exclude_worktree, forget_excluded, worktree_paths
from codeplane.git.write.writer import Writer
from codeplane.index.files.paths import path_text
from codeplane.kernel.call import Call
from codeplane.kernel.errors import CodePlaneError, GitBusy, GitRefused, InvalidArgument, NotFound, TooLarge
from codeplane.kernel.operation import (
    Assessment,
    Budget,
    Preview,
    Result,
    Risk,
    assesses,
    foresees,
    operation,
    previews,
)
from codeplane.kernel.reserved_folders import is_codeplanes
from codeplane.kernel.workspace_request import WorkspaceRequest

_MAX_IGNORED = 20_000
_WORK = "work"
_NAME = Field(min_length=1, max_length=4096, description="its folder's name, or its path")


class WorktreeAddRequest(WorkspaceRequest):
    """Where, and what is checked out there."""

    synonyms: ClassVar[Mapping[str, str]] = {"name": "path", "folder": "path", "directory": "path"}

    path: str = Field(min_length=1, max_length=4096, description="a folder inside the repository, not there yet")
    ref: str = Field("HEAD", max_length=MAX_REF, description="what is checked out: a branch there is, or a commit")
    branch: str = Field("", max_length=250, description="make this new branch for it, at ref")


class WorktreeRequest(WorkspaceRequest):
    """Which work tree."""

    synonyms: ClassVar[Mapping[str, str]] = {"path": "name", "folder": "name", "directory": "name"}

    name: str = _NAME


class WorktreeOpenRequest(WorktreeRequest):
    """Which work tree."""


class WorktreeRemoveRequest(WorktreeRequest):
    """Which work tree."""

    force: bool = Field(False, description="also when something in it was changed")


class WorktreeLockRequest(WorktreeRequest):
    """Which work tree, and why."""

    reason: str = Field("", max_length=500)


class WorktreeUnlockRequest(WorktreeRequest):
    """Which work tree."""


class WorktreePruneRequest(WorkspaceRequest):
    """No arguments."""


class Opened(Result):
    """A work tree: workspace_attach makes it searchable by its path."""

    name: str
    path: str
    branch: str | None
    head: str | None

    def text(self) -> str:
        return f"{self.path}  {self.branch or 'detached'} at {(self.head or 'no commit')[:9]}"


class WorktreeChanged(Changed):
    """A work tree that was made, removed, locked or unlocked."""

    worktree: str
    excluded: str | None = Field(None, description="the line in .git/info/exclude that keeps it out of commits here")

    def text(self) -> str:
        kept = [f"kept out of commits here by {self.excluded} in .git/info/exclude"] if self.excluded else []
        return "\n".join([self.worktree, *kept, *self.delta.effects()])


class WorktreeWrites:
    """Add and remove linked work trees of the repository."""

    def __init__(self, writer: Writer, lock_holder: LockHolder = no_lock_holder) -> None:
        self._writer = writer
        self._lock_holder = lock_holder
        self._git = writer.git
        self._places = WorktreePlaces(writer.git)

    @operation("git.worktree_add", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=0)
    async def add(self, call: Call, request: WorktreeAddRequest) -> WorktreeChanged:
        """Check a branch or commit out in a further folder inside the repository; beside it (../name) for the owner,
        and where git.worktree_roots lets agents. undo takes it back while nothing in it was changed."""
        place = await asyncio.to_thread(self._places.place, request.path, call.actor)
        if place.inside is not None:
            self._writer.permission.admit_paths(call, [place.inside])
        name = await check_new_name(self._git, HEADS, request.branch) if request.branch else ""
        async with self._writer.mutation(call, "worktree_add", worktree=str(place.folder)) as mutation:
            revision = await resolve_revision(self._git, request.ref)
            await self._writer.permission.admit_tree(call, revision.commit, prefix=place.prefix)
            # Excluded first, so that a crash leaves no folder that git would stage.
            excluded = await self._exclude(call, place.inside) if place.inside is not None else None
            try:
                await self._check_out(call, place.folder, name, revision)
            except (Exception, asyncio.CancelledError):
                await run_to_end(self._clear_excluded(call))
                raise
            delta = await mutation.finish()
            return WorktreeChanged(delta=delta, worktree=path_text(str(place.folder)), excluded=excluded)

    @assesses("git.worktree_add")
    def assess_add(self, call: Call | None, request: WorktreeAddRequest) -> Assessment:
        """Refuse a place that is not for the caller before a person is asked; name one outside the repository."""
        place = self._places.place(request.path, call.actor if call is not None else None)
        beside = f"makes a folder outside the repository: {path_text(str(place.folder))}"
        return Assessment(risk=Risk.WRITE, effects=() if place.inside is not None else (beside,))

    @previews("git.worktree_add")
    async def preview_add(self, request: WorktreeAddRequest) -> Preview:
        """Preview the new folder and the commit that is checked out there."""
        return await asyncio.to_thread(self._preview_add, request)

    def _preview_add(self, request: WorktreeAddRequest) -> Preview:
        place = self._places.place(request.path, None)
        facts = [f"with {PreviewFacts(self._git).describe_commit(request.ref)}"]
        facts += [f"on the new branch {path_text(request.branch)}"] if request.branch else []
        return preview_losses(f"Make the work tree {place.folder}", (), facts)

    @operation("git.worktree_open", risk=Risk.READ)
    async def open(self, call: Call, request: WorktreeOpenRequest) -> Opened:
        """Where a work tree is and what is checked out in it."""
        path = self._find(request.name)
        inner = self._git.at(path)
        head = await inner.run("rev-parse", "--verify", "--quiet", "HEAD", check=False)
        branch = await inner.run("symbolic-ref", "--quiet", "--short", "HEAD", check=False)
        return Opened(
            name=path_text(path.name),
            path=path_text(str(path)),
            branch=path_text(branch.line) or None,
            head=head.line or None,
        )

    @operation("git.worktree_remove", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=0)
    async def remove(self, call: Call, request: WorktreeRemoveRequest) -> WorktreeChanged:
        """Remove a further work tree; force when something in it was changed, which stays under a recovery ref, or when
        secrets files (.env, keys) lie in it, which are lost for good."""
        path = self._find(request.name)
        async with self._writer.mutation(call, "worktree_remove", undoable=False) as mutation:
            removed, recovery = None, None
            await asyncio.to_thread(refuse_served, path, self._lock_holder)
            if path.is_dir():
                removed, recovery = await self._keep(mutation.mutation_id, path, force=request.force)
            await self._take_away(call, path, mutation.mutation_id, force=request.force)
            if removed is not None:
                removed.warn(call)
            await self._clear_excluded(call)
            delta = (await mutation.finish()).model_copy(update={"recovery": recovery})
            return WorktreeChanged(delta=delta, worktree=path_text(str(path)))

    @operation("git.worktree_lock", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=0)
    async def lock(self, call: Call, request: WorktreeLockRequest) -> WorktreeChanged:
        """Keep a work tree from being pruned or removed."""
        reason = [f"--reason={request.reason}"] if request.reason else []
        return await self._run_worktree(call, "lock", request.name, *reason)

    @operation("git.worktree_unlock", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=0)
    async def unlock(self, call: Call, request: WorktreeUnlockRequest) -> WorktreeChanged:
        """Let a work tree be pruned or removed again."""
        return await self._run_worktree(call, "unlock", request.name)

    @operation("git.worktree_prune", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=0)
    async def prune(self, call: Call, request: WorktreePruneRequest) -> WorktreeChanged:
        """Forget work trees whose folders are gone."""
        async with self._writer.mutation(call, "worktree_prune", undoable=False) as mutation:
            done = await self._git.run("worktree", "prune", "--verbose")
            await self._clear_excluded(call)
            text = "\n".join(path_text(line) for line in (done.line or done.err).splitlines()) or "nothing to forget"
            return WorktreeChanged(delta=await mutation.finish(), worktree=text)

    @foresees("git.worktree_add")
    def foresee_add(self, request: WorktreeAddRequest) -> Iterable[str]:
        """List the files that are checked out."""
        place, commit = self._places.place(request.path, None), resolve_commit_now(self._git, request.ref)
        listed = self._git.ask("ls-tree", "-r", "-z", "--name-only", "--full-tree", commit)
        return [f"{place.prefix}{name}" for name in listed.fields]

    @assesses("git.worktree_remove")
    def assess_remove(self, request: WorktreeRemoveRequest) -> Assessment:
        """Assess the loss of ignored files and, with force, of changes; a folder outside the repository is destructive.

        What is refused without force is refused before a person is asked.
        """
        path = self._find(request.name)
        refuse_served(path, self._lock_holder)
        if path.is_dir() and not request.force:
            self._removed_files(self._git.at(path), _silently_removed(LossFinder(self._git.at(path)))).refuse()
        return assess_losses(self._find_losses(request), kinds=("delete",))

    @previews("git.worktree_remove")
    async def preview_remove(self, request: WorktreeRemoveRequest) -> Preview:
        """Preview the removed folder and the changes in it."""
        return await asyncio.to_thread(self._preview, request)

    def _preview(self, request: WorktreeRemoveRequest) -> Preview:
        path = self._find(request.name)
        facts = [f"the folder {path_text(str(path))}"]
        facts += [f"in it {PreviewFacts(self._git.at(path)).head()}"] if path.is_dir() else ["it is gone already"]
        facts += ["also with changes in it"] if request.force else []
        return preview_losses(f"Remove the work tree {request.name}", self._find_losses(request), facts)

    async def _check_out(self, call: Call, folder: Path, name: str, revision: Revision) -> None:
        """Create the work tree with a new branch, an existing branch, or only a commit."""
        add = ("worktree", "add", "--quiet")
        if name:
            instead = f'to check it out there, send ref="{name}" and no branch'
            await refuse_taken(self._git, name, revision, instead=instead)
            try:
                await self._git.run(*add, "-b", name, "--", str(folder), revision.exact)
            except CodePlaneError:
                # Git creates the branch first, and leaves it when the folder cannot be created.
                await self._git.run("update-ref", "-d", f"{HEADS}{name}", revision.commit, check=False)
                raise
            await track(self._git, call, name, revision)
        elif revision.branch is not None:
            await self._git.run(*add, "--", str(folder), revision.branch)
            head = await self._git.at(folder).run("rev-parse", "--verify", "--quiet", "HEAD", check=False)
            if head.line != revision.commit:
                await self._git.run("worktree", "remove", "--force", "--", str(folder))
                raise GitBusy(f"{path_text(revision.branch)} was moved meanwhile", hint="call again")
        else:
            await self._git.run(*add, "--detach", "--", str(folder), revision.exact)

    async def _run_worktree(self, call: Call, verb: str, name: str, *options: str) -> WorktreeChanged:
        path = self._find(name)
        async with self._writer.mutation(call, f"worktree_{verb}", undoable=False) as mutation:
            await self._git.run("worktree", verb, *options, "--", str(path))
            return WorktreeChanged(delta=await mutation.finish(), worktree=f"{verb}ed {path_text(str(path))}")

    async def _exclude(self, call: Call, path: str) -> str | None:
        """Exclude the folder from this repository; return the line, None when it is ignored anyway."""
        try:
            pattern = await exclude_worktree(self._git, path)
        except (CodePlaneError, OSError) as error:
            call.warn(f"git_stage and checkpoint would take the new folder up, since it could not be ignored: {error}")
            return None
        return path_text(os.fsdecode(pattern)) if pattern is not None else None

    async def _clear_excluded(self, call: Call) -> None:
        """Remove the exclude lines of work trees that are gone."""
        try:
            await asyncio.to_thread(forget_excluded, self._git)
        except (CodePlaneError, OSError) as error:
            call.warn(f".git/info/exclude was not cleared of work trees that are gone: {error}")

    async def _keep(self, mutation_id: str, path: Path, *, force: bool) -> tuple[RemovedFiles, str | None]:
        """Keep uncommitted files; return all files that are removed, and the ref that keeps some of them."""
        git = self._git.at(path)
        losses = LossFinder(git)
        ignored = await asyncio.to_thread(ignored_files, git)
        if not force:
            self._removed_files(git, await asyncio.to_thread(_silently_removed, losses)).refuse()
        own = [path for path in ignored if not is_codeplanes(path)]
        if len(own) > _MAX_IGNORED:
            raise TooLarge(
                f"{len(own)} ignored files lie in {path_text(str(path))}, too many to keep",
                hint="move them elsewhere, or remove them, first",
            )
        if alien := [path for path in own if path.endswith("/")]:
            raise GitRefused(
                f"{path_text(alien[0])} in it is a repository of its own, which cannot be kept",
                hint="move it elsewhere first",
            )
        inner = await take_snapshot(git)
        hidden = await asyncio.to_thread(losses.list_hidden)
        # Without force git refuses when it sees changes.
        changed = {path for path in inner.dirty if not path.endswith("/")} if force else set()
        removed = self._removed_files(git, {*ignored, *hidden, *changed})
        files = await Contents(git).capture(removed.kept)
        commits = [inner.head] if inner.head else []
        ref = None
        if any(files.values()) or inner.symbolic is None:
            # All work trees share their refs, so this one remains.
            ref = await RecoveryRefs(git, self._writer.clock).keep(
                mutation_id, name=_WORK, what="worktree removal", files=files, commits=commits
            )
        return removed, ref if any(files.values()) else None

    async def _take_away(self, call: Call, path: Path, mutation_id: str, *, force: bool) -> None:
        """Remove the work tree; a failure of git is an error only while git still lists it."""
        try:
            await self._git.run("worktree", "remove", *(["--force"] if force else []), "--", str(path))
        except CodePlaneError as error:
            if path in await asyncio.to_thread(worktree_paths, self._git):
                if isinstance(error, GitRefused):
                    # Nothing was removed, so nothing needs to be kept.
                    await self._writer.recovery.drop(mutation_id, name=_WORK)
                raise
            # Git forgets a work tree even when it cannot delete its whole folder.
            is_left = await asyncio.to_thread(path.exists)
            left = f"; what is left of the folder can go: rm -r {path_text(str(path))}" if is_left else ""
            call.warn(f"the work tree is removed, but git could not delete everything in it: {error.message}{left}")

    def _removed_files(self, git: Git, paths: Iterable[str]) -> RemovedFiles:
        return RemovedFiles.of(git.root, paths, root=self._git.root, secrets=self._writer.secrets)

    def _find(self, name: str) -> Path:
        """Return the linked work tree of that name or path, but neither the main nor the served one."""
        paths = worktree_paths(self._git)
        given = Path(os.path.normpath(self._git.root / name))
        matches = [path for path in paths if path == given] or [path for path in paths if path.name == name]
        if len(matches) > 1:
            raise InvalidArgument(
                f"{len(matches)} work trees are called {path_text(name)}", hint="name one by its path"
            )
        if not matches:
            raise NotFound(f"there is no work tree {path_text(name)!r}", hint="see git_worktrees")
        if matches[0] in (self._git.root, paths[0]):
            raise InvalidArgument(f"{path_text(name)!r} is the main work tree, or the one that is served")
        return matches[0]

    def _find_losses(self, request: WorktreeRemoveRequest) -> list[Loss]:
        path = self._find(request.name)
        outside = Loss(text=f"a folder outside the repository: {path_text(str(path))}", kind="delete")
        lost = [] if self._git.root in path.parents else [outside]
        if path.is_dir():
            losses = LossFinder(self._git.at(path))
            ignored, changed = ignored_files(losses.git), losses.list_hidden()
            if request.force:
                edited = losses.list_edited(against=losses.head)
                changed = [*edited, *(path for path in losses.list_untracked() if path not in edited)]
            removed = self._removed_files(losses.git, [*changed, *ignored])
            kept = set(removed.kept)
            lost += removed.losses()
            lost += losses.files([path for path in changed if path in kept], "changes")
            lost += losses.files([path for path in ignored if path in kept], "everything")
        return lost


def _silently_removed(losses: LossFinder) -> list[str]:
    """List the files that git removes without warning, or refuses to remove without naming them."""
    return [*losses.list_hidden(), *losses.list_untracked(), *ignored_files(losses.git)]
