"""Pauses: as long as the pace says, and none once the time is up."""

import time

from codeplane.surfaces.cli.demo.tempo import Tempo
from tests.interaction.requirements import requirement

pytestmark = requirement("CLI-21")


def test_without_a_pace_there_is_none() -> None:
    assert Tempo(0).pause(5) == 0


def test_what_has_passed_counts() -> None:
    assert 4 < Tempo(1).pause(5) <= 5
    assert Tempo(1).pause(5, since=time.monotonic() - 6) == 0


def test_a_demo_that_is_late_pauses_less() -> None:
    assert Tempo(1).pause(600) <= 45
    assert 45 < Tempo(2).pause(600) <= 90
