"""The repository as it will be after a draft's certain edits; changed files are parsed again."""

from dataclasses import replace

from codeplane.code.facts.extract import extractor
from codeplane.code.languages.registry import languages
from codeplane.code.model import Facts
from codeplane.code.resolve.tier import SURE
from codeplane.code.resolve.world import SharedModules, World
from codeplane.index.fact_store import FactStore
from codeplane.index.files.file import Stamp
from codeplane.index.snapshot import IndexedFile
from codeplane.refactor.draft import Draft, Edit
from codeplane.refactor.file_changes import splice
from codeplane.refactor.plan import sort_edits

_NEW = Stamp(0, 0, 0, 0, 0)


class PlannedWorld(World):
    """The files as a draft leaves them; a text is made when it is needed."""

    def __init__(self, world: World, store: FactStore, draft: Draft) -> None:
        self._before = world
        self.came_from = {move.new_path: move.path for move in draft.moves}
        self._created = {created.path: created.content.encode() for created in draft.creates}
        self._edits: dict[str, list[Edit]] = {}
        for edit in sort_edits(draft.edits):
            if edit.semantic and edit.tier in SURE:
                self._edits.setdefault(edit.path, []).append(edit)
        gone = {move.path for move in draft.moves} | set(draft.removes)
        files = {path: known for path, known in world.snapshot.files.items() if path not in gone}
        files |= {new: replace(world.snapshot.files[old], path=new) for new, old in self.came_from.items()}
        files |= {path: _known_file(path, text) for path, text in self._created.items()}
        super().__init__(replace(world.snapshot, files=files), store, SharedModules())

    @property
    def changed(self) -> list[str]:
        """The changed files, by their new paths."""
        moved = {old: new for new, old in self.came_from.items()}
        return sorted({*(moved.get(path, path) for path in self._edits), *self.came_from, *self._created})

    def old_path(self, path: str) -> str | None:
        """Return the present path of a file, or None if it does not exist yet."""
        return None if path in self._created else self.came_from.get(path, path)

    def text(self, path: str) -> bytes:
        """Return a file's new bytes."""
        found = self._texts.get(path)
        if found is None:
            old = self.old_path(path)
            before = self._created[path] if old is None else self._before.text(old)
            found = self._texts[path] = splice(path, before, self._edits.get(old or path, ()))
        return found

    def facts(self, path: str) -> Facts | None:
        """Return a file's new facts."""
        if path not in self._facts:
            old = self.old_path(path)
            if path not in self.snapshot.files:
                self._facts[path] = None
            elif old is not None and old not in self._edits:
                self._facts[path] = self._before.facts(old)
            else:
                language = languages().of(path)
                self._facts[path] = extractor(language).facts(self.text(path)) if language is not None else None
        return self._facts[path]


def _known_file(path: str, text: bytes) -> IndexedFile:
    return IndexedFile(path=path, stamp=_NEW, digest="", offset=0, length=len(text), tracked=False)
