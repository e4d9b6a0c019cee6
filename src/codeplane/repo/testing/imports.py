"""Who imports whom: resolved for Python and JavaScript, by package and name for other languages."""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from codeplane.repo.facts.language import languages
from codeplane.repo.resolve.python_modules import PythonModules
from codeplane.repo.resolve.world import SharedModules, World

_RESOLVED = frozenset({"python", "javascript"})
_MAX_DISTANCE = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """How a file is reached from a changed one: through which file, and how far that is."""

    through: str
    distance: int


class ImportsKept:
    """What each file imports, kept while neither it nor the paths around it change."""

    def __init__(self, shared: SharedModules) -> None:
        self._shared = shared
        self._found: dict[str, tuple[str, frozenset[str]]] = {}
        self._modules: tuple[object, object] | None = None

    def of(self, world: World) -> dict[str, tuple[str, frozenset[str]]]:
        """By path, the digest of the content that was looked at, and the files it imports."""
        modules = (self._shared.python(world.snapshot), self._shared.javascript(world.snapshot))
        # What a module is depends on which files there are.
        if self._modules is None or any(one is not other for one, other in zip(modules, self._modules, strict=True)):
            self._found, self._modules = {}, modules
        return self._found


class Imports:
    """The imports of one state of the repository; `gone` are files that were there before the change."""

    def __init__(self, world: World, kept: ImportsKept, *, gone: Iterable[str] = ()) -> None:
        self._world = world
        self._gone = tuple(gone)
        self._kept = kept.of(world) if not self._gone else {}

    @cached_property
    def importers(self) -> Mapping[str, frozenset[str]]:
        """The files that import each file."""
        found: dict[str, set[str]] = {}
        for known in self._world.snapshot.texts:
            held = self._kept.get(known.path)
            if held is None or held[0] != known.digest:
                held = (known.digest, frozenset(self._imported(known.path)))
                if known.path not in self._world.missing:
                    self._kept[known.path] = held
            for imported in held[1]:
                if imported != known.path:
                    found.setdefault(imported, set()).add(known.path)
        for conftest, below in self._conftests():
            found.setdefault(conftest, set()).update(below)
        return {path: frozenset(one) for path, one in found.items()}

    def reaching(self, changed: Iterable[str]) -> dict[str, Step]:
        """Every file that imports a changed one, directly or through others, by the shortest way."""
        steps = {path: Step(through="", distance=0) for path in changed}
        waiting = deque(steps)
        while waiting:
            path = waiting.popleft()
            distance = steps[path].distance
            if distance >= _MAX_DISTANCE:
                continue
            for importer in sorted(self.importers.get(path, ())):
                if importer not in steps:
                    steps[importer] = Step(through=path, distance=distance + 1)
                    waiting.append(importer)
        return steps

    def _imported(self, path: str) -> set[str]:
        language = languages().of(path)
        if language is None or (language.family or language.name) not in _RESOLVED:
            return set()
        facts = self._world.facts(path)
        if facts is None:
            return set()
        found: set[str] = set()
        if self._world.language(facts).family == "python":
            modules = self._python
            for one in facts.imports:
                for module in modules.find(one.source, path):
                    found |= self._python_files(module, one.imported, modules)
        else:
            others = self._world.modules(facts)
            if others is not None:
                sources = {one.source for one in facts.imports} | {one.source for one in facts.exports if one.source}
                for source in sources:
                    found.update(others.find(source, path))
        return found

    def _python_files(self, module: str, name: str, modules: PythonModules) -> set[str]:
        """The file of a module, of a submodule taken from it, and of the packages around, whose `__init__` runs too."""
        inner = modules.submodule(module, name) if name and name != "*" else None
        found = {one for one in (module, inner) if one is not None and one.endswith((".py", ".pyi"))}
        for one in (module, inner or module):
            folder = one.rpartition("/")[0] if one.endswith((".py", ".pyi")) else one
            while folder:
                init = f"{folder}/__init__.py"
                if init not in self._world.snapshot.files:
                    break
                found.add(init)
                folder = folder.rpartition("/")[0]
        return found

    @cached_property
    def _python(self) -> PythonModules:
        if not self._gone:
            return self._world.python()
        return PythonModules([*self._world.snapshot.files, *self._gone])

    def _conftests(self) -> list[tuple[str, set[str]]]:
        """Files that pytest loads by themselves, with the files below their folder."""
        paths = [known.path for known in self._world.snapshot.texts if known.path.endswith(".py")]
        found = []
        for conftest in (path for path in paths if path.rpartition("/")[2] == "conftest.py"):
            folder = conftest.rpartition("/")[0]
            start = f"{folder}/" if folder else ""
            found.append((conftest, {path for path in paths if path.startswith(start) and path != conftest}))
        return found
