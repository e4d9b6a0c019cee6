"""What a call would lose decides its risk, judged from the repository as it stands."""

from pathlib import Path

import pytest

from codeplane.kernel.errors import InvalidArgument, PathDenied, RefNotFound
from codeplane.kernel.operation import Risk
from codeplane.repo.git.branches import Branches, DeleteBranchRequest
from codeplane.repo.git.checkout import Checkout, CheckoutRequest
from codeplane.repo.git.commits import AmendRequest, Commits
from codeplane.repo.git.merges import MergeRequest, Merges
from codeplane.repo.git.rebase import Rebase, RebaseExecuteRequest
from codeplane.repo.git.rebase_todo import PlanGiven, StepGiven
from codeplane.repo.git.reset import Reset, ResetRequest
from codeplane.repo.git.staging import DiscardRequest, Staging
from codeplane.repo.git.stash import StashDropRequest, Stashing
from codeplane.repo.git.tags import DeleteTagRequest, Tags
from tests.repo.git.drawn import Desk, run, simple


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return simple(tmp_path)


def pushed(desk: Desk) -> None:
    """As if a remote had everything."""
    desk.made.git("update-ref", "refs/remotes/origin/main", "HEAD")


def test_reset_is_destructive_only_when_something_is_lost(desk: Desk) -> None:
    reset = Reset(desk.writer)

    def risk(ref: str, mode: str) -> Risk:
        return reset.assess_reset(ResetRequest.model_validate({"ref": ref, "mode": mode})).risk

    assert risk("HEAD", "hard") is Risk.WRITE
    assert risk("HEAD~1", "soft") is Risk.DESTRUCTIVE
    desk.made.git("branch", "kept")
    assert risk("HEAD~1", "hard") is Risk.WRITE
    desk.made.write("a.txt", "work")
    assert risk("HEAD~1", "mixed") is Risk.WRITE
    assert risk("HEAD", "hard") is Risk.DESTRUCTIVE
    preview = run(reset.preview_reset(ResetRequest(ref="HEAD", mode="hard")))
    assert "a.txt" in preview.body
    desk.made.git("checkout", "--quiet", "HEAD~2", "--", "a.txt")
    desk.made.git("reset", "--quiet", "--hard", "HEAD~2")
    desk.made.write("b.txt", "untracked")
    assert risk("kept", "hard") is Risk.DESTRUCTIVE


def test_discard_is_destructive_where_work_is(desk: Desk) -> None:
    staging = Staging(desk.writer)
    assert staging.assess_discard(DiscardRequest(paths=(".",))).risk is Risk.WRITE
    desk.made.write("new", "untracked")
    assert staging.assess_discard(DiscardRequest(paths=(".",))).risk is Risk.WRITE
    assert staging.assess_discard(DiscardRequest(paths=(".",), untracked=True)).risk is Risk.DESTRUCTIVE
    desk.made.write("a.txt", "work")
    assert staging.assess_discard(DiscardRequest(paths=("a.txt",))).risk is Risk.DESTRUCTIVE
    assert staging.assess_discard(DiscardRequest(paths=("b.txt",))).risk is Risk.WRITE
    for path in ("../x", ".git/config", ".codeplane/config.yaml", "/etc/passwd"):
        with pytest.raises(PathDenied):
            staging.assess_discard(DiscardRequest(paths=(path,)))


def test_deleting_what_alone_reaches_commits_is_destructive(desk: Desk) -> None:
    desk.made.git("branch", "same")
    desk.made.git("checkout", "--quiet", "-b", "topic")
    desk.made.commit("only here")
    desk.made.git("tag", "mark")
    desk.made.git("checkout", "--quiet", "main")
    branches, tags = Branches(desk.writer), Tags(desk.writer)
    assert branches.assess_delete(DeleteBranchRequest(name="same", force=True)).risk is Risk.WRITE
    assert branches.assess_delete(DeleteBranchRequest(name="topic", force=True)).risk is Risk.WRITE
    desk.made.git("tag", "--delete", "mark")
    assessed = branches.assess_delete(DeleteBranchRequest(name="topic", force=True))
    assert assessed.risk is Risk.DESTRUCTIVE
    assert "only here" in assessed.effects[0]
    desk.made.git("tag", "mark", "topic")
    assert tags.assess_delete(DeleteTagRequest(name="mark")).risk is Risk.WRITE
    desk.made.git("branch", "-D", "topic")
    assert tags.assess_delete(DeleteTagRequest(name="mark")).risk is Risk.DESTRUCTIVE


