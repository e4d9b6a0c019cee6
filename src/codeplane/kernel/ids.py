"""The one place identifiers come from."""

import os
import time
import uuid
from hashlib import sha256

_NAMESPACE = uuid.UUID("8b0c7a5e-3f6d-5d1e-9c57-0d8b1d1f6a10")


def uuid7() -> str:
    """A UUIDv7: sortable by the millisecond it was made in, for people; order always comes from sequences."""
    value = (time.time_ns() // 1_000_000) << 80 | int.from_bytes(os.urandom(10), "big")
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    text = f"{value:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def new_id(kind: str) -> str:
    """A fresh identifier that says what it names, such as `task_…`."""
    return f"{kind}_{os.urandom(10).hex()}"


def derived_event_id(*parts: str) -> str:
    """The same identifier for the same parts, so that a recovery that runs twice records once."""
    return str(uuid.uuid5(_NAMESPACE, "\x1f".join(parts)))


def digest(data: bytes) -> str:
    """The sha256 of data, as the ledger writes it."""
    return sha256(data).hexdigest()
