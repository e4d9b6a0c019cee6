"""`git.stage`, `git.unstage` and `git.discard`."""

import asyncio
from collections.abc import Iterable
from dataclasses import replace

from pydantic import Field

from codeplane.git.read.git_error import name_first
from codeplane.git.safety.loss import Loss, assess_losses, preview_losses
from codeplane.git.safety.loss_finder import LossFinder
from codeplane.git.write.git_delta import Changed
from codeplane.git.write.git_snapshot import submodule_paths
from codeplane.git.write.preview_facts import PreviewFacts
from codeplane.git.write.writer import Writer
from codeplane.index.files.paths import canonical
from codeplane.kernel.call import Call
from codeplane.kernel.operation import Assessment, Budget, Preview, Risk, assesses, foresees, operation, previews
from codeplane.kernel.workspace_request import WorkspaceRequest

_PATHS = Field(min_length=1, max_length=5000, description="files or folders; . is everything")


class StageRequest(WorkspaceRequest):
    """Which files."""

    paths: tuple[str, ...] = _PATHS


class UnstageRequest(WorkspaceRequest):
    """Which files."""

    paths: tuple[str, ...] = _PATHS


class DiscardRequest(WorkspaceRequest):
    """Which files."""

    paths: tuple[str, ...] = _PATHS
    untracked: bool = Field(False, description="remove files that git does not know, too")


class Staging:
    """Move changes between work tree and index."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._git = writer.git
        self._losses = LossFinder(writer.git)
        self._facts = PreviewFacts(writer.git, writer.secrets)

    @operation("git.stage", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=0)
    async def stage(self, call: Call, request: StageRequest) -> Changed:
        """Stage files for the next commit: new, changed and deleted ones."""
        paths = self._writer.permission.admit_paths(call, request.paths)
        async with self._writer.mutation(call, "stage") as mutation:
            self._writer.permission.refuse_secrets(call, await self._writer.permission.admit_below(call, paths))
            await self._add(paths, submodule_paths(mutation.before))
            return Changed(delta=await mutation.finish(compared="index"))

    async def _add(self, paths: list[str], links: frozenset[str]) -> None:
        """Stage files; of submodules only their commit, since `git add` would enter them."""
        wanted = sorted(
            link for link in links if any(path in (".", link) or link.startswith(f"{path}/") for path in paths)
        )
        others = [path for path in paths if path not in links]
        if others:
            without = [f":(exclude,literal){link}" for link in wanted]
            await self._git.run(*("add", "--", *(f":(literal){path}" for path in others), *without), literal=False)
        if wanted:
            given = "".join(f"{link}\0" for link in wanted).encode("utf-8", "surrogateescape")
            await self._git.run("update-index", "--add", "--remove", "-z", "--stdin", input=given)

    @operation("git.unstage", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=0)
    async def unstage(self, call: Call, request: UnstageRequest) -> Changed:
        """Take files out of the next commit; the files themselves stay as they are."""
        paths = self._writer.permission.admit_paths(call, request.paths)
        async with self._writer.mutation(call, "unstage") as mutation:
            await self._writer.permission.admit_below(call, paths)
            await self._git.run("reset", "--quiet", "--", *paths)
            return Changed(delta=await mutation.finish(compared="index"))

    @operation("git.discard", risk=Risk.DESTRUCTIVE, budget=Budget.MUTATION, capability="write_files", timeout_sec=0)
    async def discard(self, call: Call, request: DiscardRequest) -> Changed:
        """Throw away changes that are not staged; what is lost stays under a recovery ref, and undo brings it back."""
        paths = self._writer.permission.admit_paths(call, request.paths)
        async with self._writer.mutation(call, "discard") as mutation:
            edited = (await self._git.run("diff", "--name-only", "-z", "--no-ext-diff", "--", *paths)).fields
            untracked = []
            if request.untracked:
                listed = await self._git.run("ls-files", "--others", "--exclude-standard", "-z", "--", *paths)
                untracked = [path for path in listed.fields if not path.endswith("/")]
            hidden = await asyncio.to_thread(self._losses.list_hidden, paths)
            self._writer.permission.refuse_secret_changes(call, [*edited, *untracked, *hidden])
            await mutation.reach([*edited, *untracked], hidden=hidden)
            await mutation.keep_losses()
            tracked = not request.untracked or (await self._git.run("ls-files", "-z", "--", *paths)).out
            if tracked:
                await self._git.run("restore", "--worktree", "--", *paths)
            if untracked:
                await self._git.run("clean", "--force", "--quiet", "-d", "--", *paths)
            return Changed(delta=await mutation.finish(compared="worktree"))

    @foresees("git.stage")
    def foresee_stage(self, request: StageRequest) -> Iterable[str]:
        """List the changed files at or below the paths."""
        return self._losses.below(request.paths)

    @foresees("git.unstage")
    def foresee_unstage(self, request: UnstageRequest) -> Iterable[str]:
        """List the changed files at or below the paths."""
        return self._losses.below(request.paths)

    @foresees("git.discard")
    def foresee_discard(self, request: DiscardRequest) -> Iterable[str]:
        """List the files whose changes are discarded, and untracked files that are removed."""
        named = [name for path in request.paths if (name := canonical(path, root=self._git.root))]
        untracked = self._losses.list_untracked(request.paths) if request.untracked else []
        return [*named, *self._losses.list_edited(request.paths), *untracked]

    @assesses("git.discard")
    def assess_discard(self, call: Call | None, request: DiscardRequest) -> Assessment:
        """Assess the loss of unstaged changes."""
        self._writer.permission.refuse_secret_changes(call, self.foresee_discard(request))
        return assess_losses(self._find_losses(request))

    @previews("git.discard")
    async def preview_discard(self, request: DiscardRequest) -> Preview:
        """Preview the files and the changes that are discarded."""
        return await asyncio.to_thread(self._preview, request)

    def _preview(self, request: DiscardRequest) -> Preview:
        lost = self._find_losses(request)
        paths = [canonical(path, root=self._git.root) or "." for path in request.paths]
        preview = preview_losses(
            f"Discard changes that are not staged in {name_first(paths)}",
            lost,
            ["files that git does not know go too"] if request.untracked else [],
            bound=[self._facts.index()],
        )
        return replace(preview, body="\n".join([preview.body, *self._facts.diff(paths=paths)]))

    def _find_losses(self, request: DiscardRequest) -> list[Loss]:
        lost = self._losses.files(self._losses.list_edited(request.paths), "changes")
        if request.untracked:
            lost += self._losses.files(self._losses.list_untracked(request.paths), "everything")
        return lost
