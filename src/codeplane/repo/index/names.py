"""In which files each identifier occurs: the numbers of the files, by a hash of the name."""

import sqlite3
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec
import numpy as np
import xxhash
from numpy.typing import NDArray

# A large fill adds lists of its own beside those that are there; whoever changes a name's lists makes one of them.
SCHEMA = "CREATE TABLE names(name INTEGER, since INTEGER, files BLOB, PRIMARY KEY(name, since)) WITHOUT ROWID"
_BYTES = 5
_MASK = (1 << (8 * _BYTES)) - 1
_AT_ONCE = 500
_MANY = 50


def key_of(name: str) -> int:
    """What a name is known by: that two of a million share it is unlikely, and then their files are looked at too."""
    return xxhash.xxh3_64_intdigest(name.encode("utf-8", "surrogateescape")) & _MASK


def packed_keys(names: Iterable[bytes]) -> bytes:
    """The keys of a file's identifiers, in order, as they are kept."""
    found = np.fromiter(map(xxhash.xxh3_64_intdigest, names), "<u8") & np.uint64(_MASK)
    found.sort()
    return found.view(np.uint8).reshape(-1, 8)[:, :_BYTES].tobytes()


def unpacked_keys(packed: bytes) -> NDArray[np.uint64]:
    """The keys that were packed."""
    wide = np.zeros((len(packed) // _BYTES, 8), np.uint8)
    wide[:, :_BYTES] = np.frombuffer(packed, np.uint8).reshape(-1, _BYTES)
    return wide.view("<u8").reshape(-1)


def are_keys(packed: bytes) -> bool:
    """Whether these bytes can be keys."""
    return len(packed) % _BYTES == 0


def files_of(rows: Iterable[tuple[int, bytes]], names: Sequence[str]) -> list[tuple[str, bytes]]:
    """Of each of the names that occurs, its packed files, from the lists that were read."""
    held: dict[int, bytes] = {}
    for key, files in rows:
        held[key] = held.get(key, b"") + files
    found = ((name, held.get(key_of(name))) for name in names)
    return [(name, files) for name, files in found if files is not None]


def asked(names: Sequence[str]) -> str:
    """The keys of names, as `json_each` takes them."""
    return msgspec.json.encode([key_of(name) for name in names]).decode()


class NameChanges:
    """What some files no longer say and what they say now, gathered and then written at once."""

    def __init__(self) -> None:
        self._lost: list[tuple[int, bytes]] = []
        self._gained: list[tuple[int, bytes]] = []

    def lose(self, file_id: int, packed: bytes) -> None:
        """The file has these keys no longer, unless it gains them again."""
        self._lost.append((file_id, packed))

    def gain(self, file_id: int, packed: bytes) -> None:
        """The file has these keys from now on."""
        self._gained.append((file_id, packed))

    def write(self, connection: sqlite3.Connection) -> None:
        """Bring the lists up to date; a name kept by a file is not written again."""
        if not self._lost and len(self._gained) >= _MANY:
            connection.executemany("INSERT INTO names VALUES (?, ?, ?)", _lists(self._gained))
            return
        lost, gained = _by_key(self._lost), _by_key(self._gained)
        touched = sorted(key for key in lost.keys() | gained.keys() if lost.get(key) != gained.get(key))
        for at in range(0, len(touched), _AT_ONCE):
            part = touched[at : at + _AT_ONCE]
            where = f"WHERE name IN ({','.join('?' * len(part))})"
            held: dict[int, set[int]] = {key: set() for key in part}
            for key, files in connection.execute(f"SELECT name, files FROM names {where}", part):
                held[key].update(array("I", files))
            connection.execute(f"DELETE FROM names {where}", part)
            for key, those in held.items():
                those.difference_update(lost.get(key, ()))
                those.update(gained.get(key, ()))
            rows = ((key, array("I", sorted(those)).tobytes()) for key, those in held.items() if those)
            connection.executemany("INSERT INTO names VALUES (?, 0, ?)", rows)


def _lists(files: Sequence[tuple[int, bytes]]) -> Iterator[tuple[int, int, bytes]]:
    """New lists of many new files."""
    every = [unpacked_keys(packed) for _, packed in files]
    keys = np.concatenate(every)
    ids = np.repeat(np.array([file_id for file_id, _ in files], np.uint32), [len(one) for one in every])
    order = np.lexsort((ids, keys))
    keys, raw = keys[order], ids[order].tobytes()
    begins = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1]))) if len(keys) else np.zeros(0, np.intp)
    since = min(file_id for file_id, _ in files)
    starts = (begins * 4).tolist()
    for key, start, end in zip(keys[begins].tolist(), starts, [*starts[1:], len(raw)], strict=True):
        yield key, since, raw[start:end]


def _by_key(files: Iterable[tuple[int, bytes]]) -> Mapping[int, list[int]]:
    found: dict[int, list[int]] = {}
    for file_id, packed in files:
        for key in unpacked_keys(packed).tolist():
            found.setdefault(key, []).append(file_id)
    return found
