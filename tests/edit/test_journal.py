"""A batch is made whole or not at all, whatever the disk says, and what others wrote is never overwritten."""

import errno
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from codeplane.edit.batch import Change
from codeplane.edit.file_state import sha256_of
from codeplane.kernel.errors import Cancelled, FileChanged, PathDenied, StorageFailed, StorageFull, StorageReadOnly
from tests.edit.batches import (
    MUTATION,
    Place,
    folders,
    kept,
    killed,
    moved_to,
    planted,
    quick_folder,
    tree,
    undoing,
)
from tests.interaction.requirements import requirement
from tests.ledger.disks import read_only, small_disk


@pytest.fixture
def place() -> Iterator[Place]:
    with quick_folder() as folder:
        yield Place.at(folder)


def failing(name: str, number: int) -> Callable[[str], None]:
    """A disk that fails at the first step that begins so."""
    left = [True]

    def step(at: str) -> None:
        if at.startswith(name) and left:
            left.clear()
            raise OSError(number, os.strerror(number))

    return step


@requirement("EDT-02")
def test_a_batch_is_applied_and_taken_back_with_modes_links_and_folders(place: Place) -> None:
    changes = planted(place.root)
    before, before_folders = tree(place.root), folders(place.root)
    place.journal().apply(MUTATION, kept(), changes)
    after = tree(place.root)
    assert after["src/u0.py"] == ("file", b"new 0\n", 0o640)
    assert after["src/u3.py"] == ("file", b"new 3\n", 0o755)
    assert after["link"] == ("link", b"src/u1.py", 0)
    assert after["moved/m1.py"][1] == b"moved 1\n" and "src/m1.py" not in after
    assert after["swap/inner"][1] == b"in a folder\n"
    assert place.under_way() == []
    undoing(place)(lambda name: None)
    assert tree(place.root) == before
    assert folders(place.root) == before_folders
    undone = place.kept.get(MUTATION)
    assert undone is not None and undone.state == "undone"
    undoing(place)(lambda name: None)
    assert tree(place.root) == after
    redone = place.kept.get(MUTATION)
    assert redone is not None and redone.state == "applied"


@requirement("EDT-02")
def test_a_file_that_is_not_as_planned_stops_everything(place: Place) -> None:
    changes = planted(place.root)
    (place.root / "src/u2.py").write_text("somebody else's\n")
    before = tree(place.root)
    with pytest.raises(FileChanged, match=r"src/u2\.py"):
        place.journal().apply(MUTATION, kept(), changes)
    assert tree(place.root) == before
    assert place.under_way() == [] and place.kept.all() == ()


@requirement("EDT-02")
@pytest.mark.parametrize("at", ["staged", "plan durable", "checked", "committed"])
def test_a_file_that_others_change_at_the_last_moment_is_theirs(place: Place, at: str) -> None:
    changes = planted(place.root)
    before = tree(place.root)

    def step(name: str) -> None:
        if name == at:
            (place.root / "src/u4.py").write_text("somebody else's\n")

    with pytest.raises(FileChanged):
        place.journal(step).apply(MUTATION, kept(), changes)
    after = tree(place.root)
    assert after.pop("src/u4.py")[1] == b"somebody else's\n"
    before.pop("src/u4.py")
    assert after == before
    assert place.under_way() == []


@requirement("EDT-02")
def test_what_appears_where_a_file_shall_be_created_is_not_overwritten(place: Place) -> None:
    def step(name: str) -> None:
        if name == "committed":
            (place.root / "new.py").write_text("theirs\n")

    with pytest.raises(FileChanged):
        place.journal(step).apply(MUTATION, kept(), [Change(path="new.py", content=b"ours\n", before=None)])
    assert (place.root / "new.py").read_text() == "theirs\n"


