"""Files that were read as empty just now: a program that writes a file in place empties it first."""

from collections.abc import Iterable

from codeplane.index.snapshot import IndexedFile, Snapshot
from codeplane.kernel.clock import SECOND_NS, Clock

# Longer than a file takes to be written; few, since all of them are looked at before every answer.
_RECENT_NS = 2 * SECOND_NS
_MAX_FILES = 64


class EmptiedFiles:
    """Remembers which files became empty, since no answer names them and nobody would look at them again."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._files: tuple[tuple[str, int], ...] = ()

    def note(self, before: Snapshot, files: Iterable[IndexedFile]) -> None:
        """Remember those of the files just read that are empty and were not, or were not there."""
        now_ns = self._clock.monotonic_ns()
        emptied = [
            (file.path, now_ns)
            for file in files
            if file.stamp.size == 0 and ((known := before.files.get(file.path)) is None or known.stamp.size > 0)
        ]
        if emptied:
            self._files = (*self._files, *emptied)[-_MAX_FILES:]

    def recent(self, snapshot: Snapshot) -> list[str]:
        """Return the paths that became empty a short time ago and are so in the snapshot."""
        if not self._files:
            return []
        since_ns = self._clock.monotonic_ns() - _RECENT_NS
        return [
            path
            for path, at_ns in self._files
            if at_ns >= since_ns and (known := snapshot.files.get(path)) is not None and known.stamp.size == 0
        ]
