"""`git.stash_push`, `git.stash_pop`, `git.stash_apply` and `git.stash_drop`."""

import asyncio
import os
from collections.abc import Iterable

from pydantic import Field

from codeplane.git.read.conflict import Conflict
from codeplane.git.read.git_error import name_first
from codeplane.git.safety.loss import Loss, assess_losses, preview_losses
from codeplane.git.safety.loss_finder import LossFinder
from codeplane.git.safety.obstacles import ChangedPaths, parse_raw_diff
from codeplane.git.write.commits import MAX_MESSAGE
from codeplane.git.write.git_delta import Stoppable
from codeplane.git.write.git_snapshot import submodule_paths
from codeplane.git.write.merges import stopped_or_raise
from codeplane.git.write.mutation import GitMutation
from codeplane.git.write.preview_facts import PreviewFacts, list_lines
from codeplane.git.write.writer import Writer
from codeplane.index.files.paths import canonical, path_text
from codeplane.kernel.call import Call
from codeplane.kernel.errors import GitRefused, RefNotFound
from codeplane.kernel.operation import Assessment, Budget, Preview, Risk, assesses, foresees, operation, previews
from codeplane.kernel.plural import plural
from codeplane.kernel.workspace_request import WorkspaceRequest

_INDEX = Field(0, ge=0, le=100_000, description="which one, the newest is 0")

_ALL = "everything"


class StashPushRequest(WorkspaceRequest):
    """What to put aside."""

    message: str = Field("", max_length=MAX_MESSAGE)
    include_untracked: bool = False
    paths: tuple[str, ...] = Field((), max_length=5000, description="only these")


class StashPopRequest(WorkspaceRequest):
    """Which stash."""

    index: int = _INDEX
    restore_index: bool = Field(False, description="stage again what was staged")


class StashApplyRequest(StashPopRequest):
    """Which stash."""


class StashDropRequest(WorkspaceRequest):
    """Which stash."""

    index: int = _INDEX


class StashResult(Stoppable):
    """What became of the stash."""

    success: bool = True
    stash: str | None = None
    conflicts: tuple[Conflict, ...] = ()

    def text(self) -> str:
        first = f"stash {self.stash[:9]}" if self.stash else "done"
        return f"{first if self.success else 'conflicts; the stash is still there'}\n{self.delta.text()}"


