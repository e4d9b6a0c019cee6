"""Undo and redo of git mutations: only while things are as they were left, and never over work done since."""

from pathlib import Path

import pytest

from codeplane.git.write.branches import Branches, DeleteBranchRequest, RenameBranchRequest
from codeplane.git.write.checkout import Checkout, CheckoutRequest
from codeplane.git.write.commits import CommitRequest, Commits
from codeplane.git.write.merges import MergeRequest, Merges
from codeplane.git.write.reset import Reset, ResetRequest
from codeplane.git.write.staging import DiscardRequest, StageRequest, Staging
from codeplane.git.write.stash import StashDropRequest, Stashes
from codeplane.kernel.errors import CannotUndo, GitBusy
from tests.git.desk import Desk, call, repository_state, run, simple
from tests.interaction.requirements import requirement


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return simple(tmp_path)


def committed(desk: Desk) -> str | None:
    desk.made.write("a.txt", "committed\n")
    return run(Commits(desk.writer).commit(call(), CommitRequest(message="x", paths=("a.txt",)))).delta.mutation_id


@requirement("GIT-06")
def test_work_done_since_stays(desk: Desk) -> None:
    mutation = committed(desk)
    desk.made.write("a.txt", "edited since\n")
    desk.made.write("b.txt", "also\n")
    desk.undo(mutation)
    assert desk.made.path("a.txt").read_text() == "edited since\n"
    assert desk.made.path("b.txt").read_text() == "also\n"
    assert desk.made.git("log", "-1", "--format=%s") == b"number 3\n"


@requirement("GIT-06")
def test_a_commit_since_is_said_and_nothing_changes(desk: Desk) -> None:
    mutation = committed(desk)
    desk.made.commit("another")
    before = repository_state(desk.made)
    with pytest.raises(CannotUndo, match="HEAD moved to"):
        desk.undo(mutation)
    assert repository_state(desk.made) == before


@requirement("GIT-06")
def test_another_branch_since_is_said(desk: Desk) -> None:
    mutation = committed(desk)
    desk.made.git("checkout", "--quiet", "-b", "elsewhere")
    with pytest.raises(CannotUndo, match="HEAD is on elsewhere now"):
        desk.undo(mutation)


@requirement("GIT-06")
def test_a_file_edited_since_is_named(desk: Desk) -> None:
    mutation = run(Reset(desk.writer).reset(call(), ResetRequest(ref="HEAD~1", mode="hard"))).delta.mutation_id
    desk.made.write("a.txt", "precious\n")
    before = repository_state(desk.made)
    with pytest.raises(CannotUndo, match=r"changed since: a\.txt"):
        desk.undo(mutation)
    assert repository_state(desk.made) == before


@requirement("GIT-06")
def test_an_index_that_changed_since_is_said(desk: Desk) -> None:
    desk.made.write("a.txt", "one\n")
    mutation = run(Staging(desk.writer).stage(call(), StageRequest(paths=("a.txt",)))).delta.mutation_id
    desk.made.write("a.txt", "two\n")
    desk.made.git("add", "a.txt")
    with pytest.raises(CannotUndo, match="the index changed"):
        desk.undo(mutation)


def test_a_file_in_the_way_is_not_overwritten(desk: Desk) -> None:
    mutation = run(Reset(desk.writer).reset(call(), ResetRequest(ref="HEAD~2", mode="hard"))).delta.mutation_id
    desk.made.write("b.txt", "mine now\n")
    with pytest.raises(CannotUndo, match=r"b\.txt"):
        desk.undo(mutation)
    assert desk.made.path("b.txt").read_text() == "mine now\n"


def test_settings_of_branches_come_back(desk: Desk) -> None:
    desk.made.git("branch", "topic")
    desk.made.git("config", "branch.topic.remote", "origin")
    desk.made.git("config", "branch.topic.merge", "refs/heads/topic")
    before = repository_state(desk.made)
    renamed = run(Branches(desk.writer).rename(call(), RenameBranchRequest(name="topic", new_name="topic/sub")))
    desk.undo(renamed.delta.mutation_id)
    assert repository_state(desk.made) == before
    deleted = run(Branches(desk.writer).delete(call(), DeleteBranchRequest(name="topic", force=True)))
    after = repository_state(desk.made)
    desk.undo(deleted.delta.mutation_id)
    assert repository_state(desk.made) == before
    desk.redo(deleted.delta.mutation_id)
    assert repository_state(desk.made) == after


def test_a_stash_from_the_middle_comes_back_to_its_place(desk: Desk) -> None:
    for number in range(3):
        desk.made.write("a.txt", f"{number}\n")
        desk.made.git("stash", "push", "-m", f"stash {number}")
    before = repository_state(desk.made)
    done = run(Stashes(desk.writer).drop(call(), StashDropRequest(index=1)))
    desk.undo(done.delta.mutation_id)
    assert repository_state(desk.made) == before


def test_a_merge_that_stopped_is_taken_back_and_not_done_again(desk: Desk) -> None:
    desk.made.git("checkout", "--quiet", "-b", "topic", "HEAD~1")
    desk.made.write("a.txt", "other\n")
    desk.made.commit("other")
    before = repository_state(desk.made)
    done = run(Merges(desk.writer).merge(call(), MergeRequest(ref="main")))
    assert not done.success
    assert [one.path for one in done.conflicts] == ["a.txt"]
    desk.undo(done.delta.mutation_id)
    assert repository_state(desk.made) == before
    with pytest.raises(CannotUndo, match="cannot be had again"):
        desk.redo(done.delta.mutation_id)


