"""Facts that are unpacked already: as many as fit, of each file those of its newest contents."""

from dataclasses import dataclass

from codeplane.code.model import Facts
from codeplane.kernel.bounded_cache import BoundedCache

# One for those who ask about the state before an edit.
_CONTENTS = 2


@dataclass(frozen=True, slots=True)
class _Held:
    digest: str
    size: int
    facts: Facts


class UnpackedFacts:
    """The facts of files by path and content; those that nobody asked for longest go first."""

    def __init__(self, *, max_bytes: int) -> None:
        self._held = BoundedCache[str, tuple[_Held, ...]](max_weight=max_bytes, weigh=_size)

    def __len__(self) -> int:
        return len(self._held)

    @property
    def size(self) -> int:
        """How many bytes the facts take."""
        return self._held.weight

    def get(self, path: str, digest: str) -> Facts | None:
        """Those of a file with this very content, or None."""
        for held in self._held.get(path) or ():
            if held.digest == digest:
                return held.facts
        return None

    def put(self, path: str, digest: str, facts: Facts, *, size: int) -> None:
        """Keep them; those of older contents of the file go."""
        # Two threads may do this at once: the facts that one of them forgets are unpacked again when asked for.
        others = [held for held in self._held.get(path) or () if held.digest != digest][1 - _CONTENTS :]
        self._held.put(path, (*others, _Held(digest, size, facts)))

    def clear(self) -> None:
        """Forget all."""
        self._held.clear()


def _size(held: tuple[_Held, ...]) -> int:
    return sum(one.size for one in held)
