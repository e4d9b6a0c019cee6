"""Vectors on disk: exact search among what lives, and only what was committed."""

import os
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from codeplane.kernel.errors import InvalidArgument
from codeplane.vectors.chunks import Chunk
from codeplane.vectors.embedder import normalise
from codeplane.vectors.rows import contenders, quantise
from codeplane.vectors.spans import may_be, unpack_span
from codeplane.vectors.spans import pack_spans as packed_spans
from codeplane.vectors.spans import unpack_spans as unpacked_spans
from codeplane.vectors.store import Hit, VectorStore
from tests.interaction.requirements import requirement

DIMENSIONS = 16
FILES = {"aa": 3, "bb": 0, "cc": 1500, "dd": 1, "ee": 40}


def spans(count: int) -> list[Chunk]:
    return [Chunk(start=at * 10, end=at * 10 + 10, start_line=at + 1, end_line=at + 1) for at in range(count)]


def matrix(seed: int, count: int, dimensions: int = DIMENSIONS) -> NDArray[np.float32]:
    numbers = np.random.default_rng(seed).standard_normal((count, dimensions))
    return normalise(numbers.astype(np.float32))


def opened(folder: Path, *, model: str = "test 1", dimensions: int = DIMENSIONS) -> VectorStore:
    return VectorStore(folder, model=model, dimensions=dimensions)


def fill(store: VectorStore) -> None:
    for seed, (digest, count) in enumerate(FILES.items()):
        store.add(digest, spans(count), matrix(seed, count))
    store.commit()


def unpacked(seed: int, count: int) -> NDArray[np.float32]:
    rows = quantise(matrix(seed, count))
    found: NDArray[np.float32] = rows["vector"].astype(np.float32) * rows["scale"][:, None]
    return found


def expected(query: NDArray[np.float32], digests: list[str], limit: int) -> list[tuple[str, int]]:
    """The same by sorting everything."""
    order = list(FILES)
    scored = [
        (-float(score), position, chunk, digest)
        for position, digest in enumerate(digests)
        for chunk, score in enumerate(unpacked(order.index(digest), FILES[digest]) @ query)
    ]
    return [(digest, chunk) for _, _, chunk, digest in sorted(scored)[:limit]]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[VectorStore]:
    found = opened(tmp_path / "vectors")
    fill(found)
    yield found
    found.close()


@requirement("VEC-02")
@pytest.mark.parametrize("digests", [list(FILES), ["ee", "aa"], ["dd"], ["bb"], []])
@pytest.mark.parametrize("limit", [0, 1, 10, 5000])
def test_search_is_exact_among_the_digests(store: VectorStore, digests: list[str], limit: int) -> None:
    for seed in range(5):
        query = matrix(100 + seed, 1)[0]
        hits = store.search(query, digests, limit)
        assert [(hit.digest, hit.chunk) for hit in hits] == expected(query, digests, limit)


@requirement("VEC-02")
def test_scores_are_cosines(store: VectorStore) -> None:
    (hit,) = store.search(matrix(2, 1500)[700], list(FILES), 1)
    assert (hit.digest, hit.chunk) == ("cc", 700)
    assert hit.score == pytest.approx(1, abs=0.01)


@requirement("VEC-02")
def test_unknown_and_repeated_digests(store: VectorStore) -> None:
    query = matrix(7, 1)[0]
    assert store.search(query, ["zz", "aa", "aa", "yy"], 10) == store.search(query, ["aa"], 10)


@requirement("VEC-02")
def test_the_same_digests_again_see_what_was_added(store: VectorStore) -> None:
    digests, row = (*FILES, "new"), matrix(50, 1)
    assert store.search(row[0], digests, 1)[0].digest != "new"
    assert store.search(row[0], digests, 5) == store.search(row[0], list(digests), 5)
    store.add("new", spans(1), row)
    store.commit()
    assert store.search(row[0], digests, 1)[0].digest == "new"
    assert store.search(row[0], digests[:-1], 1)[0].digest != "new"
    store.compact({"new"})
    assert [hit.digest for hit in store.search(row[0], digests, 5)] == ["new"]


