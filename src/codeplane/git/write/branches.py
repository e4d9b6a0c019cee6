"""`git.create_branch`, `git.delete_branch` and `git.rename_branch`."""

import asyncio

from pydantic import Field

from codeplane.git.safety.loss import Loss, assess_losses, lost_commits, preview_losses
from codeplane.git.safety.loss_finder import LossFinder
from codeplane.git.write.git_delta import Changed
from codeplane.git.write.preview_facts import PreviewFacts
from codeplane.git.write.revision import MAX_REF, check_existing_name, check_new_name, resolve_branch, resolve_commit
from codeplane.git.write.writer import Writer
from codeplane.kernel.call import Call
from codeplane.kernel.operation import Assessment, Budget, Preview, Risk, assesses, operation, previews
from codeplane.kernel.workspace_request import WorkspaceRequest

HEADS = "refs/heads/"
_NAME = Field(min_length=1, max_length=250)


class CreateBranchRequest(WorkspaceRequest):
    """Which branch, and from where."""

    name: str = _NAME
    ref: str = Field("HEAD", max_length=MAX_REF)


class DeleteBranchRequest(WorkspaceRequest):
    """Which branch."""

    name: str = _NAME
    force: bool = Field(False, description="also when its commits are merged nowhere")


class RenameBranchRequest(WorkspaceRequest):
    """Which branch, and its new name."""

    name: str = _NAME
    new_name: str = _NAME


class Branches:
    """Create, delete and rename branches."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._git = writer.git
        self._losses = LossFinder(writer.git)

    @operation("git.create_branch", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=0)
    async def create(self, call: Call, request: CreateBranchRequest) -> Changed:
        """Make a branch without checking it out; git_checkout with create does both."""
        name = await check_new_name(self._git, HEADS, request.name)
        await resolve_commit(self._git, request.ref)
        async with self._writer.mutation(call, "create_branch") as mutation:
            await self._git.run("branch", "--quiet", name, request.ref)
            return Changed(delta=await mutation.finish())

    @operation("git.rename_branch", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=0)
    async def rename(self, call: Call, request: RenameBranchRequest) -> Changed:
        """Give a branch another name, with its settings."""
        name = await check_new_name(self._git, HEADS, request.new_name)
        async with self._writer.mutation(call, "rename_branch") as mutation:
            if mutation.before.branch != request.name or mutation.before.head is not None:
                await resolve_branch(self._git, request.name)
            await self._git.run("branch", "--move", request.name, name)
            return Changed(delta=await mutation.finish())

    @operation("git.delete_branch", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=0)
    async def delete(self, call: Call, request: DeleteBranchRequest) -> Changed:
        """Remove a branch here; force when its commits are merged nowhere, which keeps them under a recovery ref."""
        async with self._writer.mutation(call, "delete_branch") as mutation:
            tip = await resolve_branch(self._git, request.name)
            if request.force:
                await mutation.keep_losses(commits=[tip], work=False)
            await self._git.run("branch", "--quiet", "--delete", *(["--force"] if request.force else []), request.name)
            return Changed(delta=await mutation.finish())

    @assesses("git.delete_branch")
    def assess_delete(self, request: DeleteBranchRequest) -> Assessment:
        """Assess the loss of commits that only the branch reaches."""
        return assess_losses(self._find_losses(request), kinds=("delete",))

    @previews("git.delete_branch")
    async def preview_delete(self, request: DeleteBranchRequest) -> Preview:
        """Preview the commits that only the branch reaches."""
        return await asyncio.to_thread(self._preview, request)

    def _preview(self, request: DeleteBranchRequest) -> Preview:
        lost = self._find_losses(request)
        facts = [f"it is at {PreviewFacts(self._git).describe_commit(f'{HEADS}{request.name}')}"]
        facts += ["also when its commits are merged nowhere"] if request.force else []
        return preview_losses(f"Remove the branch {request.name}", lost, facts)

    def _find_losses(self, request: DeleteBranchRequest) -> list[Loss]:
        ref = f"{HEADS}{check_existing_name(request.name, 'branch', 'git_branches')}"
        if not request.force or not self._git.ask("rev-parse", "--verify", "--quiet", ref, check=False).line:
            return []
        return lost_commits(self._losses.commits(ref, gone=ref), "that only this branch reaches")
