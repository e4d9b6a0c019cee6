"""What a call would lose decides its risk, judged from the repository as it stands."""

from pathlib import Path

import pytest

from codeplane.git.safety.obstacles import MAX_BELOW
from codeplane.git.write.branches import Branches, DeleteBranchRequest
from codeplane.git.write.checkout import Checkout, CheckoutRequest
from codeplane.git.write.commits import AmendRequest, Commits
from codeplane.git.write.merges import MergeRequest, Merges
from codeplane.git.write.picks import CherrypickRequest, Picks
from codeplane.git.write.rebase import Rebase, RebaseExecuteRequest
from codeplane.git.write.rebase_todo import PlanGiven, StepGiven
from codeplane.git.write.remotes import PullRequest, RemoteWrites
from codeplane.git.write.reset import Reset, ResetRequest
from codeplane.git.write.staging import DiscardRequest, Staging
from codeplane.git.write.stash import StashApplyRequest, StashDropRequest, Stashes, StashPopRequest, StashPushRequest
from codeplane.git.write.tags import DeleteTagRequest, Tags
from codeplane.git.write.worktrees import WorktreeAddRequest, WorktreeRemoveRequest, WorktreeWrites
from codeplane.kernel.errors import GitRefused, InvalidArgument, PathDenied, RefNotFound, TooLarge
from codeplane.kernel.operation import Risk
from tests.git.blocked_branch import make_branches
from tests.git.desk import Desk, call, run, simple
from tests.git.random_repository import RandomRepository
from tests.git.read_operations import Reads
from tests.interaction.requirements import requirement


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return simple(tmp_path)


def pushed(desk: Desk) -> None:
    """As if a remote had everything."""
    desk.made.git("update-ref", "refs/remotes/origin/main", "HEAD")


@requirement("GIT-08")
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


@requirement("GIT-08")
def test_discard_is_destructive_where_work_is(desk: Desk) -> None:
    staging = Staging(desk.writer)
    assert staging.assess_discard(None, DiscardRequest(paths=(".",))).risk is Risk.WRITE
    desk.made.write("new", "untracked")
    assert staging.assess_discard(None, DiscardRequest(paths=(".",))).risk is Risk.WRITE
    assert staging.assess_discard(None, DiscardRequest(paths=(".",), untracked=True)).risk is Risk.DESTRUCTIVE
    desk.made.write("a.txt", "work")
    assert staging.assess_discard(None, DiscardRequest(paths=("a.txt",))).risk is Risk.DESTRUCTIVE
    assert staging.assess_discard(None, DiscardRequest(paths=("b.txt",))).risk is Risk.WRITE
    for path in ("../x", ".git/config", ".codeplane/config.yaml", "/etc/passwd"):
        with pytest.raises(PathDenied):
            staging.assess_discard(None, DiscardRequest(paths=(path,)))


@requirement("GIT-08")
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


@requirement("GIT-08")
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


@requirement("GIT-08")
def test_dropping_a_stash_is_destructive(desk: Desk) -> None:
    stashing = Stashes(desk.writer)
    desk.made.write("a.txt", "work")
    desk.made.git("stash")
    assessed = stashing.assess_drop(StashDropRequest())
    assert assessed.risk is Risk.DESTRUCTIVE
    assert "a.txt" in assessed.effects[0]


def test_checkout_is_destructive_over_changes_and_from_a_head_without_a_branch(desk: Desk) -> None:
    checkout = Checkout(desk.writer)
    desk.made.write("a.txt", "work")
    assert checkout.assess_checkout(None, CheckoutRequest(ref="HEAD~1")).risk is Risk.WRITE
    assert checkout.assess_checkout(None, CheckoutRequest(ref="HEAD~1", paths=("b.txt",))).risk is Risk.WRITE
    assert checkout.assess_checkout(None, CheckoutRequest(ref="HEAD~1", paths=("a.txt",))).risk is Risk.DESTRUCTIVE
    desk.made.git("checkout", "--quiet", "--detach")
    assert checkout.assess_checkout(None, CheckoutRequest(ref="main")).risk is Risk.WRITE
    desk.made.commit("on no branch")
    assert checkout.assess_checkout(None, CheckoutRequest(ref="main")).risk is Risk.DESTRUCTIVE
    assert checkout.assess_checkout(None, CheckoutRequest(ref="new", create=True)).risk is Risk.WRITE


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