def test_equal_scores_come_in_the_order_given(tmp_path: Path) -> None:
    store = opened(tmp_path)
    row = matrix(1, 1)
    for digest in ("bb", "aa", "cc"):
        store.add(digest, spans(2), np.repeat(row, 2, axis=0))
    store.commit()
    hits = store.search(row[0], ["cc", "aa", "bb"], 5)
    assert [(hit.digest, hit.chunk) for hit in hits] == [("cc", 0), ("cc", 1), ("aa", 0), ("aa", 1), ("bb", 0)]


def test_equal_rows_are_equal_wherever_they_are(tmp_path: Path) -> None:
    store = opened(tmp_path, dimensions=250)
    rows = matrix(1, 3001, 250)
    rows[::7] = rows[0]
    store.add("aa", spans(3001), rows)
    store.add("bb", spans(1), rows[:1])
    store.commit()
    hits = store.search(matrix(2, 1, 250)[0] + rows[0] * 3, ["bb", "aa"], 430)
    assert [(hit.digest, hit.chunk) for hit in hits] == [("bb", 0), *(("aa", at) for at in range(0, 3001, 7))]
    assert len({hit.score for hit in hits}) == 1


@given(st.lists(st.floats(-1, 1, width=32), max_size=30), st.integers(1, 35))
def test_contenders_are_the_highest_and_those_close_to_them(scores: list[float], limit: int) -> None:
    found = contenders(np.array(scores, np.float32), limit, 0.25)
    ordered = sorted(scores, reverse=True)
    least = ordered[limit - 1] - 0.25 if limit < len(ordered) else -1
    assert [scores[at] for at in found] == pytest.approx([score for score in scores if score >= least])


@given(st.integers(0, 1000))
def test_a_byte_a_dimension_keeps_the_direction(seed: int) -> None:
    exact, kept = matrix(seed, 20), unpacked(seed, 20)
    assert (np.abs(exact - kept).max(axis=1) <= np.abs(exact).max(axis=1) / 254 + 1e-6).all()


