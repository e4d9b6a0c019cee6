"""Two kills, one in a batch and one in the recovery from it, at every pair of steps there is."""

import pytest

from tests.edit.batches import Scene, quick_folder
from tests.interaction.requirements import requirement


@requirement("EDT-01")
@pytest.mark.soak
@pytest.mark.parametrize("what", ["apply", "undo"])
def test_killed_at_every_step_and_again_at_every_step_of_recovery(what: str) -> None:
    with quick_folder() as folder:
        scene = Scene(folder, what)
        tries = sum(len(scene.second_kills(first, every=1)) for first in range(scene.steps))
        assert tries > scene.steps