@requirement("EDT-02")
@pytest.mark.parametrize(
    ("number", "error"),
    [
        (errno.ENOSPC, StorageFull),
        (errno.EROFS, StorageReadOnly),
        (errno.EACCES, StorageReadOnly),
        (errno.EIO, StorageFailed),
    ],
)
@pytest.mark.parametrize(
    "at",
    [
        *("new 3", "image 2", "plan written", "before kept.json", "after kept.json", "committed", "put new.5"),
        "delete old.11",
    ],
)
def test_a_disk_that_refuses_leaves_everything_as_it_was(
    place: Place, at: str, number: int, error: type[Exception]
) -> None:
    changes = planted(place.root)
    before, before_folders = tree(place.root), folders(place.root)
    with pytest.raises(error):
        place.journal(failing(at, number)).apply(MUTATION, kept(), changes)
    assert tree(place.root) == before
    assert folders(place.root) == before_folders
    assert place.under_way() == [] and place.kept.all() == ()


def test_a_rollback_that_fails_too_is_said_and_made_up_for_later(place: Place) -> None:
    changes = planted(place.root)
    before = tree(place.root)
    seen: list[str] = []

    def step(name: str) -> None:
        seen.append(name)
        if name == "put new.5" or (name.startswith("put old") and "put new.5" in seen):
            raise OSError(errno.EROFS, "Read-only file system")

    with pytest.raises(StorageFailed, match="could not all be taken back"):
        place.journal(step).apply(MUTATION, kept(), changes)
    assert place.under_way() == [MUTATION]
    (stuck,) = place.journal(failing("put old", errno.EROFS)).recover()
    assert stuck.outcome == "stuck" and "Read-only" in stuck.reason
    (found,) = place.recover()
    assert found.outcome == "rolled_back"
    assert tree(place.root) == before


def test_a_full_disk_changes_nothing(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "1m") as disk:
        place = Place.at(disk)
        changes = planted(place.root)
        before = tree(place.root)
        changes.append(Change(path="large.bin", content=os.urandom(2_000_000), before=None))
        with pytest.raises(StorageFull):
            place.journal().apply(MUTATION, kept(), changes)
        assert tree(place.root) == before
        assert place.under_way() == []


def test_a_disk_closed_to_writing_changes_nothing(place: Place) -> None:
    changes = planted(place.root)
    before = tree(place.root)
    with read_only(place.root / "src"), pytest.raises(StorageReadOnly):
        place.journal().apply(MUTATION, kept(), changes)
    assert tree(place.root) == before
    assert place.under_way() == []


def test_files_on_another_disk_are_changed_too(place: Place) -> None:
    with small_disk(place.root / "src", "1m"):
        changes = planted(place.root)
        before = tree(place.root)
        place.journal().apply(MUTATION, kept(), changes)
        after = tree(place.root)
        assert after["src/u0.py"] == ("file", b"new 0\n", 0o640)
        assert not [path for path in after if ".cpl-" in path]
        undoing(place)(lambda name: None)
        assert tree(place.root) == before


def test_across_disks_a_kill_leaves_no_mix_either(place: Place) -> None:
    changes = planted(place.root)[:6]
    before = tree(place.root)

    def across(inner: Callable[[str], None]) -> Callable[[str], None]:
        def step(name: str) -> None:
            inner(name)
            if name.startswith("put new"):
                raise OSError(errno.EXDEV, "Invalid cross-device link")

        return step

    def work(step: Callable[[str], None]) -> None:
        place.journal(across(step)).apply(MUTATION, kept(), moved_to(place.root, changes))

    at, ends = 0, set()
    while killed(work, at=at):
        place.recover()
        now = tree(place.root)
        ends.add("old" if now == before else "new")
        assert [now[change.path][1] for change in changes] in (
            [change.content for change in changes],
            [before[change.path][1] for change in changes],
        )
        assert now.keys() == before.keys()
        if place.kept.get(MUTATION) is not None:
            undoing(place)(lambda name: None)
            place.kept.drop(MUTATION)
        at += 1
    assert ends == {"old", "new"}


