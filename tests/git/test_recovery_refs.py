"""What would be lost stays below refs/codeplane/recovery/ for some days."""

from pathlib import Path

import pytest

from codeplane.git.write.branches import Branches, DeleteBranchRequest
from codeplane.git.write.checkout import Checkout, CheckoutRequest
from codeplane.git.write.git_delta import Changed
from codeplane.git.write.merges import MergeRequest, Merges
from codeplane.git.write.picks import CherrypickRequest, Picks
from codeplane.git.write.reset import Reset, ResetRequest
from codeplane.git.write.staging import DiscardRequest, StageRequest, Staging
from codeplane.git.write.tags import DeleteTagRequest, Tags
from codeplane.kernel.clock import SECOND_NS, SystemClock
from codeplane.kernel.config import GitConfig
from codeplane.kernel.errors import CannotUndo
from tests.git.blocked_branch import make_branches
from tests.git.desk import Desk, call, run, simple
from tests.interaction.requirements import requirement


class Later(SystemClock):
    """The day after tomorrow."""

    def now_ns(self) -> int:
        return super().now_ns() + 2 * 86_400 * SECOND_NS


def recoveries(desk: Desk) -> list[str]:
    return desk.made.git("for-each-ref", "--format=%(refname)", "refs/codeplane/").decode().split()


@requirement("GIT-07")
def test_discarded_work_is_kept_byte_for_byte(tmp_path: Path) -> None:
    desk = simple(tmp_path)
    desk.made.write("a.txt", b"work\r\nmixed\n\xff")
    desk.made.write("new file", "untracked")
    done = run(Staging(desk.writer).discard(call(), DiscardRequest(paths=(".",), untracked=True)))
    assert done.delta.recovery in recoveries(desk)
    assert done.delta.recovery is not None and done.delta.recovery in done.text()
    assert desk.made.git("show", f"{done.delta.recovery}:a.txt") == b"work\r\nmixed\n\xff"
    assert desk.made.git("show", f"{done.delta.recovery}:new file") == b"untracked"
    assert {one.action for one in done.delta.files} == {"updated", "deleted"}


@requirement("GIT-07")
def test_lost_commits_and_tags_can_be_reached(tmp_path: Path) -> None:
    desk = simple(tmp_path)
    head = desk.made.git("rev-parse", "HEAD").decode().strip()
    done = run(Reset(desk.writer).reset(call(), ResetRequest(ref="HEAD~2", mode="hard")))
    assert head in desk.made.git("rev-list", str(done.delta.recovery)).decode()
    desk.made.git("branch", "topic", head)
    gone = run(Branches(desk.writer).delete(call(), DeleteBranchRequest(name="topic", force=True)))
    assert head in desk.made.git("rev-list", str(gone.delta.recovery)).decode()
    desk.made.git("tag", "-a", "-m", "words", "mark", head)
    tag = desk.made.git("rev-parse", "refs/tags/mark").decode().strip()
    run(Tags(desk.writer).delete(call(), DeleteTagRequest(name="mark")))
    assert any(desk.made.git("rev-parse", ref).decode().strip() == tag for ref in recoveries(desk))


@requirement("GIT-07")
def test_what_is_lost_by_nothing_is_not_kept(tmp_path: Path) -> None:
    desk = simple(tmp_path)
    desk.made.write("a.txt", "work")
    run(Staging(desk.writer).stage(call(), StageRequest(paths=(".",))))
    assert recoveries(desk) == []


@requirement("GIT-07")
def test_what_is_old_goes_at_the_next_write(tmp_path: Path) -> None:
    desk = simple(tmp_path)
    desk.made.git("tag", "-a", "-m", "words", "mark")
    run(Tags(desk.writer).delete(call(), DeleteTagRequest(name="mark")))
    assert len(recoveries(desk)) == 2
    run(Staging(desk.writer).stage(call(), StageRequest(paths=(".",))))
    assert len(recoveries(desk)) == 2
    later = Desk(desk.made, config=GitConfig(recovery_days=1.0), clock=Later())
    run(Staging(later.writer).stage(call(), StageRequest(paths=(".",))))
    assert recoveries(desk) == []


