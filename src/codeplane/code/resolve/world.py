"""The repository as the resolver sees it: the texts, facts and modules of one snapshot."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from codeplane.code.languages.go import GO
from codeplane.code.languages.go.packages import GoPackages
from codeplane.code.languages.javascript import JAVASCRIPT
from codeplane.code.languages.javascript.modules import JavaScriptModules
from codeplane.code.languages.language import Language
from codeplane.code.languages.module_layouts import MODULE_LAYOUTS
from codeplane.code.languages.modules import ModuleLayout, Modules
from codeplane.code.languages.python import PYTHON
from codeplane.code.languages.python.modules import PythonModules
from codeplane.code.languages.registry import LANGUAGES, languages
from codeplane.code.model import Facts
from codeplane.code.resolve.member_assignments import MemberAssignments
from codeplane.index.fact_store import FactStore
from codeplane.index.files.paths import path_text
from codeplane.index.snapshot import IndexedFile, Snapshot


@dataclass(slots=True, kw_only=True)
class _Giving:
    """The files that contain a name, in order, and the places found in those searched so far."""

    paths: list[str]
    looked_at: int = 0
    found: list[tuple[str, Sequence[int]]] = field(default_factory=list)


class World:
    """The repository against which one answer is resolved; caches everything it reads."""

    def __init__(self, snapshot: Snapshot, store: FactStore, shared: "SharedModules") -> None:
        self.snapshot = snapshot
        self._store = store
        self._shared = shared
        self._facts: dict[str, Facts | None] = {}
        self._texts: dict[str, bytes] = {}
        self._holding: dict[str, list[str]] = {}
        self._giving: dict[tuple[str, str], _Giving] = {}
        self.missing: set[str] = set()

    def facts(self, path: str) -> Facts | None:
        """Return a file's facts, or None if there are none; record the file as missing if they are still to come."""
        try:
            return self._facts[path]
        except KeyError:
            known = self.snapshot.files.get(path)
            found = self._store.facts(path, known.digest) if known is not None else None
            if found is None and known is not None and languages().of(path) is not None:
                self.missing.add(path)
            self._facts[path] = found
            return found

    def text(self, path: str) -> bytes:
        """Return a file's bytes."""
        found = self._texts.get(path)
        if found is None:
            found = self._texts[path] = self.snapshot.text(self.snapshot.files[path])
        return found

    def members_given(self, path: str, name: str) -> Sequence[int]:
        """Return the places in a file where a member of the given name is assigned."""
        return self._shared.given.places(name, self.snapshot.files[path], lambda: self.text(path))

    def files_assigning(self, name: str, family: str, *, first: str = "") -> Iterator[tuple[str, Sequence[int]]]:
        """Yield the files of a language family that assign a member of the given name, with the places; `first` first.

        Most files that contain a popular name do not assign it, and it is looked up again and again: each such file is
        searched only once.
        """
        held = self._giving.get((name, family))
        if held is None:
            of_family = [path for path in self.files_with(name) if _is_of(path, family)]
            held = self._giving[name, family] = _Giving(paths=of_family)
        at = bisect_left(held.paths, first)
        if first and at < len(held.paths) and held.paths[at] == first and (places := self.members_given(first, name)):
            yield first, places
        position = 0
        while position < len(held.found) or held.looked_at < len(held.paths):
            if position < len(held.found):
                entry = held.found[position]
                position += 1
                if entry[0] != first:
                    yield entry
                continue
            path = held.paths[held.looked_at]
            held.looked_at += 1
            if places := self.members_given(path, name):
                held.found.append((path, places))

    def files_with(self, name: str) -> list[str]:
        """Return the files of this world in which an identifier occurs."""
        there = self._holding.get(name)
        if there is None:
            listed = (path for path, _ in self._store.files_with(name))
            files = self.snapshot.files
            there = [path for path in listed if path in files and files[path].skipped is None]
            self._holding[name] = there
        return there

    def find_definitions(self, name: str, *, limit: int) -> tuple[list[tuple[str, int]], bool]:
        """Return the definitions of a name, each as its file and the position there, and whether these are all."""
        listed = self._store.find_symbols(name, limit=limit)
        files = self.snapshot.files
        known = [entry for entry in listed if entry.file in files]
        # The names of another text of a file say nothing about this one: they are still to come.
        self.missing.update(symbol.file for symbol in known if files[symbol.file].digest != symbol.digest)
        there = [(symbol.file, symbol.position) for symbol in known if files[symbol.file].digest == symbol.digest]
        return there, len(listed) < limit

    def language(self, facts: Facts) -> Language:
        """Return the table of a file's language."""
        return LANGUAGES[facts.language]

    def modules(self, facts: Facts) -> Modules | None:
        """Return the modules of a file's language, or None if it is not known how to find them."""
        return self._shared.of_group(LANGUAGES[facts.language].group, self.snapshot)

    def beside(self, path: str) -> Sequence[str]:
        """Return the files that share their top-level names with a file; empty if files of its language do not."""
        language = languages().of(path)
        modules = self._shared.of_group(language.group, self.snapshot) if language is not None else None
        return modules.beside(path) if modules is not None else ()

    def missing_configs(self, path: str) -> list[str]:
        """Say which files are not here that would tell how modules are named for a file."""
        language = languages().of(path)
        modules = self._shared.of_group(language.group, self.snapshot) if language is not None else None
        missing = modules.missing_configs() if modules is not None else {}
        return [
            f"{path_text(config)} extends {', '.join(bases)}, which is not here"
            for config, bases in missing.items()
            if f"/{path}".startswith(f"/{config}".rpartition("/")[0] + "/")
        ]

    def go(self) -> GoPackages:
        """Return Go's packages."""
        return self._shared.go(self.snapshot)

    def python(self) -> PythonModules:
        """Return Python's modules."""
        return self._shared.python(self.snapshot)


