"""Chunks of output: contiguous, whole where they can be, and bounded, whatever is printed and however it arrives."""

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.kernel.redaction import MARK, Redactor
from codeplane.trust.shell.output_capture import CHUNK_BYTES, Chunk, OutputCapture, OutputQuota
from tests.interaction.requirements import requirement

pytestmark = requirement("TRUST-31")


pieces = st.lists(st.one_of(st.binary(max_size=50), st.text(max_size=50).map(str.encode)), max_size=20)


def _contiguous(chunks: list[Chunk]) -> int:
    at = 0
    for chunk in chunks:
        assert chunk.offset == at
        assert 0 < len(chunk.data) <= CHUNK_BYTES
        at += len(chunk.data)
    return at


@given(given=pieces, total=st.integers(0, 400))
def test_chunks_are_contiguous_and_within_the_room(given: list[bytes], total: int) -> None:
    captured = OutputCapture("STDERR", OutputQuota(total=total))
    chunks: list[Chunk] = []
    for piece in given:
        captured.take(piece)
        chunks += captured.chunks(final=False)
    chunks += captured.chunks(final=True)
    output = b"".join(given)
    kept = _contiguous(chunks)
    assert kept == captured.kept_bytes == min(len(output), total)
    assert captured.dropped == len(output) - kept
    assert captured.seen == len(output)
    assert captured.tail() == output.decode(errors="backslashreplace")
    for chunk in chunks:
        assert chunk.data == output[chunk.offset : chunk.offset + len(chunk.data)]
        if chunk.utf8:
            assert chunk.text.encode() == chunk.data


@given(text=st.text(max_size=300), cuts=st.lists(st.integers(0, 1200), max_size=10))
def test_text_stays_text_wherever_it_is_cut(text: str, cuts: list[int]) -> None:
    captured = OutputCapture("STDOUT", OutputQuota(total=10_000))
    data, chunks, start = text.encode(), [], 0
    for end in [*sorted(cuts), len(data)]:
        captured.take(data[start:end])
        chunks += captured.chunks(final=False)
        start = max(start, min(end, len(data)))
    chunks += captured.chunks(final=True)
    assert all(chunk.utf8 for chunk in chunks)
    assert "".join(chunk.text for chunk in chunks) == text


def test_a_flood_leaves_room_for_the_other_stream() -> None:
    room = OutputQuota(total=1000)
    out, err = OutputCapture("STDOUT", room), OutputCapture("STDERR", room)
    out.take(b"x" * 5000)
    err.take(b"why")
    assert (out.kept_bytes, out.dropped, err.kept_bytes, err.dropped) == (750, 4250, 3, 0)


def test_the_end_is_kept_and_long_chunks_are_split_at_lines() -> None:
    captured = OutputCapture("STDOUT", OutputQuota(total=10_000_000))
    line = "ä" * 100 + "\n"
    captured.take((line * 5000).encode())
    chunks = captured.chunks(final=True)
    assert _contiguous(chunks) == 5000 * 201
    assert all(chunk.text.endswith("\n") for chunk in chunks)
    assert captured.tail().endswith(line)
    assert "\\x" not in captured.tail()
    assert captured.cut_bytes == 5000 * 201 - 16_384


VALUE = b"f4Ke-s3cret-value-0123456789"


def _spans(data: bytes) -> list[tuple[int, int]]:
    return [(match.start(), match.end()) for match in re.finditer(re.escape(VALUE), data)]


def _recorded(output: bytes, sizes: list[int]) -> list[Chunk]:
    """What is recorded of an output that arrives in pieces of these sizes, over and over."""
    captured = OutputCapture("STDOUT", OutputQuota(total=10_000_000), secrets=_spans)
    chunks: list[Chunk] = []
    start = 0
    for size in itertools.cycle(sizes):
        captured.take(output[start : start + size])
        start += size
        if start >= len(output):
            break
        chunks += captured.chunks(final=False)
    chunks += captured.chunks(final=True)
    assert _contiguous(chunks) == len(output)
    assert "".join(chunk.text for chunk in chunks).encode() == output
    return chunks


@pytest.mark.parametrize("size", [1000, CHUNK_BYTES, 40_000, 1_000_000])
@pytest.mark.parametrize("around", [b"x", b"x ", b"x\n"])
def test_no_secret_is_split_among_chunks(size: int, around: bytes) -> None:
    for cut in (1, 7, 14, 27):
        output = (around * CHUNK_BYTES)[: CHUNK_BYTES - cut] + VALUE + b"y" * CHUNK_BYTES * 2 + VALUE + b"z\n"
        texts = [chunk.text.encode() for chunk in _recorded(output, [size])]
        assert sum(text.count(VALUE) for text in texts) == 2


def test_a_secret_of_several_chunks_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.trust.shell.test_output_capture.VALUE", b"v" * 3 * CHUNK_BYTES)
    assert len(_recorded(b"a" * 10 + b"v" * 3 * CHUNK_BYTES + b"\n", [5000])) >= 3


@requirement("LOG-53")
@pytest.mark.parametrize(
    "text",
    [
        "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEowIBAAKCAQEAr7x4\n" * 40 + "-----END RSA PRIVATE KEY-----\ndone\n",
        "curl -H 'Authorization: Bearer s3cr3tV4lue9abcd' \ndone\n",
        "export PASSWORD= aB3dE5gH7jKl9 \ndone\n",
    ],
)
def test_a_secret_that_is_printed_slowly_is_in_no_chunk(text: str) -> None:
    redactor = Redactor()
    captured = OutputCapture(
        "STDOUT", OutputQuota(total=10_000), secrets=redactor.spans, settled_length=redactor.settled_length
    )
    chunks: list[Chunk] = []
    for byte in text.encode():
        captured.take(bytes([byte]))
        chunks += captured.chunks(final=False)
    chunks += captured.chunks(final=True)
    assert "".join(chunk.text for chunk in chunks) == text
    # Each is redacted by itself.
    recorded = "".join(redactor.text(chunk.text) for chunk in chunks)
    assert recorded == redactor.text(text) and MARK in recorded
