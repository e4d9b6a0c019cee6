"""What would be lost stays below refs/codeplane/recovery/ for some days."""

from pathlib import Path

from codeplane.kernel.clock import SECOND_NS, SystemClock
from codeplane.kernel.config import GitConfig
from codeplane.repo.git.branches import Branches, DeleteBranchRequest
from codeplane.repo.git.reset import Reset, ResetRequest
from codeplane.repo.git.staging import DiscardRequest, StageRequest, Staging
from codeplane.repo.git.tags import DeleteTagRequest, Tags
from tests.repo.git.drawn import Desk, call, run, simple


class Later(SystemClock):
    """The day after tomorrow."""

    def now_ns(self) -> int:
        return super().now_ns() + 2 * 86_400 * SECOND_NS


def recoveries(desk: Desk) -> list[str]:
    return desk.made.git("for-each-ref", "--format=%(refname)", "refs/codeplane/").decode().split()


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


def test_what_is_lost_by_nothing_is_not_kept(tmp_path: Path) -> None:
    desk = simple(tmp_path)
    desk.made.write("a.txt", "work")
    run(Staging(desk.writer).stage(call(), StageRequest(paths=(".",))))
    assert recoveries(desk) == []


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
