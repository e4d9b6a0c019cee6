"""`git.rebase_plan`, `git.rebase_execute`, `git.rebase_continue`, `git.rebase_abort` and `git.rebase_skip`."""

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from pydantic import Field

from codeplane.git.read.git_error import git_error
from codeplane.git.read.repository import read_plain_file
from codeplane.git.safety.loss import Loss, assess_losses, lost_commits, preview_losses
from codeplane.git.safety.loss_finder import LossFinder
from codeplane.git.safety.obstacles import ChangedPaths
from codeplane.git.write.git_delta import GitDelta, Stoppable
from codeplane.git.write.preview_facts import PreviewFacts, list_lines
from codeplane.git.write.rebase_todo import FOLDER, PlanGiven, Todo, comment_option, editors
from codeplane.git.write.resolution import resolution_losses, resolved_files
from codeplane.git.write.revision import MAX_REF, check_ref, resolve_commit, resolve_commit_now
from codeplane.git.write.sequence import commits_left, refuse_commands, refuse_strategies, stashes_left, targets_left
from codeplane.git.write.stopped_operation import original_head
from codeplane.git.write.writer import Writer
from codeplane.index.files.paths import path_text
from codeplane.kernel.call import Call
from codeplane.kernel.errors import GitRefused, InvalidArgument
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
from codeplane.kernel.plural import ARE, plural
from codeplane.kernel.workspace_request import WorkspaceRequest

_MAX_STEPS = 5000
_MAX_NAMED = 30


class RebasePlanRequest(WorkspaceRequest):
    """What the branch is to be put upon."""

    upstream: str = Field(min_length=1, max_length=MAX_REF)
    onto: str = Field("", max_length=MAX_REF, description="another base than upstream")


class RebaseExecuteRequest(WorkspaceRequest):
    """The plan."""

    plan: PlanGiven


class RebaseStateRequest(WorkspaceRequest):
    """No arguments."""


class RebaseStep(Result):
    """One commit that would be done again."""

    action: Literal["pick"] = "pick"
    commit_sha: str
    message: str


class RebasePlan(Result):
    """The commits that would be done again, oldest first."""

    upstream: str
    onto: str
    steps: tuple[RebaseStep, ...]

    def text(self) -> str:
        first = f"upstream {self.upstream} onto {self.onto}"
        return "\n".join([first, *(f"{step.action} {step.commit_sha[:9]} {step.message}" for step in self.steps)])


class RebaseResult(Stoppable):
    """How far the rebase came."""

    success: bool
    completed_steps: int
    total_steps: int
    state: Literal["done", "conflict", "edit_pause", "aborted"]
    conflict_paths: tuple[str, ...] = ()
    current_commit: str | None = None
    new_head: str | None = None
    said: str = ""

    def text(self) -> str:
        first = f"{self.state}, {self.completed_steps} of {plural(self.total_steps, 'step')}"
        if self.state in ("conflict", "edit_pause"):
            first += f" at {(self.current_commit or '?')[:9]}: git_stage what you change, then git_rebase_continue"
        return "\n".join(part for part in (first, self.said, self.delta.text()) if part)


