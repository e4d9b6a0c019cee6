"""Every writing operation, drawn at random for a repository, beside the plain commands that do the same."""

import os
import random
import shutil
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from codeplane.git.write.branches import Branches, CreateBranchRequest, DeleteBranchRequest, RenameBranchRequest
from codeplane.git.write.checkout import Checkout, CheckoutRequest
from codeplane.git.write.commits import AmendRequest, CommitRequest, Commits
from codeplane.git.write.git_delta import Changed
from codeplane.git.write.merges import MergeRequest, Merges
from codeplane.git.write.picks import CherrypickRequest, Picks, RevertRequest
from codeplane.git.write.rebase import Rebase, RebaseExecuteRequest, RebasePlanRequest
from codeplane.git.write.rebase_todo import PlanGiven, StepGiven
from codeplane.git.write.reset import Reset, ResetRequest
from codeplane.git.write.staging import DiscardRequest, StageRequest, Staging, UnstageRequest
from codeplane.git.write.stash import StashApplyRequest, StashDropRequest, Stashes, StashPopRequest, StashPushRequest
from codeplane.git.write.tags import CreateTagRequest, DeleteTagRequest, Tags
from codeplane.kernel.errors import CodePlaneError
from tests.git.desk import Desk, call, copied, repository_state, run
from tests.git.random_repository import RandomRepository

Ours = Callable[[Desk], Awaitable[Changed]]
Plain = list[str]


@dataclass(frozen=True)
class Case:
    """One operation, ours and git's own commands in order."""

    ours: Ours
    plain: list[Plain]


def _text(raw: bytes) -> str:
    return os.fsdecode(raw)


@dataclass
class Draw:
    """Chooses arguments that fit a repository, or nearly."""

    made: RandomRepository
    chance: random.Random

    def paths(self) -> tuple[str, ...]:
        status = self.made.git("status", "--porcelain", "-z", "--untracked-files=all", "--no-renames").split(b"\0")
        names = {_text(line[3:]) for line in status if line} | {_text(one) for one in self.made.tracked()}
        if self.chance.random() < 0.3 or not names:
            return (".",)
        # Names that are no UTF-8 cannot come in by JSON; here they can.
        return tuple(self.chance.sample(sorted(names), min(len(names), self.chance.randint(1, 3))))

    def ref(self) -> str:
        refs = self.made.git("for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/tags").decode().split()
        commits = self.made.git("rev-list", "--all", "--max-count=30").decode().split()
        return self.chance.choice([*refs, *commits, "HEAD", "HEAD~1", "nowhere"])

    def branch(self) -> str:
        return self.chance.choice([*self.made.branches(), "absent"])

    def tag(self) -> str:
        return self.chance.choice([*self.made.git("tag").decode().split(), "absent"])

    def has(self, ref: str) -> bool:
        """Whether there is a ref of that full name."""
        return bool(self.made.git("for-each-ref", ref))

    def side(self) -> str:
        """Mostly a branch that went another way since the last commits, with the work tree clean."""
        if self.chance.random() < 0.2 or not self.made.git("rev-parse", "--verify", "HEAD", check=False):
            return self.ref()
        self.made.git("reset", "--quiet", "--hard")
        self.made.git("clean", "--quiet", "-fd")
        here = self.made.git("rev-parse", "HEAD").decode().strip()
        self.made.git("checkout", "--quiet", "-B", "side", self.chance.choice(("HEAD", "HEAD~1")), check=False)
        self._commits()
        side = self.made.git("rev-parse", "HEAD").decode().strip()
        self.made.git("checkout", "--quiet", "-B", "main", here, check=False)
        self._commits()
        return self.chance.choice(("side", "side", side))

    def _commits(self) -> None:
        for _ in range(self.chance.randint(1, 2)):
            for _ in range(self.chance.randint(1, 4)):
                self.made.change()
            self.made.commit(f"of {self.chance.random()}")


def stage(draw: Draw) -> Case:
    paths = draw.paths()
    plain = ["--literal-pathspecs", "add", "--", *paths]
    return Case(lambda desk: Staging(desk.writer).stage(call(), StageRequest(paths=paths)), [plain])


def unstage(draw: Draw) -> Case:
    paths = draw.paths()
    plain = ["--literal-pathspecs", "reset", "--quiet", "--", *paths]
    return Case(lambda desk: Staging(desk.writer).unstage(call(), UnstageRequest(paths=paths)), [plain])


def discard(draw: Draw) -> Case:
    paths = draw.paths()
    plain = ["--literal-pathspecs", "restore", "--", *paths]
    return Case(lambda desk: Staging(desk.writer).discard(call(), DiscardRequest(paths=paths)), [plain])


def discard_all(draw: Draw) -> Case:
    plain = [["restore", "--", "."], ["clean", "--quiet", "-fd", "--", "."]]
    if draw.made.git("ls-files", "--unmerged"):
        plain = []
    elif not draw.made.git("ls-files"):
        plain = plain[1:]
    request = DiscardRequest(paths=(".",), untracked=True)
    return Case(lambda desk: Staging(desk.writer).discard(call(), request), plain)