def test_what_others_changed_after_a_kill_is_left_alone_and_named(place: Place) -> None:
    changes = planted(place.root)
    steps: list[str] = []

    def count(name: str) -> None:
        steps.append(name)

    other = Place.at(place.root.parent / "other")
    other.journal(count).apply(MUTATION, kept(), planted(other.root))
    at = steps.index("put new.2")

    def work(step: Callable[[str], None]) -> None:
        place.journal(step).apply(MUTATION, kept(), changes)

    assert killed(work, at=at)
    (place.root / "src/u0.py").write_text("theirs, after ours\n")
    (place.root / "src/u5.py").write_text("theirs, instead of ours\n")
    (found,) = place.recover()
    assert found.outcome == "applied"
    assert set(found.conflicts) == {"src/u0.py", "src/u5.py"}
    assert (place.root / "src/u0.py").read_text() == "theirs, after ours\n"
    assert (place.root / "src/u5.py").read_text() == "theirs, instead of ours\n"
    assert (place.root / "src/u3.py").read_bytes() == b"new 3\n"
    # What was meant for it is kept, and undo takes back the rest.
    folder = place.kept.folder_of(MUTATION)
    assert (folder / "new.5").read_bytes() == b"new 5\n"
    undoing(place)(lambda name: None)
    assert (place.root / "src/u3.py").read_bytes() == b"old 3\n"
    assert (place.root / "src/u5.py").read_text() == "theirs, instead of ours\n"


def test_a_link_that_took_a_folders_place_is_not_followed(place: Place, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.py").write_text("old\n")
    (place.root / "src").mkdir()
    (place.root / "src/a.py").write_text("old\n")

    def step(name: str) -> None:
        if name == "staged":
            (place.root / "src").rename(place.root / "away")
            (place.root / "src").symlink_to(outside)

    change = Change(path="src/a.py", content=b"new\n", before=sha256_of(b"old\n"))
    with pytest.raises(FileChanged):
        place.journal(step).apply(MUTATION, kept(), [change])
    assert (outside / "a.py").read_text() == "old\n"


def test_a_file_with_several_names_changes_under_one_of_them(place: Place) -> None:
    (place.root / "a").write_text("old\n")
    os.link(place.root / "a", place.root / "b")
    place.journal().apply(MUTATION, kept(), [Change(path="a", content=b"new\n", before=sha256_of(b"old\n"))])
    assert ((place.root / "a").read_text(), (place.root / "b").read_text()) == ("new\n", "old\n")
    # What is kept for undo is nobody else's file.
    (place.root / "b").write_text("changed in place\n")
    undoing(place)(lambda name: None)
    assert (place.root / "a").read_text() == "old\n"


def test_a_name_may_change_its_case_alone(place: Place) -> None:
    (place.root / "Readme.md").write_text("text\n")
    changes = [
        Change(path="Readme.md", content=None, before=sha256_of(b"text\n")),
        Change(path="README.md", content=place.root / "Readme.md", before=None, moved_from="Readme.md"),
    ]
    place.journal().apply(MUTATION, kept(), changes)
    assert list(tree(place.root)) == ["README.md"]
    undoing(place)(lambda name: None)
    assert list(tree(place.root)) == ["Readme.md"]


def test_a_target_that_became_a_folder_is_refused(place: Place) -> None:
    def step(name: str) -> None:
        if name == "committed":
            (place.root / "new.py").mkdir()

    changes = planted(place.root)
    before = tree(place.root)
    with pytest.raises((PathDenied, FileChanged)):
        place.journal(step).apply(MUTATION, kept(), [*changes, Change(path="new.py", content=b"x", before=None)])
    assert tree(place.root) == before


def test_a_call_that_is_abandoned_in_time_changes_nothing(place: Place) -> None:
    changes = planted(place.root)
    before = tree(place.root)
    with pytest.raises(Cancelled):
        place.journal().apply(MUTATION, kept(), changes, abandoned=lambda: True)
    assert tree(place.root) == before
    assert place.under_way() == []


def test_new_files_get_the_systems_mode_and_programs_can_run(place: Place) -> None:
    old = os.umask(0o027)
    try:
        place.journal().apply(
            MUTATION,
            kept(),
            [
                Change(path="plain", content=b"", before=None),
                Change(path="program", content=b"#!/bin/sh\n", before=None, executable=True),
            ],
        )
    finally:
        os.umask(old)
    modes = {name: stat.S_IMODE((place.root / name).stat().st_mode) for name in ("plain", "program")}
    assert modes == {"plain": 0o640, "program": 0o750}
