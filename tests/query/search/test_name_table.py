"""Names that are like another are found as by looking at each."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.query.search.name_table import NameTable
from tests.interaction.requirements import requirement

WORDS = r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z]+"
NAMES = st.text(alphabet="abAB_ckK\u212a", min_size=1, max_size=8)


def likeness(wanted: str, name: str) -> float:
    """What is meant by alike, one name at a time."""
    low, asked = name.lower(), wanted.lower()
    if name == wanted:
        return 1.0
    if low == asked:
        return 0.95
    letters = wanted.replace("_", "")
    capitals = letters.isupper() and letters.isalpha()
    parts = [part.lower() for part in (letters if capitals else re.findall(WORDS, wanted))]
    humps = parts if letters.isascii() and len(parts) > 1 else []
    if humps and name.startswith(wanted):
        return 0.9
    words = [one.lower() for one in re.findall(WORDS, name)]
    begins = humps and len(words) == len(humps) and low.lstrip("_")[:1] == humps[0][0]
    if begins and all(one.startswith(hump) for one, hump in zip(words, humps, strict=True)):
        return 0.85
    if asked in low:
        return 0.8 if low.startswith(asked) else 0.6
    plain = asked.replace("_", "")
    if plain and plain in low.replace("_", ""):
        return 0.5
    initials = "".join(part[0] for part in re.findall(WORDS, name)).lower()
    short = 1 < len(asked) <= 8 and low.lstrip("_")[:1] == asked[0]
    return 0.4 if short and initials == asked else 0.0


@requirement("SRC-12")
@given(names=st.sets(NAMES, max_size=20), wanted=NAMES, most=st.integers(1, 30))
def test_the_most_alike_come_first(names: set[str], wanted: str, most: int) -> None:
    alike = [(score, name) for name in names if (score := likeness(wanted, name))]
    ordered = sorted(alike, key=lambda one: (-one[0], len(one[1]), one[1]))
    found, whole = NameTable(sorted(names)).find_similar(wanted, most=most)
    assert found == ordered[:most]
    assert whole is (len(alike) <= most)


@requirement("SRC-12")
@pytest.mark.parametrize(
    ("wanted", "name"),
    [
        ("QS", "QuerySet"),
        ("AHT", "AsyncHTTPTransport"),
        ("AsyHTra", "AsyncHTTPTransport"),
        ("b_req", "build_request"),
        ("buReq", "build_request"),
        ("BRA", "_build_request_auth"),
        ("MAX", "MAX_SIZE"),
    ],
)
def test_an_abbreviation_comes_before_names_that_hold_its_letters(wanted: str, name: str) -> None:
    names = {f"{one}{wanted.lower()}{at}" for one in ("x", "is_") for at in range(40)}
    table = NameTable(
        sorted({*names, "QuerySet", "AsyncHTTPTransport", "build_request", "_build_request_auth", "MAX_SIZE"})
    )
    assert table.find_similar(wanted, most=10)[0][0][1] == name


@requirement("SRC-12")
def test_a_long_name_of_one_letter_does_not_explode() -> None:
    table = NameTable(["a" * 2000, "aB"])
    assert table.find_similar("aaaaaaab", most=5) == ([], True)
    assert table.find_similar("ab", most=5)[0] == [(0.95, "aB")]
    assert table.find_similar("a\na", most=5) == ([], True)