@pytest.mark.parametrize("ignored", [False, True])
@pytest.mark.parametrize(("there", "comes"), [("nd/p.txt", "nd"), ("nd", "nd/x"), ("nd/deep/p", "nd"), ("nd", "nd")])
def test_what_lies_above_below_or_at_a_name_counts(desk: Desk, there: str, comes: str, ignored: bool) -> None:
    make_branches(desk, comes, ignored=ignored)
    reset, checkout = Reset(desk.writer), Checkout(desk.writer)
    restore = CheckoutRequest(ref="other", paths=(comes,))
    assert checkout.assess_checkout(None, restore).risk is Risk.WRITE
    assert reset.assess_reset(ResetRequest(ref="other", mode="hard")).risk is Risk.WRITE
    desk.made.write(there, "mine")
    for assessed, previewed in (
        (
            reset.assess_reset(ResetRequest(ref="other", mode="hard")),
            run(reset.preview_reset(ResetRequest(ref="other", mode="hard"))),
        ),
        (checkout.assess_checkout(None, restore), run(checkout.preview_checkout(restore))),
    ):
        assert assessed.risk is Risk.DESTRUCTIVE
        assert there in previewed.body


@pytest.mark.parametrize(("there", "comes"), [("nd/p.txt", "nd"), ("nd", "nd/x"), ("nd", "nd")])
def test_a_switch_a_merge_and_a_pick_are_destructive_over_ignored_files_alone(
    desk: Desk, there: str, comes: str
) -> None:
    make_branches(desk, comes, ignored=True)
    checkout, merges, picks = Checkout(desk.writer), Merges(desk.writer), Picks(desk.writer)

    def risks() -> set[Risk]:
        return {
            checkout.assess_checkout(None, CheckoutRequest(ref="other")).risk,
            checkout.assess_checkout(None, CheckoutRequest(ref="fresh", create=True, start="other")).risk,
            merges.assess_merge(MergeRequest(ref="other")).risk,
            picks.assess_cherrypick(CherrypickRequest(commit="other")).risk,
        }

    assert risks() == {Risk.WRITE}
    desk.made.write(there, "mine")
    assert risks() == {Risk.DESTRUCTIVE}
    assert there in run(merges.preview_merge(MergeRequest(ref="other"))).body
    # What is not ignored is safe, since git refuses.
    (desk.made.root / ".git" / "info" / "exclude").write_text("")
    assert risks() == {Risk.WRITE}


@pytest.mark.parametrize(("there", "comes"), [("nd/p.txt", "nd"), ("nd", "nd/x"), ("nd", "nd")])
def test_a_rebase_a_pull_and_a_stash_are_destructive_over_ignored_files_alone(
    desk: Desk, there: str, comes: str
) -> None:
    make_branches(desk, comes, ignored=True)
    made, rebase, stashing = desk.made, Rebase(desk.writer), Stashes(desk.writer)
    made.git("config", "remote.origin.url", "https://example.invalid/x.git")
    made.git("update-ref", "refs/remotes/origin/other", "other")
    made.git("stash", "store", "--message", "brought", _stash(desk))
    execute = RebaseExecuteRequest(plan=PlanGiven(upstream="other", onto="", steps=()))

    def effects() -> list[str]:
        return [
            " ".join(assessed.effects)
            for assessed in (
                rebase.assess_execute(execute),
                stashing.assess_pop(StashPopRequest()),
                stashing.assess_apply(StashApplyRequest()),
                RemoteWrites(desk.writer).assess_pull(PullRequest(ref="other")),
            )
        ]

    assert not [one for one in effects() if "everything" in one]
    made.write(there, "mine")
    assert [one for one in effects() if f"everything in 1 file: {there}" not in one] == []
    for preview in (
        run(rebase.preview_execute(execute)),
        run(stashing.preview_pop(StashPopRequest())),
        run(stashing.preview_apply(StashApplyRequest())),
        run(RemoteWrites(desk.writer).preview_pull(PullRequest(ref="other"))),
    ):
        assert there in preview.body
    # What is not ignored is safe, since git refuses.
    (made.root / ".git" / "info" / "exclude").write_text("")
    assert not [one for one in effects() if "everything" in one]


