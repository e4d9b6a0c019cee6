"""Two hundred approved actions, each killed at one of its steps."""

from pathlib import Path

import pytest

from tests.interaction.requirements import requirement
from tests.trust.approvals.test_kill_recovery import STEPS, checked

pytestmark = requirement("TRUST-11")

ROUNDS = 10


@pytest.mark.soak
@pytest.mark.parametrize("number", range(ROUNDS))
def test_two_hundred_approved_actions(tmp_path: Path, number: int) -> None:
    assert len(checked(tmp_path / str(number))) == STEPS
