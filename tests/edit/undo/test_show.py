"""`mutation.show`: both sides of every file, also after others changed it, and what is not kept any more is said."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from codeplane.kernel.json import JsonObject
from tests.edit.open_plane import OpenPlane
from tests.harness import make_repo
from tests.interaction.requirements import requirement
from tests.query.asking import result

pytestmark = requirement("UND-03")

SETTINGS = ("embeddings.model=none", "index.watch=false", "approvals.wait_sec=0", "trust.allow=[git.discard]")


@pytest.fixture
def plane(tmp_path: Path) -> Iterator[OpenPlane]:
    root = make_repo(tmp_path / "repo", {"a.py": "x = 1\ny = 2\n", "b.txt": "one\ntwo\n", "logo.bin": "\0\1"})
    found = OpenPlane(root, *SETTINGS)
    yield found
    found.close()


def write(plane: OpenPlane, *edits: JsonObject) -> str:
    done = result(plane.ask("write_files", edits=list(edits)))
    return str(done["delta"]["mutation_id"])  # type: ignore[index, call-overload]


def shown(plane: OpenPlane, mutation_id: str, **more: object) -> list[dict[str, Any]]:
    files = result(plane.ask("mutation.show", mutation_id=mutation_id, **more))["files"]  # type: ignore[arg-type]
    return cast(list[dict[str, Any]], files)


def test_both_sides_are_told(plane: OpenPlane) -> None:
    made = write(
        plane,
        {"path": "a.py", "old_text": "x = 1", "new_text": "x = 3"},
        {"path": "new.py", "content": "z = 1\n"},
        {"path": "b.txt", "action": "delete"},
    )
    files = {one["path"]: one for one in shown(plane, made)}
    assert {path: one["action"] for path, one in files.items()} == {
        "a.py": "updated",
        "new.py": "created",
        "b.txt": "deleted",
    }
    assert "-x = 1\n+x = 3\n y = 2" in files["a.py"]["diff"] and int(files["a.py"]["insertions"]) == 1
    assert files["new.py"]["diff"].startswith("--- /dev/null\n+++ b/new.py") and "-one\n-two" in files["b.txt"]["diff"]


def test_it_stays_the_same_when_it_is_taken_back_and_when_others_came_after(plane: OpenPlane) -> None:
    first = write(plane, {"path": "a.py", "old_text": "x = 1", "new_text": "x = 3"})
    before = shown(plane, first)
    plane.ask("undo")
    assert shown(plane, first) == before
    plane.ask("redo")
    write(plane, {"path": "a.py", "old_text": "x = 3", "new_text": "x = 4"})
    assert shown(plane, first) == before
    # By hand, nobody kept what was there in between.
    (plane.root / "a.py").write_text("x = 5\n")
    second = result(plane.ask("mutation.list"))["mutations"][0]["mutation_id"]  # type: ignore[index, call-overload]
    (lost,) = shown(plane, str(second))
    assert lost["diff"] == "" and "changed since by other means" in lost["note"]


def test_a_move_is_one_file(plane: OpenPlane) -> None:
    made = write(plane, {"path": "b.txt", "new_path": "c/b.txt"})
    (moved,) = shown(plane, made)
    assert (moved["action"], moved["old_path"], moved["path"]) == ("moved", "b.txt", "c/b.txt")
    plane.ask("undo")
    (again,) = shown(plane, made)
    assert (again["action"], again["old_path"], again["path"]) == ("moved", "b.txt", "c/b.txt")


def test_what_git_changed_is_told_too(plane: OpenPlane) -> None:
    (plane.root / "a.py").write_text("x = 9\ny = 2\n")
    done = result(plane.ask("git.discard", paths=["a.py"]))
    (file,) = shown(plane, str(done["delta"]["mutation_id"]))  # type: ignore[index, call-overload]
    assert "-x = 9\n+x = 1" in file["diff"]


def test_pages_follow_each_other(plane: OpenPlane) -> None:
    edits: list[JsonObject] = [{"path": f"n{number}.py", "content": f"x = {number}\n"} for number in range(5)]
    made = write(plane, *edits)
    first = result(plane.ask("mutation.show", mutation_id=made, limit=3))
    cursor = first["pagination"]["next_cursor"]  # type: ignore[index, call-overload]
    paths = [one["path"] for one in (*shown(plane, made, limit=3), *shown(plane, made, limit=3, cursor=cursor))]
    assert paths == [f"n{number}.py" for number in range(5)] and first["file_count"] == 5


def test_what_cannot_be_shown_says_why(plane: OpenPlane) -> None:
    (plane.root / ".env").write_text("PASSWORD=old\n")
    done = plane.ask("mutation.show", mutation_id="mut_nothing")
    assert done["error"]["error"] == "NOT_FOUND"  # type: ignore[index, call-overload]
    large = write(plane, {"path": "large.txt", "content": "z\n" * 70_000})
    (file,) = shown(plane, large)
    assert file["diff"] == "" or "too many lines" in file["diff"]
    assert (file["insertions"], file["deletions"]) == (70_000, 0)
    huge = write(plane, {"path": "huge.txt", "content": "z" * 80 + "\n"})
    (plane.root / "huge.txt").write_text("w" * 80 + "\n")
    (lost,) = shown(plane, huge)
    assert lost["note"] and lost["insertions"] is None and lost["deletions"] is None
    made = write(plane, {"path": "a.py", "content": "x = 7\n"})
    (plane.root / ".codeplane/undo" / made / "old.0").write_text("damaged\n")
    assert "damaged" in shown(plane, made)[0]["note"]


def test_secrets_stay_secret(plane: OpenPlane) -> None:
    made = write(plane, {"path": "settings.py", "content": "KEY = 'hidden words'\n"})
    (plane.root / ".cplignore").write_text("settings.py\n")
    answer = str(plane.ask("mutation.show", mutation_id=made))
    assert "left out by the rules" in answer and "hidden words" not in answer