def _stash(desk: Desk) -> str:
    """What `other` has, as a stash of main."""
    git = desk.made.git
    head, tree = git("rev-parse", "HEAD").decode().strip(), git("rev-parse", "other^{tree}").decode().strip()
    index = git("commit-tree", "HEAD^{tree}", "-p", head, "-m", "index").decode().strip()
    return git("commit-tree", tree, "-p", head, "-p", index, "-m", "stash").decode().strip()


def test_putting_aside_is_destructive_where_an_ignored_file_took_the_place_of_another(desk: Desk) -> None:
    stashing = Stashes(desk.writer)
    desk.made.write("b.txt", "edited")
    assert stashing.assess_push(StashPushRequest()).risk is Risk.WRITE
    (desk.made.root / "a.txt").unlink()
    desk.made.write("a.txt/mine", "ignored")
    exclude = desk.made.root / ".git" / "info" / "exclude"
    exclude.parent.mkdir(exist_ok=True)
    exclude.write_text("mine\n")
    assert stashing.assess_push(StashPushRequest()).risk is Risk.DESTRUCTIVE
    assert "a.txt/mine" in run(stashing.preview_push(StashPushRequest())).body


def test_a_change_in_the_file_above_a_restored_one_counts(desk: Desk) -> None:
    make_branches(desk, "a.txt/x", ignored=False)
    checkout = Checkout(desk.writer)
    assert checkout.assess_checkout(None, CheckoutRequest(ref="other", paths=("a.txt/x",))).risk is Risk.WRITE
    desk.made.write("a.txt", "mine")
    assert checkout.assess_checkout(None, CheckoutRequest(ref="other", paths=("a.txt/x",))).risk is Risk.DESTRUCTIVE


def test_a_folder_in_place_of_a_tracked_file_counts_for_discard(desk: Desk) -> None:
    (desk.made.root / "a.txt").unlink()
    desk.made.write("a.txt/p", "mine")
    assessed = Staging(desk.writer).assess_discard(None, DiscardRequest(paths=("a.txt",)))
    assert "a.txt/p" in assessed.effects[0]


def test_a_repository_in_the_way_is_refused(desk: Desk) -> None:
    make_branches(desk, "nd", ignored=False)
    desk.made.write("nd/inner/.git/HEAD", "ref: refs/heads/main\n")
    request = ResetRequest(ref="other", mode="hard")
    with pytest.raises(GitRefused, match="nd/inner"):
        Reset(desk.writer).assess_reset(request)
    with pytest.raises(GitRefused, match="nd/inner"):
        run(Reset(desk.writer).reset(call(), request))
    assert (desk.made.root / "nd/inner/.git/HEAD").exists()


def test_a_submodule_where_a_file_comes_is_refused_and_left_alone_otherwise(desk: Desk) -> None:
    head = desk.made.git("rev-parse", "HEAD").decode().strip()
    make_branches(desk, "nd", ignored=False)
    desk.made.git("update-index", "--add", "--cacheinfo", f"160000,{head},nd")
    desk.made.git("commit", "--quiet", "-m", "a submodule")
    desk.made.git("branch", "held")
    desk.made.git("clone", "--quiet", ".", "nd")
    desk.made.write("nd/a.txt", "mine")
    reset = Reset(desk.writer)
    for ref in ("HEAD", "kept", "held"):
        run(reset.reset(call(), ResetRequest(ref=ref, mode="hard")))
        assert (desk.made.root / "nd/a.txt").read_text() == "mine"
    with pytest.raises(GitRefused, match="nd"):
        reset.assess_reset(ResetRequest(ref="other", mode="hard"))
    with pytest.raises(GitRefused, match="nd"):
        run(reset.reset(call(), ResetRequest(ref="other", mode="hard")))
    assert (desk.made.root / "nd/a.txt").read_text() == "mine"


def test_more_in_the_way_than_can_be_kept_is_refused(desk: Desk) -> None:
    make_branches(desk, "nd", ignored=True)
    (desk.made.root / "nd").mkdir()
    for number in range(MAX_BELOW + 1):
        (desk.made.root / "nd" / str(number)).touch()
    request = ResetRequest(ref="other", mode="hard")
    with pytest.raises(TooLarge, match="nd"):
        Reset(desk.writer).assess_reset(request)
    with pytest.raises(TooLarge, match="nd"):
        run(Reset(desk.writer).reset(call(), request))
    assert (desk.made.root / "nd" / "0").exists()


