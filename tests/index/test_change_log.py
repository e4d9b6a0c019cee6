"""What changed between two epochs is remembered, or not known."""

from pathlib import Path

from codeplane.index.change_log import ChangeLog
from codeplane.index.snapshot import Snapshot
from tests.harness import make_repo
from tests.index.recording_indexer import RecordingIndexer
from tests.interaction.requirements import requirement

pytestmark = requirement("SRV-17")


def differing(before: Snapshot, after: Snapshot) -> set[str]:
    """The paths that came, went or have another content."""
    paths = before.files.keys() | after.files.keys()
    return {
        path
        for path in paths
        if path not in before.files or path not in after.files or before.files[path].digest != after.files[path].digest
    }


def test_paths_that_changed_since_an_earlier_snapshot(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"a.py": "one", "b.py": "two", "c.py": "three"})
    indexer = RecordingIndexer(root, tmp_path / "home")
    snapshots = [indexer.start()]
    for path, text in (("a.py", "1"), ("d.py", "4"), ("b.py", None), ("a.py", "2"), ("b.py", "again")):
        (root / path).write_text(text) if text is not None else (root / path).unlink()
        snapshots.append(indexer.refresh([path]))

    for number, after in enumerate(snapshots):
        for before in snapshots[: number + 1]:
            changed = after.changed_since(before.epoch)
            assert changed is not None
            assert differing(before, after) <= changed
        for later in snapshots[number + 1 :]:
            assert after.changed_since(later.epoch) is None
    assert snapshots[-1].changed_since(snapshots[1].epoch) == frozenset({"a.py", "b.py", "d.py"})
    assert snapshots[-1].changed_since(snapshots[-1].epoch) == frozenset()


def test_a_file_that_was_only_touched_did_not_change(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"a.py": "one"})
    indexer = RecordingIndexer(root, tmp_path / "home")
    before = indexer.start()
    (root / "a.py").write_text("one")

    assert indexer.reconcile().changed_since(before.epoch) == frozenset()


def test_after_everything_was_read_again_nothing_before_it_is_known(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"a.py": "one"})
    indexer = RecordingIndexer(root, tmp_path / "home")
    before = indexer.start()
    rebuilt = indexer.rebuild()
    (root / "a.py").write_text("two")
    after = indexer.reconcile()

    assert rebuilt.changed_since(before.epoch) is None
    assert after.changed_since(before.epoch) is None
    assert after.changed_since(rebuilt.epoch) == frozenset({"a.py"})


def test_what_was_known_at_an_earlier_start_is_not_known(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"a.py": "one"})
    first = RecordingIndexer(root, tmp_path / "home")
    before = first.start()
    first.close()
    (root / "a.py").write_text("two")
    after = RecordingIndexer(root, tmp_path / "home").start()

    assert after.changed_since(before.epoch) in (None, frozenset({"a.py"}))
    assert after.changed_since(before.epoch - 1) is None


def test_only_the_last_epochs_are_remembered() -> None:
    log = ChangeLog()
    for epoch in range(1, 2001):
        log.add(epoch, [str(epoch)])

    assert log.between(1999, 2000) == frozenset({"2000"})
    assert log.between(1600, 2000) == frozenset(map(str, range(1601, 2001)))
    assert log.between(1, 2000) is None
    assert log.between(1_000_000_000, 2_000_000_000) is None