def commit(draw: Draw) -> Case:
    empty = draw.chance.random() < 0.3
    plain = ["commit", "-m", "said\n\n# and more", *(["--allow-empty"] if empty else [])]
    request = CommitRequest(message="said\n\n# and more", allow_empty=empty)
    return Case(lambda desk: Commits(desk.writer).commit(call(), request), [plain])


def commit_paths(draw: Draw) -> Case:
    paths = tuple(_text(name) for name in draw.made.tracked()[:2]) or ("absent",)
    plain = ["--literal-pathspecs", "commit", "-m", "some", "--only", "--", *paths]
    request = CommitRequest(message="some", paths=paths)
    return Case(lambda desk: Commits(desk.writer).commit(call(), request), [plain])


def _calm(draw: Draw, plain: Plain) -> list[Plain]:
    """The command, unless git is in the middle of a pick: some of ours are refused then."""
    return [["status"]] if (draw.made.root / ".git" / "CHERRY_PICK_HEAD").exists() else [plain]


def amend(draw: Draw) -> Case:
    message = draw.chance.choice(("", "better"))
    plain = ["commit", "--amend", *(["-m", message] if message else ["--no-edit"])]
    return Case(
        lambda desk: Commits(desk.writer).amend(call(), AmendRequest(message=message)),
        _calm(draw, plain),
    )


def create_branch(draw: Draw) -> Case:
    name, ref = draw.chance.choice(("new/one", "n\u00e4w", "topic")), draw.ref()
    request = CreateBranchRequest(name=name, ref=ref)
    return Case(lambda desk: Branches(desk.writer).create(call(), request), [["branch", name, ref]])


def rename_branch(draw: Draw) -> Case:
    name = draw.branch()
    request = RenameBranchRequest(name=name, new_name="other/name")
    return Case(lambda desk: Branches(desk.writer).rename(call(), request), [["branch", "-m", name, "other/name"]])


def delete_branch(draw: Draw) -> Case:
    name, force = draw.branch(), draw.chance.random() < 0.5
    request = DeleteBranchRequest(name=name, force=force)
    return Case(lambda desk: Branches(desk.writer).delete(call(), request), [["branch", "-D" if force else "-d", name]])


def checkout(draw: Draw) -> Case:
    ref = draw.ref()
    plain = ["checkout", "--quiet", ref, "--"]
    return Case(lambda desk: Checkout(desk.writer).checkout(call(), CheckoutRequest(ref=ref)), [plain])


def checkout_new(draw: Draw) -> Case:
    start = draw.chance.choice(("", draw.ref()))
    plain = ["checkout", "--quiet", "-b", "brand/new", *([start] if start else []), "--"]
    request = CheckoutRequest(ref="brand/new", create=True, start=start)
    return Case(lambda desk: Checkout(desk.writer).checkout(call(), request), [plain])


def checkout_paths(draw: Draw) -> Case:
    ref, paths = draw.ref(), draw.paths()
    plain = ["--literal-pathspecs", "checkout", "--quiet", ref, "--", *paths]
    return Case(lambda desk: Checkout(desk.writer).checkout(call(), CheckoutRequest(ref=ref, paths=paths)), [plain])


def create_tag(draw: Draw) -> Case:
    ref, message = draw.ref(), draw.chance.choice(("", "words"))
    plain = ["tag", *(["-a", "-m", message] if message else []), "new-tag", ref]
    request = CreateTagRequest(name="new-tag", ref=ref, message=message)
    return Case(lambda desk: Tags(desk.writer).create(call(), request), [plain])


def delete_tag(draw: Draw) -> Case:
    name = draw.tag()
    return Case(lambda desk: Tags(desk.writer).delete(call(), DeleteTagRequest(name=name)), [["tag", "-d", name]])


def merge(draw: Draw) -> Case:
    ref, never = draw.side(), draw.chance.random() < 0.3
    # By its id, as conflicts name it, with the message that git has for the name.
    kinds = [kind for kind, below in (("branch", "heads"), ("tag", "tags")) if draw.has(f"refs/{below}/{ref}")]
    given = f"refs/tags/{ref}" if kinds == ["tag"] else f"{ref}^{{commit}}"
    oid = draw.made.git("rev-parse", "--verify", given, check=False).decode().strip()
    message = f"Merge {kinds[0] if kinds else 'commit'} '{ref}'"
    plain = ["merge", "-m", message, *(["--no-ff"] if never else []), oid or ref]
    request = MergeRequest(ref=ref, ff="never" if never else "auto")
    return Case(lambda desk: Merges(desk.writer).merge(call(), request), [plain])


def cherrypick(draw: Draw) -> Case:
    ref = draw.side()
    return Case(
        lambda desk: Picks(desk.writer).cherrypick(call(), CherrypickRequest(commit=ref)),
        [["cherry-pick", f"{ref}^{{commit}}"]],
    )


