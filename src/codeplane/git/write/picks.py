"""`git.cherrypick` and `git.revert`: apply commits, or revert them by new ones."""

import asyncio
import re
from collections.abc import Iterable
from typing import Literal

from pydantic import Field

from codeplane.git.read.conflict import Conflict
from codeplane.git.safety.loss import Loss, assess_losses, preview_losses
from codeplane.git.safety.loss_finder import LossFinder
from codeplane.git.safety.obstacles import ChangedPaths
from codeplane.git.write.git_delta import GitDelta, Stoppable
from codeplane.git.write.git_snapshot import GitSnapshot
from codeplane.git.write.merges import stopped_or_raise
from codeplane.git.write.preview_facts import PreviewFacts
from codeplane.git.write.resolution import resolution_losses, resolved_files
from codeplane.git.write.revision import MAX_REF, resolve_commit, resolve_commit_now
from codeplane.git.write.sequence import commits_left, refuse_strategies, sequence_start
from codeplane.git.write.writer import Writer
from codeplane.kernel.call import Call
from codeplane.kernel.errors import GitRefused, InvalidArgument
from codeplane.kernel.operation import Assessment, Budget, Preview, Risk, assesses, foresees, operation, previews
from codeplane.kernel.workspace_request import WorkspaceRequest

_COMMANDS: dict[Literal["cherrypick", "revert"], str] = {"cherrypick": "cherry-pick", "revert": "revert"}
# What git prints when a commit would be empty.
_NOTHING = re.compile(r"^(nothing to commit|(no changes|nothing) added to commit)", re.MULTILINE)
_COMMIT = Field("", max_length=MAX_REF, description="branch, tag or commit")
_MAINLINE = Field(0, ge=0, le=16, description="for a merge: which parent it is compared with, from 1")


class CherrypickRequest(WorkspaceRequest):
    """Which commit."""

    commit: str = _COMMIT
    mainline: int = _MAINLINE
    action: Literal["start", "continue", "skip", "abort"] = "start"


class RevertRequest(WorkspaceRequest):
    """Which commit."""

    commit: str = _COMMIT
    mainline: int = _MAINLINE
    action: Literal["start", "continue", "skip", "abort"] = "start"


class PickResult(Stoppable):
    """How it went; conflicts are left in the work tree to be resolved, staged and continued."""

    success: bool
    commit: str | None = None
    conflicts: tuple[Conflict, ...] = ()
    empty: bool = Field(False, description="nothing is left of the commit here: it is already applied")

    def unmet(self) -> str | None:
        return "nothing to apply" if self.empty else super().unmet()

    def text(self) -> str:
        if self.empty:
            return f"empty here: nothing to apply; call again with action skip or abort\n{self.delta.text()}"
        if self.success:
            return f"{f'commit {self.commit[:9]}' if self.commit else 'done'}\n{self.delta.text()}"
        advice = "resolve, git_stage the files, then call again with action continue (or skip, abort)"
        return f"stopped: {advice}\n{self.delta.text()}"


