"""One file as it is read: whole, whatever its stamp said, and no more than is allowed."""

from pathlib import Path

import pytest

from codeplane.index.files.file import BINARY, TOO_LARGE, digest_of, identity_of, read, text_digest
from tests.interaction.requirements import requirement


@requirement("TRU-20")
@pytest.mark.parametrize("content", [b"", b"x", b"line\n" * 5000])
def test_all_of_a_file_is_read(tmp_path: Path, content: bytes) -> None:
    path = tmp_path.resolve() / "f"
    path.write_bytes(content)
    found = read(str(path), max_bytes=len(content))
    assert (found.content, found.skipped) == (content, None)


@requirement("TRU-20")
def test_a_file_larger_than_its_stamp_says_is_read_whole_or_not_at_all() -> None:
    # Files of the system say that they are empty.
    path = Path("/proc/self/limits")
    if not path.is_file():
        pytest.skip("NOT TESTED: this system has no /proc, so no file that says it is empty and is not")
    assert read(str(path.resolve()), max_bytes=1_000_000).content.count(b"\n") > 3
    assert read(str(path.resolve()), max_bytes=10).skipped == TOO_LARGE


@requirement("TRU-20")
def test_what_is_too_large_or_no_text_says_so(tmp_path: Path) -> None:
    path = tmp_path.resolve() / "f"
    path.write_bytes(b"a\0b")
    assert read(str(path), max_bytes=3).skipped == BINARY
    assert read(str(path), max_bytes=2).skipped == TOO_LARGE


def test_an_identity_tells_line_ends_apart_and_its_digest_does_not() -> None:
    plain, ended = identity_of(b"a\nb\n"), identity_of(b"a\r\nb\r\n")
    assert plain != ended != identity_of(b"a\r\nb\n")
    assert text_digest(plain) == text_digest(ended) == digest_of(b"a\r\nb\n")
