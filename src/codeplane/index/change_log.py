"""Which files changed from one epoch to another, as far as that is remembered."""

from collections.abc import Collection

_REMEMBERED = 512


class ChangeLog:
    """The changed paths of the last epochs; one thread adds, any may ask."""

    def __init__(self) -> None:
        self._by_epoch: dict[int, frozenset[str]] = {}

    def add(self, epoch: int, paths: Collection[str] | None) -> None:
        """Note what changed with an epoch; None if everything may have."""
        if paths is None:
            self._by_epoch = {}
            return
        self._by_epoch[epoch] = frozenset(paths)
        self._by_epoch.pop(epoch - _REMEMBERED, None)

    def between(self, before: int, after: int) -> frozenset[str] | None:
        """Return the paths that changed after an epoch, up to another; None if that is not known."""
        by_epoch = self._by_epoch
        changed: set[str] = set()
        if after - before > _REMEMBERED:
            return None
        for epoch in range(before + 1, after + 1):
            paths = by_epoch.get(epoch)
            if paths is None:
                return None
            changed |= paths
        return frozenset(changed) if before <= after else None
