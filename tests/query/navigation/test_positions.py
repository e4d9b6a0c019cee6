"""Lines and columns in every unit, with emoji, carriage returns and places that are not there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.query.navigation.positions import Positions, Unit
from tests.interaction.requirements import requirement

pytestmark = requirement("LSP-04")

UNITS: tuple[Unit, ...] = ("characters", "utf-8", "utf-16", "utf-32")


@pytest.mark.parametrize(("unit", "column"), [("characters", 5), ("utf-8", 8), ("utf-16", 6), ("utf-32", 5)])
def test_columns_behind_an_emoji(unit: Unit, column: int) -> None:
    text = 'x\n"😀"+name\n'.encode()
    at = text.index(b"name")
    assert Positions(text, unit).place(at) == (2, column)
    assert Positions(text, unit).offset(2, column) == at


def test_the_middle_of_a_character_is_before_it() -> None:
    text = "é😀x".encode()
    assert Positions(text, "utf-16").offset(1, 3) == 2
    assert Positions(text, "utf-8").offset(1, 2) == 0


@pytest.mark.parametrize("unit", UNITS)
def test_columns_beyond_a_line_are_its_end(unit: Unit) -> None:
    text = b"ab\r\ncd"
    positions = Positions(text, unit)
    assert (positions.offset(1, 99), positions.offset(2, 99)) == (2, 6)
    assert positions.offset(3, 1) is None and positions.offset(0, 1) is None


def test_a_lone_return_ends_a_line_of_the_protocol_alone() -> None:
    text = b"a\rb\r\nc"
    assert Positions(text, "utf-16").offset(2, 1) == 2 and Positions(text, "utf-16").offset(3, 1) == 5
    assert Positions(text, "characters").line_count == 2


@given(st.text(alphabet="ab\né😀\r", max_size=60), st.sampled_from(UNITS))
def test_every_character_is_found_again(text: str, unit: Unit) -> None:
    data = text.encode()
    positions = Positions(data, unit)
    at = 0
    for char in text:
        if char not in "\r\n":
            assert positions.offset(*positions.place(at)) == at
        at += len(char.encode())
