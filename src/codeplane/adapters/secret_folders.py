"""A cache of the folders of work trees, with the names of secrets files in each."""

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass

from codeplane.kernel.secret_paths import is_secret_name

# A folder or file that changed just now can change again without another time.
SETTLED_NS = 100_000_000
OWN = ".codeplane"
# Not searched: what is git's and ours.
NOT_SEARCHED = frozenset({".git", OWN})
# Not searched but for their own entries: packages that everybody can download.
_PACKAGES = frozenset({"node_modules", "site-packages"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretFolder:
    """The secrets files and subfolders of a folder; valid while its time is the same and `settled`."""

    mtime_ns: int
    settled: bool
    secrets: tuple[str, ...]
    folders: tuple[str, ...]


class SecretFolders:
    """Scans folders for secrets files; a folder is read again only when it changed."""

    def __init__(self) -> None:
        self._folders: dict[str, SecretFolder] = {}

    def get(self, folder: str) -> SecretFolder:
        """Return the scan of a folder, from the cache while it is current."""
        try:
            mtime_ns = os.stat(folder).st_mtime_ns  # noqa: PTH116  # for every folder: twice as fast
        except OSError:
            self._folders.pop(folder, None)
            return SecretFolder(mtime_ns=0, settled=False, secrets=(), folders=())
        known = self._folders.get(folder)
        if known is not None and known.settled and known.mtime_ns == mtime_ns:
            return known
        settled = time.time_ns() - mtime_ns > SETTLED_NS
        secrets, folders = _scan(folder)
        known = self._folders[folder] = SecretFolder(
            mtime_ns=mtime_ns, settled=settled, secrets=tuple(sorted(secrets)), folders=tuple(folders)
        )
        return known

    def walk(self, root: str) -> Iterator[str]:
        """Yield the paths of all secrets files below a root."""
        folders = [root]
        while folders:
            folder = folders.pop()
            scan = self.get(folder)
            yield from (f"{folder}/{name}" for name in scan.secrets)
            folders += [f"{folder}/{name}" for name in scan.folders]

    def forget(self, root: str) -> None:
        """Drop a folder and everything below it from the cache."""
        for folder in [known for known in self._folders if known == root or known.startswith(f"{root}/")]:
            self._folders.pop(folder, None)


def _scan(folder: str) -> tuple[list[str], list[str]]:
    secrets: list[str] = []
    folders: list[str] = []
    is_packages = folder.rpartition("/")[2] in _PACKAGES
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if is_secret_name(entry.name):
                    secrets.append(entry.name)
                if not is_packages and entry.is_dir(follow_symlinks=False) and entry.name not in NOT_SEARCHED:
                    folders.append(entry.name)
    except OSError:
        pass
    return secrets, folders
