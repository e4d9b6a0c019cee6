"""Names of modules in one Python file, before and after a move."""

import sys
from collections.abc import Callable

from codeplane.code.resolve.tier import Tier
from codeplane.code.resolve.world import World
from codeplane.refactor.move.module_names import absolute_name, is_near, relative_name, root_of
from codeplane.refactor.move.relocation import Relocation

FAMILIAR = ("", "src", "lib")


class PythonNaming:
    """Resolves the sources of one file's imports, and rewrites them for the move."""

    def __init__(
        self, world: World, relocation: Relocation, path: str, *, warn: Callable[[str, str, int], None]
    ) -> None:
        """`warn` is called with each danger: its kind, its text and its offset."""
        self._world = world
        self._relocation = relocation
        self._path = path
        self._new_path = relocation.path(path)
        self._warn = warn

    def module_of(self, source: str, at: int) -> str | None:
        """Return the module of a source; warn if it may be several of which one moves."""
        places = self._world.python().find(source, self._path)
        if source.partition(".")[0] in sys.stdlib_module_names:
            # A module of the standard library is meant, unless ours is in a folder that is searched first.
            places = tuple(place for place in places if is_near(root_of(source, place), self._path))
        if len(places) > 1 and any(self._relocation.path(place) != place for place in places):
            self._warn("ambiguous_import", f"{source} may be {', '.join(places[:3])}", at)
        return places[0] if len(places) == 1 else None

    def still_leads(self, source: str, module: str, new_module: str) -> bool:
        """Whether a source still leads to its module after the move, and not by chance."""
        if self._relocation.python.find(source, self._new_path) != (new_module,):
            return False
        if source.startswith("."):
            return True
        root = root_of(source, new_module)
        if f"{root}/__init__.py" in self._relocation.files:
            return False
        known = root in FAMILIAR or root in (self._relocation.path(root_of(source, module)), root_of(source, module))
        return known or (self._new_path.startswith(f"{root}/") and not self._relocation.is_package(root))

    def tier(self, source: str, module: str) -> Tier:
        """Return how certain the module of a source is."""
        if source.startswith("."):
            return "STRONG"
        root = root_of(source, module)
        if f"{root}/__init__.py" in self._world.snapshot.files:
            return "UNKNOWN"
        return "STRONG" if is_near(root, self._path) or "." in source or module.endswith("__init__.py") else "ANCHORED"

    def new_name(self, module: str, source: str, was: str | None, at: int) -> str | None:
        """Return the name of a module after the move, relative or absolute as before."""
        if source.startswith("."):
            found = relative_name(self._relocation, module, self._new_path) or absolute_name(
                self._relocation, module, self._new_path, None
            )
        else:
            root = root_of(source, was) if was is not None else None
            found = absolute_name(self._relocation, module, self._new_path, root)
        if found is None:
            self._warn("unresolved_import", f"no import leads from {self._new_path} to {module}", at)
        return found