class Stashes:
    """Stash changes and apply them again."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._git = writer.git
        self._losses = LossFinder(writer.git)
        self._facts = PreviewFacts(writer.git)

    @operation("git.stash_push", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=0)
    async def push(self, call: Call, request: StashPushRequest) -> StashResult:
        """Put changes aside, so that the work tree is as the last commit; git_stash_pop brings them back."""
        paths = self._writer.permission.admit_paths(call, request.paths)
        options = ["--include-untracked"] if request.include_untracked else []
        options += [f"--message={request.message}"] if request.message else []
        async with self._writer.mutation(call, "stash_push") as mutation:
            before = mutation.before
            if before.head is None:
                raise GitRefused("there is no commit yet, and a stash is kept on top of one", hint="git_commit first")
            if not paths and (
                inside := await asyncio.to_thread(self._git.list_unnamed_submodules, submodule_paths(before))
            ):
                raise GitRefused(
                    f"git would enter {name_first(inside)}, which .gitmodules does not name, and run what is set there",
                    hint="name it in .gitmodules, or give paths",
                )
            reached = before.changed | (before.untracked if request.include_untracked else frozenset())
            aside = [path for path in reached if not paths or _below(path, paths)]
            self._writer.permission.refuse_secrets(call, aside)
            await mutation.reach(aside)
            done = await self._git.run(
                *("stash", "push", "--quiet", *options, *(["--", *paths] if paths else [])), literal=bool(paths)
            )
            delta = await mutation.finish(compared="worktree")
            top = await self._git.run("rev-parse", "--verify", "--quiet", "refs/stash", check=False)
            if not top.line or top.line == (before.stashes[0][0] if before.stashes else ""):
                raise GitRefused(
                    f"there is nothing to put aside{done.line and f': {done.line}'}", hint="see git_status"
                )
            return StashResult(delta=delta, stash=top.line)

    @operation("git.stash_pop", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=0)
    async def pop(self, call: Call, request: StashPopRequest) -> StashResult:
        """Bring stashed changes back and forget the stash; with conflicts it is not forgotten."""
        return await self._apply(call, "pop", request)

    @operation("git.stash_apply", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=0)
    async def apply(self, call: Call, request: StashApplyRequest) -> StashResult:
        """Bring stashed changes back and keep the stash."""
        return await self._apply(call, "apply", request)

    @operation("git.stash_drop", risk=Risk.DESTRUCTIVE, budget=Budget.MUTATION, capability="write_files", timeout_sec=0)
    async def drop(self, call: Call, request: StashDropRequest) -> StashResult:
        """Forget a stash; it stays under a recovery ref, and undo brings it back."""
        async with self._writer.mutation(call, "stash_drop") as mutation:
            oid = _stash_oid(mutation, request.index)
            await mutation.keep_losses(commits=[oid], work=False)
            await self._git.run("stash", "drop", "--quiet", f"stash@{{{request.index}}}", literal=False)
            return StashResult(delta=await mutation.finish(), stash=oid)

    @foresees("git.stash_push")
    def foresee_push(self, request: StashPushRequest) -> Iterable[str]:
        """The files that are put aside."""
        head = self._losses.head
        changed = self._losses.list_edited(request.paths, against=head) if head else []
        fresh = self._losses.list_untracked(request.paths) if request.include_untracked else []
        named = [name for path in request.paths if (name := canonical(path, root=self._git.root))]
        return [*named, *changed, *fresh]

    @foresees("git.stash_pop")
    def foresee_pop(self, request: StashPopRequest) -> Iterable[str]:
        """The files that come back."""
        return {path for named in self._stashed_paths(request) for path in named.paths}

    @foresees("git.stash_apply")
    def foresee_apply(self, request: StashApplyRequest) -> Iterable[str]:
        """The files that come back."""
        return {path for named in self._stashed_paths(request) for path in named.paths}

    @assesses("git.stash_push")
    def assess_push(self, request: StashPushRequest) -> Assessment:
        """Assess the loss of ignored files that the stash would overwrite."""
        return assess_losses(self._lost_by_push())

    @previews("git.stash_push")
    async def preview_push(self, request: StashPushRequest) -> Preview:
        """Preview the files, and the ignored files that would be lost."""
        return await asyncio.to_thread(self._preview_push, request)

    @assesses("git.stash_pop")
    def assess_pop(self, request: StashPopRequest) -> Assessment:
        """Assess the loss of ignored files that the stashed files would overwrite."""
        return assess_losses(self._lost_by_applying(request))

    @previews("git.stash_pop")
    async def preview_pop(self, request: StashPopRequest) -> Preview:
        """Preview the files, and the ignored files that would be lost."""
        return await asyncio.to_thread(self._preview_apply, request, keeps=False)

    @assesses("git.stash_apply")
    def assess_apply(self, request: StashApplyRequest) -> Assessment:
        """Assess the loss of ignored files that the stashed files would overwrite."""
        return assess_losses(self._lost_by_applying(request))

    @previews("git.stash_apply")
    async def preview_apply(self, request: StashApplyRequest) -> Preview:
        """Preview the files, and the ignored files that would be lost."""
        return await asyncio.to_thread(self._preview_apply, request, keeps=True)

    @assesses("git.stash_drop")
    def assess_drop(self, request: StashDropRequest) -> Assessment:
        """Assess the loss of the stashed work."""
        return assess_losses(self._find_losses(request), kinds=("delete",))

    @previews("git.stash_drop")
    async def preview_drop(self, request: StashDropRequest) -> Preview:
        """Preview the stash that would be dropped."""
        return await asyncio.to_thread(self._preview_drop, request)

    def _preview_push(self, request: StashPushRequest) -> Preview:
        paths = [canonical(path, root=self._git.root) or "." for path in request.paths]
        head = self._losses.head
        changed = self._losses.list_edited(request.paths, against=head) if head else []
        fresh = self._losses.list_untracked(request.paths) if request.include_untracked else []
        facts = [f"on {self._facts.head()}", *([f"message: {request.message}"] if request.message else [])]
        named = [path_text(path) for path in dict.fromkeys([*changed, *fresh])]
        facts += list_lines(f"put aside: {plural(len(named), 'file')}", named, len(named))
        files = [self._git.root / path for path in (*changed, *fresh)]
        bound = [self._facts.index(), *map(os.fsencode, paths)]
        return preview_losses("Put changes aside", self._lost_by_push(), facts, bound=bound, files=files)

    def _preview_apply(self, request: StashPopRequest, *, keeps: bool) -> Preview:
        facts = [self._stash(request.index), f"onto {self._facts.head()}"]
        facts += ["what was staged is staged again"] if request.restore_index else []
        facts += ["the stash stays"] if keeps else ["the stash is forgotten then"]
        return preview_losses(f"Bring stash {request.index} back", self._lost_by_applying(request), facts)

    def _preview_drop(self, request: StashDropRequest) -> Preview:
        return preview_losses(f"Forget stash {request.index}", self._find_losses(request), [self._stash(request.index)])

    def _stash(self, index: int) -> str:
        """Name a stash by its id, since numbers change with every other stash."""
        return f"stash {index} is {self._facts.describe_commit(f'stash@{{{index}}}')}"

    async def _apply(self, call: Call, verb: str, request: StashPopRequest) -> StashResult:
        async with self._writer.mutation(call, f"stash_{verb}", calm=True) as mutation:
            oid = _stash_oid(mutation, request.index)
            parents = (await self._git.run("rev-list", "--parents", "--max-count=1", oid)).line.split()[1:]
            untracked = [(None, parent) for parent in parents[2:3]]
            await mutation.reach_between((parents[0], oid), *untracked)
            await mutation.keep_losses(commits=[oid] if verb == "pop" else [], work=False, replaced=True)
            options = ["--index"] if request.restore_index else []
            # By its id, since numbers change when another stash is added.
            done = await self._git.run("stash", "apply", "--quiet", *options, oid, check=False, literal=False)
            if verb == "pop" and done.code == 0:
                await self._git.run("stash", "drop", "--quiet", f"stash@{{{request.index}}}", literal=False)
            delta = await mutation.finish(compared="worktree")
            if done.code != 0:
                stopped_or_raise(done, delta, f"stash {verb}")
            return StashResult(delta=delta, success=done.code == 0, stash=oid, conflicts=delta.conflicts)

    def _lost_by_push(self) -> list[Loss]:
        if self._losses.head is None:
            return []
        options = ("--raw", "-z", "--no-renames", "--no-ext-diff")
        named = parse_raw_diff(self._git.ask("diff", *options, "HEAD", "--").fields)
        return self._losses.files(self._losses.list_ignored(named), _ALL)

    def _lost_by_applying(self, request: StashPopRequest) -> list[Loss]:
        lost = {path for named in self._stashed_paths(request) for path in self._losses.list_ignored(named)}
        return self._losses.files(sorted(lost), _ALL)

    def _stashed_paths(self, request: StashPopRequest) -> list[ChangedPaths]:
        """Return the tracked and the untracked files of a stash."""
        name = f"stash@{{{request.index}}}"
        done = self._git.ask("rev-list", "--parents", "--max-count=1", name, "--", check=False)
        oid, *parents = done.line.split() or [""]
        if done.code != 0 or not parents:
            return []
        untracked = [self._losses.changed_paths(None, parent) for parent in parents[2:3]]
        return [self._losses.changed_paths(parents[0], oid), *untracked]

    def _find_losses(self, request: StashDropRequest) -> list[Loss]:
        name = f"stash@{{{request.index}}}"
        done = self._git.ask("log", "--walk-reflogs", "--max-count=1", "--format=%gs", name, "--", check=False)
        if done.code != 0 or not done.line:
            return []
        files = self._git.ask("stash", "show", "--include-untracked", "--name-only", "-z", name, check=False).fields
        return [
            Loss(
                text=f"the stash '{path_text(done.line)}' with {plural(len(files), 'file')}: {name_first(files)}",
                kind="work",
            )
        ]


def _stash_oid(mutation: GitMutation, index: int) -> str:
    stashes = mutation.before.stashes
    if index >= len(stashes):
        raise RefNotFound(f"there are {len(stashes)} stashes, and none is number {index}", hint="see git_stash_list")
    return stashes[index][0]


def _below(path: str, folders: list[str]) -> bool:
    return any(folder == "." or path == folder or path.startswith(f"{folder}/") for folder in folders)
