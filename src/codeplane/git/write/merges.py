"""`git.merge`: start, continue or abort a merge."""

import asyncio
from collections.abc import Iterable
from typing import Literal

from pydantic import Field

from codeplane.git.read.conflict import Conflict
from codeplane.git.read.git_error import conflict_error, git_error
from codeplane.git.safety.command import GitOutput
from codeplane.git.safety.loss import Loss, assess_losses, preview_losses
from codeplane.git.safety.loss_finder import LossFinder
from codeplane.git.safety.obstacles import ChangedPaths
from codeplane.git.write.commits import MAX_MESSAGE
from codeplane.git.write.git_delta import GitDelta, Stoppable
from codeplane.git.write.merge_source import message_of, object_of, ranges, ranges_now, source_of
from codeplane.git.write.preview_facts import PreviewFacts
from codeplane.git.write.resolution import resolution_losses, resolved_files
from codeplane.git.write.revision import MAX_REF, resolve_commit_now, resolve_revision
from codeplane.git.write.sequence import stashes_left
from codeplane.git.write.writer import Writer
from codeplane.kernel.call import Call
from codeplane.kernel.errors import GitRefused, InvalidArgument
from codeplane.kernel.operation import Assessment, Budget, Preview, Risk, assesses, foresees, operation, previews
from codeplane.kernel.workspace_request import WorkspaceRequest


class MergeRequest(WorkspaceRequest):
    """What to merge into the branch that is checked out."""

    ref: str = Field("", max_length=MAX_REF, description="branch, tag or commit")
    message: str = Field("", max_length=MAX_MESSAGE)
    ff: Literal["auto", "only", "never"] = Field("auto", description="whether moving forward is enough, or must be")
    action: Literal["start", "continue", "abort"] = "start"


class MergeResult(Stoppable):
    """How the merge went; conflicts are left in the work tree to be resolved, staged and continued."""

    success: bool
    fastforward: bool = False
    commit: str | None = None
    conflicts: tuple[Conflict, ...] = ()

    def text(self) -> str:
        if not self.success:
            first = "stopped: resolve the conflicts, git_stage the files, then git_merge with action continue"
        else:
            first = "fast-forward" if self.fastforward else f"merged in {self.commit[:9]}" if self.commit else "done"
        return f"{first}\n{self.delta.text()}"


class Merges:
    """Merge branches, with conflicts as data."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._git = writer.git
        self._losses = LossFinder(writer.git)
        self._facts = PreviewFacts(writer.git)

    @operation("git.merge", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=0)
    async def merge(self, call: Call, request: MergeRequest) -> MergeResult:
        """Merge a branch into the one that is checked out; action continue concludes a merge that stopped, abort
        gives it up."""
        if request.action != "start":
            return await self._continue(call, request)
        if not request.ref:
            raise InvalidArgument(
                "ref is required", hint="name the branch to merge, or set action to continue or abort"
            )
        ff = {"auto": [], "only": ["--ff-only"], "never": ["--no-ff"]}[request.ff]
        async with self._writer.mutation(call, "merge", calm=True) as mutation:
            revision = await resolve_revision(self._git, request.ref)
            target, oid = revision.commit, await object_of(self._git, revision)
            await mutation.reach_between(*await ranges(self._git, mutation.before.head, target))
            await mutation.keep_losses(work=False)
            message = request.message or await message_of(self._git, oid, source_of(revision, request.ref))
            options = await mutation.autostash.merge_options(target, ff)
            done = await self._git.run("merge", "--quiet", *options, "-m", message, oid, check=False)
            delta = await mutation.finish()
            stopped_or_raise(done, delta, "merge")
            forward = done.code == 0 and delta.head == target and delta.head != delta.head_before
            return merge_result(delta, fastforward=forward)

    @foresees("git.merge")
    def foresee_merge(self, request: MergeRequest) -> Iterable[str]:
        """List the files that the other side changed."""
        return self._incoming_paths(request).paths if request.action == "start" and request.ref else ()

    @assesses("git.merge")
    def assess_merge(self, request: MergeRequest) -> Assessment:
        """Assess the loss: of resolutions when aborting, of ignored files in the way when starting."""
        return assess_losses(self._find_losses(request))

    @previews("git.merge")
    async def preview_merge(self, request: MergeRequest) -> Preview:
        """Preview the merged commits, and the resolutions and ignored files that would be lost."""
        return await asyncio.to_thread(self._preview, request)

    def _preview(self, request: MergeRequest) -> Preview:
        lost, facts = self._find_losses(request), [f"into {self._facts.head()}"]
        if request.action != "start":
            facts += [f"merging {self._facts.id_of('MERGE_HEAD') or 'nothing'}"]
            bound = [self._facts.index()]
            return preview_losses(f"{request.action} a merge", lost, facts, bound=bound)
        if request.ref:
            target = resolve_commit_now(self._git, request.ref)
            mine = [head] if (head := self._losses.head) else []
            facts += [f"{request.ref} at {target}", *self._facts.commits(target, *mine, what="to bring in")]
        facts += [f"fast-forward: {request.ff}"] if request.ff != "auto" else []
        return preview_losses(f"start a merge of {request.ref}", lost, facts)

    async def _continue(self, call: Call, request: MergeRequest) -> MergeResult:
        async with self._writer.mutation(
            call, f"merge_{request.action}", undoable=request.action == "continue"
        ) as mutation:
            if mutation.before.state != "merge":
                raise GitRefused(f"no merge is under way to {request.action}", hint="see git_status for the state")
            await self._writer.permission.admit_commits(call, await stashes_left(self._git))
            if request.action == "abort":
                await mutation.reach(mutation.before.staged)
                await mutation.keep_losses(only=await asyncio.to_thread(resolved_files, self._losses))
                await self._git.run("merge", "--abort")
            else:
                if mutation.before.conflicts:
                    raise conflict_error([conflict.path for conflict in mutation.before.conflicts])
                message = ["-m", request.message] if request.message else ["--no-edit"]
                await self._git.run("commit", "--quiet", *message)
            return merge_result(await mutation.finish())

    def _find_losses(self, request: MergeRequest) -> list[Loss]:
        if request.action == "abort":
            return resolution_losses(self._losses)
        if request.action != "start" or not request.ref:
            return []
        return self._losses.files(self._losses.list_ignored(self._incoming_paths(request)), "everything")

    def _incoming_paths(self, request: MergeRequest) -> ChangedPaths:
        target = resolve_commit_now(self._git, request.ref)
        ranges = ranges_now(self._git, self._losses.head, target)
        changed = [self._losses.changed_paths(old, new) for old, new in ranges]
        paths = frozenset(path for named in changed for path in named.paths)
        files = frozenset(path for named in changed for path in named.files)
        return ChangedPaths(paths=paths, links=paths - files)


def stopped_or_raise(done: GitOutput, delta: GitDelta, command: str) -> None:
    """Raise the error of a failed command; a stop at conflicts is a result, not an error."""
    if done.code != 0 and not delta.conflicts and delta.repo_state == "none":
        raise git_error(command, done.err or done.line, done.code)


def merge_result(delta: GitDelta, *, fastforward: bool = False) -> MergeResult:
    """Return the result of a merge from its delta."""
    success = not delta.conflicts and delta.repo_state == "none"
    commit = delta.head if success and not fastforward and delta.head != delta.head_before else None
    return MergeResult(delta=delta, success=success, fastforward=fastforward, commit=commit, conflicts=delta.conflicts)
