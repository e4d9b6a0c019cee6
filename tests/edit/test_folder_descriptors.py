"""A folder that is swapped for a link to the outside, at any moment: nothing is written there, nothing of it shown."""

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from codeplane.edit.batch import Change
from codeplane.edit.edit_plan import EditPlan
from codeplane.edit.file_state import sha256_of, state_of
from codeplane.edit.folder_descriptors import open_folder, open_parent
from codeplane.edit.request import Edit
from codeplane.edit.reversal import reverse_batch
from codeplane.edit.scope import Scope
from codeplane.kernel.errors import CodePlaneError, FileChanged, PathDenied
from codeplane.kernel.json import JsonObject
from tests.edit.batches import MUTATION, Place, kept, quick_folder, tree
from tests.edit.folder_swaps import exchange, swap_folders
from tests.edit.open_plane import OpenPlane
from tests.interaction.requirements import requirement

SECRET = "outside-only"
RACE_SEC = 2.0


@pytest.fixture
def folder() -> Iterator[Path]:
    with quick_folder() as folder:
        yield folder


def planted(folder: Path) -> tuple[Place, Path]:
    """A work tree with a folder `d` and a link `e` to a folder outside that has files of the same names."""
    place, outside = Place.at(folder), folder / "outside"
    outside.mkdir()
    (place.root / "d").mkdir()
    for name in ("a.py", "b.py", "link"):
        (outside / name).write_text(f"{SECRET} = 1\n")
    (outside / f"{SECRET}.py").write_text("")
    for name in ("a.py", "b.py"):
        (place.root / "d" / name).write_text("inside = 1\n")
    (place.root / "d/link").symlink_to("a.py")
    (place.root / "e").symlink_to(outside)
    return place, outside


def raced(work: Callable[[int], None]) -> None:
    """Do it as often as there is time for."""
    end, number = time.monotonic() + RACE_SEC, 0
    while time.monotonic() < end:
        work(number)
        number += 1


@requirement("EDT-09")
def test_the_journal_writes_and_takes_back_inside_alone(folder: Path) -> None:
    place, outside = planted(folder)
    before = tree(outside)

    def work(number: int) -> None:
        state = None
        with suppress(OSError):
            state = state_of(place.root, "d/a.py")
        if state is None:
            return
        assert state.sha256 != sha256_of(f"{SECRET} = 1\n".encode())
        content = b"inside = %d\n" % number
        changes = [
            Change(path="d/a.py", content=content, before=state.sha256),
            Change(path=f"d/deep/n{number}.py", content=b"new\n", before=None),
        ]
        mutation_id = f"mut_{number:06}"
        with suppress(CodePlaneError):
            place.journal().apply(mutation_id, kept(mutation_id), changes)
            found = place.kept.get(mutation_id)
            assert found is not None
            back = reverse_batch(place.root, place.kept.folder_of(mutation_id), found)
            place.journal().apply(f"mut_b{number:06}", back.kept, back.changes, dropped=back.dropped)

    with swap_folders(place.root / "d", place.root / "e"):
        raced(work)
    assert tree(outside) == before
    assert place.recover() == []
    assert not [path for path in tree(place.root) if ".cpl-" in path]
    for file in (place.home / "undo").rglob("*"):
        assert not file.is_file() or SECRET not in file.read_text()


@requirement("EDT-09")
def test_a_plan_shows_nothing_of_the_outside(folder: Path) -> None:
    place, _ = planted(folder)

    def work(number: int) -> None:
        edits = [
            {"path": "d/a.py", "old_text": "not there", "new_text": "x"},
            {"path": "d/outside-onl.py", "action": "delete"},
            {"path": "d/link", "link_to": "b.py"},
        ]
        plan = EditPlan(place.root, Scope(place.root))
        for edit in edits:
            try:
                plan.add(Edit.model_validate(edit))
            except CodePlaneError as error:
                assert SECRET not in f"{error.message} {error.hint} {error.details}"
            except OSError as error:
                assert SECRET not in str(error)
        assert all(SECRET.encode() not in bytes(str(change), "utf-8") for change in plan.changes())

    with swap_folders(place.root / "d", place.root / "e"):
        raced(work)


