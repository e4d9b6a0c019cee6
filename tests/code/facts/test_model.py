"""Numbers as facts hold them: narrow, and the same when they come back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.code.packed_columns import pack_columns, pack_steps, unpack_columns
from tests.interaction.requirements import requirement

_NUMBERS = st.integers(0, 2**32 - 1)


@requirement("IDX-40")
@given(st.lists(st.tuples(_NUMBERS, st.integers(0, 200), st.integers(0, 70_000))))
def test_columns_come_back(rows: list[tuple[int, int, int]]) -> None:
    columns = [[row[place] for row in rows] for place in range(3)]
    found = unpack_columns(pack_columns(*columns), 3)
    assert [one.tolist() for one in found] == columns


@requirement("IDX-40")
def test_a_column_is_as_narrow_as_its_numbers() -> None:
    assert len(pack_columns([1, 2, 255], [256, 0, 0], [70_000, 0, 0])) == 3 + 3 + 6 + 12


@requirement("IDX-40")
def test_steps_add_up() -> None:
    assert pack_steps([3, 3, 10]) == [3, 0, 7]
    assert pack_steps([]) == []


@pytest.mark.parametrize("raw", [b"", b"\x01", b"\x01\x02\x00"])
def test_columns_that_are_cut_are_refused(raw: bytes) -> None:
    with pytest.raises(ValueError, match="unequal"):
        unpack_columns(raw, 2)
