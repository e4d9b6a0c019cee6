"""The one place identifiers come from."""

import os
import time
from hashlib import sha1, sha256

_NAMESPACE = bytes.fromhex("8b0c7a5e3f6d5d1e9c570d8b1d1f6a10")
_BYTES, _POOLED = 10, 256


class _Randomness:
    """The system's random bytes, fetched by the hundred: each fetch releases the interpreter lock, and under load
    waiting to get it back costs more than the call."""

    def __init__(self) -> None:
        self._pool: list[bytes] = []
        self._pid = os.getpid()

    def take(self) -> bytes:
        """Ten unique bytes, in every thread and forked process."""
        if self._pid != os.getpid():
            self._pool, self._pid = [], os.getpid()
        try:
            return self._pool.pop()
        except IndexError:
            fetched = os.urandom(_BYTES * _POOLED)
            self._pool.extend([fetched[start : start + _BYTES] for start in range(_BYTES, len(fetched), _BYTES)])
            return fetched[:_BYTES]


_randomness = _Randomness()


def uuid7() -> str:
    """A UUIDv7: sortable by the millisecond it was made in, for people; order always comes from sequences."""
    at, random = _millisecond(), _randomness.take().hex()
    variant = "89ab"[int(random[3], 16) & 3]
    return f"{at[:8]}-{at[8:]}-7{random[:3]}-{variant}{random[4:7]}-{random[7:19]}"


def new_id(kind: str) -> str:
    """A fresh identifier that says what it names, such as `task_…`; later ones sort after earlier ones, roughly.

    Random ids would each land on another page of the log's indexes, and every such page is written at each commit.
    """
    return f"{kind}_{_millisecond()[2:]}{_randomness.take()[:5].hex()}"


def _millisecond() -> str:
    return f"{time.time_ns() // 1_000_000:012x}"


def derived_event_id(*parts: str) -> str:
    """The same identifier for the same parts, so that a recovery that runs twice records once."""
    # A UUIDv5; the library's own takes three times as long, and every step of work has some.
    hashed = sha1(_NAMESPACE + "\x1f".join(parts).encode(), usedforsecurity=False).digest()
    made = bytes((*hashed[:6], hashed[6] & 0x0F | 0x50, hashed[7], hashed[8] & 0x3F | 0x80, *hashed[9:16])).hex()
    return f"{made[:8]}-{made[8:12]}-{made[12:16]}-{made[16:20]}-{made[20:]}"


def digest(data: bytes) -> str:
    """The sha256 of data, as the ledger writes it."""
    return sha256(data).hexdigest()
