"""Folders below a root, reached without following links: whoever swaps one for a link leads nobody astray."""

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
# Folders that one piece of work holds open.
HELD = 64
_PAUSE_SEC = 0.001
# To pass through a folder needs less than to list or sync it.
_THROUGH = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_INTO = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
GONE = frozenset({errno.ENOENT, errno.ENOTDIR})


class Patience:
    """Tries again where links come and go, a bounded number of times in all: for what has to be put back."""

    def __init__(self, tries: int = 100) -> None:
        self._left = tries

    def with_links(self, work: Callable[[], T]) -> T:
        """Do it, and again as long as a link stands in the way and patience lasts."""
        while True:
            try:
                return work()
            except OSError as error:
                if error.errno != errno.ELOOP or self._left <= 0:
                    raise
            self._left -= 1
            time.sleep(_PAUSE_SEC)


@contextmanager
def beneath(root: Path | str, folder: str, *, make: bool = False) -> Iterator[int]:
    """A descriptor of a folder below the root ("" is the root), made on the way if asked; ELOOP where a link stands."""
    descriptor = _walked(root, folder, make=make)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def beside(root: Path | str, path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
    """The folder that a path is in, and its name there; errors name the whole path."""
    folder, _, name = path.rpartition("/")
    try:
        with beneath(root, folder, make=make) as descriptor:
            yield descriptor, name
    except OSError as error:
        whole(error, path, name)
        raise


class Folders:
    """Folders below a root, each opened once for a piece of work and closed with it: to find one costs most of all."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._held: dict[str, int] = {}

    def __enter__(self) -> "Folders":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        while self._held:
            os.close(self._held.popitem()[1])

    def at(self, folder: str, *, make: bool = False) -> int:
        """A descriptor of a folder, as `beneath` gives it; open until `HELD` others were asked for."""
        descriptor = self._held.pop(folder, None)
        if descriptor is None:
            if len(self._held) >= HELD:
                os.close(self._held.pop(next(iter(self._held))))
            descriptor = _walked(self._root, folder, make=make)
        # The one that was not asked for longest comes first.
        self._held[folder] = descriptor
        return descriptor

    @contextmanager
    def beside(self, path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
        """The folder that a path is in and its name there, as `beside` gives them."""
        folder, _, name = path.rpartition("/")
        try:
            yield self.at(folder, make=make), name
        except OSError as error:
            whole(error, path, name)
            raise

    def forget(self, folder: str) -> None:
        """Look for a folder anew, should it be asked for again: it is another one by now."""
        descriptor = self._held.pop(folder, None)
        if descriptor is not None:
            os.close(descriptor)


def opened(folder: int, name: str) -> int:
    """A descriptor to read a file of a folder; links are not followed, and pipes not waited for."""
    return os.open(name, _READ, dir_fd=folder)


def linked_to(folder: int, name: str) -> str:
    """Where a link of a folder leads; ELOOP when it is none any more."""
    try:
        return os.readlink(name, dir_fd=folder)
    except OSError as error:
        if error.errno == errno.EINVAL:
            raise _swapped(name) from error
        raise


def looked_at(folder: int, name: str) -> os.stat_result:
    """What stands at a name in a folder, links as links."""
    return os.stat(name, dir_fd=folder, follow_symlinks=False)


def is_there(folder: int, name: str) -> bool:
    """Whether anything stands at a name in a folder."""
    try:
        looked_at(folder, name)
    except FileNotFoundError:
        return False
    return True


def whole(error: OSError, path: str, name: str) -> None:
    """Let an error name the whole path instead of the name in its folder."""
    if error.filename2 == name:
        error.filename2 = path
    elif error.filename == name:
        error.filename = path


def _walked(root: Path | str, folder: str, *, make: bool) -> int:
    parts = folder.split("/") if folder else []
    descriptor = os.open(root, _THROUGH if parts else _INTO)
    for number, part in enumerate(parts, start=1):
        try:
            further = _entered(descriptor, part, last=number == len(parts), make=make)
        except OSError as error:
            error.filename = "/".join(parts[:number])
            raise
        finally:
            os.close(descriptor)
        descriptor = further
    return descriptor


def _entered(descriptor: int, part: str, *, last: bool, make: bool) -> int:
    if part in ("", ".", ".."):
        raise OSError(errno.EINVAL, "not the name of a folder", part)
    if make:
        with suppress(FileExistsError):
            os.mkdir(part, dir_fd=descriptor)
    try:
        return os.open(part, _INTO if last else _THROUGH, dir_fd=descriptor)
    except OSError as error:
        if error.errno in (errno.ENOTDIR, errno.ELOOP) and _is_moving(descriptor, part):
            raise _swapped(part) from error
        raise


def _is_moving(descriptor: int, part: str) -> bool:
    """Whether what was no folder is a link, or is a folder by now: then somebody swaps them."""
    try:
        mode = looked_at(descriptor, part).st_mode
    except FileNotFoundError:
        return False
    return stat.S_ISLNK(mode) or stat.S_ISDIR(mode)


def _swapped(name: str) -> OSError:
    return OSError(errno.ELOOP, "a link stands where none was", name)
