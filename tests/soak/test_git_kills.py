"""Git mutations killed before every step, and again before every step of the recovery."""

import pytest

from tests.edit.batches import quick_folder
from tests.git.killed_mutations import KINDS, Scene
from tests.interaction.requirements import requirement


@requirement("GIT-40")
@pytest.mark.soak
@pytest.mark.parametrize("kind", KINDS)
def test_killed_before_every_step_and_again_in_recovery(kind: str) -> None:
    with quick_folder() as folder:
        scene = Scene(folder, kind)
        ends = []
        for at in range(len(scene.steps)):
            desk = scene.killed(at)
            scene.recovered(desk)
            ends.append(scene.check(desk))
            again = set(scene.second_kills(at))
            assert again <= {ends[-1]}
        assert ends == sorted(ends) and ends[-1] == len(scene.states) - 1
