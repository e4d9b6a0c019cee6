"""The values in secrets files, which are redacted from answers."""

import os
import stat
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from codeplane.adapters.python_environment import foreign_entries, is_python_environment
from codeplane.adapters.secret_folders import SETTLED_NS, SecretFolder, SecretFolders
from codeplane.kernel.secret_matcher import SecretMatcher
from codeplane.kernel.secret_paths import KEYS, SecretRules
from codeplane.kernel.secret_values import values_of

_MAX_BYTES = 256 * 1024
# Of values: in one file, in all, and their characters in all. A matcher of so many takes half a second to make.
_MAX_OF_FILE = 250
_MAX_VALUES = 1000
_MAX_CHARACTERS = 1024 * 1024
# Checked for every answer; further ones when the work tree is walked.
_MAX_WATCHED = 32
# Files with too many values that are named.
_MAX_NAMED = 20

# The time, size and inode of a file.
_Stamp = tuple[int, int, int]
# No file has it.
_CHANGING: _Stamp = (-1, -1, -1)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Watched:
    """What the values were gathered from; when any of it changes they are gathered again."""

    files_of: dict[Path, tuple[Path, ...]]
    folders: tuple[tuple[str, SecretFolder], ...]
    files: tuple[tuple[str, "_Stamp | None"], ...]


_NOTHING = _Watched(files_of={}, folders=(), files=())


class SecretValueIndex:
    """Gathers the values of secrets files, and again when one of the files changed.

    `roots` are the work trees with the secrets files found below each. `on_surplus` is called with a file that has more
    values than can be redacted.
    """

    def __init__(
        self,
        *,
        serving: Path,
        roots: dict[Path, tuple[Path, ...]],
        folders: SecretFolders,
        rules_of: Callable[[Path], SecretRules],
        on_surplus: Callable[[str], None],
    ) -> None:
        self._serving = serving
        self._roots = roots
        self._folders = folders
        self._rules_of = rules_of
        self._on_surplus = on_surplus
        self._read: dict[Path, tuple[_Stamp, tuple[str, ...]]] = {}
        self._values: set[str] = set()
        self._characters = 0
        self._surplus: dict[Path, None] = {}
        self._watched = _NOTHING
        self._matcher: SecretMatcher | None = None
        self._lock = threading.Lock()

    @property
    def surplus(self) -> list[str]:
        """The secrets files with too many values to redact all of them."""
        return [_relative_path(path, self._serving) for path in self._surplus]

    def matcher(self) -> SecretMatcher | None:
        """Return the matcher of all values, rebuilt when a secrets file changed."""
        if not self._is_current():
            with self._lock:
                self._gather()
        return self._matcher

    def invalidate(self) -> None:
        """Gather the values again at the next use, because not all files are watched."""
        self._watched = _NOTHING

    def _is_current(self) -> bool:
        """Return whether every watched file and folder is unchanged."""
        watched = self._watched
        return (
            watched.files_of == self._roots
            and all(self._folders.get(folder) is known for folder, known in watched.folders)
            and all(_stamp(path) == stamp for path, stamp in watched.files)
        )

    def _gather(self) -> None:
        before, now = len(self._values), time.time_ns()
        roots = dict(self._roots)
        folders: dict[str, SecretFolder] = {}
        stamps: dict[Path, _Stamp | None] = {}
        for root, files in roots.items():
            rules = self._rules_of(root).by_name()
            for folder in dict.fromkeys((str(root), *(str(path.parent) for path in files[:_MAX_WATCHED]))):
                folders[folder] = self._folders.get(folder)
            near = [Path(folder, name) for folder, known in folders.items() for name in known.secrets]
            for path in dict.fromkeys((*files, *near)):
                if root not in path.parents or not rules.covers(path.relative_to(root).as_posix()):
                    continue
                if path.is_dir() and len(folders) < _MAX_WATCHED:
                    folders[str(path)] = self._folders.get(str(path))
                stamps |= {file: _stamp(str(file)) for file in _files_at(path)}
        ranked = sorted(stamps, key=self._rank)
        for path in ranked:
            self._add_values(path, stamps[path])
        if len(self._values) != before:
            # None was taken away, so there are new ones.
            self._matcher = SecretMatcher(self._values)
        self._watched = _Watched(
            files_of=roots,
            folders=tuple(folders.items()),
            files=tuple((str(path), _settled_stamp(stamps[path], now)) for path in ranked[:_MAX_WATCHED]),
        )

    def _rank(self, path: Path) -> tuple[bool, bool, int]:
        """Return the sort key of reading: known files first, then `.env`, then older files."""
        try:
            # Unlike the modification time, this one cannot be set back.
            changed_ns = path.stat().st_ctime_ns
        except OSError:
            changed_ns = 0
        return path not in self._read, path != self._serving / ".env", changed_ns

    def _add_values(self, path: Path, stamp: "_Stamp | None") -> None:
        """Add the values of a file, within the limits.

        Known values stay: a copy may outlive the file, and no other file can be used to make us forget.
        """
        if stamp is None:
            return
        is_full = len(self._values) >= _MAX_VALUES or self._characters >= _MAX_CHARACTERS
        if is_full and path not in self._read:
            self._note_surplus(path)
            return
        known = self._read.get(path)
        if known is None or known[0] != stamp or time.time_ns() - stamp[0] <= SETTLED_NS:
            values = values_of(read_regular_file(path), is_key=path.suffix.lower() in KEYS)
            secrets = dict.fromkeys(value for value in values if not _is_existing_path(value))
            known = self._read[path] = stamp, tuple(secrets)[:_MAX_OF_FILE]
            if len(secrets) > _MAX_OF_FILE or stamp[1] > _MAX_BYTES:
                self._note_surplus(path)
        for value in known[1]:
            if value in self._values:
                continue
            if len(self._values) >= _MAX_VALUES or self._characters + len(value) > _MAX_CHARACTERS:
                self._note_surplus(path)
            else:
                self._values.add(value)
                self._characters += len(value)

    def _note_surplus(self, path: Path) -> None:
        if path not in self._surplus and len(self._surplus) < _MAX_NAMED:
            self._surplus[path] = None
            self._on_surplus(_relative_path(path, self._serving))


def read_regular_file(path: Path) -> str:
    """Return the beginning of a regular file, or an empty text; never waits on a FIFO."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return ""
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(_MAX_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
    finally:
        os.close(descriptor)


def _files_at(path: Path) -> tuple[Path, ...]:
    """Return the file, or the files in a folder of such a name, without those of a Python environment."""
    if not path.is_dir():
        return (path,)
    try:
        inner = sorted(path.iterdir())
    except OSError:
        return ()
    if is_python_environment(path):
        inner = foreign_entries(path)
    return tuple(file for file in inner[:_MAX_WATCHED] if file.is_file())


def _is_existing_path(value: str) -> bool:
    """Return whether a value is a path that exists on this machine, and so not a secret."""
    if not value.startswith("/"):
        return False
    try:
        return os.path.lexists(value)
    except ValueError:
        return False


def _stamp(path: str) -> _Stamp | None:
    try:
        status = os.stat(path)  # noqa: PTH116  # for every answer: twice as fast
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _settled_stamp(stamp: _Stamp | None, now: int) -> _Stamp | None:
    """Return the stamp, or one that never matches for a file that changed just now."""
    return stamp if stamp is None or now - stamp[0] > SETTLED_NS else _CHANGING


def _relative_path(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if root in path.parents else str(path)