def revert(draw: Draw) -> Case:
    ref = draw.chance.choice((draw.side(), "HEAD~1"))
    return Case(
        lambda desk: Picks(desk.writer).revert(call(), RevertRequest(commit=ref)),
        [["revert", "--no-edit", f"{ref}^{{commit}}"]],
    )


def reset(draw: Draw) -> Case:
    ref, mode = draw.ref(), draw.chance.choice(("soft", "mixed", "hard"))
    plain = ["reset", "--quiet", f"--{mode}", ref, "--"]
    request = ResetRequest.model_validate({"ref": ref, "mode": mode})
    return Case(lambda desk: Reset(desk.writer).reset(call(), request), [plain])


def stash_push(draw: Draw) -> Case:
    untracked = draw.chance.random() < 0.5
    plain = ["stash", "push", *(["--include-untracked"] if untracked else []), "-m", "aside"]
    request = StashPushRequest(message="aside", include_untracked=untracked)
    return Case(lambda desk: Stashes(desk.writer).push(call(), request), [plain])


def stash_push_paths(draw: Draw) -> Case:
    paths = draw.paths()
    plain = ["--literal-pathspecs", "stash", "push", "--", *paths]
    return Case(lambda desk: Stashes(desk.writer).push(call(), StashPushRequest(paths=paths)), [plain])


def _stashed(draw: Draw) -> None:
    draw.made.git("stash", "push", "--include-untracked", check=False)
    if draw.chance.random() < 0.5:
        draw.made.change()
        draw.made.git("stash", "push", check=False)
        if draw.chance.random() < 0.4:
            draw.made.change()


def stash_pop(draw: Draw) -> Case:
    _stashed(draw)
    at = draw.chance.randint(0, 1)
    request = StashPopRequest(index=at)
    plain = ["stash", "pop", f"stash@{{{at}}}"]
    return Case(lambda desk: Stashes(desk.writer).pop(call(), request), _calm(draw, plain))


def stash_apply(draw: Draw) -> Case:
    _stashed(draw)
    request = StashApplyRequest(index=0, restore_index=True)
    plain = ["stash", "apply", "--index", "stash@{0}"]
    return Case(lambda desk: Stashes(desk.writer).apply(call(), request), _calm(draw, plain))


def stash_drop(draw: Draw) -> Case:
    _stashed(draw)
    at = draw.chance.randint(0, 1)
    request = StashDropRequest(index=at)
    return Case(lambda desk: Stashes(desk.writer).drop(call(), request), [["stash", "drop", f"stash@{{{at}}}"]])


def rebase(draw: Draw) -> Case:
    """Plain picks, so that git needs no editor of ours to do the same."""
    ref = draw.side()

    async def ours(desk: Desk) -> Changed:
        plan = await Rebase(desk.writer).plan(call(), RebasePlanRequest(upstream=ref))
        steps = tuple(StepGiven(commit_sha=step.commit_sha) for step in plan.steps)
        given = PlanGiven(upstream=plan.upstream, onto=plan.onto, steps=steps)
        return await Rebase(desk.writer).execute(call(), RebaseExecuteRequest(plan=given))

    return Case(ours, [["-c", "sequence.editor=true", "rebase", "--interactive", "--empty=drop", f"{ref}^{{commit}}"]])


CASES: tuple[Callable[[Draw], Case], ...] = (
    stage,
    unstage,
    discard,
    discard_all,
    commit,
    commit_paths,
    amend,
    create_branch,
    rename_branch,
    delete_branch,
    checkout,
    checkout_new,
    checkout_paths,
    create_tag,
    delete_tag,
    merge,
    cherrypick,
    revert,
    reset,
    stash_push,
    stash_push_paths,
    stash_pop,
    stash_apply,
    stash_drop,
    rebase,
)


def compare(kind: Callable[[Draw], Case], origin: RandomRepository, seed: int, folder: Path) -> str:
    """Do it our way and git's way on copies of a repository, then undo and redo; says how it went."""
    repository = copied(origin, folder / "ours", chance=random.Random(seed))
    case = kind(Draw(repository, random.Random(seed)))
    other = copied(repository, folder / "plain")
    desk = Desk(repository)
    before = repository_state(repository)
    result: Changed | None = None
    refused: CodePlaneError | None = None
    try:
        result = run(case.ours(desk))
    except CodePlaneError as error:
        refused = error
    for command in case.plain:
        other.git(*command, check=False)
    after = repository_state(repository)
    where = f"{kind.__name__} seed {seed}: {refused or ''}"
    assert after == repository_state(other), where
    answer = result is not None and result.delta.mutation_id is not None
    if refused is not None or not answer:
        assert result is not None or after == before, where
        shutil.rmtree(folder)
        return "refused" if refused else "done"
    assert result is not None
    desk.undo(result.delta.mutation_id)
    assert repository_state(repository) == before, f"undo of {where}"
    if result.delta.repo_state == "none" or b"MERGE" in before.status:
        desk.redo(result.delta.mutation_id)
        assert repository_state(repository) == after, f"redo of {where}"
    shutil.rmtree(folder)
    return "undone"
