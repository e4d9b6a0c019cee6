"""The repository as a client sees it: the index, with the client's open documents in place of their files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from codeplane.code.languages.go.packages import GoPackages
from codeplane.code.languages.modules import Modules
from codeplane.code.languages.python.modules import PythonModules
from codeplane.code.languages.registry import LANGUAGES, languages
from codeplane.code.model import Facts
from codeplane.code.resolve.occurrences import occurrences
from codeplane.code.resolve.world import SharedModules, World
from codeplane.index.fact_store import FactStore
from codeplane.index.files.file import Stamp
from codeplane.index.snapshot import IndexedFile, Snapshot

_NO_STAMP = Stamp(size=0, mtime_ns=0, ctime_ns=0, inode=0, mode=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlaidFile:
    """An open document: its text, and its facts if its language has any."""

    text: bytes
    digest: str
    facts: Facts | None


class OverlaidWorld(World):
    """A world in which some files have other texts; places in them are places of those.

    Which modules there are is as the index has it: a document that was never saved is no module yet.
    """

    def __init__(
        self, snapshot: Snapshot, store: FactStore, shared: SharedModules, overlay: Mapping[str, OverlaidFile]
    ) -> None:
        added = {path: _indexed(path, file) for path, file in overlay.items() if _is_new(snapshot, path)}
        seen = replace(snapshot, files={**snapshot.files, **added}) if added else snapshot
        super().__init__(seen, store, shared)
        self._on_disk = snapshot
        self._overlay = overlay
        self._known = {path: _indexed(path, file) for path, file in overlay.items()}

    def facts(self, path: str) -> Facts | None:
        """Return a file's facts, of an open document those of its text."""
        open_file = self._overlay.get(path)
        return open_file.facts if open_file is not None else super().facts(path)

    def text(self, path: str) -> bytes:
        """Return a file's bytes as the client has them."""
        open_file = self._overlay.get(path)
        return open_file.text if open_file is not None else super().text(path)

    def members_given(self, path: str, name: str) -> Sequence[int]:
        """Return the places in a file where a member of the given name is assigned."""
        known = self._known.get(path)
        if known is None:
            return super().members_given(path, name)
        return self._shared.given.places(name, known, lambda: self.text(path))

    def files_with(self, name: str) -> list[str]:
        """Return the files in which an identifier occurs."""
        there = self._holding.get(name)
        if there is None:
            listed = [path for path in super().files_with(name) if path not in self._overlay]
            open_files = [path for path, file in self._overlay.items() if occurrences(file.text, name)]
            there = self._holding[name] = sorted([*listed, *open_files])
        return there

    def find_definitions(self, name: str, *, limit: int) -> tuple[list[tuple[str, int]], bool]:
        """Return the definitions of a name, each as its file and the position there, and whether these are all."""
        listed, whole = super().find_definitions(name, limit=limit)
        found = [(path, index) for path, index in listed if path not in self._overlay]
        for path, file in self._overlay.items():
            found += [(path, index) for index in (file.facts.indexes_of(name) if file.facts is not None else ())]
        self.missing.difference_update(self._overlay)
        return found, whole

    def modules(self, facts: Facts) -> Modules | None:
        """Return the modules of a file's language, or None if it is not known how to find them."""
        return self._shared.of_group(LANGUAGES[facts.language].group, self._on_disk)

    def beside(self, path: str) -> Sequence[str]:
        """Return the files that share their top-level names with a file; empty if files of its language do not."""
        language = languages().of(path)
        modules = self._shared.of_group(language.group, self._on_disk) if language is not None else None
        return modules.beside(path) if modules is not None else ()

    def go(self) -> GoPackages:
        """Return Go's packages."""
        return self._shared.go(self._on_disk)

    def python(self) -> PythonModules:
        """Return Python's modules."""
        return self._shared.python(self._on_disk)


def _is_new(snapshot: Snapshot, path: str) -> bool:
    known = snapshot.files.get(path)
    return known is None or known.skipped is not None


def _indexed(path: str, file: OverlaidFile) -> IndexedFile:
    return IndexedFile(path=path, stamp=_NO_STAMP, digest=file.digest, offset=0, length=len(file.text), tracked=False)