def done_by(desk: Desk, what: str, comes: str) -> Changed:
    """One of the operations that bring in what `other` has."""
    if what == "reset":
        return run(Reset(desk.writer).reset(call(), ResetRequest(ref="other", mode="hard")))
    if what == "restore":
        return run(Checkout(desk.writer).checkout(call(), CheckoutRequest(ref="other", paths=(comes,))))
    if what == "switch":
        return run(Checkout(desk.writer).checkout(call(), CheckoutRequest(ref="other")))
    if what == "merge":
        return run(Merges(desk.writer).merge(call(), MergeRequest(ref="other")))
    return run(Picks(desk.writer).cherrypick(call(), CherrypickRequest(commit="other")))


@requirement("GIT-07")
@pytest.mark.parametrize(
    ("what", "ignored"),
    [
        ("reset", False),
        ("reset", True),
        ("restore", False),
        ("restore", True),
        ("switch", True),
        ("merge", True),
        ("cherrypick", True),
    ],
)
@pytest.mark.parametrize(("there", "comes"), [("nd/in/p.txt", "nd"), ("nd", "nd/in/x"), ("nd", "nd")])
def test_what_was_in_the_way_is_kept_and_comes_back(
    tmp_path: Path, what: str, ignored: bool, there: str, comes: str
) -> None:
    desk = simple(tmp_path)
    make_branches(desk, comes, ignored=ignored)
    place = desk.made.write(there, b"mine\r\n\xff")
    done = done_by(desk, what, comes)
    assert (desk.made.root / comes).read_bytes() == b"theirs"
    assert done.delta.recovery is not None
    assert desk.made.git("show", f"{done.delta.recovery}:{there}") == b"mine\r\n\xff"
    desk.undo(done.delta.mutation_id)
    assert place.read_bytes() == b"mine\r\n\xff"
    desk.redo(done.delta.mutation_id)
    assert (desk.made.root / comes).read_bytes() == b"theirs"


def test_a_link_in_the_way_comes_back_and_what_it_leads_to_stays(tmp_path: Path) -> None:
    desk = simple(tmp_path)
    make_branches(desk, "nd/x", ignored=False)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "x").write_text("not ours")
    (desk.made.root / "nd").symlink_to(elsewhere)
    done = done_by(desk, "reset", "nd/x")
    assert not (desk.made.root / "nd").is_symlink()
    desk.undo(done.delta.mutation_id)
    assert (desk.made.root / "nd").readlink() == elsewhere
    desk.redo(done.delta.mutation_id)
    assert (desk.made.root / "nd/x").read_text() == "theirs"
    assert (elsewhere / "x").read_text() == "not ours"


def test_undo_does_not_go_over_what_came_into_the_folder_since(tmp_path: Path) -> None:
    desk = simple(tmp_path)
    make_branches(desk, "nd/x", ignored=False)
    desk.made.write("nd", "mine")
    done = done_by(desk, "reset", "nd/x")
    new = desk.made.write("nd/new", "since")
    with pytest.raises(CannotUndo, match="nd/new"):
        desk.undo(done.delta.mutation_id)
    assert (new.read_text(), (desk.made.root / "nd/x").read_text()) == ("since", "theirs")
    new.unlink()
    (desk.made.root / "nd" / "empty").mkdir()
    desk.undo(done.delta.mutation_id)
    assert (desk.made.root / "nd").read_text() == "mine"


# Where the commits differ in such a file, git itself refuses to reset.
@pytest.mark.parametrize(("what", "comes"), [("reset", "c.txt"), ("restore", "a.txt")])
def test_edits_that_git_does_not_look_for_are_kept(tmp_path: Path, what: str, comes: str) -> None:
    desk = simple(tmp_path)
    make_branches(desk, comes, ignored=False)
    desk.made.git("update-index", "--assume-unchanged", "a.txt")
    desk.made.write("a.txt", "mine")
    done = done_by(desk, what, comes)
    assert desk.made.git("show", f"{done.delta.recovery}:a.txt") == b"mine"
    desk.undo(done.delta.mutation_id)
    assert (desk.made.root / "a.txt").read_text() == "mine"