class SharedModules:
    """Caches the modules of the newest snapshot while they stay the same, and the places where members are assigned."""

    def __init__(self) -> None:
        self.given = MemberAssignments()
        self._modules: dict[str, tuple[Mapping[str, IndexedFile], int, Modules]] = {}

    def of_group(self, group: str, snapshot: Snapshot) -> Modules | None:
        """Return the modules of a group of languages; None for one that has none."""
        layout = MODULE_LAYOUTS.get(group)
        if layout is None:
            return None
        held = self._modules.get(group)
        if held is None or held[0] is not snapshot.files:
            same = held is not None and _is_same_layout(held[0], held[1], snapshot, layout)
            modules = held[2] if held is not None and same else _build_modules(layout, snapshot)
            # Remember this for the next caller: comparing all paths takes longer than most questions about a module.
            held = self._modules[group] = (snapshot.files, snapshot.epoch, modules)
        return held[2]

    def python(self, snapshot: Snapshot) -> PythonModules:
        """Return Python's modules."""
        modules = self.of_group(PYTHON.group, snapshot)
        assert isinstance(modules, PythonModules)
        return modules

    def javascript(self, snapshot: Snapshot) -> JavaScriptModules:
        """Return JavaScript's modules."""
        modules = self.of_group(JAVASCRIPT.group, snapshot)
        assert isinstance(modules, JavaScriptModules)
        return modules

    def go(self, snapshot: Snapshot) -> GoPackages:
        """Return Go's packages."""
        modules = self.of_group(GO.group, snapshot)
        assert isinstance(modules, GoPackages)
        return modules


def _is_of(path: str, family: str) -> bool:
    language = languages().of(path)
    return language is not None and language.family == family


def _build_modules(layout: ModuleLayout, snapshot: Snapshot) -> Modules:
    return layout.find_all(snapshot.files, lambda path: _text(snapshot, path))


def _is_same_layout(before: Mapping[str, IndexedFile], epoch: int, snapshot: Snapshot, layout: ModuleLayout) -> bool:
    """Whether the paths are the same as at an epoch, and also the contents that decide what modules there are."""
    now, changed = snapshot.files, snapshot.changed_since(epoch)
    if layout.manifests is None:
        return False
    if changed is None:
        is_same_tree = before.keys() == now.keys()
    else:
        is_same_tree = all(path in before and path in now for path in changed)
    return is_same_tree and all(
        before[path].digest == now[path].digest for path in layout.manifests(before if changed is None else changed)
    )


def _text(snapshot: Snapshot, path: str) -> bytes | None:
    known = snapshot.files.get(path)
    return snapshot.text(known) if known is not None and known.skipped is None else None