def test_replacing_pushed_commits_is_destructive(desk: Desk) -> None:
    commits, rebase = Commits(desk.writer), Rebase(desk.writer)
    head = desk.made.git("rev-parse", "HEAD").decode().strip()

    def execute(action: str) -> Risk:
        step = StepGiven.model_validate({"action": action, "commit_sha": head})
        plan = PlanGiven(upstream="HEAD~1", onto="HEAD~1", steps=(step,))
        return rebase.assess_execute(RebaseExecuteRequest(plan=plan)).risk

    assert commits.assess_amend(AmendRequest()).risk is Risk.WRITE
    assert execute("pick") is Risk.WRITE
    assert execute("drop") is Risk.DESTRUCTIVE
    pushed(desk)
    assert commits.assess_amend(AmendRequest()).risk is Risk.DESTRUCTIVE
    assert execute("pick") is Risk.DESTRUCTIVE


def test_dropping_a_stash_is_destructive(desk: Desk) -> None:
    stashing = Stashing(desk.writer)
    desk.made.write("a.txt", "work")
    desk.made.git("stash")
    assessed = stashing.assess_drop(StashDropRequest())
    assert assessed.risk is Risk.DESTRUCTIVE
    assert "a.txt" in assessed.effects[0]


def test_checkout_is_destructive_over_changes_and_from_a_head_without_a_branch(desk: Desk) -> None:
    checkout = Checkout(desk.writer)
    desk.made.write("a.txt", "work")
    assert checkout.assess_checkout(CheckoutRequest(ref="HEAD~1")).risk is Risk.WRITE
    assert checkout.assess_checkout(CheckoutRequest(ref="HEAD~1", paths=("b.txt",))).risk is Risk.WRITE
    assert checkout.assess_checkout(CheckoutRequest(ref="HEAD~1", paths=("a.txt",))).risk is Risk.DESTRUCTIVE
    desk.made.git("checkout", "--quiet", "--detach")
    assert checkout.assess_checkout(CheckoutRequest(ref="main")).risk is Risk.WRITE
    desk.made.commit("on no branch")
    assert checkout.assess_checkout(CheckoutRequest(ref="main")).risk is Risk.DESTRUCTIVE
    assert checkout.assess_checkout(CheckoutRequest(ref="new", create=True)).risk is Risk.WRITE


def test_giving_up_a_merge_is_destructive_after_work_on_it(desk: Desk) -> None:
    desk.made.git("checkout", "--quiet", "-b", "topic", "HEAD~1")
    desk.made.write("a.txt", "other\n")
    desk.made.commit("other")
    desk.made.git("merge", "main", check=False)
    merges = Merges(desk.writer)
    assert merges.assess_merge(MergeRequest(action="abort")).risk is Risk.WRITE
    desk.made.write("a.txt", "resolved\n")
    assert merges.assess_merge(MergeRequest(action="abort")).risk is Risk.DESTRUCTIVE


def test_names_that_are_none_are_refused_before_anyone_is_asked(desk: Desk) -> None:
    reset = Reset(desk.writer)
    with pytest.raises(RefNotFound) as caught:
        reset.assess_reset(ResetRequest(ref="mian"))
    assert "main" in caught.value.hint
    for name in ("-x", "--hard", "a\nb", "main..topic", "\x7f"):
        with pytest.raises(InvalidArgument):
            reset.assess_reset(ResetRequest(ref=name))
