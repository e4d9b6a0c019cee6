"""Rows in an order that fills pages: all of them, and in fewer pages than in the order of their lengths."""

import sqlite3
from contextlib import closing
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from codeplane.index.page_packing import packing_order
from tests.interaction.requirements import requirement

pytestmark = requirement("IDX-44")


@given(st.lists(st.integers(0, 20_000), max_size=60))
def test_every_row_has_its_turn(sizes: list[int]) -> None:
    assert sorted(packing_order(sizes)) == list(range(len(sizes)))


def pages(path: Path, sizes: list[int]) -> int:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE facts(number INTEGER PRIMARY KEY, packed BLOB)")
        connection.execute("BEGIN")
        connection.executemany("INSERT INTO facts(packed) VALUES (zeroblob(?))", ((size,) for size in sizes))
        connection.execute("COMMIT")
        (count,) = connection.execute("PRAGMA page_count").fetchone()
        return int(count)


def test_pages_are_filled(tmp_path: Path) -> None:
    sizes = [300 + place * 37 % 5000 for place in range(800)]
    least = sum(sizes) // 4096
    by_length = pages(tmp_path / "sorted.db", sorted(sizes, reverse=True))
    assert pages(tmp_path / "fitted.db", [sizes[place] for place in packing_order(sizes)]) < min(
        by_length, least * 1.06
    )
