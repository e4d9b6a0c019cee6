"""The index follows the disk, whatever happens to it."""

import os
import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codeplane.index.snapshot import IndexedFile, Snapshot
from tests.harness import make_repo
from tests.index.recording_indexer import RecordingIndexer, texts
from tests.interaction.requirements import requirement


def on_disk(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and ".git" not in path.relative_to(root).parts
    }


def places(snapshot: Snapshot) -> tuple[int, tuple[IndexedFile, ...], list[IndexedFile | None]]:
    """What is derived of where the texts of a snapshot lie."""
    end = max((known.offset + known.length for known in snapshot.texts), default=0)
    at = [snapshot.at(position) for position in range(end + 4)]
    return snapshot.live_bytes, snapshot.recent, at


def test_first_start_holds_every_text(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"a.py": "one\n", "b/c.py": "two"})
    indexer = RecordingIndexer(root, tmp_path / "home")
    assert texts(indexer.start()) == {"a.py": b"one\n", "b/c.py": b"two"}
    assert [epoch for epoch, _ in indexer.told] == [1]


def test_skipped_files_are_counted_with_the_reason(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"a.py": "text"})
    (root / "blob.bin").write_bytes(b"a\0b")
    (root / "big.txt").write_bytes(b"x" * 1_000_001)
    snapshot = RecordingIndexer(root, tmp_path / "home").start()
    assert snapshot.count_skipped() == {"binary": 1, "too large": 1}
    assert texts(snapshot) == {"a.py": b"text"}


def test_a_changed_file_is_seen_and_nothing_else_is_read_again(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"a.py": "one", "b.py": "two"})
    indexer = RecordingIndexer(root, tmp_path / "home")
    indexer.start()
    (root / "a.py").write_text("changed")
    assert texts(indexer.reconcile()) == {"a.py": b"changed", "b.py": b"two"}
    assert indexer.told[-1][1].changed == ("a.py",)


def test_a_touched_file_makes_no_epoch(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"a.py": "one"})
    indexer = RecordingIndexer(root, tmp_path / "home")
    epoch = indexer.start().epoch
    os.utime(root / "a.py", ns=(1, 1))
    assert indexer.reconcile().epoch == epoch


def test_a_look_that_finds_nothing_new_keeps_what_was_found_out(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"a.py": "one\n", "b/c.py": "two"})
    indexer = RecordingIndexer(root, tmp_path / "home")
    before = indexer.start()
    assert [known.path for known in before.texts] == ["a.py", "b/c.py"]
    after = indexer.reconcile()
    assert after is not before and after.verified_at_ns > before.verified_at_ns
    assert after.files is before.files and after.texts is before.texts
    (root / "a.py").write_text("three")
    assert texts(indexer.reconcile()) == {"a.py": b"three", "b/c.py": b"two"}


def test_where_texts_lie_follows_touched_and_changed_files(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"a.py": "one", "b.py": "two", "c.py": "three"})
    indexer = RecordingIndexer(root, tmp_path / "home")
    indexer.start()
    for name, text in (("b.py", "changed"), ("a.py", "changed, too"), ("b.py", "again"), ("d.py", "new")):
        (root / name).write_text(text)
        snapshot = indexer.reconcile()
        assert places(snapshot) == places(replace(snapshot))
    assert [known.path for known in snapshot.recent] == ["a.py", "b.py", "d.py"]
    os.utime(root / "b.py", ns=(1, 1))
    os.utime(root / "c.py", ns=(1, 1))
    (root / "d.py").unlink()
    snapshot = indexer.reconcile()
    assert places(snapshot) == places(replace(snapshot))
    assert [known.stamp.mtime_ns for known in (*snapshot.recent, snapshot.files["c.py"])][1:] == [1, 1]


def test_the_content_is_mapped_once_for_many_edits(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"a.py": "one"})
    indexer = RecordingIndexer(root, tmp_path / "home")
    first = indexer.start()
    for number in range(3):
        (root / "a.py").write_text(f"number {number}")
        snapshot = indexer.reconcile()
        assert snapshot.content is first.content
        assert texts(snapshot) == {"a.py": b"number %d" % number}
    (root / "a.py").write_text("large " * 160_000)
    (root / "b.py").write_text("larger " * 130_000)
    snapshot = indexer.reconcile()
    assert snapshot.content is not first.content
    assert texts(snapshot) == on_disk(root)
    (known,) = (known for known in first.texts if known.path == "a.py")
    assert first.text(known) == b"one", "a map that is still held stays valid"


@requirement("REPO-02")
def test_a_move_is_told_as_one(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"a.py": "same content"})
    indexer = RecordingIndexer(root, tmp_path / "home")
    indexer.start()
    (root / "a.py").rename(root / "z.py")
    assert texts(indexer.reconcile()) == {"z.py": b"same content"}
    assert indexer.told[-1][1].renamed == (("a.py", "z.py"),)


