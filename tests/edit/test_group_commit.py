"""Batches that come while others are written wait for the disk together, and each is all or nothing by itself."""

import asyncio
import errno
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from codeplane.edit.batch import Change
from codeplane.edit.group_commit import GroupCommit
from codeplane.edit.journal import PlannedBatch
from codeplane.kernel.errors import FileChanged, StorageFailed
from tests.edit.batches import Place, kept, quick_folder
from tests.interaction.requirements import requirement

pytestmark = requirement("EDT-02")


@pytest.fixture
def place() -> Iterator[Place]:
    with quick_folder() as folder:
        yield Place.at(folder)


def planned(number: int, *, before: str | None = None, files: int = 1) -> PlannedBatch:
    """A batch that creates files of its own."""
    changes = [
        Change(path=f"{number}/file{each}.py", content=b"new %d\n" % number, before=before) for each in range(files)
    ]
    return PlannedBatch(journal_id=f"mut_{number:04}", record=kept(f"mut_{number:04}"), changes=changes)


def written(place: Place) -> set[str]:
    return {path.parent.name for path in place.root.glob("[0-9]/*.py")}


def test_batches_are_durable_together(place: Place) -> None:
    steps: list[str] = []
    outcomes = place.journal(steps.append).apply_together([planned(1), planned(2), planned(3)])
    assert not any(isinstance(outcome, BaseException) for outcome in outcomes)
    for first, second in (("plan written", "plan durable"), ("replaced", "durable")):
        assert max(number for number, step in enumerate(steps) if step == first) < steps.index(second)
        assert (steps.count(first), steps.count(second)) == (3, 3)
    assert written(place) == {"1", "2", "3"}
    assert all(place.kept.has(f"mut_{number:04}") for number in (1, 2, 3)) and place.under_way() == []


def test_a_batch_that_does_not_fit_stops_no_other(place: Place) -> None:
    outcomes = place.journal().apply_together([planned(1), planned(2, before="other content"), planned(3)])
    assert isinstance(outcomes[1], FileChanged)
    assert written(place) == {"1", "3"} and place.under_way() == []


@pytest.mark.parametrize("name", ["new.0", "manifest", "mut_0002", "2"])
def test_a_failed_sync_takes_back_that_batch_alone(place: Place, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    real = os.fsync

    def fsync(descriptor: int) -> None:
        path = str(Path(f"/proc/self/fd/{descriptor}").readlink())
        if path.endswith(f"/{name}") and "2" in path.removeprefix(str(place.root)):
            raise OSError(errno.EIO, os.strerror(errno.EIO), path)
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    outcomes = place.journal().apply_together([planned(1), planned(2), planned(3)])
    assert isinstance(outcomes[1], StorageFailed)
    assert written(place) == {"1", "3"} and place.kept.has("mut_0001") and place.kept.has("mut_0003")


async def test_what_comes_meanwhile_is_one_group_and_a_large_batch_goes_beside_it(place: Place) -> None:
    begun, go_on = threading.Event(), threading.Event()
    steps: list[str] = []

    def step(name: str) -> None:
        steps.append(name)
        if not begun.is_set():
            begun.set()
            go_on.wait()

    commits = GroupCommit(journal=place.journal(step), mutations=place.kept)
    first = asyncio.create_task(commits.apply(planned(1)))
    await asyncio.to_thread(begun.wait)
    large = await commits.apply(planned(2, files=20))
    assert large == () and written(place) == {"2"} and not first.done()
    steps.clear()
    # Beside the first, which still waits: those that come at the same moment are one group.
    assert await asyncio.gather(*(commits.apply(planned(number)) for number in (3, 4, 5))) == [(), (), ()]
    last_plan = max(number for number, step in enumerate(steps) if step == "plan written")
    assert steps.count("plan written") == 3 and last_plan < steps.index("plan durable") and not first.done()
    go_on.set()
    assert await first == ()
    assert written(place) == {"1", "2", "3", "4", "5"}


async def test_a_caller_whose_batch_fails_gets_the_error_and_the_next_are_written(place: Place) -> None:
    commits = GroupCommit(journal=place.journal(), mutations=place.kept)
    with pytest.raises(FileChanged):
        await commits.apply(planned(1, before="other content"))
    assert await commits.apply(planned(2)) == ()
    assert written(place) == {"2"}
