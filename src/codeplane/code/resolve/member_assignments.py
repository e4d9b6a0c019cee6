"""Caches the places where members are assigned in the files of a repository, from one answer to the next."""

from collections.abc import Callable, Iterator

from codeplane.code.resolve.assignment_places import members_given, set_by_name
from codeplane.index.snapshot import IndexedFile
from codeplane.kernel.bounded_cache import BoundedCache

# The most pairs of a name and a file to cache; beyond that, the least recently used are dropped.
_MOST = 100_000

Places = tuple[int, ...]


class MemberAssignments:
    """Finds the places by name and file on first use, and caches them until the file changes.

    A popular name, such as `objects` in Django, is in most files, and comes up several times in each answer about many
    other names. Any thread may use this.
    """

    def __init__(self, *, most: int = _MOST) -> None:
        self._most = most
        self._held = BoundedCache[tuple[str, str], tuple[IndexedFile, Places]](most)
        self._without: set[str] = set()

    def places(self, name: str, known: IndexedFile, text: Callable[[], bytes]) -> Places:
        """Return the places in a file where a member of the given name is assigned, or set by its quoted name."""
        found = self._held.get((name, known.path))
        if found is not None and found[0] is known:
            return found[1]
        read = text()
        places = (*members_given(read, name), *self._set_by_name(read, name, known.digest))
        self._held.put((name, known.path), (known, places))
        return places

    def _set_by_name(self, text: bytes, name: str, digest: str) -> Iterator[int]:
        """Yield the places in quotes; most texts have none for any name, and are not searched again for each."""
        if digest in self._without:
            return
        if b"setattr(" in text:
            yield from set_by_name(text, name)
            return
        if len(self._without) >= self._most:
            self._without.clear()
        self._without.add(digest)
