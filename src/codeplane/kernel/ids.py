"""The one place identifiers come from."""

import os
import time
from hashlib import sha1, sha256

_NAMESPACE = bytes.fromhex("8b0c7a5e3f6d5d1e9c570d8b1d1f6a10")
_DIGITS, _POOLED = 20, 256
# Of the millisecond an id has the last ten digits.
_LAST_DIGITS = 0xFF_FFFF_FFFF


class _Randomness:
    """The system's random bytes in hexadecimal, fetched by the hundred: each fetch releases the interpreter lock, and
    under load waiting to get it back costs more than the call."""

    def __init__(self) -> None:
        self._pool: list[str] = []
        # A forked process must not use what its parent will.
        os.register_at_fork(after_in_child=self._forget)

    def take(self) -> str:
        """Ten unique bytes, in every thread and forked process."""
        try:
            return self._pool.pop()
        except IndexError:
            fetched = os.urandom(_DIGITS // 2 * _POOLED).hex()
            self._pool.extend([fetched[start : start + _DIGITS] for start in range(_DIGITS, len(fetched), _DIGITS)])
            return fetched[:_DIGITS]

    def _forget(self) -> None:
        self._pool = []


_randomness = _Randomness()
_VARIANTS = dict(zip("0123456789abcdef", "89ab" * 4, strict=True))


def uuid7() -> str:
    """A UUIDv7: sortable by the millisecond it was made in, for people; order always comes from sequences."""
    at, random = f"{time.time_ns() // 1_000_000:012x}", _randomness.take()
    return f"{at[:8]}-{at[8:]}-7{random[:3]}-{_VARIANTS[random[3]]}{random[4:7]}-{random[7:19]}"


def new_id(kind: str) -> str:
    """A fresh identifier that says what it names, such as `task_…`; later ones sort after earlier ones, roughly.

    Random ids would each land on another page of the log's indexes, and every such page is written at each commit.
    """
    return f"{kind}_{time.time_ns() // 1_000_000 & _LAST_DIGITS:010x}{_randomness.take()[:10]}"


def derived_event_id(*parts: str) -> str:
    """The same identifier for the same parts, so that a recovery that runs twice records once."""
    # A UUIDv5; the library's own takes three times as long, and every step of work has some.
    hashed = sha1(_NAMESPACE + "\x1f".join(parts).encode(), usedforsecurity=False).digest()
    made = bytes((*hashed[:6], hashed[6] & 0x0F | 0x50, hashed[7], hashed[8] & 0x3F | 0x80, *hashed[9:16])).hex()
    return f"{made[:8]}-{made[8:12]}-{made[12:16]}-{made[16:20]}-{made[20:]}"


def digest(data: bytes) -> str:
    """The sha256 of data, as the ledger writes it."""
    return sha256(data).hexdigest()
