"""Which file a Python module is: packages, relative imports, folders that programs run from."""

import sys
from collections.abc import Iterable

from codeplane.code.languages.modules import Modules

_ENDINGS = (".py", ".pyi")
_PROJECTS = ("pyproject.toml", "setup.py", "setup.cfg")
_MOST_KNOWN = 20_000
_USUAL_ROOTS = ("", "src", "lib")


class PythonModules(Modules):
    """The modules of a repository, by the paths of its files alone."""

    def __init__(self, paths: Iterable[str]) -> None:
        paths = tuple(paths)
        self._files = {path for path in paths if path.endswith(_ENDINGS)}
        self._projects = {path.rpartition("/")[0] for path in paths if path.endswith(_PROJECTS)}
        self._folders: set[str] = set()
        for path in self._files:
            folder = path.rpartition("/")[0]
            while folder and folder not in self._folders:
                self._folders.add(folder)
                folder = folder.rpartition("/")[0]
        self._packages = {path.rpartition("/")[0] for path in self._files if path.endswith("/__init__.py")}
        self._known: dict[tuple[str, str], tuple[str, ...]] = {}
        self._guessed: dict[tuple[str, str], bool] = {}
        self._tops: dict[str, list[str]] = {}
        for path in sorted(self._files):
            folder, _, name = path.rpartition("/")
            self._top(folder, name.rpartition(".")[0])
        for folder in sorted(self._folders):
            self._top(folder.rpartition("/")[0] if "/" in folder else "", folder.rpartition("/")[2])

    def find(self, source: str, importer: str) -> tuple[str, ...]:
        """The files or folders a module may be; one when it is certain, none when it is not of this repository."""
        # Where it is imported from counts by its folder alone.
        key = (source, importer.rpartition("/")[0])
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            found = self._known[key] = self._find(source, importer)
        return found

    def _find(self, source: str, importer: str) -> tuple[str, ...]:
        dots = len(source) - len(source.lstrip("."))
        parts = [part for part in source.lstrip(".").split(".") if part]
        if dots:
            folder = importer.rpartition("/")[0]
            for _ in range(dots - 1):
                folder = folder.rpartition("/")[0]
            found = self.below(folder, parts)
            return (found,) if found is not None else ()
        if not parts:
            return ()
        return self._absolute(parts, importer)

    def below(self, folder: str, parts: list[str]) -> str | None:
        """The module that many steps below a folder: a file, or a folder without `__init__`."""
        path = "/".join([folder, *parts] if folder else parts)
        for candidate in (f"{path}/__init__.py", f"{path}.py", f"{path}/__init__.pyi", f"{path}.pyi"):
            if candidate.lstrip("/") in self._files:
                return candidate.lstrip("/")
        return path if path in self._folders else None

    def is_found_by_name_alone(self, source: str, importer: str) -> bool:
        """Whether a module is found only because nothing else here has its name: others may have it, too."""
        if source.startswith(".") or not source:
            return False
        key = (source, importer.rpartition("/")[0])
        found = self._guessed.get(key)
        if found is None:
            if len(self._guessed) >= _MOST_KNOWN:
                self._guessed.clear()
            found = self._guessed[key] = self._is_guess(source, importer)
        return found

    def _is_guess(self, source: str, importer: str) -> bool:
        roots = self._tops.get(source.partition(".")[0], ())
        found = [root for root in roots if self.below(root, source.split(".")) is not None]
        return bool(found) and not any(self._is_root(root, importer) for root in found)

    def outside(self, source: str) -> bool:
        """Whether a module that was not found is certainly not of this repository."""
        return not source.startswith(".")

    def is_guess(self, source: str, importer: str) -> bool:
        """Whether an import may mean another module: there are several, or it was found by its name alone."""
        return self.is_found_by_name_alone(source, importer) or len(self.find(source, importer)) > 1

    def outside_package(self, source: str, importer: str) -> str:
        """The first part of a dotted name; empty for the standard library and for modules of this repository."""
        top = source.partition(".")[0]
        return "" if top in sys.stdlib_module_names or self.find(top, importer) else top

    def submodule(self, module: str, name: str) -> str | None:
        """A module inside a package."""
        if module.endswith(("/__init__.py", "/__init__.pyi")):
            return self.below(module.rpartition("/")[0], [name])
        if module in ("__init__.py", "__init__.pyi"):
            return self.below("", [name])
        return self.below(module, [name]) if module in self._folders else None

    def _absolute(self, parts: list[str], importer: str) -> tuple[str, ...]:
        roots = self._tops.get(parts[0], [])
        found = {root: self.below(root, parts) for root in roots}
        usable = {root: module for root, module in found.items() if module is not None}
        if not usable:
            return ()
        # The nearest folder above the importer, then where packages usually lie, then the only one there is.
        above = [root for root in usable if root == "" or importer.startswith(root + "/")]
        outer = [root for root in above if root not in self._packages]
        if outer:
            return (usable[max(outer, key=len)],)
        for root in _USUAL_ROOTS:
            if root in usable:
                return (usable[root],)
        outside = [root for root in usable if root not in self._packages]
        if not outside and parts[0] in sys.stdlib_module_names:
            # A module inside a package is not found by its last name; Python's own is.
            return ()
        return tuple(sorted({usable[root] for root in outside or usable}))

    def _is_root(self, folder: str, importer: str) -> bool:
        """Whether modules are usually looked for in a folder, or an importer below it would find them."""
        if folder in _USUAL_ROOTS or folder.rpartition("/")[2] in _USUAL_ROOTS or folder in self._projects:
            return True
        return folder not in self._packages and importer.startswith(f"{folder}/")

    def _top(self, folder: str, name: str) -> None:
        roots = self._tops.setdefault(name, [])
        if folder not in roots:
            roots.append(folder)