def test_a_branch_made_elsewhere_leaves_commits_behind_too(desk: Desk) -> None:
    checkout = Checkout(desk.writer)
    desk.made.git("checkout", "--quiet", "--detach")
    request = CheckoutRequest(ref="new", create=True, start="main")
    assert checkout.assess_checkout(None, request).risk is Risk.WRITE
    desk.made.commit("on no branch")
    assessed = checkout.assess_checkout(None, request)
    assert assessed.risk is Risk.DESTRUCTIVE
    assert "on no branch" in assessed.effects[0]
    assert checkout.assess_checkout(None, CheckoutRequest(ref="new", create=True, start="HEAD")).risk is Risk.WRITE


@pytest.mark.parametrize("mark", ["--assume-unchanged", "--skip-worktree"])
def test_edits_that_git_does_not_look_for_count(desk: Desk, mark: str) -> None:
    desk.made.git("update-index", mark, "a.txt")
    reset, request = Reset(desk.writer), ResetRequest(ref="HEAD", mode="hard")
    assert reset.assess_reset(request).risk is Risk.WRITE
    desk.made.write("a.txt", "mine")
    assert "a.txt" in reset.assess_reset(request).effects[0]


def test_removing_a_work_tree_is_destructive_over_ignored_files_but_not_caches(desk: Desk) -> None:
    writes = WorktreeWrites(desk.writer)
    run(writes.add(call(), WorktreeAddRequest(path="one", branch="one")))
    with (desk.made.root / ".git" / "info" / "exclude").open("a") as file:
        file.write("__pycache__\n*.local\n")
    desk.made.write("one/__pycache__/x.pyc", "made again")
    assert writes.assess_remove(WorktreeRemoveRequest(name="one")).risk is Risk.WRITE
    desk.made.git("-C", "one", "update-index", "--assume-unchanged", "a.txt")
    assert writes.assess_remove(WorktreeRemoveRequest(name="one")).risk is Risk.WRITE
    desk.made.write("one/a.txt", "mine too")
    assert "a.txt" in writes.assess_remove(WorktreeRemoveRequest(name="one")).effects[0]
    desk.made.write("one/settings.local", "mine")
    assessed = writes.assess_remove(WorktreeRemoveRequest(name="one"))
    assert assessed.risk is Risk.DESTRUCTIVE
    assert "settings.local" in assessed.effects[1]
    run(writes.remove(call(), WorktreeRemoveRequest(name="one")))
    kept = desk.made.git("for-each-ref", "--format=%(refname)", "refs/codeplane/").decode().strip()
    assert desk.made.git("show", f"{kept}:settings.local") == b"mine"
    assert desk.made.git("show", f"{kept}:a.txt") == b"mine too"


@pytest.mark.parametrize("ref", ["^main", "^HEAD", "main^@", "main^!", "main^-", "HEAD..main", "HEAD~1...main", "^"])
def test_what_excludes_or_names_several_is_no_commit_to_show(desk: Desk, ref: str) -> None:
    with pytest.raises((RefNotFound, InvalidArgument)):
        Reads(desk.made.root)("git.show", ref=ref)


def test_a_hard_reset_before_the_first_commit_is_destructive_and_comes_back(tmp_path: Path) -> None:
    desk = Desk(RandomRepository.empty(tmp_path / "empty", "--template="))
    reset = Reset(desk.writer)
    desk.made.write("new", "work")
    assert reset.assess_reset(ResetRequest(mode="hard")).risk is Risk.WRITE
    desk.made.git("add", "new")
    assert reset.assess_reset(ResetRequest(mode="mixed")).risk is Risk.WRITE
    assert reset.assess_reset(ResetRequest(mode="hard")).risk is Risk.DESTRUCTIVE
    done = run(reset.reset(call(), ResetRequest(mode="hard")))
    assert not (desk.made.root / "new").exists()
    desk.undo(done.delta.mutation_id)
    assert (desk.made.root / "new").read_text() == "work"
