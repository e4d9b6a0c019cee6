"""A file on disk: its stamp, its bytes, and whether its text is indexed."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

import xxhash

BINARY = "binary"
TOO_LARGE = "too large"
UNREADABLE = "unreadable"
GONE = "gone"
NOT_A_FILE = "not a file"
BEHIND_LINK = "behind a link"
_DIGEST_LENGTH = 32


@dataclass(frozen=True, slots=True)
class Stamp:
    """A file's stat data; equal stamps mean an unchanged file."""

    size: int
    mtime_ns: int
    inode: int
    mode: int
    # Cannot be set back, unlike the time of the last write.
    ctime_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRead:
    """A file's content, or the reason why it was skipped."""

    stamp: Stamp | None
    content: bytes
    digest: str
    skipped: str | None = None


def stamp_of(path: str) -> Stamp | None:
    """A file's stamp, or None if it is gone."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return Stamp(status.st_size, status.st_mtime_ns, status.st_ino, status.st_mode, status.st_ctime_ns)


def read(path: str, *, max_bytes: int) -> FileRead:
    """Read a file once, without following links; a skipped file says why."""
    stamp = stamp_of(path)
    if stamp is None:
        return FileRead(stamp=None, content=b"", digest="", skipped=GONE)
    if stat.S_ISLNK(stamp.mode):
        folder = path.rpartition("/")[0]
        if os.path.realpath(folder) != folder:
            return FileRead(stamp=stamp, content=b"", digest="", skipped=BEHIND_LINK)
        try:
            target = os.fsencode(Path(path).readlink())
        except OSError:
            # It was a link a moment ago.
            return FileRead(stamp=stamp, content=b"", digest="", skipped=UNREADABLE)
        return FileRead(stamp=stamp, content=target, digest=identity_of(target))
    if not stat.S_ISREG(stamp.mode):
        return FileRead(stamp=stamp, content=b"", digest="", skipped=NOT_A_FILE)
    if stamp.size > max_bytes:
        return FileRead(stamp=stamp, content=b"", digest="", skipped=TOO_LARGE)
    try:
        # Not waiting on a FIFO that took the file's place, nor following a link that did.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            if not _is_itself(descriptor, path):
                return FileRead(stamp=stamp, content=b"", digest="", skipped=BEHIND_LINK)
            content = _read_all(descriptor, expected=stamp.size, most=max_bytes + 1)
        finally:
            os.close(descriptor)
    except OSError:
        return FileRead(stamp=stamp, content=b"", digest="", skipped=UNREADABLE)
    if len(content) > max_bytes:
        return FileRead(stamp=stamp, content=b"", digest="", skipped=TOO_LARGE)
    if b"\0" in content:
        return FileRead(stamp=stamp, content=b"", digest=identity_of(content), skipped=BINARY)
    return FileRead(stamp=stamp, content=content, digest=identity_of(content))


def _read_all(descriptor: int, *, expected: int, most: int) -> bytes:
    """Read a file up to `most` bytes; it may have grown since its stamp was taken."""
    # Without a file object around it: that costs as much as the reading of a small file.
    content = os.read(descriptor, min(expected + 1, most))
    if len(content) == expected:
        return content
    parts = [content]
    size = len(content)
    while content and size < most:
        content = os.read(descriptor, most - size)
        parts.append(content)
        size += len(content)
    return b"".join(parts)


def _is_itself(descriptor: int, path: str) -> bool:
    """Whether the open file is at the path, with no link on the way."""
    try:
        # Text, not a Path: this runs for every file of the repository.
        return os.readlink(f"/proc/self/fd/{descriptor}") == path  # noqa: PTH115
    except OSError:
        return os.path.realpath(path) == path


def digest_of(content: bytes) -> str:
    """A digest that ignores line endings."""
    return xxhash.xxh3_128_hexdigest(content.replace(b"\r\n", b"\n"))


def identity_of(content: bytes) -> str:
    """A digest of the exact bytes; it starts with the digest of the text."""
    text = content.replace(b"\r\n", b"\n")
    digest = xxhash.xxh3_128_hexdigest(text)
    return digest if len(text) == len(content) else digest + xxhash.xxh3_128_hexdigest(content)


def text_digest(identity: str) -> str:
    """The part of an identity that ignores line endings."""
    return identity[:_DIGEST_LENGTH]
