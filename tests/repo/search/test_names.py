"""Names that are like another are found as by looking at each."""

import re

from hypothesis import given
from hypothesis import strategies as st

from codeplane.repo.search.names import NameTable

NAMES = st.text(alphabet="abAB_ckK\u212a", min_size=1, max_size=8)


def likeness(wanted: str, name: str) -> float:
    """What is meant by alike, one name at a time."""
    low, asked = name.lower(), wanted.lower()
    if name == wanted:
        return 1.0
    if low == asked:
        return 0.95
    if asked in low:
        return 0.8 if low.startswith(asked) else 0.6
    plain = asked.replace("_", "")
    if plain and plain in low.replace("_", ""):
        return 0.5
    initials = "".join(part[0] for part in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+", name)).lower()
    short = 1 < len(asked) <= 8 and low.lstrip("_")[:1] == asked[0]
    return 0.4 if short and initials == asked else 0.0


@given(names=st.sets(NAMES, max_size=20), wanted=NAMES, most=st.integers(1, 30))
def test_the_most_alike_come_first(names: set[str], wanted: str, most: int) -> None:
    alike = [(score, name) for name in names if (score := likeness(wanted, name))]
    ordered = sorted(alike, key=lambda one: (-one[0], len(one[1]), one[1]))
    found, whole = NameTable(sorted(names)).like(wanted, most=most)
    assert found == ordered[:most]
    assert whole is (len(alike) <= most)


def test_a_long_name_of_one_letter_does_not_explode() -> None:
    table = NameTable(["a" * 2000, "aB"])
    assert table.like("aaaaaaab", most=5) == ([], True)
    assert table.like("ab", most=5)[0] == [(0.95, "aB")]
    assert table.like("a\na", most=5) == ([], True)
