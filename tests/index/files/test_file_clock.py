"""Files that are read in the tick they were written in: a later write in it would leave the same stamp."""

import sys
import tempfile
import time
from pathlib import Path

import pytest

from codeplane.index.files.file import stamp_of
from codeplane.index.files.file_clock import FileClock, has_fine_stamps
from tests.harness import make_repo
from tests.index.recording_indexer import RecordingIndexer, texts
from tests.interaction.requirements import requirement

pytestmark = requirement("IDX-47")


def test_the_trial_agrees_with_what_files_do(tmp_path: Path) -> None:
    file = tmp_path / "a"
    stamps = []
    for number in range(20):
        file.write_text(str(number % 10))
        stamps.append(stamp_of(str(file)))
    if has_fine_stamps(tmp_path):
        assert len(set(stamps)) == len(stamps)
    assert [one.name for one in tmp_path.iterdir()] == ["a"]


@pytest.mark.skipif(sys.platform != "linux", reason="the clock of stamps is known on Linux alone")
def test_what_was_just_written_is_read_when_its_tick_is_over(tmp_path: Path) -> None:
    ticks = FileClock(fine=False)
    for number in range(10):
        (tmp_path / "a").write_text(str(number))
        stamp = stamp_of(str(tmp_path / "a"))
        assert stamp is not None
        ticks.wait(stamp)
        assert stamp.ctime_ns < ticks.now()


def test_nobody_waits_for_another_clock(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    stamp = stamp_of(str(tmp_path / "a"))
    assert stamp is not None
    ahead = type(stamp)(stamp.size, stamp.mtime_ns, stamp.inode, stamp.mode, time.time_ns() + 3600 * 10**9)
    ticks = FileClock(fine=False)
    ticks.wait(ahead)
    # It came back, though the tick is far from over.
    assert ticks.now() <= ahead.ctime_ns
    assert FileClock(fine=True).now() > ahead.ctime_ns


def test_an_index_where_stamps_may_go_in_ticks_follows_every_write(tmp_path: Path) -> None:
    shared = Path("/dev/shm")
    if not shared.is_dir() or shared.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("not tested: there is no second file system for the index to be on")
    root = make_repo(tmp_path / "repo", {"a.py": "0", "b.py": "x"})
    with tempfile.TemporaryDirectory(dir=shared) as home:
        assert FileClock.of(root, Path(home)).now() < FileClock(fine=True).now()
        indexer = RecordingIndexer(root, Path(home))
        indexer.start()
        for number in range(1, 6):
            (root / "a.py").write_text(str(number))
            assert texts(indexer.reconcile()) == {"a.py": str(number).encode(), "b.py": b"x"}
        indexer.close()
