"""What is kept for undo survives kills, is found again by state and session, and goes when it is old or too much."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from codeplane.edit.history.mutation_record import MutationRecord
from codeplane.edit.history.mutation_store import MutationStore
from codeplane.kernel.clock import SECOND_NS
from tests.interaction.requirements import requirement

DAY_NS = 24 * 3600 * SECOND_NS


class Clock:
    """A clock that is set."""

    def __init__(self) -> None:
        self.at = 100 * DAY_NS

    def now_ns(self) -> int:
        return self.at

    def monotonic_ns(self) -> int:
        return self.at


def mutation(number: int, *, session: str = "s", at_ns: int = 100 * DAY_NS) -> MutationRecord:
    return MutationRecord(
        mutation_id=f"mut_{number:04}",
        kind="git",
        what=f"change {number}",
        at_ns=at_ns,
        session_id=session,
        state="applied",
        paths=("a.py", "b\udcff.py"),
        details={"n": number, "path": "b\udcff.py"},
    )


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def kept(tmp_path: Path, clock: Clock) -> MutationStore:
    return MutationStore(tmp_path / "undo", clock, 14, 1)


@requirement("UND-01")
def test_what_was_added_is_there_for_the_next_run(kept: MutationStore, tmp_path: Path, clock: Clock) -> None:
    assert kept.all() == () and kept.find_newest() is None and kept.get("mut_0001") is None
    kept.add(mutation(1))
    kept.add(mutation(2, session="other"))
    again = MutationStore(tmp_path / "undo", clock, 14, 1)
    assert again.get("mut_0001") == mutation(1)
    assert [one.mutation_id for one in again.all()] == ["mut_0002", "mut_0001"]
    assert again.find_newest(session_id="s") == mutation(1)
    assert again.find_newest(state="undone") is None


@requirement("UND-01")
def test_all_of_a_record_is_written_before_it_is_synced(kept: MutationStore, monkeypatch: pytest.MonkeyPatch) -> None:
    real, synced = os.fsync, list[bytes]()

    def fsync(descriptor: int) -> None:
        place = Path(f"/proc/self/fd/{descriptor}")
        if place.is_file():
            synced.append(place.read_bytes())
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    kept.add(mutation(1))
    kept.mark("mut_0001", "undone")
    assert [json.loads(content)["state"] for content in synced] == ["applied", "undone"]


@requirement("UND-01")
def test_states_are_marked_and_the_last_undone_is_the_first_to_be_done_again(kept: MutationStore) -> None:
    for number in (1, 2, 3):
        kept.add(mutation(number))
    kept.mark("mut_0003", "undone")
    kept.mark("mut_0002", "undone")
    assert kept.get("mut_0002") == replace(mutation(2), state="undone")
    assert kept.find_newest(state="applied") == mutation(1)
    last = kept.find_newest(state="undone")
    assert last is not None and last.mutation_id == "mut_0002"
    kept.mark("mut_0002", "applied")
    assert kept.find_newest(state="applied") == mutation(2)
    kept.mark("mut_9999", "undone")


@requirement("UND-01")
def test_half_written_ones_are_ignored_and_cleared(kept: MutationStore, tmp_path: Path) -> None:
    kept.add(mutation(1))
    for name, content in (("mut_0002", "{"), ("mut_0003", '{"mutation_id": "mut_0003"}'), (".part-mut_0004", "{}")):
        folder = tmp_path / "undo" / name
        folder.mkdir()
        (folder / "kept.json").write_text(content)
    (tmp_path / "undo" / "mut_0005").mkdir()
    assert kept.all() == (mutation(1),)
    kept.prune()
    assert [path.name for path in (tmp_path / "undo").iterdir()] == ["mut_0001"]


@requirement("UND-01")
def test_old_ones_go_by_their_days(kept: MutationStore, clock: Clock) -> None:
    kept.add(mutation(1, at_ns=clock.at - 15 * DAY_NS))
    kept.add(mutation(2, at_ns=clock.at - 13 * DAY_NS))
    assert kept.prune() == 1
    assert [one.mutation_id for one in kept.all()] == ["mut_0002"]
    clock.at += 2 * DAY_NS
    assert kept.prune() == 1
    assert kept.all() == ()


@requirement("UND-01")
def test_the_oldest_go_when_there_is_too_much(kept: MutationStore) -> None:
    for number in (1, 2, 3):
        kept.add(mutation(number))
        (kept.folder_of(f"mut_{number:04}") / "old.0").write_bytes(b"x" * 400_000)
    assert kept.prune() == 1
    assert [one.mutation_id for one in kept.all()] == ["mut_0003", "mut_0002"]
    kept.add(mutation(4))
    (kept.folder_of("mut_0004") / "old.0").write_bytes(b"x" * 900_000)
    kept.count_folder(kept.folder_of("mut_0004"))
    kept.prune()
    assert [one.mutation_id for one in kept.all()] == ["mut_0004"]


@requirement("SRV-17")
def test_room_is_made_among_those_that_came_since_too(kept: MutationStore) -> None:
    assert kept.prune() == 0
    for number in range(1, 7):
        kept.add(mutation(number))
        (kept.folder_of(f"mut_{number:04}") / "old.0").write_bytes(b"x" * 400_000)
        kept.count_folder(kept.folder_of(f"mut_{number:04}"))
        if number == 4:
            # Whoever is forgotten meanwhile is not forgotten twice.
            kept.drop("mut_0003")
        kept.prune()
    assert [one.mutation_id for one in kept.all()] == ["mut_0006", "mut_0005"]


@pytest.mark.parametrize("name", ["../x", "", "a/b", ".part-x", "x" * 200])
def test_names_that_lead_elsewhere_are_no_mutations(kept: MutationStore, name: str) -> None:
    assert kept.get(name) is None
    with pytest.raises(ValueError, match="no id"):
        kept.folder_of(name)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("kind", "rocket"),
        ("kind", ["files"]),
        ("state", "perhaps"),
        ("at_ns", "yesterday"),
        ("at_ns", -1),
        ("at_ns", 10**30),
        ("what", 7),
        ("session_id", 7),
        ("paths", [1]),
        ("details", []),
        ("mutation_id", "mut_0009"),
        ("mutation_id", "../elsewhere"),
    ],
)
def test_a_record_that_is_not_sound_is_ignored(kept: MutationStore, tmp_path: Path, field: str, value: object) -> None:
    kept.add(mutation(1))
    kept.add(mutation(2))
    file = tmp_path / "undo/mut_0002/kept.json"
    file.write_text(json.dumps(json.loads(file.read_bytes()) | {field: value}))
    assert [one.mutation_id for one in kept.all()] == ["mut_0001"]
    assert kept.get("mut_0002") is None
    assert kept.find_newest() == mutation(1)


def test_a_file_in_the_place_of_the_folder_holds_nothing(kept: MutationStore, tmp_path: Path) -> None:
    (tmp_path / "undo").write_text("")
    assert kept.all() == () and kept.prune() == 0 and not kept.has("mut_0001")
