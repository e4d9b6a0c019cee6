"""Facts that are unpacked already: as many as fit, of each file those of its newest contents."""

import threading
from collections import OrderedDict
from dataclasses import dataclass

from codeplane.code.model import Facts

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
        self._max_bytes = max_bytes
        self._held: OrderedDict[str, tuple[_Held, ...]] = OrderedDict()
        self._lock = threading.Lock()
        self.size = 0

    def __len__(self) -> int:
        return len(self._held)

    def get(self, path: str, digest: str) -> Facts | None:
        """Those of a file with this very content, or None."""
        with self._lock:
            for one in self._held.get(path, ()):
                if one.digest == digest:
                    self._held.move_to_end(path)
                    return one.facts
        return None

    def put(self, path: str, digest: str, facts: Facts, *, size: int) -> None:
        """Keep them; those of older contents of the file go."""
        with self._lock:
            before = self._held.pop(path, ())
            others = [one for one in before if one.digest != digest][1 - _CONTENTS :]
            self._held[path] = now = (*others, _Held(digest, size, facts))
            self.size += _size(now) - _size(before)
            while self.size > self._max_bytes:
                _, oldest = self._held.popitem(last=False)
                self.size -= _size(oldest)

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._held.clear()
            self.size = 0


def _size(held: tuple[_Held, ...]) -> int:
    return sum(one.size for one in held)
