"""Bounds on what is stored that hold for calls at the same moment."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager

from codeplane.kernel.errors import CodePlaneError


class Admission:
    """Counts what is about to be appended beside what is there; one for each kind of thing that is bounded."""

    def __init__(self) -> None:
        # What has been let in and may not be in the tables yet, by place and id.
        self._entering: defaultdict[str, Counter[str]] = defaultdict(Counter)

    @contextmanager
    def enter(
        self,
        place: str,
        name: str,
        *,
        limit: int,
        stored: Callable[[Collection[str]], int],
        refuse: Callable[[int], CodePlaneError],
    ) -> Iterator[None]:
        """Hold a place while the thing of that id is appended; raises what `refuse` makes of the number when there is
        none.

        `stored` counts what is stored without the ids that it is given, and must not wait: between its count and the
        entry nobody else may be let in.
        """
        entering = self._entering[place]
        known = stored(entering.keys()) + len(entering.keys() - {name})
        if known >= limit:
            raise refuse(known)
        entering[name] += 1
        try:
            yield
        finally:
            entering[name] -= 1
            if not entering[name]:
                del entering[name]
            if not entering:
                self._entering.pop(place, None)
