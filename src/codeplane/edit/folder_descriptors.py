"""Opens folders below a root without following symbolic links, so that a folder swapped for a link leads nowhere."""

import errno
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import TypeVar

T = TypeVar("T")
# How many folders stay open at once.
MAX_OPEN = 64
_PAUSE_SEC = 0.001
_MIN_CHUNK = 4096
# Passing through a folder needs fewer rights than listing or syncing it, and those who watch it are not told.
_THROUGH = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_INTO = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
MISSING = frozenset({errno.ENOENT, errno.ENOTDIR})


class LinkRetries:
    """Retries work that meets a symbolic link, a bounded number of times in all; used while rolling back."""

    def __init__(self, tries: int = 100) -> None:
        self._left = tries

    def run(self, work: Callable[[], T]) -> T:
        """Run `work`, again while a link is in the way and retries are left."""
        while True:
            try:
                return work()
            except OSError as error:
                if error.errno != errno.ELOOP or self._left <= 0:
                    raise
            self._left -= 1
            time.sleep(_PAUSE_SEC)


@contextmanager
def open_folder(root: Path | str, folder: str, *, make: bool = False, lists: bool = False) -> Iterator[int]:
    """Open a folder below the root ("" is the root), with `make` creating it; OSError with ELOOP at a link.

    Its names can be listed only if it was opened with `lists`.
    """
    descriptor = _walk_to(root, folder, into=_INTO if lists else _THROUGH, make=make)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def open_parent(root: Path | str, path: str, *, make: bool = False, lists: bool = False) -> Iterator[tuple[int, str]]:
    """Open the folder of a path as `open_folder` does and yield it with the name; errors name the whole path."""
    folder, _, name = path.rpartition("/")
    try:
        with open_folder(root, folder, make=make, lists=lists) as descriptor:
            yield descriptor, name
    except OSError as error:
        name_whole_path(error, path, name)
        raise


class FolderDescriptors:
    """Open folders below a root, each kept open for reuse, since finding one is the most expensive step."""

    def __init__(self, root: Path, *, syncs: bool) -> None:
        """`syncs` says whether the folders can be listed and synced, or only passed through."""
        self._root = root
        self._into = _INTO if syncs else _THROUGH
        self._held: dict[str, int] = {}

    def __enter__(self) -> "FolderDescriptors":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        while self._held:
            os.close(self._held.popitem()[1])

    def open(self, folder: str, *, make: bool = False) -> int:
        """Return a descriptor as `open_folder` does; it stays open until `MAX_OPEN` others were opened."""
        descriptor = self._held.pop(folder, None)
        if descriptor is None:
            if len(self._held) >= MAX_OPEN:
                os.close(self._held.pop(next(iter(self._held))))
            descriptor = _walk_to(self._root, folder, into=self._into, make=make)
        # The least recently used comes first.
        self._held[folder] = descriptor
        return descriptor

    @contextmanager
    def open_parent(self, path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
        """Yield the folder of a path and the name; errors name the whole path."""
        folder, _, name = path.rpartition("/")
        try:
            yield self.open(folder, make=make), name
        except OSError as error:
            name_whole_path(error, path, name)
            raise

    def forget(self, folder: str) -> None:
        """Close a folder that was replaced, so that the next call opens the new one."""
        descriptor = self._held.pop(folder, None)
        if descriptor is not None:
            os.close(descriptor)


def open_file(folder: int, name: str) -> int:
    """Open a file in a folder for reading, without following links or waiting for pipes."""
    return os.open(name, _READ, dir_fd=folder)


def read_bytes(folder: int, name: str, *, size: int, limit: int) -> bytes:
    """Read a file of about that size; of one that grows meanwhile, a little more than `limit` at most."""
    descriptor = open_file(folder, name)
    try:
        content = b""
        # One byte more than the size, so that a short read means the end of the file.
        while len(chunk := os.read(descriptor, wanted := max(size + 1 - len(content), _MIN_CHUNK))) == wanted:
            content += chunk
            if len(content) > limit:
                return content
        return content + chunk
    finally:
        os.close(descriptor)


def read_link(folder: int, name: str) -> str:
    """Return the target of a link in a folder; OSError with ELOOP when it is no link any more."""
    try:
        return os.readlink(name, dir_fd=folder)
    except OSError as error:
        if error.errno == errno.EINVAL:
            raise _link_error(name) from error
        raise


def stat_entry(folder: int, name: str) -> os.stat_result:
    """Return the status of an entry in a folder, without following links."""
    return os.stat(name, dir_fd=folder, follow_symlinks=False)


def entry_exists(folder: int, name: str) -> bool:
    """Whether a folder has an entry of that name."""
    try:
        stat_entry(folder, name)
    except FileNotFoundError:
        return False
    return True


def name_whole_path(error: OSError, path: str, name: str) -> None:
    """Make an error name the whole path instead of the name in its folder."""
    if error.filename2 == name:
        error.filename2 = path
    elif error.filename == name:
        error.filename = path


def _walk_to(root: Path | str, folder: str, *, into: int, make: bool = False) -> int:
    """Open the root and each folder on the way; the last one with the flags `into`."""
    parts = folder.split("/") if folder else []
    descriptor = os.open(root, _THROUGH if parts else into)
    for number, part in enumerate(parts, start=1):
        try:
            inner = _enter(descriptor, part, into if number == len(parts) else _THROUGH, make=make)
        except OSError as error:
            error.filename = "/".join(parts[:number])
            raise
        finally:
            os.close(descriptor)
        descriptor = inner
    return descriptor


def _enter(descriptor: int, part: str, flags: int, *, make: bool) -> int:
    if part in ("", ".", ".."):
        raise OSError(errno.EINVAL, "not the name of a folder", part)
    if make:
        with suppress(FileExistsError):
            os.mkdir(part, dir_fd=descriptor)
    try:
        return os.open(part, flags, dir_fd=descriptor)
    except OSError as error:
        if error.errno in (errno.ENOTDIR, errno.ELOOP) and _is_being_swapped(descriptor, part):
            raise _link_error(part) from error
        raise


def _is_being_swapped(descriptor: int, part: str) -> bool:
    """Whether an entry that could not be opened as a folder is a link, or is a folder by now."""
    try:
        mode = stat_entry(descriptor, part).st_mode
    except FileNotFoundError:
        return False
    return stat.S_ISLNK(mode) or stat.S_ISDIR(mode)


def _link_error(name: str) -> OSError:
    return OSError(errno.ELOOP, "a link stands where none was", name)
