"""The folder for gRPC's internal sockets, and leftovers of killed servers."""

import fcntl
import os
import shutil
import socket
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# The system's own limit is 104 to 108 bytes with the name of the socket.
_LONGEST_PATH = 90
_PREFIX = "codeplane-grpc-"
_CONNECT_SEC = 1.0


@contextmanager
def socket_folder(folder: Path) -> Iterator[Path]:
    """Create a folder for this account only; elsewhere if its path is too long for a socket."""
    place = _short_temp_folder()
    remove_leftovers(place)
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        folder.chmod(0o700)
        fits = len(os.fsencode(folder)) <= _LONGEST_PATH
    except OSError:
        fits = False
    if fits:
        yield folder
        return
    made, lock = _create_locked(place)
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)
        os.close(lock)


def remove_leftovers(place: Path) -> None:
    """Remove this account's folders of dead servers; a live one holds its folder's lock."""
    for folder in place.glob(f"{_PREFIX}*"):
        try:
            status = folder.lstat()
            if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
                continue
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not _is_served(folder):
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue
        finally:
            os.close(lock)


def _create_locked(place: Path) -> tuple[Path, int]:
    """Create a folder and its lock, which the system releases when this process ends."""
    while True:
        made = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=place))
        try:
            lock = os.open(made, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            # Gone between the two, as below.
            continue
        fcntl.flock(lock, fcntl.LOCK_EX)
        if made.is_dir():
            return made, lock
        # Another server that starts took it for a leftover before it was locked.
        os.close(lock)


def _is_served(folder: Path) -> bool:
    """Return whether a socket in it accepts connections; servers of older versions hold no lock."""
    for path in folder.iterdir():
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
            asking.settimeout(_CONNECT_SEC)
            try:
                asking.connect(str(path))
            except (ConnectionRefusedError, FileNotFoundError):
                continue
            except OSError:
                return True
            return True
    return False


def _short_temp_folder() -> Path:
    """Return a temporary folder whose path is short enough for a socket, or the usual one."""
    for folder in (tempfile.gettempdir(), "/tmp", "/var/tmp"):  # nosec B108  # a private folder is made there
        if len(os.fsencode(folder)) + len(_PREFIX) + 9 <= _LONGEST_PATH and os.access(folder, os.W_OK):
            return Path(folder)
    return Path(tempfile.gettempdir())
