"""Numbers agree with their nouns and verbs."""

import pytest

from codeplane.kernel.plural import ARE, plural
from tests.interaction.requirements import requirement

pytestmark = requirement("TRUST-62")


@pytest.mark.parametrize(
    ("number", "noun", "output"),
    [
        (0, "file", "0 files are"),
        (1, "file", "1 file is"),
        (2, "branch", "2 branches are"),
        (1000, "entry", "1,000 entries are"),
        (3, "day", "3 days are"),
        (2, "suffix", "2 suffixes are"),
    ],
)
def test_what_is_counted(number: int, noun: str, output: str) -> None:
    assert plural(number, noun, verbs=ARE) == output
    assert plural(number, noun) == output.rpartition(" ")[0]


def test_a_lower_bound_is_never_one() -> None:
    assert plural(1, "match", "+", verbs=ARE) == "1+ matches are"
