"""Bytes by their hash, bounded."""

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from codeplane.adapters.sealed_bytes import SealedBytes
from codeplane.kernel.ids import digest
from codeplane.ledger import blobs
from codeplane.ledger.database import open_writer
from tests.interaction.requirements import requirement
from tests.ledger.logs import n, opened

LIMIT = 1000


async def test_what_is_put_is_there_with_the_next_append(tmp_path: Path) -> None:
    async with opened(tmp_path / "l.db") as log:
        key = log.put(b"hello")
        await log.append([n("a")])
        assert key == digest(b"hello")
        assert await log.get(key) == b"hello"
        assert await log.get("nothing") is None
    async with opened(tmp_path / "l.db") as log:
        assert await log.get(key) == b"hello"


@requirement("LOG-54")
async def test_they_are_sealed_and_those_of_earlier_versions_are_read(tmp_path: Path) -> None:
    path, key = tmp_path / "l.db", bytes(32)
    async with opened(path) as log:
        earlier = log.put(b"the answer of an earlier version")
        await log.append([n("a")])
    async with opened(path, seal=SealedBytes(key)) as log:
        sealed = log.put(b"the answer of this version")
        await log.append([n("a")])
        assert await log.get(sealed) == b"the answer of this version"
        assert await log.get(earlier) == b"the answer of an earlier version"
        assert await log.select("SELECT hash FROM blobs WHERE data LIKE '%this version%'") == []
    # With a newer key beside it; and not with another one, or as another's, or changed.
    async with opened(path, seal=SealedBytes(b"n" * 32, key)) as log:
        assert await log.get(sealed) == b"the answer of this version"
    async with opened(path, seal=SealedBytes(b"n" * 32)) as log:
        assert await log.get(sealed) is None
    async with opened(path, seal=SealedBytes(key)) as log:
        await log.command(
            lambda writing: writing.connection.execute("UPDATE blobs SET hash = ? WHERE hash = ?", ("f" * 64, sealed))
        )
        assert await log.get("f" * 64) is None


@requirement("LOG-09")
@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 300)), max_size=60))
def test_the_total_is_bounded_and_the_oldest_go_first(puts: list[tuple[int, int]]) -> None:
    connection = open_writer(Path(":memory:"))
    kept: dict[str, int] = {}
    for content, size in puts:
        data = bytes([content]) * size
        stored = blobs.store(connection, digest(data), data, at_ns=0, limit=LIMIT)
        assert stored is (size * 4 <= LIMIT)
        if stored:
            kept.pop(digest(data), None)
            kept[digest(data)] = size
            while sum(kept.values()) > LIMIT:
                del kept[next(iter(kept))]
        found = connection.execute("SELECT hash, size FROM blobs ORDER BY rowid").fetchall()
        assert found == list(kept.items())
        (total,) = connection.execute("SELECT blob_bytes FROM log_state").fetchone()
        assert total == sum(kept.values()) <= LIMIT
    for key in kept:
        data = blobs.load(connection, key) or b""
        assert digest(data) == key
    connection.close()


async def test_one_that_is_too_large_displaces_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path / "l.db", blob_bytes=1024) as log:
        small = log.put(b"small")
        large = log.put(b"x" * 300)
        await log.flush()
        assert await log.get(small) == b"small"
        assert await log.get(large) is None
