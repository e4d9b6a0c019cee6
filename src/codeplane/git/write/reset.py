"""`git.reset`: the branch to another commit, and with it the index and the files."""

import asyncio
from collections.abc import Iterable
from typing import Literal

from pydantic import Field

from codeplane.git.safety.loss import Loss, assess_losses, lost_commits, preview_losses
from codeplane.git.safety.loss_finder import LossFinder
from codeplane.git.safety.obstacles import ChangedPaths, parse_raw_diff, parse_tree_listing
from codeplane.git.write.git_delta import Changed
from codeplane.git.write.preview_facts import PreviewFacts
from codeplane.git.write.revision import MAX_REF, resolve_commit, resolve_commit_now
from codeplane.git.write.writer import Writer
from codeplane.kernel.call import Call
from codeplane.kernel.operation import Assessment, Budget, Preview, Risk, assesses, foresees, operation, previews
from codeplane.kernel.workspace_request import WorkspaceRequest

_HEAD = "HEAD"


class ResetRequest(WorkspaceRequest):
    """Where to, and how much follows."""

    ref: str = Field("HEAD", min_length=1, max_length=MAX_REF)
    mode: Literal["soft", "mixed", "hard"] = Field(
        "mixed", description="soft: only the branch; mixed: the index too; hard: the files too"
    )


class Reset:
    """Move the branch that is checked out."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._git = writer.git
        self._losses = LossFinder(writer.git)
        self._facts = PreviewFacts(writer.git)

    @operation("git.reset", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=0)
    async def reset(self, call: Call, request: ResetRequest) -> Changed:
        """Move the branch to a commit; hard throws changes away, which stay under a recovery ref and in undo."""
        async with self._writer.mutation(call, "reset") as mutation:
            unborn = await asyncio.to_thread(self._is_unborn, request)
            target = None if unborn else await resolve_commit(self._git, request.ref)
            before = mutation.before
            if request.mode == "hard":
                moved = await asyncio.to_thread(self._moved_paths, target)
                hidden = await asyncio.to_thread(self._losses.list_hidden)
                await mutation.reach(before.changed, hidden=hidden, named=moved)
            left = [before.head] if before.head and before.head != target else []
            hard = request.mode == "hard"
            await mutation.keep_losses(commits=left, work=hard, replaced=not hard)
            await self._git.run("reset", "--quiet", f"--{request.mode}", *([target] if target else []), "--")
            return Changed(delta=await mutation.finish())

    @foresees("git.reset")
    def foresee_reset(self, request: ResetRequest) -> Iterable[str]:
        """List the files that a hard reset changes."""
        if request.mode != "hard":
            return ()
        unborn, head = self._is_unborn(request), self._losses.head
        moved = self._moved_paths(None if unborn else resolve_commit_now(self._git, request.ref))
        return [*moved.paths, *(self._losses.list_edited(against=head) if head else ())]

    @assesses("git.reset")
    def assess_reset(self, request: ResetRequest) -> Assessment:
        """Assess the loss of commits that nothing else reaches, and of changes that a hard reset overwrites."""
        return assess_losses(self._find_losses(request))

    @previews("git.reset")
    async def preview_reset(self, request: ResetRequest) -> Preview:
        """Preview the move of the branch, and the commits and changes that would be lost."""
        return await asyncio.to_thread(self._preview, request)

    def _preview(self, request: ResetRequest) -> Preview:
        target = "no commit yet" if self._is_unborn(request) else resolve_commit_now(self._git, request.ref)
        follows = {"soft": "only the branch", "mixed": "the branch and the index", "hard": "branch, index and files"}
        facts = [f"{self._facts.head()} → {target}", f"moves {follows[request.mode]}"]
        # The whole index is replaced, with staged content that is nowhere else.
        bound = [] if request.mode == "soft" else [self._facts.index()]
        return preview_losses(f"Reset {request.mode} to {request.ref}", self._find_losses(request), facts, bound=bound)

    def _is_unborn(self, request: ResetRequest) -> bool:
        """Whether there is no commit yet, so that only the index is reset."""
        return request.ref == _HEAD and self._losses.head is None and self._losses.head_ref is not None

    def _find_losses(self, request: ResetRequest) -> list[Loss]:
        if self._is_unborn(request):
            staged = sorted(self._moved_paths(None).files) if request.mode == "hard" else []
            return self._losses.files(staged, "everything")
        target, head = resolve_commit_now(self._git, request.ref), self._losses.head
        lost: list[Loss] = []
        edited: list[str] = []
        if head is not None:
            lost += lost_commits(
                self._losses.commits(head, gone=self._losses.head_ref, kept=[target]), "that nothing else reaches"
            )
            if request.mode == "hard":
                edited = self._losses.list_edited(against=head)
                lost += self._losses.files(edited, "changes")
        if request.mode == "hard":
            overwritten = self._losses.list_overwritten(self._moved_paths(target))
            untracked = [path for path in overwritten if path not in set(edited)]
            lost += self._losses.files(untracked, "untracked work")
        return lost

    def _moved_paths(self, target: str | None) -> ChangedPaths:
        """Return what differs between the target and the index or HEAD; without a target, the whole index."""
        if target is None:
            return parse_tree_listing(self._git.ask("ls-files", "--stage", "-z").fields)
        options = ("--cached", "--raw", "-z", "--no-renames", "--no-abbrev", "--no-ext-diff")
        staged = parse_raw_diff(self._git.ask("diff", *options, target, "--").fields)
        head = self._losses.head
        between = self._losses.changed_paths(head, target) if head else staged
        files = staged.files | between.files
        return ChangedPaths(paths=staged.paths | between.paths, links=(staged.links | between.links) - files)
