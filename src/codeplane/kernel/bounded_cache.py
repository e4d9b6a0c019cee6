"""A cache that drops the least recently used entries once it holds too many, or too much."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class BoundedCache(Generic[K, V]):
    """Maps keys to values within bounds; any thread may use it."""

    def __init__(
        self,
        max_entries: int | None = None,
        *,
        max_weight: int | None = None,
        weigh: Callable[[V], int] = lambda value: 1,
        keep_newest: bool = False,
    ) -> None:
        """`weigh` measures a value against `max_weight`; `keep_newest` keeps the last value put, however heavy."""
        self._max_entries = max_entries
        self._max_weight = max_weight
        self._weigh = weigh
        self._keep_newest = keep_newest
        self._entries: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._lock = threading.Lock()
        self._weight = 0

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: K) -> bool:
        return key in self._entries

    @property
    def weight(self) -> int:
        """The weight of all values together."""
        return self._weight

    def get(self, key: K) -> V | None:
        """The value of a key, which counts as used now; None when the cache does not hold it."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            self._entries.move_to_end(key)
            return entry[0]

    def put(self, key: K, value: V) -> None:
        """Add or replace a value, and drop the least recently used ones beyond the bounds."""
        weight = self._weigh(value)
        with self._lock:
            self._remove(key)
            self._entries[key] = (value, weight)
            self._weight += weight
            while self._is_over() and len(self._entries) > self._keep_newest:
                _, (_, dropped) = self._entries.popitem(last=False)
                self._weight -= dropped

    def pop(self, key: K) -> V | None:
        """Remove a key and return its value, or None."""
        with self._lock:
            return self._remove(key)

    def clear(self) -> None:
        """Remove everything."""
        with self._lock:
            self._entries.clear()
            self._weight = 0

    def _remove(self, key: K) -> V | None:
        entry = self._entries.pop(key, None)
        if entry is None:
            return None
        self._weight -= entry[1]
        return entry[0]

    def _is_over(self) -> bool:
        if self._max_entries is not None and len(self._entries) > self._max_entries:
            return True
        return self._max_weight is not None and self._weight > self._max_weight
