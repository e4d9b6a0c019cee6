"""Which files an `#include` brings, directly and through others."""

import posixpath
import re
from collections.abc import Iterable

from codeplane.code.languages.modules import Modules, Read

EXTENSIONS = ("c", "h", "cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "h++", "ipp", "tpp", "inc", "inl", "def")
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*(?:include|import)[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>|(\w+))', re.MULTILINE)
_MAX_READ = 20_000


class Includes(Modules):
    """The include graph of a repository; a file is read when it is first asked about."""

    def __init__(self, paths: Iterable[str], text: Read) -> None:
        self._text = text
        self._paths = {path for path in paths if path.rpartition(".")[2].lower() in EXTENSIONS}
        self._by_name: dict[str, list[str]] = {}
        for path in sorted(self._paths):
            self._by_name.setdefault(path.rpartition("/")[2], []).append(path)
        self._direct: dict[str, tuple[tuple[str, ...], bool]] = {}
        self._reached: dict[str, tuple[frozenset[str], bool]] = {}
        self._includers: dict[str, set[str]] | None = None

    def find(self, source: str, importer: str) -> tuple[str, ...]:
        """Return the files that an include may mean: the one beside its file, or those whose paths end so."""
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(importer), source))
        if beside in self._paths:
            return (beside,)
        ending = posixpath.normpath(source).lstrip("./")
        named = self._by_name.get(ending.rpartition("/")[2], ())
        return tuple(path for path in named if path == ending or path.endswith(f"/{ending}"))

    def is_guess(self, source: str, importer: str) -> bool:
        """Whether several files may be meant."""
        return len(self.find(source, importer)) > 1

    def outside(self, source: str) -> bool:
        """Whether a header that was not found is certainly not of this repository."""
        return False

    def outside_package(self, source: str, importer: str) -> str:
        """Return the header as its package."""
        return source

    def reachable_files(self, path: str) -> tuple[frozenset[str], bool]:
        """Return a file with all files that it includes, and whether none of them may be one that was not found."""
        found = self._reached.get(path)
        if found is None:
            seen, waiting, whole = {path}, [path], True
            while waiting:
                direct, known = self._includes(waiting.pop())
                whole = whole and known
                new = [file for file in direct if file not in seen]
                seen.update(new)
                waiting += new
            found = self._reached[path] = (frozenset(seen), whole)
        return found

    def includers(self, path: str) -> frozenset[str]:
        """Return the files that include a file, directly or through others; empty where there are too many to read."""
        if self._includers is None:
            self._includers = {}
            for includer in self._paths if len(self._paths) <= _MAX_READ else ():
                for direct in self._includes(includer)[0]:
                    self._includers.setdefault(direct, set()).add(includer)
        seen, waiting = set[str](), [path]
        while waiting:
            new = self._includers.get(waiting.pop(), set()) - seen
            seen |= new
            waiting += new
        return frozenset(seen)

    def _includes(self, path: str) -> tuple[tuple[str, ...], bool]:
        found = self._direct.get(path)
        if found is None:
            places: list[str] = []
            whole = True
            for match in _INCLUDE.finditer(self._text(path) or b""):
                quoted, angled, computed = match.groups()
                source = (quoted or angled or b"").decode("utf-8", "replace")
                here = self.find(source, path) if source else ()
                places += here
                # Headers in quotes are of the project; those that were not found may be made when it is built.
                whole = whole and (bool(here) or bool(angled)) and computed is None
            found = self._direct[path] = (tuple(dict.fromkeys(places)), whole)
        return found
