"""Chunks cover a text exactly, within bounds, and begin where definitions do."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.kernel.errors import InvalidArgument
from codeplane.vectors.chunks import MAX, MIN, TARGET, Chunk, chunk
from tests.interaction.requirements import requirement


def texts() -> st.SearchStrategy[bytes]:
    line = st.integers(0, 120).map(lambda size: b"x" * size)
    long = st.integers(0, 9000).map(lambda size: b"x" * (size % 4) + "é".encode() * (size // 2))
    lines = st.lists(st.one_of(line, line, line, line, long), max_size=120)
    return st.builds(lambda found, end: b"\n".join(found) + end, lines, st.sampled_from([b"", b"\n", b"\r\n"]))


@st.composite
def files(draw: st.DrawFn) -> tuple[bytes, list[tuple[int, int]]]:
    """A text with ranges in it, nested, crossing and empty ones among them."""
    text = draw(texts())
    places = st.integers(0, len(text))
    ranges = draw(st.lists(st.tuples(places, places), max_size=30))
    return text, [(min(range_), max(range_)) for range_ in ranges]


@requirement("VEC-03")
@given(files())
def test_a_text_is_covered_exactly(file: tuple[bytes, list[tuple[int, int]]]) -> None:
    text, boundaries = file
    chunks = chunk(text, boundaries)
    assert b"".join(text[found.start : found.end] for found in chunks) == text
    assert all(left.end == right.start for left, right in pairwise(chunks))


@requirement("VEC-03")
@given(files())
def test_chunks_are_neither_empty_nor_too_long(file: tuple[bytes, list[tuple[int, int]]]) -> None:
    chunks = chunk(*file)
    assert all(0 < found.end - found.start <= MAX for found in chunks)


@requirement("VEC-03")
@given(files())
def test_a_small_chunk_fits_no_neighbour(file: tuple[bytes, list[tuple[int, int]]]) -> None:
    chunks = chunk(*file)
    for left, right in pairwise(chunks):
        if min(left.end - left.start, right.end - right.start) < MIN:
            assert right.end - left.start > MAX


@requirement("VEC-03")
@given(files())
def test_lines_are_counted_and_kept_whole(file: tuple[bytes, list[tuple[int, int]]]) -> None:
    text, boundaries = file
    for found in chunk(text, boundaries):
        assert found.start_line == text.count(b"\n", 0, found.start) + 1
        assert found.end_line == text.count(b"\n", 0, found.end - 1) + 1
        begins_line = found.start == 0 or text[found.start - 1 : found.start] == b"\n"
        if not begins_line:
            begin = text.rfind(b"\n", 0, found.start) + 1
            end = text.find(b"\n", found.start) + 1 or len(text)
            assert end - begin > MAX
        text[found.start : found.end].decode()  # no character is cut


@given(files())
def test_the_order_of_definitions_does_not_matter(file: tuple[bytes, list[tuple[int, int]]]) -> None:
    text, boundaries = file
    assert chunk(text, boundaries) == chunk(text, boundaries[::-1]) == chunk(text, boundaries * 2)


def body(size: int) -> bytes:
    return (b"    " + b"y" * 45 + b"\n") * (size // 50)


def test_nothing_is_no_chunk() -> None:
    assert chunk(b"", []) == []


def test_a_short_file_is_one_chunk() -> None:
    text = b"import os\n\n\ndef f():\n    pass\n"
    assert chunk(text, [(12, 29)]) == [Chunk(start=0, end=len(text), start_line=1, end_line=5)]


def test_definitions_begin_chunks() -> None:
    parts = [b"def one():\n" + body(900), b"def two():\n" + body(900), b"def three():\n" + body(2000)]
    starts = [0, len(parts[0]), len(parts[0]) + len(parts[1])]
    text = b"".join(parts)
    # As a parser says it: without the last line's end.
    boundaries = [(start, start + len(part) - 1) for start, part in zip(starts, parts, strict=True)]
    assert [found.start for found in chunk(text, boundaries)] == starts


def test_what_is_ahead_of_a_definition_goes_with_it() -> None:
    first, comment, second = b"def one():\n" + body(1000), b"# About two\n@cached\n", b"def two():\n" + body(1000)
    text = first + comment + second
    start = len(first) + len(comment)
    chunks = chunk(text, [(0, len(first) - 1), (start, len(text))])
    assert [found.start for found in chunks] == [0, len(first)]


def test_a_long_class_is_cut_at_its_methods() -> None:
    head, method = b"class A:\n", b"    def m(self):\n" + body(1200)
    text = head + method * 4
    methods = [(len(head) + index * len(method), len(head) + (index + 1) * len(method) - 1) for index in range(4)]
    chunks = chunk(text, [(0, len(text)), *methods])
    assert [found.start for found in chunks] == [0, *(start for start, _ in methods[1:])]


def test_without_definitions_lines_are_counted_out() -> None:
    chunks = chunk(b"some words of prose that go on\n" * 1000, [])
    assert all(TARGET - 31 <= found.end - found.start <= TARGET for found in chunks[:-1])


def test_only_definitions_stay_whole_beyond_the_target() -> None:
    text = b"def one():\n" + body(3000) + b"TABLE = (\n" + body(3000)
    defined = len(b"def one():\n") + 3000
    starts = [found.start for found in chunk(text, [(0, defined)])]
    assert starts[:2] == [0, defined]
    assert len(starts) == 3


@pytest.mark.parametrize(("more", "chunks"), [(0, 1), (1, 2)])
def test_a_small_one_joins_as_long_as_that_is_not_too_long(more: int, chunks: int) -> None:
    comment = b"# " + b"c" * (97 + more) + b"\n"
    text = comment + body(3900)
    assert len(chunk(text, [(len(comment), len(text))])) == chunks


def test_no_character_is_cut() -> None:
    text = b"x" + "é".encode() * 5000
    assert [text[found.start : found.end].decode()[0] for found in chunk(text, [])] == ["x", "é", "é"]


def test_nesting_as_deep_as_one_likes() -> None:
    text = b"{\n" * 20_000 + b"}\n" * 20_000
    boundaries = [(2 * depth, len(text) - 2 * depth) for depth in range(20_000)]
    chunks = chunk(text, boundaries)
    assert chunks[-1].end == len(text)


@pytest.mark.parametrize("boundary", [(-1, 2), (3, 2), (0, 6)])
def test_a_definition_outside_the_text_is_refused(boundary: tuple[int, int]) -> None:
    with pytest.raises(InvalidArgument):
        chunk(b"hello", [boundary])