class Picks:
    """Apply or revert single commits on the branch that is checked out."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._git = writer.git
        self._losses = LossFinder(writer.git)
        self._facts = PreviewFacts(writer.git)

    @operation("git.cherrypick", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=0)
    async def cherrypick(self, call: Call, request: CherrypickRequest) -> PickResult:
        """Do a commit of elsewhere again, here; action continue, skip or abort goes on after a conflict."""
        return await self._pick(call, "cherrypick", request)

    @operation("git.revert", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=0)
    async def revert(self, call: Call, request: RevertRequest) -> PickResult:
        """Take a commit back with a new one; action continue, skip or abort goes on after a conflict."""
        return await self._pick(call, "revert", request)

    @foresees("git.cherrypick")
    def foresee_cherrypick(self, request: CherrypickRequest) -> Iterable[str]:
        """List the files that the commit changed."""
        return self._incoming_paths(request).paths if request.action == "start" and request.commit else ()

    @foresees("git.revert")
    def foresee_revert(self, request: RevertRequest) -> Iterable[str]:
        """List the files that the commit changed."""
        return self._incoming_paths(request).paths if request.action == "start" and request.commit else ()

    @assesses("git.cherrypick")
    def assess_cherrypick(self, request: CherrypickRequest) -> Assessment:
        """Assess the loss: of resolutions when aborting, of ignored files in the way when starting."""
        return assess_losses(self._find_losses(request))

    @assesses("git.revert")
    def assess_revert(self, request: RevertRequest) -> Assessment:
        """Assess the loss: of resolutions when aborting, of ignored files in the way when starting."""
        return assess_losses(self._find_losses(request))

    @previews("git.cherrypick")
    async def preview_cherrypick(self, request: CherrypickRequest) -> Preview:
        """Preview the commit, and the resolutions and ignored files that would be lost."""
        return await asyncio.to_thread(self._preview, "cherry-pick", request)

    @previews("git.revert")
    async def preview_revert(self, request: RevertRequest) -> Preview:
        """Preview the commit, and the resolutions and ignored files that would be lost."""
        return await asyncio.to_thread(self._preview, "revert", request)

    def _preview(self, what: str, request: CherrypickRequest | RevertRequest) -> Preview:
        lost, facts = self._find_losses(request), [f"on {self._facts.head()}"]
        if request.action == "start":
            facts += [f"{what} {self._facts.describe_commit(request.commit)}"] if request.commit else []
            facts += [f"compared with its parent {request.mainline}"] if request.mainline else []
            return preview_losses(f"start a {what}", lost, facts)
        under_way = self._facts.id_of("CHERRY_PICK_HEAD" if what == "cherry-pick" else "REVERT_HEAD")
        facts.append(f"{what} of {under_way or 'nothing'}")
        return preview_losses(f"{request.action} a {what}", lost, facts, bound=[self._facts.index()])

    async def _pick(
        self, call: Call, what: Literal["cherrypick", "revert"], request: CherrypickRequest | RevertRequest
    ) -> PickResult:
        command = _COMMANDS[what]
        if request.action != "start":
            return await self._continue(call, what, request.action)
        if not request.commit:
            raise InvalidArgument("commit is required", hint="name a commit, or set action to continue, skip or abort")
        mainline = [f"--mainline={request.mainline}"] if request.mainline else []
        async with self._writer.mutation(call, what, calm=True) as mutation:
            target = await resolve_commit(self._git, request.commit)
            parents = (await self._git.run("rev-list", "--parents", "--max-count=1", target)).line.split()[1:]
            await mutation.reach_between((_base(parents, request.mainline), target))
            await mutation.keep_losses(work=False)
            edit = ["--no-edit"] if what == "revert" else []
            done = await self._git.run(command, *edit, *mainline, target, check=False)
            delta = await mutation.finish()
            if done.code != 0 and _NOTHING.search(done.line) and delta.repo_state == "none":
                raise GitRefused(
                    f"empty here: nothing to apply, the change of {target[:9]} is not there to be taken back",
                    hint="nothing was changed; git_log shows what took it back",
                )
            stopped_or_raise(done, delta, command)
            return _result(delta, mutation.after)

    async def _continue(
        self, call: Call, what: Literal["cherrypick", "revert"], action: Literal["continue", "skip", "abort"]
    ) -> PickResult:
        command = _COMMANDS[what]
        async with self._writer.mutation(call, f"{what}_{action}", undoable=action != "abort") as mutation:
            if mutation.before.state != what:
                raise GitRefused(f"no {what} is under way to {action}", hint="see git_status for the state")
            if action != "continue":
                await mutation.reach(mutation.before.staged)
                await mutation.keep_losses(only=await asyncio.to_thread(resolved_files, self._losses))
            # It may have been started elsewhere, where the caller's permissions were not checked.
            if action != "abort":
                await refuse_strategies(self._git)
                await self._writer.permission.admit_commits(call, await commits_left(self._git))
            elif start := await asyncio.to_thread(sequence_start, self._git.folder):
                await self._writer.permission.admit_difference(call, mutation.before.head, start)
            done = await self._git.run(command, f"--{action}", check=False)
            delta = await mutation.finish()
            if done.code != 0 and delta.head == delta.head_before:
                stopped_or_raise(done, delta, command)
            return _result(delta, mutation.after)

    def _find_losses(self, request: CherrypickRequest | RevertRequest) -> list[Loss]:
        if request.action in ("skip", "abort"):
            return resolution_losses(self._losses)
        if request.action != "start" or not request.commit:
            return []
        return self._losses.files(self._losses.list_ignored(self._incoming_paths(request)), "everything")

    def _incoming_paths(self, request: CherrypickRequest | RevertRequest) -> ChangedPaths:
        target = resolve_commit_now(self._git, request.commit)
        parents = self._git.ask("rev-list", "--parents", "--max-count=1", target).line.split()[1:]
        return self._losses.changed_paths(_base(parents, request.mainline), target)


def _base(parents: list[str], mainline: int) -> str | None:
    """Return the parent that a commit is compared with."""
    return parents[max(mainline, 1) - 1] if len(parents) >= max(mainline, 1) else None


def _result(delta: GitDelta, after: GitSnapshot | None) -> PickResult:
    success = not delta.conflicts and delta.repo_state == "none"
    moved = success and delta.head != delta.head_before
    return PickResult(
        delta=delta,
        success=success,
        commit=delta.head if moved else None,
        conflicts=delta.conflicts,
        # Git waits for a commit, but nothing is staged.
        empty=not success and after is not None and not after.staged,
    )
