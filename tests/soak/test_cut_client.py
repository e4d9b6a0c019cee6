"""A thread watched through the client, cut a thousand times."""

from pathlib import Path

import pytest

from tests.client.cut_threads import watch_with_cuts
from tests.interaction.requirements import requirement

CUTS = 1000


@pytest.mark.soak
@requirement("CLIENT-03")
def test_a_thousand_cuts_miss_and_repeat_nothing(tmp_path: Path) -> None:
    report = watch_with_cuts(tmp_path, cuts=CUTS, seed=22)
    assert report.cuts >= CUTS and report.seen == report.whole
