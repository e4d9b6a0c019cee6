"""A short hash of a path, indexed instead of the path itself to save space."""

import xxhash

AT = "path_key = ? AND path = ?"
_BITS = 24


def at(path: bytes) -> tuple[int, bytes]:
    """The values for `AT`; paths with the same hash differ in the path itself."""
    return path_key(path), path


def path_key(path: bytes) -> int:
    """A 24-bit hash, which SQLite stores in three bytes."""
    return (xxhash.xxh3_64_intdigest(path) & ((1 << _BITS) - 1)) - (1 << (_BITS - 1))
