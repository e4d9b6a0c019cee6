"""A cache of unpacked facts, bounded in size."""

from dataclasses import dataclass

from codeplane.code.model import Facts
from codeplane.kernel.bounded_cache import BoundedCache

# One for queries about the state before an edit.
_CONTENTS = 2


@dataclass(frozen=True, slots=True)
class _Held:
    digest: str
    size: int
    facts: Facts


class FactsCache:
    """Facts by path and content, evicted least recently used first."""

    def __init__(self, *, max_bytes: int) -> None:
        self._held = BoundedCache[str, tuple[_Held, ...]](max_weight=max_bytes, weigh=_size)

    def __len__(self) -> int:
        return len(self._held)

    @property
    def size(self) -> int:
        """How many bytes the facts take."""
        return self._held.weight

    def get(self, path: str, digest: str) -> Facts | None:
        """The facts of a file with this content, or None."""
        for held in self._held.get(path) or ():
            if held.digest == digest:
                return held.facts
        return None

    def put(self, path: str, digest: str, facts: Facts, *, size: int) -> None:
        """Store facts, dropping those of the file's older contents."""
        # Two threads may do this at once: the facts that one of them forgets are unpacked again when asked for.
        others = [held for held in self._held.get(path) or () if held.digest != digest][1 - _CONTENTS :]
        self._held.put(path, (*others, _Held(digest, size, facts)))

    def clear(self) -> None:
        """Drop everything."""
        self._held.clear()


def _size(held: tuple[_Held, ...]) -> int:
    return sum(entry.size for entry in held)
