"""Bad names, bad paths, hooks that say no, and repositories in odd states: the right thing, or a typed error."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from codeplane.git.write.branches import Branches, CreateBranchRequest, DeleteBranchRequest, RenameBranchRequest
from codeplane.git.write.checkout import Checkout, CheckoutRequest
from codeplane.git.write.commits import AmendRequest, Author, CommitRequest, Commits
from codeplane.git.write.merges import MergeRequest, Merges
from codeplane.git.write.picks import CherrypickRequest, Picks
from codeplane.git.write.reset import Reset, ResetRequest
from codeplane.git.write.staging import DiscardRequest, StageRequest, Staging, UnstageRequest
from codeplane.git.write.stash import Stashes, StashPopRequest, StashPushRequest
from codeplane.git.write.tags import CreateTagRequest, DeleteTagRequest, Tags
from codeplane.kernel.errors import (
    CodePlaneError,
    EditOverlap,
    GitBusy,
    GitRefused,
    InvalidArgument,
    NotGit,
    PathDenied,
    RefNotFound,
)
from tests.git.desk import Desk, call, repository_state, run, simple
from tests.git.random_repository import RandomRepository
from tests.git.test_command import hook
from tests.interaction.requirements import requirement

Try = Callable[[], Awaitable[object]]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return simple(tmp_path)


@requirement("GIT-09")
@pytest.mark.parametrize("path", ["../out", "/etc/passwd", ".git/config", ".GIT/x", ".codeplane/config.yaml", "a\0b"])
def test_paths_outside_and_of_git_and_ours_are_refused(desk: Desk, path: str) -> None:
    before = repository_state(desk.made)
    operations: tuple[Try, ...] = (
        lambda: Staging(desk.writer).stage(call(), StageRequest(paths=(path,))),
        lambda: Staging(desk.writer).unstage(call(), UnstageRequest(paths=(path,))),
        lambda: Staging(desk.writer).discard(call(), DiscardRequest(paths=(path,))),
        lambda: Commits(desk.writer).commit(call(), CommitRequest(message="x", paths=(path,))),
        lambda: Checkout(desk.writer).checkout(call(), CheckoutRequest(ref="HEAD", paths=(path,))),
        lambda: Stashes(desk.writer).push(call(), StashPushRequest(paths=(path,))),
    )
    for operation in operations:
        with pytest.raises(PathDenied):
            run(operation())
    assert repository_state(desk.made) == before


@requirement("GIT-09")
@pytest.mark.parametrize("ref", ["-x", "--force", "^HEAD", "mian", "a b", "refs/heads/absent", "HEAD~99", "main:a.txt"])
def test_names_that_are_none_are_refused(desk: Desk, ref: str) -> None:
    before = repository_state(desk.made)
    operations: tuple[Try, ...] = (
        lambda: Checkout(desk.writer).checkout(call(), CheckoutRequest(ref=ref)),
        lambda: Branches(desk.writer).create(call(), CreateBranchRequest(name="ok", ref=ref)),
        lambda: Branches(desk.writer).delete(call(), DeleteBranchRequest(name=ref)),
        lambda: Branches(desk.writer).rename(call(), RenameBranchRequest(name=ref, new_name="ok")),
        lambda: Tags(desk.writer).create(call(), CreateTagRequest(name="ok", ref=ref)),
        lambda: Tags(desk.writer).delete(call(), DeleteTagRequest(name=ref)),
        lambda: Merges(desk.writer).merge(call(), MergeRequest(ref=ref)),
        lambda: Picks(desk.writer).cherrypick(call(), CherrypickRequest(commit=ref)),
        lambda: Reset(desk.writer).reset(call(), ResetRequest(ref=ref)),
    )
    for operation in operations:
        with pytest.raises((RefNotFound, InvalidArgument)):
            run(operation())
    assert repository_state(desk.made) == before


@requirement("GIT-09")
@pytest.mark.parametrize("name", ["-x", "a..b", "a b", "HEAD", "x.lock", "/x", "x~1", "@{1}"])
def test_names_that_git_cannot_have_are_refused(desk: Desk, name: str) -> None:
    with pytest.raises(InvalidArgument):
        run(Branches(desk.writer).create(call(), CreateBranchRequest(name=name)))
    with pytest.raises(InvalidArgument):
        run(Tags(desk.writer).create(call(), CreateTagRequest(name=name)))
    with pytest.raises(InvalidArgument):
        run(Checkout(desk.writer).checkout(call(), CheckoutRequest(ref=name, create=True)))


@requirement("GIT-09")
@pytest.mark.parametrize("name", ["bad name", "a..b", "x.lock", "a\\b", "-x"])
def test_a_bad_name_is_called_one_and_the_rules_are_told(desk: Desk, name: str) -> None:
    shown = repr(name)
    operations: tuple[tuple[Try, str], ...] = (
        (lambda: Branches(desk.writer).create(call(), CreateBranchRequest(name=name)), "branch"),
        (lambda: Branches(desk.writer).rename(call(), RenameBranchRequest(name="main", new_name=name)), "branch"),
        (lambda: Checkout(desk.writer).checkout(call(), CheckoutRequest(ref=name, create=True)), "branch"),
        (lambda: Tags(desk.writer).create(call(), CreateTagRequest(name=name)), "tag"),
    )
    for operation, kind in operations:
        with pytest.raises(InvalidArgument) as caught:
            run(operation())
        assert caught.value.message == f"{shown} is not a valid {kind} name"
        assert "no spaces" in caught.value.hint and ".lock" in caught.value.hint
    with pytest.raises(RefNotFound, match="there is no branch"):
        run(Branches(desk.writer).rename(call(), RenameBranchRequest(name=name, new_name="ok")))
    with pytest.raises(RefNotFound, match="there is no branch"):
        Branches(desk.writer).assess_delete(DeleteBranchRequest(name="bad name"))
    with pytest.raises(RefNotFound, match="there is no tag"):
        Tags(desk.writer).assess_delete(DeleteTagRequest(name="bad name"))


@requirement("GIT-09")
def test_a_commit_of_nothing_says_what_could_be_committed(desk: Desk) -> None:
    commits = Commits(desk.writer)
    with pytest.raises(GitRefused, match="nothing has changed since the last commit") as caught:
        run(commits.commit(call(), CommitRequest(message="x")))
    assert "allow_empty=true" in caught.value.hint
    desk.made.write("a.txt", "other\n")
    for number in range(12):
        desk.made.write(f"new/{number:02}", "x")
    with pytest.raises(GitRefused) as caught:
        run(commits.commit(call(), CommitRequest(message="x")))
    assert caught.value.message.startswith("nothing is staged; changed: a.txt; untracked: new/00, new/01")
    assert caught.value.message.endswith("new/09 and 2 more")
    assert 'paths=["."]' in caught.value.hint and "git_stage" in caught.value.hint
    with pytest.raises(GitRefused, match=r"nothing has changed in b\.txt"):
        run(commits.commit(call(), CommitRequest(message="x", paths=("b.txt",))))
    done = run(commits.commit(call(), CommitRequest(message="x", paths=(".",))))
    assert done.text().startswith(f"commit {done.oid[:9]}\n")


def test_a_hooks_words_on_a_commit_of_something_stay_its_own(desk: Desk) -> None:
    hook(desk, "pre-commit", "echo 'hint: run make format' >&2; exit 1")
    desk.made.write("a.txt", "other\n")
    with pytest.raises(GitRefused, match="hint: run make format"):
        run(Commits(desk.writer).commit(call(), CommitRequest(message="x", paths=("a.txt",))))


def test_a_commit_with_conflicts_names_them(desk: Desk) -> None:
    desk.made.git("checkout", "--quiet", "-b", "topic", "HEAD~1")
    desk.made.write("a.txt", "other\n")
    desk.made.commit("other")
    desk.made.git("merge", "main", check=False)
    with pytest.raises(GitBusy) as caught:
        run(Commits(desk.writer).commit(call(), CommitRequest(message="x")))
    assert caught.value.message == "1 file is in conflict: a.txt"
    assert "git_stage" in caught.value.hint


def test_what_needs_force_says_so_and_that_it_is_destructive(desk: Desk) -> None:
    desk.made.git("checkout", "--quiet", "-b", "topic")
    desk.made.write("a.txt", "other\n")
    desk.made.commit("other")
    desk.made.git("checkout", "--quiet", "main")
    with pytest.raises(GitRefused) as caught:
        run(Branches(desk.writer).delete(call(), DeleteBranchRequest(name="topic")))
    assert caught.value.message == "git branch: The branch 'topic' is not fully merged."
    assert "force=true" in caught.value.hint and "loses" in caught.value.hint
    with pytest.raises(GitRefused) as caught:
        run(Branches(desk.writer).delete(call(), DeleteBranchRequest(name="main")))
    assert "git_checkout another branch" in caught.value.hint
    with pytest.raises(GitRefused) as caught:
        run(Branches(desk.writer).create(call(), CreateBranchRequest(name="topic")))
    assert "another name" in caught.value.hint


def test_a_near_name_is_proposed(desk: Desk) -> None:
    desk.made.git("branch", "feature/login")
    with pytest.raises(RefNotFound) as caught:
        run(Checkout(desk.writer).checkout(call(), CheckoutRequest(ref="feature/logn")))
    assert caught.value.hint == "did you mean feature/login?"


def test_a_hook_that_says_no_is_quoted_and_nothing_stays_staged(desk: Desk) -> None:
    hook(desk, "pre-commit", "echo 'no tabs allowed' >&2; exit 1")
    desk.made.write("new", "x")
    before = repository_state(desk.made)
    with pytest.raises(GitRefused, match="no tabs allowed"):
        run(Commits(desk.writer).commit(call(), CommitRequest(message="x", paths=("new",))))
    assert repository_state(desk.made) == before


def test_what_hooks_say_and_write_is_told(desk: Desk) -> None:
    hook(desk, "pre-commit", "echo formatted >&2; echo by-hook > made-by-hook")
    desk.made.write("new", "x")
    done = run(Commits(desk.writer).commit(call(), CommitRequest(message="x", paths=("new",))))
    assert done.said == "formatted"
    assert desk.told.paths == [None], "a hook may have written anywhere"


def test_a_lock_and_a_merge_under_way_are_busy(desk: Desk) -> None:
    lock = desk.made.root / ".git" / "index.lock"
    lock.touch()
    desk.made.write("n", "x")
    with pytest.raises(GitBusy):
        run(Staging(desk.writer).stage(call(), StageRequest(paths=(".",))))
    lock.unlink()
    desk.made.git("checkout", "--quiet", "-b", "topic", "HEAD~1")
    desk.made.write("a.txt", "other\n")
    desk.made.commit("other")
    desk.made.git("merge", "main", check=False)
    operations: tuple[Try, ...] = (
        lambda: Merges(desk.writer).merge(call(), MergeRequest(ref="main")),
        lambda: Picks(desk.writer).cherrypick(call(), CherrypickRequest(commit="main")),
        lambda: Commits(desk.writer).amend(call(), AmendRequest(message="x")),
        lambda: Stashes(desk.writer).pop(call(), StashPopRequest()),
        lambda: Commits(desk.writer).commit(call(), CommitRequest(message="x", paths=("b.txt",))),
    )
    for operation in operations:
        with pytest.raises(GitBusy):
            run(operation())


async def test_an_edit_under_way_is_waited_for_only_so_long(desk: Desk) -> None:
    with pytest.raises(EditOverlap), desk.writer.locks.hold(["a.txt"]):
        async with desk.writer.locks.hold_all(wait_sec=0.01):
            pass


def test_a_commit_that_changes_our_own_folder_is_not_checked_out(desk: Desk) -> None:
    desk.made.git("checkout", "--quiet", "-b", "gate")
    desk.made.write(".codeplane/config.yaml", "trust: {mode: automatic}\n")
    desk.made.commit("opens the gate")
    desk.made.git("checkout", "--quiet", "main")
    before = repository_state(desk.made)
    operations: tuple[Try, ...] = (
        lambda: Checkout(desk.writer).checkout(call(), CheckoutRequest(ref="gate")),
        lambda: Checkout(desk.writer).checkout(call(), CheckoutRequest(ref="gate", paths=(".",))),
        lambda: Merges(desk.writer).merge(call(), MergeRequest(ref="gate")),
        lambda: Picks(desk.writer).cherrypick(call(), CherrypickRequest(commit="gate")),
        lambda: Reset(desk.writer).reset(call(), ResetRequest(ref="gate", mode="hard")),
    )
    for operation in operations:
        with pytest.raises(PathDenied):
            run(operation())
    assert repository_state(desk.made) == before


def test_an_author_cannot_bring_further_lines(desk: Desk) -> None:
    with pytest.raises(InvalidArgument):
        run(
            Commits(desk.writer).commit(
                call(), CommitRequest(message="x", allow_empty=True, author=Author(name="a\nb", email="c"))
            )
        )
    done = run(
        Commits(desk.writer).commit(
            call(), CommitRequest(message="x", allow_empty=True, author=Author(name="Grace", email="g@x"))
        )
    )
    assert desk.made.git("show", "--no-patch", "--format=%an %ae", done.oid) == b"Grace g@x\n"


def test_without_a_name_git_says_how_to_set_one(tmp_path: Path) -> None:
    desk = simple(tmp_path)
    desk.variables = {"GIT_COMMITTER_NAME": "", "GIT_COMMITTER_EMAIL": "", "GIT_AUTHOR_NAME": "", "EMAIL": ""}
    with pytest.raises(GitRefused) as caught:
        run(Commits(desk.writer).commit(call(), CommitRequest(message="x", allow_empty=True)))
    assert "git config user.name" in caught.value.hint


def test_an_unborn_branch_takes_its_first_commit_and_gives_it_back(tmp_path: Path) -> None:
    made = RandomRepository.empty(tmp_path / "unborn")
    desk = Desk(made)
    made.write("a", "x\n")
    before = repository_state(made)
    with pytest.raises(RefNotFound):
        run(Commits(desk.writer).amend(call(), AmendRequest(message="x")))
    with pytest.raises(CodePlaneError):
        run(Stashes(desk.writer).push(call(), StashPushRequest()))
    done = run(Commits(desk.writer).commit(call(), CommitRequest(message="first", paths=("a",))))
    assert done.delta.head_before is None and done.delta.files_changed == 1
    desk.undo(done.delta.mutation_id)
    assert repository_state(made) == before
    desk.redo(done.delta.mutation_id)
    assert made.git("log", "--format=%s") == b"first\n"


@pytest.mark.parametrize("option", ["--object-format=sha256", "--bare"])
def test_other_kinds_of_repositories(tmp_path: Path, option: str) -> None:
    made = RandomRepository.empty(tmp_path / "kind", option)
    desk = Desk(made)
    made.write("a", "x\n")
    if option == "--bare":
        with pytest.raises(NotGit):
            run(Staging(desk.writer).stage(call(), StageRequest(paths=("a",))))
        return
    staged = run(Staging(desk.writer).stage(call(), StageRequest(paths=("a",))))
    done = run(Commits(desk.writer).commit(call(), CommitRequest(message="first")))
    assert len(done.oid) == 64
    desk.undo(done.delta.mutation_id)
    desk.undo(staged.delta.mutation_id)
    assert made.git("status", "--porcelain") == b"?? a\n"


def test_a_worktree_a_submodule_and_a_shallow_clone_as_root(tmp_path: Path) -> None:
    desk = simple(tmp_path)
    linked, shallow = tmp_path / "linked", tmp_path / "shallow"
    desk.made.git("worktree", "add", "--quiet", "-b", "other", str(linked))
    desk.made.git("clone", "--quiet", "--depth=1", f"file://{desk.made.root}", str(shallow))
    desk.made.git("-c", "protocol.file.allow=always", "submodule", "add", "--quiet", str(desk.made.root), "sub")
    for root in (linked, shallow, desk.made.root / "sub"):
        inner = Desk(RandomRepository(root=root.resolve(), at=50))
        inner.made.write("new", "x\n")
        before = repository_state(inner.made)
        done = run(Commits(inner.writer).commit(call(), CommitRequest(message="here", paths=("new",))))
        assert done.delta.files_changed == 1
        inner.undo(done.delta.mutation_id)
        assert repository_state(inner.made) == before
