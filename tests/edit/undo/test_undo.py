"""`undo`, `redo` and `mutation.list`: taken back while things are as they were left, refused otherwise."""

import asyncio
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from codeplane.edit.batch import Change
from codeplane.kernel.json import JsonObject
from tests.edit.batches import Place, kept, killed
from tests.edit.open_plane import OpenPlane
from tests.interaction.requirements import requirement
from tests.kernel.plane import asking
from tests.query.asking import result

SETTINGS = ("embeddings.model=none", "index.watch=false", "edits.undo_mb=1")


@pytest.fixture
def plane(tmp_path: Path) -> Iterator[OpenPlane]:
    (tmp_path / "a.py").write_text("x = 1\n")
    (tmp_path / "b.py").write_text("y = 1\n")
    found = OpenPlane(tmp_path, *SETTINGS)
    yield found
    found.close()


def error(envelope: JsonObject) -> JsonObject:
    found = envelope.get("error")
    assert isinstance(found, dict), envelope
    return found


def write(plane: OpenPlane, path: str, content: str, *, connection: str = "test") -> str:
    done = result(plane.ask("write_files", connection=connection, edits=[{"path": path, "content": content}]))
    delta = done["delta"]
    assert isinstance(delta, dict)
    return str(delta["mutation_id"])


@requirement("UND-02")
def test_the_sessions_own_mutations_are_taken_back_one_after_another(plane: OpenPlane) -> None:
    assert "nothing to undo" in str(error(plane.ask("undo"))["message"])
    write(plane, "a.py", "x = 2\n")
    write(plane, "a.py", "x = 3\n")
    other = write(plane, "b.py", "y = 2\n", connection="other")
    assert result(plane.ask("undo"))["state"] == "undone"
    assert (plane.root / "a.py").read_text() == "x = 2\n"
    plane.ask("undo")
    assert (plane.root / "a.py").read_text() == "x = 1\n"
    nothing = error(plane.ask("undo"))
    assert nothing["error"] == "CANNOT_UNDO" and other in str(nothing["message"]) and other in str(nothing["hint"])
    plane.ask("redo")
    assert (plane.root / "a.py").read_text() == "x = 2\n"
    plane.ask("redo")
    assert (plane.root / "a.py").read_text() == "x = 3\n"
    assert result(plane.ask("undo", mutation_id=other))["mutation_id"] == other
    assert (plane.root / "b.py").read_text() == "y = 1\n"


def test_a_mutation_is_meant_by_a_part_of_its_id_that_only_one_has(plane: OpenPlane) -> None:
    first, second = write(plane, "a.py", "x = 2\n"), write(plane, "b.py", "y = 2\n")
    several = error(plane.ask("undo", mutation_id="mut_"))
    assert several["error"] == "CANNOT_UNDO" and first in str(several["message"]) and second in str(several["message"])
    assert result(plane.ask("undo", mutation_id=first[-8:]))["mutation_id"] == first
    assert (plane.root / "a.py").read_text() == "x = 1\n" and (plane.root / "b.py").read_text() == "y = 2\n"
    assert result(plane.ask("mutation.show", mutation_id=second[-8:]))["mutation_id"] == second


@requirement("UND-02")
def test_what_moved_on_is_named_and_left_alone(plane: OpenPlane) -> None:
    first = write(plane, "a.py", "x = 2\n")
    write(plane, "b.py", "y = 2\n")
    (plane.root / "a.py").write_text("x = 99\n")
    refused = error(plane.ask("undo", mutation_id=first))
    assert refused["error"] == "CANNOT_UNDO" and "a.py" in str(refused["message"])
    assert refused["details"] == {"paths": ["a.py"]}
    assert (plane.root / "a.py").read_text() == "x = 99\n"
    # A later mutation of other files is no obstacle, and a file that is as it was left can be taken back.
    (plane.root / "a.py").write_text("x = 2\n")
    assert result(plane.ask("undo", mutation_id=first))["state"] == "undone"
    assert (plane.root / "b.py").read_text() == "y = 2\n"
    again = error(plane.ask("undo", mutation_id=first))
    assert "undone already" in str(again["message"])
    later = write(plane, "a.py", "x = 5\n")
    write(plane, "a.py", "x = 6\n")
    blocked = error(plane.ask("undo", mutation_id=later))
    assert blocked["error"] == "CANNOT_UNDO" and "undo the later one first: mut_" in str(blocked["hint"])
    (plane.root / "a.py").unlink()
    assert error(plane.ask("redo", mutation_id=first))["error"] == "CANNOT_UNDO"


@requirement("UND-02")
def test_kept_content_that_was_damaged_is_not_put_back(plane: OpenPlane) -> None:
    made = write(plane, "a.py", "x = 2\n")
    (plane.root / ".codeplane/undo" / made / "old.0").write_text("damaged\n")
    assert "damaged" in str(error(plane.ask("undo"))["message"])
    assert (plane.root / "a.py").read_text() == "x = 2\n"


