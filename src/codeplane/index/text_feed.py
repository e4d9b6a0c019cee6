"""What an update feeds to the full text: changed files, pending documents, and those not committed yet."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from codeplane.index.fact_store import FactStore
from codeplane.index.fulltext import FullText
from codeplane.index.snapshot import IndexedFile, Snapshot

# The full text is fed again when this share of its files was replaced, and at least so many.
_REPLACED_SHARE, _REPLACED_LEAST = 4, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFiles:
    """What may differ from the last update: texts to check, and the paths of everything else, None for all."""

    texts: Sequence[IndexedFile]
    paths: frozenset[str] | None

    @classmethod
    def of(cls, snapshot: Snapshot, before: Snapshot | None, also: Collection[str]) -> "ChangedFiles":
        if before is None:
            return cls(texts=snapshot.texts, paths=None)
        files, paths = snapshot.files, snapshot.changed_since(before.epoch)
        if paths is None:
            paths = frozenset(path for path, known in files.items() if before.files.get(path) is not known)
            paths |= before.files.keys() - files.keys()
        paths = paths.union(also)
        changed = {path: files[path] for path in paths if path in files}
        return cls(texts=[known for known in changed.values() if known.skipped is None], paths=paths)

    def among(self, paths: Collection[str]) -> Iterable[str]:
        """The paths among some that may have changed."""
        return paths if self.paths is None else [path for path in self.paths if path in paths]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFeed:
    """What the full text contains, what it still needs, and what it must drop."""

    fed: dict[str, str]
    wanted: dict[str, IndexedFile]
    gone: frozenset[str]
    anew: bool

    @classmethod
    def of(
        cls, snapshot: Snapshot, fed: dict[str, str] | None, facts: FactStore, text: FullText, touched: ChangedFiles
    ) -> "TextFeed":
        known = facts.fed_files(text.epoch) if fed is None else fed
        anew = not known
        gone = frozenset(path for path in touched.among(known) if not has_text(snapshot, path))
        if anew:
            text.clear()
        text.remove(gone)
        texts = snapshot.texts if anew else touched.texts
        wanted = {file.path: file for file in texts if known.get(file.path) != file.digest}
        return cls(fed=known, wanted=wanted, gone=gone, anew=anew)


@dataclass(slots=True, kw_only=True)
class PendingCommit:
    """Files added to or removed from the full text since its last commit."""

    anew: bool
    epoch: int = 0
    added: dict[str, str] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)

    def add(self, epoch: int, added: Mapping[str, str], gone: Iterable[str]) -> None:
        """Add the changes of an epoch."""
        self.epoch = epoch
        for path in gone:
            self.added.pop(path, None)
            self.gone.add(path)
        self.added.update(added)
        self.gone.difference_update(added)


def is_worn(text: FullText, files: int) -> bool:
    """Whether so many files were replaced that the full text is to be fed again."""
    return text.replaced > max(_REPLACED_LEAST, files // _REPLACED_SHARE)


def has_text(snapshot: Snapshot, path: str) -> bool:
    known = snapshot.files.get(path)
    return known is not None and known.skipped is None
