"""The import graph of a repository: resolved for Python, JavaScript and Go, by package and name for others."""

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from codeplane.code.languages.javascript.modules import JavaScriptModules
from codeplane.code.languages.python.modules import PythonModules
from codeplane.code.languages.registry import languages
from codeplane.code.resolve.world import SharedModules, World
from codeplane.index.snapshot import IndexedFile

_MAX_DISTANCE = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """How a file is reached from a changed one: through which file, and over how many imports."""

    through: str
    distance: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FileImports:
    """The imports of one file: the digest of its content, the imported files, and the names in its imports.

    Without `words`, which files are imported depends on more than their names.
    """

    digest: str
    imported: frozenset[str]
    words: frozenset[str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReverseImports:
    """The importers of each file at one epoch, with what they were found from."""

    epoch: int
    found: Mapping[str, FileImports]
    imported: Mapping[str, frozenset[str]]
    importers: Mapping[str, frozenset[str]]
    conftests: Mapping[str, set[str]]


class ImportCache:
    """The imports of each file, cached while neither the file nor the paths that its imports name change."""

    def __init__(self, shared: SharedModules) -> None:
        self.shared = shared
        self._found: dict[str, FileImports] = {}
        self._modules: tuple[object, object] | None = None
        self._paths: Collection[str] = frozenset()
        self.reverse: ReverseImports | None = None

    def of(self, world: World, gone: Collection[str] = ()) -> dict[str, FileImports]:
        """Return the cached imports by path; with deleted files, without those that may have imported them."""
        modules = (self.shared.python(world.snapshot), self.shared.javascript(world.snapshot))
        if self._modules is None or any(
            layout is not other for layout, other in zip(modules, self._modules, strict=True)
        ):
            paths = world.snapshot.files.keys()
            self._found = _unaffected_imports(self._found, set(self._paths) ^ paths, set(self._paths), set(paths))
            self._modules, self._paths = modules, paths
        if not gone:
            return self._found
        paths = world.snapshot.files.keys()
        return _unaffected_imports(self._found, set(gone), {*paths, *gone}, set(paths))


def _unaffected_imports(
    found: Mapping[str, FileImports], moved: set[str], before: set[str], now: set[str]
) -> dict[str, FileImports]:
    """Return the cached imports that stay true when these paths were added or removed."""
    # Another thread may add to the cache meanwhile.
    cached = list(found.items())
    if any(path.rpartition("/")[2].startswith("__init__.") for path in moved):
        # Whether a folder is a package decides what the folder around it is.
        return {}
    names = {path.rpartition("/")[2].partition(".")[0] for path in moved if path.endswith((".py", ".pyi"))}
    folders = _folders(before) ^ _folders(now) if names else set()
    words = names | {folder.rpartition("/")[2] for folder in folders}
    # If no path moved, a file that maps module names (such as tsconfig.json) has changed.
    is_other = not moved or any(not path.endswith((".py", ".pyi")) for path in moved)
    return {
        path: imports
        for path, imports in cached
        if path in now and (not is_other if imports.words is None else words.isdisjoint(imports.words))
    }


def _folders(paths: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found


class ImportGraph:
    """The imports of one state of the repository; `gone`: files that existed before the change."""

    def __init__(self, world: World, kept: ImportCache, *, gone: Iterable[str] = ()) -> None:
        self._world = world
        self._gone = tuple(gone)
        self._shared = kept.shared
        self._cache = kept
        self._kept = kept.of(world, self._gone)

    @cached_property
    def importers(self) -> Mapping[str, frozenset[str]]:
        """The files that import each file."""
        if self._gone:
            return self._reverse().importers
        snapshot, held = self._world.snapshot, self._cache.reverse
        changed = snapshot.changed_since(held.epoch) if held is not None and held.found is self._kept else None
        if held is None or changed is None or not self._are_all_texts(changed, held):
            reverse = self._reverse()
        else:
            reverse = self._update_importers(held, changed)
        if not self._world.missing:
            self._cache.reverse = reverse
        return reverse.importers

    def _are_all_texts(self, paths: Iterable[str], held: ReverseImports) -> bool:
        """Whether files are texts now and were before."""
        files = self._world.snapshot.files
        return all(path in held.imported and path in files and files[path].skipped is None for path in paths)

    def _reverse(self) -> ReverseImports:
        imported = {known.path: self._imports_of(known) for known in self._world.snapshot.texts}
        found: dict[str, set[str]] = {}
        for path, files in imported.items():
            for file in files:
                found.setdefault(file, set()).add(path)
        conftests = dict(self._conftests())
        for conftest, below in conftests.items():
            found.setdefault(conftest, set()).update(below)
        return ReverseImports(
            epoch=self._world.snapshot.epoch,
            found=self._kept,
            imported=imported,
            importers={path: frozenset(files) for path, files in found.items()},
            conftests=conftests,
        )

    def _update_importers(self, held: ReverseImports, changed: Iterable[str]) -> ReverseImports:
        """Return the importers after the contents of some files changed."""
        snapshot = self._world.snapshot
        found = {path: self._imports_of(snapshot.files[path]) for path in changed}
        different = {path: now for path, now in found.items() if now != held.imported[path]}
        if not different:
            return replace(held, epoch=snapshot.epoch)
        imported, importers = dict(held.imported), dict(held.importers)
        for path, now in different.items():
            before, imported[path] = imported[path], now
            for file in before - now:
                if path not in held.conftests.get(file, ()):
                    importers[file] -= {path}
                if not importers[file] and file not in held.conftests:
                    del importers[file]
            for file in now - before:
                importers[file] = importers.get(file, frozenset()) | {path}
        return replace(held, epoch=snapshot.epoch, imported=imported, importers=importers)

    def _imports_of(self, known: IndexedFile) -> frozenset[str]:
        """The files that a file imports, but for itself."""
        cached = self._kept.get(known.path)
        if cached is None or cached.digest != known.digest:
            cached = self._read_imports(known.path, known.digest)
            if known.path not in self._world.missing:
                self._kept[known.path] = cached
        return cached.imported - {known.path}

    def files_reaching(self, changed: Iterable[str]) -> dict[str, Step]:
        """Return every file that imports a changed one, directly or through others, with the shortest way."""
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

    def _read_imports(self, path: str, digest: str) -> FileImports:
        language = languages().of(path)
        if language is not None and language.names.follows_packages:
            # It depends on which files a package has, so it is read again each time.
            return FileImports(digest="", imported=frozenset(self._package_imports(path)), words=None)
        if language is None or not language.names.follows_imports:
            return FileImports(digest=digest, imported=frozenset(), words=frozenset())
        facts = self._world.facts(path)
        if facts is None:
            return FileImports(digest=digest, imported=frozenset(), words=None)
        words: set[str] | None = None
        found: set[str] = set()
        if self._world.language(facts).names.dotted_modules:
            modules, words = self._python, set()
            for import_ in facts.imports:
                words |= {*import_.source.split("."), import_.imported}
                for module in modules.find(import_.source, path):
                    found |= self._python_files(module, import_.imported, modules)
        else:
            sources = {import_.source for import_ in facts.imports} | {
                export.source for export in facts.exports if export.source
            }
            for source in sources:
                found.update(self._javascript.find(source, path))
        return FileImports(digest=digest, imported=frozenset(found), words=None if words is None else frozenset(words))

    def _package_imports(self, path: str) -> Iterator[str]:
        """Yield the other files of a file's package, and those of the packages that it imports."""
        facts = self._world.facts(path)
        modules = self._world.modules(facts) if facts is not None else None
        if facts is None or modules is None:
            return
        packages = {place for import_ in facts.imports for place in modules.find(import_.source, path)}
        folders = {path.rpartition("/")[0], *(place.removesuffix("/") for place in packages)}
        for folder in folders:
            yield from modules.files_of(f"{folder}/")
        yield from (path for path in self._gone if path.rpartition("/")[0] in folders)

    def _python_files(self, module: str, name: str, modules: PythonModules) -> set[str]:
        """Return the files of a module, of a submodule imported from it, and of their packages, which run too."""
        inner = modules.submodule(module, name) if name and name != "*" else None
        found = {path for path in (module, inner) if path is not None and path.endswith((".py", ".pyi"))}
        for path in (module, inner or module):
            folder = path.rpartition("/")[0] if path.endswith((".py", ".pyi")) else path
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

    @cached_property
    def _javascript(self) -> JavaScriptModules:
        if not self._gone:
            return self._shared.javascript(self._world.snapshot)
        snapshot = self._world.snapshot
        return JavaScriptModules([*snapshot.files, *self._gone], self._text)

    def _text(self, path: str) -> bytes | None:
        known = self._world.snapshot.files.get(path)
        return self._world.snapshot.text(known) if known is not None and known.skipped is None else None

    def _conftests(self) -> list[tuple[str, set[str]]]:
        """Return the files that pytest loads without an import, each with the files below its folder."""
        texts = self._world.snapshot.texts
        conftests = [known.path for known in texts if known.path.rpartition("/")[2] == "conftest.py"]
        if not conftests:
            return []
        paths = [known.path for known in texts if known.path.endswith(".py")]
        found = []
        for conftest in conftests:
            folder = conftest.rpartition("/")[0]
            start = f"{folder}/" if folder else ""
            found.append((conftest, {path for path in paths if path.startswith(start) and path != conftest}))
        return found
