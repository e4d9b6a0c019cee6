"""In which files names are: the same however often files are written, and however segments were merged."""

import sqlite3
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.index.name_postings import SCHEMA, NamePostings, Segment, add, packed_keys
from tests.interaction.requirements import requirement

_SAID = st.dictionaries(st.integers(0, 5), st.sets(st.sampled_from("abcdefgh"), max_size=8), min_size=1)


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    yield (found := _made())
    found.close()


def _made() -> sqlite3.Connection:
    found = sqlite3.connect(":memory:", isolation_level=None)
    found.execute(SCHEMA)
    found.execute("CREATE TABLE parsed(file_id INTEGER PRIMARY KEY)")
    return found


def write(connection: sqlite3.Connection, files: dict[int, set[str]]) -> None:
    connection.executemany("INSERT INTO parsed VALUES (?)", [(number,) for number in files])
    add(connection, [(number, packed_keys(name.encode() for name in names)) for number, names in files.items()])


@requirement("IDX-40")
@given(steps=st.lists(_SAID, min_size=1, max_size=8))
def test_files_written_again_are_found_by_what_they_say_now(steps: list[dict[int, set[str]]]) -> None:
    connection, mentions = _made(), NamePostings()
    output: dict[int, set[str]] = {}
    number_of: dict[int, int] = {}
    last = 0
    for step in steps:
        written = {}
        for file, names in step.items():
            if file in number_of:
                connection.execute("DELETE FROM parsed WHERE file_id = ?", (number_of[file],))
            last += 1
            number_of[file], output[file], written[last] = last, names, names
        write(connection, written)
        living = set(number_of.values())
        found = mentions.of(connection, "abcdefghi")
        for name, numbers in zip("abcdefghi", found, strict=True):
            expected = {number_of[file] for file, names in output.items() if name in names}
            assert set(numbers.tolist()) & living == expected
            assert len(set(numbers.tolist())) == len(numbers)
    connection.close()


@requirement("IDX-40")
def test_segments_stay_few_and_forget_the_dead(connection: sqlite3.Connection) -> None:
    write(connection, {number: {f"n{number}", "all"} for number in range(1, 101)})
    for number in range(101, 400):
        connection.execute("DELETE FROM parsed WHERE file_id >= 101")
        write(connection, {number: {"edited", "all"}})
    segments = [Segment.from_row(row) for row in connection.execute("SELECT * FROM names ORDER BY first")]
    assert len(segments) < 10
    assert sum(len(one.files) for one in segments) < 250
    assert segments[0].first == 1 and segments[-1].last == 399


@requirement("IDX-40")
def test_files_that_say_nothing_have_numbers_too(connection: sqlite3.Connection) -> None:
    write(connection, {1: set()})
    write(connection, {2: set(), 3: {"a"}})
    (found,) = NamePostings().of(connection, ["a"])
    assert found.tolist() == [3]
    assert connection.execute("SELECT MAX(last) FROM names").fetchone() == (3,)


def test_nothing_is_known_of_nothing(connection: sqlite3.Connection) -> None:
    assert [one.tolist() for one in NamePostings().of(connection, ["a", "b"])] == [[], []]
    assert NamePostings().of(connection, []) == []
