"""`git.checkout`: another branch or commit, or files as another commit has them."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pydantic import Field

from codeplane.git.read.git_error import name_first
from codeplane.git.read.partial_clone import is_partial, missing_objects_error
from codeplane.git.read.repository import common_dir
from codeplane.git.safety.loss import Loss, assess_losses, lost_commits, preview_losses
from codeplane.git.safety.loss_finder import LossFinder
from codeplane.git.safety.obstacles import ChangedPaths, parse_tree_listing
from codeplane.git.write.branches import HEADS
from codeplane.git.write.git_delta import Changed
from codeplane.git.write.mutation import GitMutation
from codeplane.git.write.new_branch import refuse_elsewhere, refuse_taken, track
from codeplane.git.write.preview_facts import PreviewFacts
from codeplane.git.write.revision import (
    MAX_REF,
    Revision,
    check_new_name,
    check_ref,
    exact,
    resolve_commit,
    resolve_commit_now,
    resolve_revision,
    resolve_revision_now,
)
from codeplane.git.write.writer import Writer
from codeplane.index.files.paths import canonical
from codeplane.kernel.call import Call
from codeplane.kernel.errors import InvalidArgument, RefNotFound
from codeplane.kernel.operation import Assessment, Budget, Preview, Risk, assesses, foresees, operation, previews
from codeplane.kernel.workspace_request import WorkspaceRequest


class CheckoutRequest(WorkspaceRequest):
    """What to check out."""

    ref: str = Field(
        min_length=1, max_length=MAX_REF, description="branch, tag or commit; with create a new branch's name"
    )
    create: bool = False
    start: str = Field("", max_length=MAX_REF, description="where a created branch begins; else HEAD")
    paths: tuple[str, ...] = Field((), max_length=5000, description="only make these files what they are in ref")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target(Revision):
    """The target of a switch; `new` for a branch of one remote, for which a local branch is created."""

    new: bool = False


class Checkout:
    """Switch branches and restore files."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._git = writer.git
        self._losses = LossFinder(writer.git)
        self._facts = PreviewFacts(writer.git, writer.secrets)

    @operation("git.checkout", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=0)
    async def checkout(self, call: Call, request: CheckoutRequest) -> Changed:
        """Switch to a branch or commit, or with paths restore files from it; work in the way is never overwritten
        by a switch, and kept under a recovery ref when paths overwrite it."""
        if request.start and not request.create:
            raise InvalidArgument("start is for create", hint="leave start out, or set create")
        if request.paths:
            if request.create:
                raise InvalidArgument("paths and create do not go together", hint="do one after the other")
            return await self._restore(call, request)
        if request.create:
            return await self._create(call, request)
        async with self._writer.mutation(call, "checkout") as mutation:
            target = await asyncio.to_thread(self._target, request.ref)
            await self._reach(mutation, target.commit)
            await self._switch(call, request.ref, target)
            return Changed(delta=await mutation.finish())

    @foresees("git.checkout")
    def foresee_checkout(self, request: CheckoutRequest) -> Iterable[str]:
        """List the files that are restored, or that differ between HEAD and the target."""
        if request.paths:
            paths = [canonical(path, root=self._git.root) or "." for path in request.paths]
            named = self._paths_at(resolve_commit_now(self._git, request.ref), paths)
            return [*(path for path in paths if path != "."), *named.paths, *self._losses.in_place(named)]
        if request.create and not request.start:
            return ()
        target = self._target_now(request.start if request.create else request.ref, guess=not request.create)
        return self._losses.changed_paths(self._losses.head, target).paths if target else ()

    @assesses("git.checkout")
    def assess_checkout(self, call: Call | None, request: CheckoutRequest) -> Assessment:
        """Assess the loss of work under restored files, ignored files in the way, and commits of a detached HEAD."""
        if request.paths:
            self._writer.permission.refuse_secret_changes(call, self.foresee_checkout(request))
        return assess_losses(self._find_losses(request))

    @previews("git.checkout")
    async def preview_checkout(self, request: CheckoutRequest) -> Preview:
        """Preview the target, and the changes or commits that would be lost."""
        return await asyncio.to_thread(self._preview, request)

    def _preview(self, request: CheckoutRequest) -> Preview:
        lost = self._find_losses(request)
        if request.paths:
            paths = [canonical(path, root=self._git.root) or "." for path in request.paths]
            commit = resolve_commit_now(self._git, request.ref)
            facts = [f"from {self._facts.describe_commit(commit)}", *self._facts.diff("-R", commit, paths=paths)]
            return preview_losses(
                f"Make {name_first(paths)} what {request.ref} has", lost, facts, bound=[self._facts.index()]
            )
        ref = request.start if request.create else request.ref
        target = self._target_now(ref, guess=not request.create) if ref else self._losses.head
        facts = [f"{self._facts.head()} → {request.ref} at {target or 'no commit yet'}"]
        made = "Make the branch and check out" if request.create else "Check out"
        return preview_losses(f"{made} {request.ref}", lost, facts)

    async def _create(self, call: Call, request: CheckoutRequest) -> Changed:
        name = await check_new_name(self._git, HEADS, request.ref)
        async with self._writer.mutation(call, "checkout") as mutation:
            if not request.start:
                await self._git.run("checkout", "--quiet", "-b", name, "--")
                return Changed(delta=await mutation.finish())
            start = await resolve_revision(self._git, request.start)
            await self._reach(mutation, start.commit)
            await self._start_branch(call, name, start)
            return Changed(delta=await mutation.finish())

    async def _restore(self, call: Call, request: CheckoutRequest) -> Changed:
        paths = self._writer.permission.admit_paths(call, request.paths)
        async with self._writer.mutation(call, "checkout") as mutation:
            commit = await resolve_commit(self._git, request.ref)
            named = await asyncio.to_thread(self._paths_at, commit, paths)
            self._writer.permission.refuse_secret_changes(call, named.paths)
            hidden = set(await asyncio.to_thread(self._losses.list_hidden, paths)) & named.paths
            await mutation.reach((), hidden=hidden, named=named)
            await mutation.keep_losses()
            await asyncio.to_thread(self._refuse_lacking, commit, paths)
            await self._git.run("checkout", "--quiet", exact(commit), "--", *paths)
            return Changed(delta=await mutation.finish())

    async def _reach(self, mutation: GitMutation, target: str) -> None:
        before = mutation.before
        await mutation.reach_between((before.head, target))
        left = [before.head] if before.symbolic is None and before.head else []
        await mutation.keep_losses(commits=left, work=False)

    async def _switch(self, call: Call, ref: str, target: "_Target") -> None:
        if ref in ("HEAD", "@"):
            await self._git.run("checkout", "--quiet", "HEAD", "--")
        elif target.branch is not None:
            await refuse_elsewhere(self._git, target.branch)
            # With the commit, which was checked, since the branch may move meanwhile.
            await self._git.run("checkout", "--quiet", "-B", target.branch, target.exact, "--")
        elif target.new:
            await self._start_branch(call, await check_new_name(self._git, HEADS, ref), target)
        else:
            await self._git.run("checkout", "--quiet", "--detach", target.exact, "--")

    async def _start_branch(self, call: Call, name: str, start: Revision) -> None:
        """Create a branch at a commit and check it out."""
        await refuse_taken(self._git, name, start, instead="to switch to it, leave out create")
        await self._git.run("checkout", "--quiet", "-b", name, start.exact, "--")
        await track(self._git, call, name, start)

    def _target(self, ref: str) -> "_Target":
        try:
            revision = resolve_revision_now(self._git, ref)
            return _Target(commit=revision.commit, ref=revision.ref)
        except RefNotFound:
            # Git creates a branch of that name when exactly one remote has it.
            pattern = f"refs/remotes/*/{check_ref(ref)}"
            lines = self._git.ask("for-each-ref", "--format=%(objectname) %(refname)", pattern).line.splitlines()
            if len(lines) != 1:
                raise
            commit, _, full = lines[0].partition(" ")
            return _Target(commit=commit, ref=full, new=True)

    def _find_losses(self, request: CheckoutRequest) -> list[Loss]:
        check_ref(request.ref)
        if request.paths:
            return self._lost_below(request)
        if request.create and not request.start:
            return []
        ref = check_ref(request.start) if request.create else request.ref
        target = self._target_now(ref, guess=not request.create)
        head, branch = self._losses.head, self._losses.head_ref
        lost: list[Loss] = []
        if head is not None and branch is None:
            commits = self._losses.commits(head, kept=[target] if target else [])
            lost += lost_commits(commits, "that only HEAD reaches, which is on no branch")
        if target:
            lost += self._losses.files(
                self._losses.list_ignored(self._losses.changed_paths(head, target)), "everything"
            )
        return lost

    def _target_now(self, ref: str, *, guess: bool) -> str:
        """Resolve the target to a commit, with `guess` also through a branch of one remote; empty when unknown."""
        try:
            return self._target(ref).commit if guess else resolve_commit_now(self._git, ref)
        except RefNotFound:
            return ""

    def _lost_below(self, request: CheckoutRequest) -> list[Loss]:
        """Return what restoring files from a commit overwrites: changes and untracked files."""
        paths = [canonical(path, root=self._git.root) or "." for path in request.paths]
        named = self._paths_at(resolve_commit_now(self._git, request.ref), paths)
        head = self._losses.head
        edited = self._losses.list_edited(request.paths, against=head) if head else []
        in_place = self._losses.in_place(named)
        if head and in_place - named.paths:
            # A changed file may be in the place of a parent folder, which no path of the request names.
            edited += [
                path for path in self._losses.list_edited(against=head) if path in in_place and path not in edited
            ]
        untracked = [path for path in self._losses.list_overwritten(named) if path not in set(edited)]
        return self._losses.files(edited, "changes") + self._losses.files(untracked, "untracked work")

    def _refuse_lacking(self, commit: str, paths: Sequence[str]) -> None:
        """Raise GitRefused when a partial clone lacks a file, for which git would leave an empty one."""
        if is_partial(common_dir(self._git.folder)):
            below = [] if "." in paths else paths
            if self._git.ask("ls-tree", "-r", "--long", "--full-tree", commit, "--", *below, check=False).code != 0:
                raise missing_objects_error()

    def _paths_at(self, commit: str, paths: Sequence[str]) -> ChangedPaths:
        below = [] if "." in paths else paths
        return parse_tree_listing(self._git.ask("ls-tree", "-r", "-z", "--full-tree", commit, "--", *below).fields)
