"""Files that changed in the same commits as others."""

import asyncio
import math
import os
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from codeplane.git.read.reader import GitReader
from codeplane.kernel.bounded_cache import BoundedCache
from codeplane.kernel.errors import CodePlaneError

_COMMITS = 60
# A commit that touches more files than this says nothing about any two of them.
_MOST_FILES = 40
# With fewer commits than this a share is not worth much.
_FEW_COMMITS = 3
_MOST_BYTES = 1024 * 1024
_FOR_SEC = 5.0
_KEPT = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class CoChanges:
    """How much of the history of some files each other file shares; `known` unless git could not say in time."""

    shares: dict[str, float]
    commits: dict[str, int]
    known: bool = True


class CoChangeReader:
    """Reads which files changed together from the newest commits of a file."""

    def __init__(self, reader: GitReader) -> None:
        self._reader = reader
        self._histories = BoundedCache[tuple[str, str], list[list[str]]](_KEPT)

    async def changed_with(self, paths: Sequence[str], head: str | None) -> CoChanges:
        """The files that changed in the same commits, up to `head`."""
        shares: defaultdict[str, float] = defaultdict(float)
        commits: Counter[str] = Counter()
        if head is None:
            return CoChanges(shares={}, commits={})
        try:
            async with asyncio.timeout(_FOR_SEC):
                histories = [await self._history(path, head) for path in paths]
        except (TimeoutError, CodePlaneError):
            return CoChanges(shares={}, commits={}, known=False)
        for path, history in zip(paths, histories, strict=True):
            together = [files for files in history if 1 < len(files) <= _MOST_FILES]
            for files in together:
                for file in files:
                    if file != path:
                        shares[file] += 1 / math.log2(1 + len(files)) / max(_FEW_COMMITS, len(together))
                        commits[file] += 1
        return CoChanges(shares=dict(shares), commits=dict(commits))

    async def _history(self, path: str, head: str) -> list[list[str]]:
        """The files of each commit that changed a path, newest first."""
        known = self._histories.get((head, path))
        if known is None:
            output = await self._reader.run(
                "log",
                "-z",
                f"--max-count={_COMMITS}",
                "--format=%x01",
                "--name-only",
                "--no-merges",
                "--no-renames",
                "--full-diff",
                head,
                "--",
                *self._reader.pathspecs((path,)),
                max_bytes=_MOST_BYTES,
            )
            # Each commit is a mark, then its files; git puts a line break before the first of them.
            known = [
                [os.fsdecode(name.lstrip(b"\n")) for name in commit.split(b"\0") if name.strip(b"\n")]
                for commit in output.out.split(b"\x01")[1:]
            ]
            self._histories.put((head, path), known)
        return known
