"""A number that a path is found by in a table: an index of paths themselves would hold each of them once more."""

import xxhash

AT = "path_key = ? AND path = ?"
_BITS = 24


def at(path: bytes) -> tuple[int, bytes]:
    """What `AT` is asked with: paths that share a number are told apart by themselves."""
    return path_key(path), path


def path_key(path: bytes) -> int:
    """As small as SQLite keeps a number in three bytes."""
    return (xxhash.xxh3_64_intdigest(path) & ((1 << _BITS) - 1)) - (1 << (_BITS - 1))