@requirement("UND-02")
def test_what_is_no_longer_kept_says_so(plane: OpenPlane) -> None:
    first = write(plane, "a.txt", "z" * 700_000)
    write(plane, "a.txt", "small\n")
    write(plane, "b.txt", "w" * 700_000)
    write(plane, "b.txt", "small\n")
    gone = error(plane.ask("undo", mutation_id=first))
    assert gone["error"] == "CANNOT_UNDO" and "1 MB" in str(gone["message"])
    assert "not kept" in str(error(plane.ask("undo", mutation_id="../../etc"))["message"])


@requirement("UND-02")
def test_the_list_is_paged_and_says_what_can_be_done(plane: OpenPlane) -> None:
    made = [write(plane, "a.py", f"x = {number}\n") for number in range(2, 7)]
    plane.ask("undo")
    first = result(plane.ask("mutation.list", limit=3))
    mutations = first["mutations"]
    assert isinstance(mutations, list) and len(mutations) == 3 and first["total"] == 5
    assert [one["mutation_id"] for one in mutations if isinstance(one, dict)] == made[:1:-1]
    assert [one["state"] for one in mutations if isinstance(one, dict)] == ["undone", "applied", "applied"]
    page = first["pagination"]
    assert isinstance(page, dict)
    second = plane.ask("mutation.list", limit=3, cursor=page["next_cursor"])
    assert str(result(second)["mutations"]).count("mutation_id") == 2
    assert result(plane.ask("mutation.list", connection="other", all_sessions=False))["mutations"] == []


def test_the_list_says_who_and_how_many_lines_and_undo_forgets_neither(plane: OpenPlane) -> None:
    write(plane, "a.py", "x = 2\ny = 3\n")
    for verb in ("undo", "redo"):
        plane.ask(verb)
        listed = plane.ask("mutation.list")
        mutations = result(listed)["mutations"]
        assert isinstance(mutations, list) and isinstance(mutations[0], dict)
        newest = mutations[0]
        assert (newest["insertions"], newest["deletions"]) == (2, 1)
        assert newest["actor"]
        assert str(listed["text"]).splitlines()[0].endswith(f"(1 file, +2 -1) by {newest['actor']}")
        shown = result(plane.ask("mutation.show", mutation_id=newest["mutation_id"]))
        assert shown["actor"] == newest["actor"]


async def test_a_mutation_is_recorded_and_a_kill_before_that_is_made_up_for(tmp_path: Path) -> None:
    place = Place(root=tmp_path, home=tmp_path / ".codeplane")
    place.home.mkdir()
    (tmp_path / ".codeplane/.gitignore").write_text("*\n")
    changes = [Change(path=f"n{number}.py", content=b"x = 1\n", before=None) for number in range(4)]

    def work(step: object) -> None:
        def stop(name: str) -> None:
            if name == "put new.2":
                os.kill(os.getpid(), signal.SIGKILL)

        place.journal(stop).apply("mut_0001", kept(), changes)

    assert killed(work, at=1_000)
    async with asking(tmp_path, *SETTINGS) as ask:
        read = await ask("read_files", paths=["n0.py", "n3.py"])
        assert str(read["text"]).count("x = 1") == 2
        found = result(await ask("mutation.list"))
    assert "mut_0001" in str(found["mutations"])


async def test_a_cancelled_call_leaves_nothing_half_done(tmp_path: Path) -> None:
    names = [f"n{number}.py" for number in range(30)]
    async with asking(tmp_path, *SETTINGS) as ask:
        for delay in (0.0, 0.002, 0.01, 0.03, 0.1):
            edits = [{"path": name, "content": "x = 1\n"} for name in names]
            call = asyncio.ensure_future(ask("write_files", edits=edits))
            await asyncio.wait({call}, timeout=delay)
            call.cancel()
            await asyncio.wait({call})
            there = [name for name in names if (tmp_path / name).exists()]
            assert there in ([], names)
            assert not list((tmp_path / ".codeplane/journal").glob("*"))
            for name in there:
                (tmp_path / name).unlink()


def test_redo_does_not_bring_back_what_others_came_after(plane: OpenPlane) -> None:
    undone = write(plane, "a.py", "x = 2\n")
    plane.ask("undo")
    write(plane, "b.py", "y = 5\n")
    stale = error(plane.ask("redo"))
    assert stale["error"] == "CANNOT_UNDO" and undone in str(stale["hint"])
    assert (plane.root / "a.py").read_text() == "x = 1\n"
    assert result(plane.ask("redo", mutation_id=undone))["state"] == "applied"
    assert (plane.root / "a.py").read_text() == "x = 2\n"