class Rebase:
    """Rebase commits onto another base."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._git = writer.git
        self._losses = LossFinder(writer.git)

    @operation("git.rebase_plan", risk=Risk.READ)
    async def plan(self, call: Call, request: RebasePlanRequest) -> RebasePlan:
        """The commits that a rebase onto upstream would do again; change actions or order, then git_rebase_execute."""
        upstream = await resolve_commit(self._git, request.upstream)
        onto = await resolve_commit(self._git, request.onto) if request.onto else upstream
        commits = await self._commits(upstream)
        return RebasePlan(
            upstream=upstream,
            onto=onto,
            steps=tuple(RebaseStep(commit_sha=oid, message=path_text(subject)) for oid, subject in commits),
        )

    @operation("git.rebase_execute", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=0)
    async def execute(self, call: Call, request: RebaseExecuteRequest) -> RebaseResult:
        """Do the steps of a plan (pick, reword, edit, squash, fixup, drop), each commit of the plan once; stops at
        conflicts and edits, and undo takes it back."""
        plan = request.plan
        async with self._writer.mutation(call, "rebase", calm=True) as mutation:
            upstream = await resolve_commit(self._git, plan.upstream)
            onto = await resolve_commit(self._git, plan.onto) if plan.onto else upstream
            head = await resolve_commit(self._git, "HEAD")
            planned = dict(await self._commits(upstream))
            steps = [
                (step.action, await resolve_commit(self._git, step.commit_sha), step.message) for step in plan.steps
            ]
            _refuse_other_commits(list(planned), [oid for _, oid, _ in steps])
            # A plan contains the present messages, which may come back unchanged.
            todo = Todo(
                [
                    (action, oid, None if action != "reword" and message == path_text(planned[oid]) else message)
                    for action, oid, message in steps
                ]
            )
            base = (await self._git.run("merge-base", head, onto, check=False)).line
            await mutation.reach_between((head, onto), *([(base, head)] if base else [(None, head)]))
            await self._writer.permission.admit_commits(call, (oid for action, oid, _ in steps if action != "drop"))
            dropped = any(action == "drop" for action, _, _ in steps)
            await mutation.keep_losses(commits=[head], work=False, replaced=not dropped)
            folder = self._git.folder
            aside = await mutation.autostash.rebase_options()
            with todo.write_files(folder) as env:
                options = ("--interactive", "--no-rebase-merges", "--no-autosquash", "--empty=drop", *aside)
                done = await self._git.run(
                    *(*comment_option(folder, todo), "rebase", *options, f"--onto={onto}", upstream),
                    env=env,
                    check=False,
                )
            delta = await mutation.finish()
            if done.code != 0 and delta.repo_state != "rebase":
                raise git_error("rebase", done.err or done.line, done.code)
            return await self._result(delta, total=len(steps), errors=done.err if done.code else "")

    @operation("git.rebase_continue", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=0)
    async def go_on(self, call: Call, request: RebaseStateRequest) -> RebaseResult:
        """Go on with a rebase after conflicts were resolved and staged, or a commit was edited."""
        return await self._step(call, "continue")

    @operation("git.rebase_skip", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=0)
    async def skip(self, call: Call, request: RebaseStateRequest) -> RebaseResult:
        """Leave out the commit that the rebase stopped at, and go on."""
        return await self._step(call, "skip")

    @operation("git.rebase_abort", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=0)
    async def abort(self, call: Call, request: RebaseStateRequest) -> RebaseResult:
        """Give a rebase up: everything is as before it."""
        return await self._step(call, "abort")

    @foresees("git.rebase_execute")
    def foresee_execute(self, request: RebaseExecuteRequest) -> Iterable[str]:
        """List the files that differ between HEAD and the new base, and those of the rebased commits."""
        upstream = resolve_commit_now(self._git, request.plan.upstream)
        onto = resolve_commit_now(self._git, request.plan.onto) if request.plan.onto else upstream
        return sorted(path for named in self._moved_paths(onto) for path in named.paths)

    @assesses("git.rebase_execute")
    def assess_execute(self, request: RebaseExecuteRequest) -> Assessment:
        """Assess the loss of pushed commits, dropped commits, and ignored files in the way."""
        return assess_losses(self._find_losses(request), kinds=("history",))

    @previews("git.rebase_execute")
    async def preview_execute(self, request: RebaseExecuteRequest) -> Preview:
        """Preview the steps, and the pushed or dropped commits and ignored files that would be lost."""
        return await asyncio.to_thread(self._preview, request)

    @assesses("git.rebase_abort")
    def assess_abort(self, request: RebaseStateRequest) -> Assessment:
        """Assess the loss of resolutions."""
        return assess_losses(self._lost_by_leaving())

    @previews("git.rebase_abort")
    async def preview_abort(self, request: RebaseStateRequest) -> Preview:
        """Preview the resolutions that would be lost."""
        return await asyncio.to_thread(self._preview_leaving, "Give the rebase up")

    @assesses("git.rebase_skip")
    def assess_skip(self, request: RebaseStateRequest) -> Assessment:
        """Assess the loss of the skipped commit's resolutions."""
        return assess_losses(self._lost_by_leaving())

    @previews("git.rebase_skip")
    async def preview_skip(self, request: RebaseStateRequest) -> Preview:
        """Preview the resolutions that would be lost."""
        return await asyncio.to_thread(self._preview_leaving, "Leave the commit out")

    def _preview(self, request: RebaseExecuteRequest) -> Preview:
        plan, preview_facts = request.plan, PreviewFacts(self._git)
        upstream = resolve_commit_now(self._git, plan.upstream)
        onto = resolve_commit_now(self._git, plan.onto) if plan.onto else upstream
        steps = [
            f"{step.action} {preview_facts.describe_commit(check_ref(step.commit_sha))}"
            for step in plan.steps[:_MAX_NAMED]
        ]
        facts = [preview_facts.head(), f"after {upstream}", f"onto {onto}"]
        facts += list_lines(plural(len(plan.steps), "step"), steps, len(plan.steps))
        return preview_losses(f"Rebase {plural(len(plan.steps), 'commit')}", self._find_losses(request), facts)

    def _preview_leaving(self, summary: str) -> Preview:
        preview_facts, folder = PreviewFacts(self._git), self._git.folder
        step, steps = _progress(folder)
        facts = [
            preview_facts.head(),
            f"stopped in step {step} of {steps} at {preview_facts.describe_commit('REBASE_HEAD')}",
        ]
        facts.append(f"began at {original_head(folder) or 'no commit that is known'}")
        return preview_losses(summary, self._lost_by_leaving(), facts, bound=[preview_facts.index()])

    async def _commits(self, upstream: str) -> list[tuple[str, str]]:
        options = ("--reverse", "--topo-order", "--no-merges", "--cherry-mark", "--right-only", "-z")
        limit = f"--max-count={_MAX_STEPS + 1}"
        done = await self._git.run("log", *options, limit, "--format=%m%H %s", f"{upstream}...HEAD", "--")
        marked = [(oid[0], oid[1:], subject) for oid, _, subject in (field.partition(" ") for field in done.fields)]
        # Like git, leave out what upstream has already; empty commits are equal to no other.
        commits = [(oid, subject) for mark, oid, subject in marked if mark != "=" or await self._is_empty(oid)]
        if len(commits) > _MAX_STEPS:
            raise InvalidArgument(f"more than {_MAX_STEPS} commits", hint="name an upstream that is nearer")
        return commits

    async def _is_empty(self, oid: str) -> bool:
        trees = await self._git.run("rev-parse", "--verify", f"{oid}^{{tree}}", check=False)
        parents = await self._git.run("rev-parse", "--verify", f"{oid}^^{{tree}}", check=False)
        return trees.line == parents.line

    async def _step(self, call: Call, verb: str) -> RebaseResult:
        abort = verb == "abort"
        async with self._writer.mutation(call, f"rebase_{verb}", undoable=not abort) as mutation:
            if mutation.before.state != "rebase":
                raise GitRefused("no rebase is under way", hint="see git_status for the state")
            folder, head = self._git.folder, mutation.before.head
            original = await asyncio.to_thread(original_head, folder)
            if verb != "continue":
                await mutation.reach(mutation.before.changed)
                work = await asyncio.to_thread(resolved_files, self._losses, all_work=True)
                # For an edit git records the commit where it paused; any other HEAD is new work.
                paused = await asyncio.to_thread(_text, folder / FOLDER / "amend")
                # An abort moves the branch to its recorded commit, but it may have moved since.
                tip = mutation.before.refs.get(await asyncio.to_thread(_branch, folder)) if abort else None
                moved = [tip] if tip and tip != original else []
                await mutation.keep_losses(
                    commits=[*([head] if head else []), *moved],
                    only=work,
                    replaced=not moved and (not paused or paused == head),
                )
            before = await asyncio.to_thread(_progress, folder)
            # It may have been started elsewhere, where the caller's permissions were not checked.
            if abort and original:
                await self._writer.permission.admit_difference(call, head, original)
            elif not abort:
                await asyncio.to_thread(refuse_commands, folder)
                await refuse_strategies(self._git)
                await self._writer.permission.admit_commits(call, await commits_left(self._git))
                for target in await targets_left(self._git):
                    await self._writer.permission.admit_difference(call, head, target)
            await self._writer.permission.admit_commits(call, await stashes_left(self._git))
            done = await self._git.run(
                *(*comment_option(folder), "rebase", f"--{verb}"), env=editors(folder), check=False
            )
            delta = await mutation.finish(since=None if abort else original)
            if done.code != 0 and await asyncio.to_thread(_progress, folder) == before and not delta.conflicts:
                raise git_error("rebase", done.err or done.line, done.code)
            return await self._result(
                delta, total=before[1], errors=done.err if done.code else "", aborted=abort, at=before[0]
            )

    async def _result(
        self, delta: GitDelta, *, total: int, errors: str, aborted: bool = False, at: int = 0
    ) -> RebaseResult:
        folder = self._git.folder
        if delta.repo_state != "rebase":
            return RebaseResult(
                delta=delta,
                success=not aborted,
                completed_steps=max(at - 1, 0) if aborted else total,
                total_steps=total,
                state="aborted" if aborted else "done",
                new_head=delta.head,
            )
        step, steps = await asyncio.to_thread(_progress, folder)
        current = await self._git.run("rev-parse", "--verify", "--quiet", "REBASE_HEAD", check=False)
        stopped = current.line or await asyncio.to_thread(_text, folder / FOLDER / "stopped-sha")
        pause = not delta.conflicts
        return RebaseResult(
            delta=delta,
            success=False,
            completed_steps=step if pause and (folder / FOLDER / "amend").exists() else max(step - 1, 0),
            total_steps=steps or total,
            state="edit_pause" if pause else "conflict",
            conflict_paths=tuple(conflict.path for conflict in delta.conflicts),
            current_commit=stopped or None,
            said="" if delta.conflicts else str(git_error("rebase", errors).message)[:500] if errors else "",
        )

    def _find_losses(self, request: RebaseExecuteRequest) -> list[Loss]:
        upstream = resolve_commit_now(self._git, request.plan.upstream)
        pushed = self._losses.count_pushed("HEAD", base=upstream) if self._losses.head else 0
        sent = plural(pushed, "commit", verbs=("was", "were"))
        lost = [Loss(text=f"{sent} pushed: others may have them", kind="history")] if pushed else []
        dropped = [step.commit_sha[:9] for step in request.plan.steps if step.action == "drop"]
        onto = resolve_commit_now(self._git, request.plan.onto) if request.plan.onto else upstream
        return lost + lost_commits(dropped, "that are dropped") + self._lost_in_place(onto)

    def _lost_in_place(self, onto: str) -> list[Loss]:
        """Return the ignored files that the rebase would overwrite."""
        lost = {path for named in self._moved_paths(onto) for path in self._losses.list_ignored(named)}
        return self._losses.files(sorted(lost), "everything")

    def _moved_paths(self, onto: str) -> list[ChangedPaths]:
        head = self._losses.head
        if head is None:
            return []
        base = self._git.ask("merge-base", head, onto, check=False).line or None
        return [self._losses.changed_paths(head, onto), self._losses.changed_paths(base, head)]

    def _lost_by_leaving(self) -> list[Loss]:
        return resolution_losses(self._losses, all_work=True)


