"""Kill -9 at every step of a batch, of its undo, and of the recovery from either: all old or all new, nothing lost."""

from collections.abc import Iterator

import pytest

from tests.edit.batches import MUTATION, Scene, quick_folder
from tests.interaction.requirements import requirement


@pytest.fixture(params=["apply", "undo"])
def scene(request: pytest.FixtureRequest) -> Iterator[Scene]:
    with quick_folder() as folder:
        yield Scene(folder, request.param)


@requirement("EDT-01")
def test_killed_at_every_step(scene: Scene) -> None:
    ends = []
    for at in range(scene.steps):
        place = scene.killed(at)
        recovered = place.recover()
        assert all(found.outcome != "stuck" and not found.conflicts for found in recovered)
        record = place.kept.get(MUTATION)
        assert place.recover() == []
        ends.append(scene.check(place))
        assert record is None or record.state == "applied" or ends[-1] == "new"
    # The commit record decides, once and for all.
    assert ends == sorted(ends, key=["old", "new"].index)
    assert set(ends) == {"old", "new"}
    assert scene.steps > 60


@requirement("EDT-01")
def test_killed_again_in_recovery(scene: Scene) -> None:
    for first in range(0, scene.steps, 9):
        scene.second_kills(first, every=13)


@requirement("EDT-01")
def test_killed_at_every_step_of_one_recovery(scene: Scene) -> None:
    ends = scene.second_kills(scene.steps * 3 // 4, every=1)
    assert set(ends) == {"new"}
    assert len(ends) > 10