def test_a_move_is_told_as_one_though_its_lines_end_otherwise(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"a.py": "one\ntwo\n"})
    indexer = RecordingIndexer(root, tmp_path / "home")
    indexer.start()
    (root / "a.py").unlink()
    (root / "z.py").write_bytes(b"one\r\ntwo\r\n")
    assert texts(indexer.reconcile()) == {"z.py": b"one\r\ntwo\r\n"}
    assert indexer.told[-1][1].renamed == (("a.py", "z.py"),)


def test_a_second_start_takes_up_where_the_first_ended(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"a.py": "one"})
    first = RecordingIndexer(root, tmp_path / "home")
    epoch = first.start().epoch
    first.close()
    (root / "b.py").write_text("while nobody looked")
    second = RecordingIndexer(root, tmp_path / "home")
    snapshot = second.start()
    assert texts(snapshot) == {"a.py": b"one", "b.py": b"while nobody looked"}
    assert snapshot.epoch == epoch + 1


@requirement("REPO-03")
def test_a_damaged_index_is_remade_with_the_reason(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"a.py": "one"})
    first = RecordingIndexer(root, tmp_path / "home")
    first.start()
    # Whoever closes it later writes over what is put there now.
    first.close()
    for name in ("index.db-wal", "index.db-shm"):
        (tmp_path / "home" / name).unlink(missing_ok=True)
    (tmp_path / "home" / "index.db").write_bytes(b"not a database at all" * 100)
    indexer = RecordingIndexer(root, tmp_path / "home")
    assert texts(indexer.start()) == {"a.py": b"one"}
    assert indexer.store.remade


@requirement("REPO-03")
def test_an_index_that_is_damaged_while_it_is_open_is_remade(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {f"{number}.py": "one" for number in range(500)})
    indexer = RecordingIndexer(root, tmp_path / "home")
    epoch = indexer.start().epoch
    file = tmp_path / "home" / "index.db"
    with sqlite3.connect(file) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with file.open("r+b") as opened:
        opened.seek(4096)
        opened.write(b"\xff" * (file.stat().st_size - 4096))
    (root / "7.py").write_text("two")
    snapshot = indexer.reconcile()
    assert texts(snapshot) == on_disk(root)
    assert snapshot.epoch > epoch and indexer.store.remade
    indexer.close()
    assert texts(RecordingIndexer(root, tmp_path / "home").start()) == on_disk(root)


@requirement("REPO-03")
def test_content_that_is_deleted_while_it_is_open_is_made_again(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"a.py": "one"})
    indexer = RecordingIndexer(root, tmp_path / "home")
    indexer.start().content_file.unlink()
    (root / "a.py").write_text("two")
    snapshot = indexer.reconcile()
    assert texts(snapshot) == {"a.py": b"two"}
    assert b"two" in snapshot.content_file.read_bytes()


def test_an_index_of_another_schema_is_remade(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"a.py": "one"})
    first = RecordingIndexer(root, tmp_path / "home")
    first.start()
    first.close()
    connection = sqlite3.connect(tmp_path / "home" / "index.db")
    connection.execute("PRAGMA user_version=99")
    connection.close()
    indexer = RecordingIndexer(root, tmp_path / "home")
    assert texts(indexer.start()) == {"a.py": b"one"}
    assert indexer.store.remade == "schema 99 is not 3"


def test_content_that_is_shorter_than_its_epoch_is_read_anew(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"a.py": "one"})
    first = RecordingIndexer(root, tmp_path / "home")
    first.start()
    first.close()
    (content,) = (tmp_path / "home" / "content").iterdir()
    content.write_bytes(b"")
    assert texts(RecordingIndexer(root, tmp_path / "home").start()) == {"a.py": b"one"}


names = st.sampled_from(["a.py", "b.py", "sub/c.py", "sub/d/e.txt", "ü.md"])
contents = st.binary(max_size=200).map(lambda raw: raw.replace(b"\0", b""))
steps = st.lists(
    st.one_of(
        st.tuples(st.just("write"), names, contents),
        st.tuples(st.just("delete"), names, st.just(b"")),
        st.tuples(st.just("reopen"), st.just(""), st.just(b"")),
        st.tuples(st.just("look"), st.just(""), st.just(b"")),
    ),
    max_size=12,
)


@requirement("REPO-02")
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=steps)
def test_any_sequence_of_updates_equals_a_rebuild(
    tmp_path_factory: object, steps: list[tuple[str, str, bytes]]
) -> None:
    folder: Path = tmp_path_factory.mktemp("property")  # type: ignore[attr-defined]  # pytest's factory
    root = make_repo(folder / "repo", {"first.txt": "first\n"})
    indexer = RecordingIndexer(root, folder / "home")
    indexer.start()
    for kind, name, content in steps:
        if kind == "write":
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(content)
        elif kind == "delete":
            (root / name).unlink(missing_ok=True)
        elif kind == "reopen":
            indexer.close()
            indexer = RecordingIndexer(root, folder / "home")
            indexer.start()
        else:
            snapshot = indexer.reconcile()
            assert texts(snapshot) == on_disk(root)
            assert places(snapshot) == places(replace(snapshot)), "followed, and found from all files"
    followed = texts(indexer.reconcile())
    rebuilt = RecordingIndexer(root, folder / "fresh").start()
    assert followed == texts(rebuilt) == on_disk(root)
    assert list(followed) == list(texts(rebuilt)), "in the same order"


