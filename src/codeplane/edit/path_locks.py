"""Locks on paths: disjoint mutations run side by side, overlapping ones are refused."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager

from codeplane.index.files.paths import path_text
from codeplane.kernel.errors import EditOverlap

_NAMED = 5


class PathLocks:
    """Locks on the paths of one work tree, for one event loop; a folder overlaps everything below it."""

    def __init__(self) -> None:
        self._held: set[str] = set()
        self._above: Counter[str] = Counter()
        self._whole = False
        self._waiting: list[asyncio.Future[None]] = []

    @contextmanager
    def hold(self, paths: Iterable[str]) -> Iterator[None]:
        """Hold canonical paths; EditOverlap when one of them or the whole work tree is held."""
        wanted = set(paths)
        if self._whole:
            raise EditOverlap("a git operation is at work on the whole work tree")
        if taken := sorted(path for path in wanted if self._is_taken(path)):
            more = f" and {len(taken) - _NAMED} more" if len(taken) > _NAMED else ""
            raise EditOverlap(f"another mutation is at work on {', '.join(map(path_text, taken[:_NAMED]))}{more}")
        above = Counter(folder for path in wanted for folder in _above(path))
        self._held |= wanted
        self._above += above
        try:
            yield
        finally:
            self._held -= wanted
            self._above -= above
            self._wake_waiting()

    @asynccontextmanager
    async def hold_all(self, wait_sec: float = 5.0) -> AsyncIterator[None]:
        """Hold the whole work tree once no path is held; EditOverlap when that takes longer than `wait_sec`."""
        try:
            async with asyncio.timeout(wait_sec):
                while self._whole or self._held:
                    freed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
                    self._waiting.append(freed)
                    await freed
        except TimeoutError:
            raise EditOverlap(f"other mutations are still at work after {wait_sec:g} s") from None
        self._whole = True
        try:
            yield
        finally:
            self._whole = False
            self._wake_waiting()

    def _is_taken(self, path: str) -> bool:
        return path in self._held or path in self._above or any(folder in self._held for folder in _above(path))

    def _wake_waiting(self) -> None:
        waiting, self._waiting = self._waiting, []
        for freed in waiting:
            if not freed.done():
                freed.set_result(None)


def _above(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path
