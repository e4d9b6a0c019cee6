"""Further paths of secrets files: the targets of links, and other hard links."""

import hashlib
import json
import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

from codeplane.adapters.git_listing import committed_files
from codeplane.adapters.secret_folders import NOT_SEARCHED
from codeplane.kernel.ids import new_id

_SHA1_DIGITS = 40
_MAX_RECORDED = 1000


class SecretAliases:
    """Decides which aliases of secrets files are hidden like them.

    Those that the last commit holds are not: everybody has their content from git, and a link that a test leaves behind
    must not take source away. That is decided once for each path: a later commit changes nothing. What existed before
    anything ran here must be identical to the commit, and stays hidden when its link is gone, also after a restart.
    """

    def __init__(self, record: Path | None = None) -> None:
        """`record` is a file where no agent writes."""
        self._record = record
        # By work tree, which aliases are shown, and which were hidden from the beginning.
        self._is_shown: dict[Path, dict[Path, bool]] = {}
        self._initial: dict[Path, tuple[Path, ...]] = {}
        self._lock = threading.Lock()

    def find_hidden(self, root: Path, secrets: list[Path]) -> list[Path]:
        """Return the aliases of these secrets files below the root that are hidden."""
        aliases = _find_aliases(root, secrets)
        with self._lock:
            is_first = root not in self._is_shown
            is_shown = self._is_shown.setdefault(root, {})
            if is_first:
                aliases = sorted({*aliases, *self._read_record(root)})
            if new := [path for path in aliases if path not in is_shown]:
                committed = committed_files(root, new)
                for path in new:
                    files = committed.get(path, {})
                    is_shown[path] = bool(files) and (not is_first or _is_as_committed(path, files))
            if is_first:
                self._initial[root] = tuple(path for path in aliases if not is_shown[path])
                self._write(root)
            initial = [path for path in self._initial[root] if path.exists()]
            return sorted({*(path for path in aliases if not is_shown[path]), *initial})

    def _read_record(self, root: Path) -> list[Path]:
        """Return what was hidden at an earlier start and exists."""
        names = self._read().get(str(root), ())
        paths = [root / name for name in names if isinstance(name, str)] if isinstance(names, list) else []
        return [path for path in paths if path.exists() and not path.is_symlink()]

    def _write(self, root: Path) -> None:
        names = [path.relative_to(root).as_posix() for path in self._initial[root]]
        known = self._read()
        if self._record is None or known.get(str(root), []) == names:
            return
        part = self._record.with_name(f".{new_id('part')}")
        part.write_text(json.dumps(known | {str(root): names[:_MAX_RECORDED]}))
        part.replace(self._record)

    def _read(self) -> dict[str, object]:
        try:
            known = json.loads(self._record.read_bytes()) if self._record is not None else {}
        except (OSError, ValueError):
            return {}
        return known if isinstance(known, dict) else {}


def _find_aliases(root: Path, secrets: list[Path]) -> list[Path]:
    real = {Path(os.path.realpath(path)) for path in secrets}
    aliases = {path for path in real if root in path.parents and path.exists()} - set(secrets)
    aliases |= set(_hard_links(root, [path for path in real if path.is_file()])) - set(secrets)
    return sorted(aliases)


def _hard_links(root: Path, secrets: list[Path]) -> Iterator[Path]:
    """Yield the files below the root that are hard links of these files."""
    linked = set()
    for path in secrets:
        status = path.stat()
        if status.st_nlink > 1:
            linked.add((status.st_dev, status.st_ino))
    if not linked:
        return
    for folder, folders, files in os.walk(root):
        # Packages too: with hard links there are few such files, and many places for them.
        folders[:] = [name for name in folders if name not in NOT_SEARCHED]
        for name in files:
            try:
                status = os.lstat(f"{folder}/{name}")
            except OSError:
                continue
            if status.st_nlink > 1 and stat.S_ISREG(status.st_mode) and (status.st_dev, status.st_ino) in linked:
                yield Path(folder, name)


def _is_as_committed(path: Path, committed: dict[Path, str]) -> bool:
    """Return whether a file, or everything in a folder, is identical to the commit."""
    files = [path] if path.is_file() else [file for file in path.rglob("*") if not file.is_dir() or file.is_symlink()]
    return all(file in committed and _object_id(file, len(committed[file])) == committed[file] for file in files)


def _object_id(file: Path, digits: int) -> str:
    """Return the object id that git gives to a file's content; empty for anything but a file."""
    if file.is_symlink() or not file.is_file():
        return ""
    try:
        content = file.read_bytes()
    except OSError:
        return ""
    digest = hashlib.sha1(usedforsecurity=False) if digits == _SHA1_DIGITS else hashlib.sha256()
    digest.update(b"blob %d\0" % len(content) + content)
    return digest.hexdigest()
