"""Files that several callers want read again are read together."""

import asyncio
from pathlib import Path

import pytest

from codeplane.index.freshness import SnapshotSource
from codeplane.kernel.clock import SystemClock
from tests.harness import make_repo
from tests.index.recording_indexer import RecordingIndexer
from tests.interaction.requirements import requirement
from tests.kernel.plane import ManualClock

pytestmark = requirement("SRV-17")


def source(tmp_path: Path, names: list[str]) -> tuple[Path, RecordingIndexer, SnapshotSource]:
    root = make_repo(tmp_path / "repo", dict.fromkeys(names, "old\n"))
    indexer = RecordingIndexer(root, tmp_path / "home")
    indexer.start()
    return root, indexer, SnapshotSource(indexer=indexer, clock=SystemClock(), verify_after_sec=60.0)


async def test_callers_that_come_together_share_a_state_that_holds_the_files_of_all(tmp_path: Path) -> None:
    names = [f"{number}.py" for number in range(20)]
    root, _, fresh = source(tmp_path, names)
    before = await fresh.snapshot(strict=True)
    for name in names:
        (root / name).write_text("new\n")

    found = await asyncio.gather(*(fresh.recheck(before, [name]) for name in names))

    for name, snapshot in zip(names, found, strict=True):
        assert snapshot is not None
        assert snapshot.text(snapshot.files[name]) == b"new\n"
    # The first is under way when the others come.
    assert len({snapshot.epoch for snapshot in found if snapshot is not None}) <= 2
    assert await fresh.recheck(found[-1] or before, names) is None


async def test_a_file_that_changes_while_others_are_read_is_read_again(tmp_path: Path) -> None:
    root, _, fresh = source(tmp_path, ["a.py", "b.py"])
    (root / "a.py").write_text("new\n")
    first = asyncio.ensure_future(fresh.refresh(["a.py"]))
    await asyncio.sleep(0)
    (root / "a.py").write_text("newest\n")
    second = await fresh.refresh(["a.py", "b.py"])

    assert second.text(second.files["a.py"]) == b"newest\n"
    assert second.epoch >= (await first).epoch


@requirement("REPO-05")
@pytest.mark.parametrize("is_new", [False, True])
async def test_a_file_that_was_empty_for_a_moment_is_looked_at_before_an_answer_without_it(
    tmp_path: Path, is_new: bool
) -> None:
    """A program that writes a file in place empties it first, and an answer from then does not name it."""
    root, clock = make_repo(tmp_path / "repo", {"a.py": "old\n", "b.py": "old\n"}), ManualClock()
    indexer = RecordingIndexer(root, tmp_path / "home", clock=clock)
    indexer.start()
    fresh = SnapshotSource(indexer=indexer, clock=clock, verify_after_sec=60.0)
    name = "new.py" if is_new else "a.py"
    (root / name).write_text("")
    empty = await fresh.refresh([name])
    assert empty.files[name].stamp.size == 0
    # Still empty: that is how things are.
    assert await fresh.recheck(empty, ["b.py"]) is None
    (root / name).write_text("written\n")
    newer = await fresh.recheck(empty, ["b.py"])
    assert newer is not None and newer.text(newer.files[name]) == b"written\n"
    # A file that stays empty is no longer looked at after a while.
    (root / name).write_text("")
    empty = await fresh.refresh([name])
    clock.advance(10)
    (root / name).write_text("much later\n")
    assert await fresh.recheck(empty, ["b.py"]) is None


async def test_a_caller_that_leaves_takes_nothing_from_the_others(tmp_path: Path) -> None:
    root, _, fresh = source(tmp_path, ["a.py", "b.py"])
    (root / "a.py").write_text("new\n")
    (root / "b.py").write_text("new\n")
    leaving = asyncio.ensure_future(fresh.refresh(["a.py"]))
    staying = asyncio.ensure_future(fresh.refresh(["b.py"]))
    await asyncio.sleep(0)
    leaving.cancel()

    snapshot = await staying
    assert {snapshot.text(snapshot.files[name]) for name in ("a.py", "b.py")} == {b"new\n"}