def _refuse_other_commits(planned: list[str], given: list[str]) -> None:
    if twice := [oid for oid in given if given.count(oid) > 1]:
        raise InvalidArgument(f"{twice[0][:9]} is in the plan twice")
    if missing := [oid for oid in planned if oid not in given]:
        raise InvalidArgument(
            f"{plural(len(missing), 'commit', verbs=ARE)} not in the plan: "
            f"{', '.join(oid[:9] for oid in missing[:10])}",
            hint="to leave a commit out, give it the action drop; git_rebase_plan makes a new plan",
        )
    if other := [oid for oid in given if oid not in planned]:
        raise InvalidArgument(
            f"{other[0][:9]} is not among the commits to rebase", hint="git_rebase_plan makes a new plan"
        )


def _progress(folder: Path) -> tuple[int, int]:
    numbers = [_text(folder / FOLDER / name) for name in ("msgnum", "end")]
    return tuple(int(text) if text.isdigit() else 0 for text in numbers)  # type: ignore[return-value]  # there are two


def _branch(folder: Path) -> str:
    """Return the ref of the branch that is being rebased."""
    return _text(folder / FOLDER / "head-name") or _text(folder / "rebase-apply" / "head-name")


def _text(path: Path) -> str:
    try:
        return read_plain_file(path).decode("utf-8", "replace").strip()
    except OSError:
        return ""
