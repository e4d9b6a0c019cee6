"""Bytes are found where Python finds them, whoever looks."""

import mmap
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from codeplane.query.search.memmem import find, make_finder
from tests.interaction.requirements import requirement

HAY = (b"ab\0c\n" * 30_000) + b"needle" + (b"xyz\xff" * 30_000) + b"needle"


@requirement("SRC-14")
@given(
    needle=st.sampled_from([b"needle", b"\0c", b"\xffx", b"z\xffn", b"nowhere", b"e", b"ab\0c\n" * 9]),
    start=st.integers(-2, len(HAY) + 2),
    length=st.integers(0, len(HAY) + 2),
)
def test_as_python_finds_it(needle: bytes, start: int, length: int) -> None:
    assert find(HAY, needle, start, start + length) == HAY.find(needle, start, start + length)


@requirement("SRC-14")
@given(
    text=st.sampled_from([HAY[149_000:], HAY[149_000:151_000], b"needle", b""]),
    needle=st.sampled_from([b"needle", b"\0c", b"\xffx", b"z\xffn", b"nowhere", b"e", b"ab\0c\n" * 9]),
    start=st.integers(0, 3000),
)
def test_one_text_looked_through_again_and_again(text: bytes, needle: bytes, start: int) -> None:
    seek = make_finder(text)
    assert seek(needle, start) == text.find(needle, start)
    assert seek(needle) == text.find(needle)


@requirement("SRC-14")
def test_a_mapped_file_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "content"
    path.write_bytes(HAY)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        for needle in (b"needle", b"e\0", b"\xff"):
            assert find(content, needle, 0, len(content)) == HAY.find(needle)
            assert find(content, needle, 150_001, len(content)) == HAY.find(needle, 150_001)