def test_modes_links_and_odd_bytes_come_back(desk: Desk) -> None:
    desk.made.write("run", "#!/bin/sh\n").chmod(0o755)
    desk.made.path("link").symlink_to("a.txt")
    desk.made.write('quo"te\nline', b"\0\xff\r\n")
    desk.made.write(b"latin\xe9", "x")
    desk.made.commit("odd")
    desk.made.write("run", "changed\n").chmod(0o644)
    desk.made.path("link").unlink()
    desk.made.path("link").symlink_to("b.txt")
    desk.made.write('quo"te\nline', b"other")
    desk.made.path(b"latin\xe9").unlink()
    before = repository_state(desk.made)
    done = run(Staging(desk.writer).discard(call(), DiscardRequest(paths=(".",))))
    after = repository_state(desk.made)
    assert done.delta.files_changed == 4
    desk.undo(done.delta.mutation_id)
    assert repository_state(desk.made) == before
    desk.redo(done.delta.mutation_id)
    assert repository_state(desk.made) == after


def test_line_ends_that_git_converts_come_back_as_they_were(desk: Desk) -> None:
    desk.made.write(".gitattributes", "*.txt text eol=crlf\n")
    desk.made.write("c.txt", b"one\r\ntwo\r\n")
    desk.made.commit("converted")
    desk.made.git("checkout", "--quiet", "-b", "topic")
    desk.made.write("c.txt", b"one\r\nother\r\n")
    desk.made.commit("other")
    before = repository_state(desk.made)
    done = run(Checkout(desk.writer).checkout(call(), CheckoutRequest(ref="main")))
    desk.undo(done.delta.mutation_id)
    assert repository_state(desk.made) == before


def test_an_ignored_file_that_git_overwrites_comes_back(desk: Desk) -> None:
    desk.made.git("checkout", "--quiet", "-b", "topic")
    desk.made.write("out.log", "tracked there\n")
    desk.made.commit("has it")
    desk.made.git("checkout", "--quiet", "main")
    desk.made.write(".gitignore", "*.log\n")
    desk.made.commit("ignores it")
    desk.made.write("out.log", "precious\n")
    before = repository_state(desk.made)
    done = run(Merges(desk.writer).merge(call(), MergeRequest(ref="topic")))
    assert desk.made.path("out.log").read_text() == "tracked there\n"
    desk.undo(done.delta.mutation_id)
    assert repository_state(desk.made) == before


def test_an_undo_that_broke_off_is_finished_later(desk: Desk) -> None:
    desk.made.write("new", "x\n")
    desk.made.git("add", "new")
    before = repository_state(desk.made)
    done = run(Reset(desk.writer).reset(call(), ResetRequest(ref="HEAD~1", mode="hard")))
    lock = desk.made.root / ".git" / "refs" / "heads" / "main.lock"
    lock.touch()
    with pytest.raises(GitBusy):
        desk.undo(done.delta.mutation_id)
    assert repository_state(desk.made) != before
    lock.unlink()
    desk.undo(done.delta.mutation_id)
    assert repository_state(desk.made) == before
    with pytest.raises(CannotUndo):
        desk.undo(done.delta.mutation_id)


def test_an_undo_that_broke_off_still_leaves_work_done_since(desk: Desk) -> None:
    done = run(Reset(desk.writer).reset(call(), ResetRequest(ref="HEAD~1", mode="hard")))
    lock = desk.made.root / ".git" / "refs" / "heads" / "main.lock"
    lock.touch()
    with pytest.raises(GitBusy):
        desk.undo(done.delta.mutation_id)
    lock.unlink()
    desk.made.write("a.txt", "precious\n")
    with pytest.raises(CannotUndo, match=r"changed since: a\.txt"):
        desk.undo(done.delta.mutation_id)
    assert desk.made.path("a.txt").read_text() == "precious\n"


def test_what_cannot_be_kept_is_done_and_said(desk: Desk) -> None:
    folder = desk.made.root.parent / f"{desk.made.root.name}.undo"
    folder.write_text("no folder\n")
    asked = call()
    done = run(Commits(desk.writer).commit(asked, CommitRequest(message="x", allow_empty=True)))
    assert done.delta.mutation_id is None
    assert "cannot be undone" in asked.warnings[0]


def test_what_was_meant_to_be_added_is_so_again_whatever_became_of_it(tmp_path: Path) -> None:
    desk = simple(tmp_path)
    for name in ("file", "program", "dir/deep"):
        desk.made.write(name, "x\n").chmod(0o755 if name == "program" else 0o644)
    (desk.made.root / "link").symlink_to("nowhere")
    desk.made.git("add", "--intent-to-add", "--", "file", "program", "dir/deep", "link")
    (desk.made.root / "file").unlink()
    (desk.made.root / "file").symlink_to("nowhere")
    before = repository_state(desk.made)
    done = run(Staging(desk.writer).stage(call(), StageRequest(paths=(".",))))
    assert repository_state(desk.made) != before
    desk.undo(done.delta.mutation_id)
    assert repository_state(desk.made) == before
