"""Contents of secrets files that git mutations overwrite, kept for undo outside git, where no sandbox sees them."""

import os
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from codeplane.kernel.ids import new_id
from codeplane.kernel.secret_paths import SecretRules

_DAY_SEC = 24 * 3600


class SecretContents:
    """Contents by the object id that git would give them."""

    def __init__(self, folder: Path, rules: SecretRules) -> None:
        self._folder = folder
        self._rules = rules

    def covers(self, path: str) -> bool:
        """Whether the content of a path is kept here."""
        return self._rules.covers(path)

    def put(self, oid: str, content: bytes) -> None:
        """Keep a content, readable by the owner alone."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = self._folder / f".{new_id('part')}"
        try:
            descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            part.replace(self._folder / oid)
        finally:
            part.unlink(missing_ok=True)

    def sizes(self, oids: Iterable[str]) -> dict[str, int]:
        """Return the sizes of the contents that are kept here."""
        sizes = {}
        for oid in oids:
            try:
                sizes[oid] = (self._folder / oid).stat().st_size
            except OSError:
                continue
        return sizes

    def contents(self, oids: Iterable[str]) -> dict[str, bytes]:
        """Return the contents that are kept here."""
        contents = {}
        for oid in oids:
            try:
                contents[oid] = (self._folder / oid).read_bytes()
            except OSError:
                continue
        return contents

    def prune(self, days: float) -> None:
        """Delete contents older than so many days."""
        since = time.time() - days * _DAY_SEC
        try:
            files = list(self._folder.iterdir())
        except OSError:
            return
        for file in files:
            with suppress(OSError):
                if file.stat().st_mtime < since:
                    file.unlink()