def test_nothing_is_read_through_a_folder_that_became_a_link(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"k/owner.token": "harmless", "a.py": "one"})
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "owner.token").write_text("secret")
    shutil.rmtree(root / "k")
    (root / "k").symlink_to(tmp_path / "elsewhere")
    snapshot = RecordingIndexer(root, tmp_path / "home").start()
    assert b"secret" not in b"".join(texts(snapshot).values())
    assert snapshot.count_skipped() == {"behind a link": 1}


def test_an_edit_that_sets_the_time_back_is_seen(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"a.py": "old text"})
    indexer = RecordingIndexer(root, tmp_path / "home")
    indexer.start()
    before = (root / "a.py").stat()
    (root / "a.py").write_text("new text")
    os.utime(root / "a.py", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert texts(indexer.reconcile()) == {"a.py": b"new text"}


def test_content_that_is_not_what_its_digest_says_is_read_anew(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"a.py": "genuine"})
    first = RecordingIndexer(root, tmp_path / "home")
    first.start()
    first.close()
    (content,) = (tmp_path / "home" / "content").iterdir()
    content.write_bytes(content.read_bytes().replace(b"genuine", b"falsely"))
    assert texts(RecordingIndexer(root, tmp_path / "home").start()) == {"a.py": b"genuine"}


@pytest.mark.parametrize("how", ["mend", "reconcile", "refresh"])
def test_content_that_is_cut_off_under_a_running_index_is_read_anew(tmp_path: Path, how: str) -> None:
    root = make_repo(tmp_path / "repo", {"a.py": "one\n" * 5000, "b.py": "two"})
    indexer = RecordingIndexer(root, tmp_path / "home")
    before = texts(indexer.start())
    assert indexer.is_whole() and not indexer.mend()
    (file,) = (tmp_path / "home" / "content").iterdir()
    os.truncate(file, 10)
    assert not indexer.is_whole()
    # A file that was touched is compared with what is held of it, which is gone.
    os.utime(root / "a.py", ns=(1, 1))
    if how == "mend":
        assert indexer.mend()
    elif how == "reconcile":
        indexer.reconcile()
    else:
        indexer.refresh(["a.py"])
    assert indexer.is_whole() and indexer.snapshot is not None
    assert texts(indexer.snapshot) == before
    indexer.close()


@requirement("IDX-43")
@pytest.mark.parametrize("how", ["mend", "reconcile"])
def test_content_that_is_written_over_under_a_running_index_is_read_anew(tmp_path: Path, how: str) -> None:
    root = make_repo(tmp_path / "repo", {"a.py": "genuine\n", "b.py": "two"})
    indexer = RecordingIndexer(root, tmp_path / "home")
    before = texts(indexer.start())
    (root / "b.py").write_text("more\n")
    after = texts(indexer.reconcile())
    assert after == {**before, "b.py": b"more\n"} and indexer.is_whole() and not indexer.mend()
    (file,) = (tmp_path / "home" / "content").iterdir()
    with file.open("r+b") as others:
        others.seek(file.read_bytes().index(b"genuine"))
        others.write(b"falsely")
    assert not indexer.is_whole()
    if how == "mend":
        assert indexer.mend()
    else:
        indexer.reconcile()
    assert indexer.is_whole() and indexer.snapshot is not None
    assert texts(indexer.snapshot) == after
    indexer.close()


def test_an_index_without_its_tables_is_remade(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"a.py": "one"})
    first = RecordingIndexer(root, tmp_path / "home")
    first.start()
    first.close()
    connection = sqlite3.connect(tmp_path / "home" / "index.db")
    connection.execute("DROP TABLE files")
    connection.close()
    indexer = RecordingIndexer(root, tmp_path / "home")
    assert texts(indexer.start()) == {"a.py": b"one"}
    assert indexer.store.remade


@pytest.mark.parametrize("after", ["b/\n", None])
def test_rules_that_are_edited_or_deleted_are_followed_like_new_ones(tmp_path: Path, after: str | None) -> None:
    root = make_repo(tmp_path / "repo", {"a/x.py": "one", "b/y.py": "two"})
    rules = root / ".cplignore"
    rules.write_text("a/\n")
    indexer = RecordingIndexer(root, tmp_path / "home")
    assert "a/x.py" not in indexer.start().files
    if after is None:
        rules.unlink()
    else:
        rules.write_text(after)
    # What the watcher tells is the name of this file alone.
    files = indexer.refresh([".cplignore"]).files
    assert ("a/x.py" in files, "b/y.py" in files) == (True, after is None)
