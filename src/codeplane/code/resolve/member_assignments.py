"""Where members are assigned in the files of a repository, cached from one answer to the next."""

from collections.abc import Callable, Iterator

from codeplane.code.resolve.assignment_places import members_given, set_by_name
from codeplane.index.snapshot import IndexedFile
from codeplane.kernel.bounded_cache import BoundedCache

# Names in files: beyond so many, those that were asked for longest ago are forgotten.
_MOST = 100_000

Places = tuple[int, ...]


class MemberAssignments:
    """The places by name and file, found when first asked for, as long as a file is what it was.

    A popular name, as `objects` in Django, comes up in answers about many others, several times in each, and is in most
    of the files. Any thread may ask.
    """

    def __init__(self, *, most: int = _MOST) -> None:
        self._most = most
        self._held = BoundedCache[tuple[str, str], tuple[IndexedFile, Places]](most)
        self._without: set[str] = set()

    def places(self, name: str, known: IndexedFile, text: Callable[[], bytes]) -> Places:
        """The places of a file where something's member of a name is assigned, or set by its name in quotes."""
        found = self._held.get((name, known.path))
        if found is not None and found[0] is known:
            return found[1]
        read = text()
        places = (*members_given(read, name), *self._set_by_name(read, name, known.digest))
        self._held.put((name, known.path), (known, places))
        return places

    def _set_by_name(self, text: bytes, name: str, digest: str) -> Iterator[int]:
        """The places in quotes; most texts have none of any name, and are not looked through for each."""
        if digest in self._without:
            return
        if b"setattr(" in text:
            yield from set_by_name(text, name)
            return
        if len(self._without) >= self._most:
            self._without.clear()
        self._without.add(digest)
