"""How a Python file names modules, before and after a move."""

import sys
from collections.abc import Callable

from codeplane.code.resolve.tier import Tier
from codeplane.code.resolve.world import World
from codeplane.refactor.move.module_names import absolute, is_near, relative, root_of
from codeplane.refactor.move.relocation import Relocation

FAMILIAR = ("", "src", "lib")


class PythonNaming:
    """What the sources in one file's imports mean, and how they are written afterwards."""

    def __init__(
        self, world: World, relocation: Relocation, path: str, *, fear: Callable[[str, str, int], None]
    ) -> None:
        """`fear` is told of what may go wrong: its kind, in words, and where."""
        self._world = world
        self._relocation = relocation
        self._path = path
        self._new_path = relocation.path(path)
        self._fear = fear

    def found(self, source: str, at: int) -> str | None:
        """The one module a source is; what may be several is named when one of them moves."""
        places = self._world.python().find(source, self._path)
        if source.partition(".")[0] in sys.stdlib_module_names:
            # Python's own module is meant, unless the other is where a program run from here looks first.
            places = tuple(one for one in places if is_near(root_of(source, one), self._path))
        if len(places) > 1 and any(self._relocation.path(one) != one for one in places):
            self._fear("ambiguous_import", f"{source} may be {', '.join(places[:3])}", at)
        return places[0] if len(places) == 1 else None

    def leads(self, source: str, module: str, new_module: str) -> bool:
        """Whether a source that meant a module still leads to where it is, and not by chance."""
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
        """How sure a source means the module that was found for it."""
        if source.startswith("."):
            return "STRONG"
        root = root_of(source, module)
        if f"{root}/__init__.py" in self._world.snapshot.files:
            return "UNKNOWN"
        return "STRONG" if is_near(root, self._path) or "." in source or module.endswith("__init__.py") else "ANCHORED"

    def name(self, module: str, source: str, was: str | None, at: int) -> str | None:
        """What a module is called afterwards, written the way it was."""
        if source.startswith("."):
            found = relative(self._relocation, module, self._new_path) or absolute(
                self._relocation, module, self._new_path, None
            )
        else:
            root = root_of(source, was) if was is not None else None
            found = absolute(self._relocation, module, self._new_path, root)
        if found is None:
            self._fear("unresolved_import", f"no import leads from {self._new_path} to {module}", at)
        return found
