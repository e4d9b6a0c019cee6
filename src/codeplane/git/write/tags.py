"""`git.create_tag` and `git.delete_tag`."""

import asyncio

from pydantic import Field

from codeplane.git.safety.loss import Loss, assess_losses, lost_commits, preview_losses
from codeplane.git.safety.loss_finder import LossFinder
from codeplane.git.write.commits import MAX_MESSAGE
from codeplane.git.write.git_delta import Changed
from codeplane.git.write.preview_facts import PreviewFacts
from codeplane.git.write.revision import MAX_REF, check_existing_name, check_new_name, resolve_commit, resolve_tag
from codeplane.git.write.writer import Writer
from codeplane.kernel.call import Call
from codeplane.kernel.operation import Assessment, Budget, Preview, Risk, assesses, operation, previews
from codeplane.kernel.workspace_request import WorkspaceRequest

_TAGS = "refs/tags/"


class CreateTagRequest(WorkspaceRequest):
    """Which tag, and where."""

    name: str = Field(min_length=1, max_length=250)
    ref: str = Field("HEAD", max_length=MAX_REF)
    message: str = Field("", max_length=MAX_MESSAGE, description="makes it an annotated tag")


class DeleteTagRequest(WorkspaceRequest):
    """Which tag."""

    name: str = Field(min_length=1, max_length=250)


class Tags:
    """Create and delete tags."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._git = writer.git
        self._losses = LossFinder(writer.git)

    @operation("git.create_tag", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=0)
    async def create(self, call: Call, request: CreateTagRequest) -> Changed:
        """Tag a commit; with a message the tag is annotated."""
        name = await check_new_name(self._git, _TAGS, request.name)
        await resolve_commit(self._git, request.ref)
        options = ["--annotate", "--file=-"] if request.message else []
        async with self._writer.mutation(call, "create_tag") as mutation:
            given = request.message.encode() if request.message else None
            await self._git.run("tag", *options, name, request.ref, input=given)
            return Changed(delta=await mutation.finish())

    @operation("git.delete_tag", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=0)
    async def delete(self, call: Call, request: DeleteTagRequest) -> Changed:
        """Remove a tag here; a remote keeps its own."""
        async with self._writer.mutation(call, "delete_tag") as mutation:
            await mutation.keep_losses(tags=[await resolve_tag(self._git, request.name)], work=False)
            await self._git.run("tag", "--delete", request.name)
            return Changed(delta=await mutation.finish())

    @assesses("git.delete_tag")
    def assess_delete(self, request: DeleteTagRequest) -> Assessment:
        """Assess the loss of commits that only the tag reaches."""
        return assess_losses(self._find_losses(request), kinds=("delete",))

    @previews("git.delete_tag")
    async def preview_delete(self, request: DeleteTagRequest) -> Preview:
        """Preview the commits that only the tag reaches."""
        return await asyncio.to_thread(self._preview, request)

    def _preview(self, request: DeleteTagRequest) -> Preview:
        lost = self._find_losses(request)
        facts = [f"it is at {PreviewFacts(self._git).describe_commit(f'{_TAGS}{request.name}')}"]
        return preview_losses(f"Remove the tag {request.name}", lost, facts)

    def _find_losses(self, request: DeleteTagRequest) -> list[Loss]:
        ref = f"{_TAGS}{check_existing_name(request.name, 'tag', 'git_tags')}"
        if not self._git.ask("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}", check=False).line:
            return []
        return lost_commits(self._losses.commits(ref, gone=ref), "that only this tag reaches")