@requirement("EDT-09")
def test_write_files_and_undo_through_the_door(tmp_path: Path) -> None:
    place, outside = planted(tmp_path)
    before = tree(outside)
    plane = OpenPlane(place.root, "embeddings.model=none", "index.watch=false")
    answers: list[JsonObject] = []

    def ask(operation: str, *edits: JsonObject) -> None:
        answers.append(plane.ask(operation, edits=list(edits)) if edits else plane.ask(operation))

    def work(number: int) -> None:
        ask("write_files", {"path": "d/a.py", "content": f"inside = {number}\n"})
        ask("write_files", {"path": "d/b.py", "old_text": "missing", "new_text": "x"})
        ask("write_files", {"path": f"d/n{number}.py", "content": "x = 1\n"})
        ask("undo")

    try:
        with swap_folders(place.root / "d", place.root / "e"):
            raced(work)
        ask("write_files", {"path": "d/a.py", "content": "inside = 0\n", "overwrite": True})
    finally:
        plane.close()
    assert tree(outside) == before
    output = json.dumps(answers)
    assert SECRET not in output
    assert [answer for answer in answers if "INTERNAL" in json.dumps(answer)] == []
    assert "error" not in answers[-1] or answers[-1]["error"] is None


@requirement("EDT-09")
def test_a_link_in_the_way_is_not_passed_and_not_written_through(folder: Path) -> None:
    place, outside = planted(folder)
    change = Change(path="d/a.py", content=b"new\n", before=sha256_of(b"inside = 1\n"))

    def step(name: str) -> None:
        if name == "committed":
            exchange(place.root / "d", place.root / "e")

    with pytest.raises(FileChanged):
        place.journal(step).apply(MUTATION, kept(), [change])
    assert (outside / "a.py").read_text() == f"{SECRET} = 1\n"
    assert (place.root / "e/a.py").read_text() == "inside = 1\n"
    for folder_path in ("d", "d/deep"):
        with pytest.raises(OSError, match="a link stands"), open_folder(place.root, folder_path, make=True):
            pass
    with pytest.raises(OSError, match="not the name"), open_folder(place.root, "e/../d"):
        pass
    assert sorted(file.name for file in outside.iterdir()) == ["a.py", "b.py", "link", f"{SECRET}.py"]


@requirement("EDT-09")
def test_folders_are_made_on_the_way_and_errors_name_the_whole_path(folder: Path) -> None:
    with open_parent(folder, "one/two/file", make=True) as (at, name):
        os.close(os.open(name, os.O_CREAT | os.O_WRONLY, dir_fd=at))
    assert (folder / "one/two/file").is_file()
    with pytest.raises(FileNotFoundError) as raised, open_parent(folder, "one/two/none") as (at, name):
        os.stat(name, dir_fd=at)
    assert raised.value.filename == "one/two/none"
    with pytest.raises(NotADirectoryError), open_folder(folder, "one/two/file/further"):
        pass


def test_links_that_lead_in_a_circle_are_refused(folder: Path) -> None:
    (folder / "round").symlink_to("round")
    with pytest.raises(PathDenied, match="circle"):
        Scope(folder).locate("round/a.py")


@pytest.mark.parametrize(
    "target",
    [".codeplane/config.toml", "../.git/config", "../.env", "d/../../.GIT/x", "inner/hooks", "../../x", "/x", ""],
)
def test_a_link_to_what_is_out_of_bounds_is_refused(folder: Path, target: str) -> None:
    (folder / ".git").mkdir()
    (folder / "sub").mkdir()
    (folder / "sub/inner").symlink_to("../.git")
    (folder / "sub/.codeplane").mkdir()
    with pytest.raises(PathDenied):
        Scope(folder).admit_link("sub/link", target)


@pytest.mark.parametrize("target", ["a.py", "..", "../b/c.py", "../.env.example", "."])
def test_a_link_inside_is_admitted(folder: Path, target: str) -> None:
    Scope(folder).admit_link("sub/link", target)
