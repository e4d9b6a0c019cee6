"""Bounds on what is stored that hold for calls at the same moment."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from codeplane.kernel.errors import CodePlaneError


class Admission:
    """Counts what is about to be appended beside what is there; one for each kind of thing that is bounded."""

    def __init__(self) -> None:
        # What has been let in and may not be in the tables yet, by place.
        self._entering = Counter[str]()

    @contextmanager
    def enter(
        self, place: str, *, limit: int, stored: Callable[[], int], refuse: Callable[[int], CodePlaneError]
    ) -> Iterator[None]:
        """Hold a place while one more is appended; raises what `refuse` makes of the number when there is none.

        `stored` must not wait: between its count and the entry nobody else may be let in. What is appended but still
        entering counts twice for a moment, so that the bound is never passed.
        """
        known = stored() + self._entering[place]
        if known >= limit:
            raise refuse(known)
        self._entering[place] += 1
        try:
            yield
        finally:
            self._entering[place] -= 1
            if not self._entering[place]:
                del self._entering[place]
