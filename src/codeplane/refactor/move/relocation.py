"""The relocation of files: their old and new paths, and how modules are found after the move."""

from collections.abc import Mapping
from functools import cached_property

from codeplane.code.languages.javascript.modules import JavaScriptModules
from codeplane.code.languages.python.modules import PythonModules
from codeplane.code.resolve.world import World

_MOST = 100


class Relocation:
    """Old and new paths, with the modules after the move; it moves nothing itself."""

    def __init__(self, world: World, moves: Mapping[str, str], *, root: str, new_root: str) -> None:
        self._world = world
        self.moves = moves
        self.root = root
        self.new_root = new_root
        self.created: tuple[str, ...] = ()
        self._came_from = {new: old for old, new in moves.items()}
        self._packages: dict[str, bool] = {}

    def path(self, old: str) -> str:
        """Return the new path of a file or a folder of modules."""
        found = self.moves.get(old)
        if found is not None:
            return found
        if old == self.root or old.startswith(f"{self.root}/"):
            return self.new_root + old[len(self.root) :]
        return old

    def is_package(self, folder: str) -> bool:
        """Whether imports use a folder without `__init__` as a package, and do not start inside it."""
        cached = self._packages.get(folder)
        if cached is None:
            cached = self._packages[folder] = any(self._is_named(folder, path) for path in self._files_naming(folder))
        return cached

    def _files_naming(self, folder: str) -> list[str]:
        if folder in ("", "src", "lib"):
            return []
        holding = self._world.files_with(folder.rpartition("/")[2])
        return [path for path in holding if path.endswith((".py", ".pyi"))][:_MOST]

    def _is_named(self, folder: str, path: str) -> bool:
        facts = self._world.facts(path)
        name = folder.rpartition("/")[2]
        for import_ in facts.imports if facts is not None else ():
            steps = import_.source.split(".")
            if name in steps and any(
                place.startswith(f"{folder}/") or place == folder
                for place in self._world.python().find(import_.source, path)
            ):
                return True
        return False

    @cached_property
    def files(self) -> frozenset[str]:
        """The paths of all files after the move."""
        return frozenset((set(self._world.snapshot.files) - set(self.moves)) | set(self._came_from) | set(self.created))

    @cached_property
    def python(self) -> PythonModules:
        """The Python modules after the move."""
        return PythonModules(self.files)

    @cached_property
    def javascript(self) -> JavaScriptModules:
        """The JavaScript modules after the move."""
        return JavaScriptModules(self.files, self._read)

    def _read(self, path: str) -> bytes | None:
        path = self._came_from.get(path, path)
        known = self._world.snapshot.files.get(path)
        return self._world.text(path) if known is not None and known.skipped is None else None
