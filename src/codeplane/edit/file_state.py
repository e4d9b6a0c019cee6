"""The state of one path on disk: the hash and mode of a file, or the target of a link."""

import hashlib
import os
import stat
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from codeplane.edit.folder_descriptors import MISSING, open_file, open_folder, open_parent, read_link, stat_entry

_MIN_CHUNK, _MAX_CHUNK = 4096, 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class FileState:
    """The state of a path: the SHA-256 of its bytes, or of a link's target."""

    sha256: str
    mode: int
    link: bool = False


def state_of(root: Path, path: str, *, folders: Collection[str] = (), exact: bool = False) -> FileState | None:
    """Return the state of a path, None when nothing is there; what is neither file nor link equals no planned state.

    Raises OSError with ELOOP at a link on the way, or when entries are swapped meanwhile.
    """
    try:
        if exact and not has_exact_case(root, path):
            return None
        with open_parent(root, path) as (folder, name):
            return state_at(folder, name, is_dropped=path in folders)
    except OSError as error:
        if error.errno in MISSING:
            return None
        raise


def state_at(folder: int, name: str, *, is_dropped: bool = False) -> FileState | None:
    """Return the state of an entry in an open folder; None also for a folder that will be dropped."""
    try:
        state = state_in(folder, name)
    except OSError as error:
        if error.errno in MISSING:
            return None
        raise
    return None if is_dropped and stat.S_ISDIR(state.mode) else state


def state_in(folder: int, name: str) -> FileState:
    """Return the state of an entry in an open folder; OSError when there is none."""
    return state_from_stat(stat_entry(folder, name), folder, name)


def state_from_stat(status: os.stat_result, folder: int, name: str) -> FileState:
    """Return the state of an entry whose status is known."""
    if stat.S_ISLNK(status.st_mode):
        return FileState(sha256=sha256_of(os.fsencode(read_link(folder, name))), mode=0, link=True)
    if stat.S_ISREG(status.st_mode):
        return FileState(sha256=_file_sha256(folder, name, status.st_size), mode=stat.S_IMODE(status.st_mode))
    return FileState(sha256="", mode=status.st_mode)


def sha256_of(content: bytes) -> str:
    """Return the SHA-256 of bytes in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def _file_sha256(folder: int, name: str, size: int) -> str:
    descriptor = open_file(folder, name)
    try:
        hashed = hashlib.sha256()
        # One byte more than the size, so that a short read means the end of the file.
        chunk_size = min(max(size + 1, _MIN_CHUNK), _MAX_CHUNK)
        while True:
            chunk = os.read(descriptor, chunk_size)
            hashed.update(chunk)
            if len(chunk) < chunk_size:
                return hashed.hexdigest()
    finally:
        os.close(descriptor)


def has_exact_case(root: Path, path: str) -> bool:
    """Whether the disk, which may ignore case, spells every part of a path exactly so."""
    folder = ""
    for part in path.split("/"):
        with open_folder(root, folder, lists=True) as descriptor:
            if part not in os.listdir(descriptor):  # noqa: PTH208
                return False
        folder = f"{folder}/{part}" if folder else part
    return True