def test_rows_of_zeros_stay(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store.add("aa", spans(1), np.zeros((1, DIMENSIONS), np.float32))
    store.commit()
    assert store.search(matrix(1, 1)[0], ["aa"], 1)[0].score == 0


def test_spans_come_back(store: VectorStore) -> None:
    assert store.spans("cc") == spans(1500)
    assert store.spans("bb") == store.spans("unknown") == []


def test_the_chunks_of_hits_are_those_of_their_contents(store: VectorStore) -> None:
    whole = store.spans("cc")
    hits = store.search(matrix(3, 1)[0], ["aa", "cc"], 200)
    assert store.chunks(hits) == [store.spans(hit.digest)[hit.chunk] for hit in hits]
    asked = [Hit("cc", 1499, 1.0), Hit("cc", 1500, 1.0), Hit("unknown", 0, 1.0), Hit("cc", 0, 1.0)]
    assert store.chunks(asked) == [whole[1499], None, None, whole[0]]
    assert store.chunks([]) == []


def test_what_has_no_vectors_is_counted_anew_when_some_come(store: VectorStore) -> None:
    digests = ("aa", "new", "other")
    assert [store.count_missing(digests), store.count_missing(digests)] == [2, 2]
    store.add("new", spans(1), matrix(1, 1))
    assert store.count_missing(digests) == 1
    store.commit()
    assert [store.count_missing(digests), store.count_missing(("aa",)), store.count_missing(digests)] == [1, 0, 1]


def test_it_is_there_after_opening_again(tmp_path: Path, store: VectorStore) -> None:
    query = matrix(9, 1)[0]
    before = store.search(query, list(FILES), 20)
    store.close()
    again = opened(tmp_path / "vectors")
    assert again.remade is None
    assert again.has([*FILES, "zz"]) == set(FILES)
    assert again.search(query, list(FILES), 20) == before


def test_nobody_sees_what_is_not_committed(tmp_path: Path, store: VectorStore) -> None:
    row = matrix(50, 1)
    store.add("new", spans(1), row)
    assert store.has(["new"]) == {"new"}
    assert store.search(row[0], ["new"], 1) == []
    store.close()
    again = opened(tmp_path / "vectors")
    assert again.has(["new"]) == set()
    assert again.rows == sum(FILES.values())
    assert (tmp_path / "vectors" / "000001.bin").stat().st_size == again.rows * (DIMENSIONS + 4)
    again.add("new", spans(1), row)
    again.commit()
    assert again.search(row[0], [*FILES, "new"], 1)[0].digest == "new"


def test_adding_again_changes_nothing(store: VectorStore) -> None:
    before = store.rows
    store.add("aa", spans(3), matrix(77, 3))
    store.commit()
    assert store.rows == before


def test_compacting_drops_the_dead(tmp_path: Path, store: VectorStore) -> None:
    query = matrix(11, 1)[0]
    before = store.search(query, ["ee", "aa"], 50)
    assert store.compact({"aa", "bb", "ee", "unknown"}) == 1501
    assert store.compact({"aa", "bb", "ee"}) == 0
    assert store.search(query, ["ee", "aa", "cc"], 50) == before
    assert store.has(FILES) == {"aa", "bb", "ee"}
    assert store.spans("ee") == spans(40)
    assert [path.name for path in (tmp_path / "vectors").glob("*.bin")] == ["000002.bin"]
    store.add("cc", spans(1500), matrix(2, 1500))
    store.commit()
    store.close()
    again = opened(tmp_path / "vectors")
    assert again.remade is None
    assert again.search(query, ["ee", "aa"], 50) == before
    assert again.rows == 1543


@given(st.lists(st.tuples(*[st.integers(0, 70_000)] * 4), max_size=30))
def test_chunks_come_back_whatever_their_lengths(steps: list[tuple[int, int, int, int]]) -> None:
    start = line = 0
    made = []
    for forward, length, down, height in steps:
        start, line = start + forward, line + down
        made.append(Chunk(start=start, end=start + length, start_line=line, end_line=line + height))
    raw = packed_spans(made)
    assert unpacked_spans(raw) == made
    assert [unpack_span(raw, place) for place in range(len(made) + 1)] == [*made, None]
    assert may_be(len(raw), len(made)) and not may_be(3, 0)


def test_compacting_keeps_what_was_just_added(store: VectorStore) -> None:
    row = matrix(50, 1)
    store.add("new", spans(1), row)
    store.compact({"new"})
    assert store.search(row[0], ["new"], 1)[0].digest == "new"


@pytest.mark.parametrize(("model", "dimensions"), [("test 2", DIMENSIONS), ("test 1", 8)])
def test_another_model_begins_anew(tmp_path: Path, store: VectorStore, model: str, dimensions: int) -> None:
    store.close()
    again = opened(tmp_path / "vectors", model=model, dimensions=dimensions)
    assert again.remade is not None
    assert "made by test 1 with 16 dimensions" in again.remade
    assert (again.rows, again.has(FILES)) == (0, set())


@pytest.mark.parametrize("kept", [0, 5, 100, 5000])
def test_a_broken_table_begins_anew(tmp_path: Path, store: VectorStore, kept: int) -> None:
    store.close()
    path = tmp_path / "vectors" / "vectors.db"
    path.write_bytes(path.read_bytes()[:kept] + os.urandom(8192))
    again = opened(tmp_path / "vectors")
    assert again.remade is not None
    fill(again)
    assert again.has(FILES) == set(FILES)


def test_a_table_of_another_schema_begins_anew(tmp_path: Path, store: VectorStore) -> None:
    store.close()
    with sqlite3.connect(tmp_path / "vectors" / "vectors.db") as connection:
        connection.execute("PRAGMA user_version=99")
    assert opened(tmp_path / "vectors").remade == "schema 99 is not 3"


def test_an_entry_beyond_the_rows_begins_anew(tmp_path: Path, store: VectorStore) -> None:
    store.close()
    with sqlite3.connect(tmp_path / "vectors" / "vectors.db") as connection:
        connection.execute("UPDATE vectors SET first_row = 1540 WHERE digest = x'ee'")
    assert "the entry of ee" in str(opened(tmp_path / "vectors").remade)


@pytest.mark.parametrize("lost", [False, True])
def test_a_short_file_of_rows_begins_anew(tmp_path: Path, store: VectorStore, lost: bool) -> None:
    store.close()
    path = tmp_path / "vectors" / "000001.bin"
    path.unlink() if lost else os.truncate(path, 100)
    again = opened(tmp_path / "vectors")
    assert again.remade == "000001.bin is shorter than its table says"
    fill(again)
    assert again.rows == sum(FILES.values())


@requirement("IDX-42")
@pytest.mark.parametrize("part", ["rows", "chunks"])
def test_damaged_vectors_are_forgotten_and_the_rest_is_kept(tmp_path: Path, store: VectorStore, part: str) -> None:
    store.close()
    folder = tmp_path / "vectors"
    if part == "rows":
        raw = bytearray((folder / "000001.bin").read_bytes())
        raw[-3] ^= 1
        (folder / "000001.bin").write_bytes(raw)
    else:
        with sqlite3.connect(folder / "vectors.db") as connection:
            connection.execute("UPDATE vectors SET spans = zeroblob(length(spans)) WHERE digest = x'ee'")
    again = opened(folder)
    assert again.remade == "the vectors of 1 contents were damaged"
    assert again.has(FILES) == set(FILES) - {"ee"}
    query = matrix(4, 1)[0]
    assert [hit.digest for hit in again.search(query, ("ee",), 5)] == []
    fill(again)
    assert again.search(query, ("ee",), 1)[0].digest == "ee"
    again.close()
    third = opened(folder)
    assert third.remade is None and third.has(FILES) == set(FILES)
    third.close()


def test_what_does_not_fit_is_refused(store: VectorStore) -> None:
    with pytest.raises(InvalidArgument, match="2 chunks"):
        store.add("new", spans(2), matrix(1, 3))
    with pytest.raises(InvalidArgument, match="16 dimensions"):
        store.add("new", spans(2), np.zeros((2, 8), np.float32))
    with pytest.raises(InvalidArgument, match="finite"):
        store.add("new", spans(1), np.full((1, DIMENSIONS), np.nan, np.float32))
    with pytest.raises(InvalidArgument, match="16 dimensions"):
        store.search(np.zeros(8, np.float32), ["aa"], 1)
    with pytest.raises(InvalidArgument):
        store.search(np.full(DIMENSIONS, np.inf, np.float32), ["aa"], 1)
    assert store.has(["new"]) == set()


def test_a_failed_commit_is_forgotten(tmp_path: Path, store: VectorStore) -> None:
    """Somebody else holds the table: nothing of the commit is there, and the next one is whole."""
    other = sqlite3.connect(tmp_path / "vectors" / "vectors.db", isolation_level=None)
    other.execute("INSERT INTO vectors SELECT max(number) + 1, 'new', 0, 0, x'01010101', 0 FROM vectors")
    store.add("new", spans(1), matrix(50, 1))
    with pytest.raises(sqlite3.IntegrityError):
        store.commit()
    other.execute("DELETE FROM vectors WHERE digest = 'new'")
    other.close()
    assert store.has(["new"]) == set()
    store.add("new", spans(1), matrix(50, 1))
    store.commit()
    assert store.search(matrix(50, 1)[0], [*FILES, "new"], 1)[0].digest == "new"


def test_readers_see_whole_states_while_one_writes(tmp_path: Path) -> None:
    store = opened(tmp_path)
    row = matrix(1, 1)
    store.add("kept", spans(1), row)
    store.commit()
    done, wrong = threading.Event(), []

    def read() -> None:
        while not done.is_set():
            hits = store.search(row[0], ["kept", "other"], 3000)
            if hits[0].digest != "kept" or len(hits) not in (1, 2001) or store.spans("kept") != spans(1):
                wrong.append(hits[:3])

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for seed in range(20):
        store.add("other", spans(2000), matrix(seed, 2000))
        store.commit()
        assert store.compact({"kept"}) == 2000
    done.set()
    for reader in readers:
        reader.join()
    assert wrong == []
