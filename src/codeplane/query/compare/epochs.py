"""Outlines at two epochs of the index: names and signatures, without texts."""

from collections.abc import Callable

from codeplane.code.languages.registry import language_named, languages
from codeplane.index.fact_store import FactStore
from codeplane.index.snapshot import Snapshot
from codeplane.query.compare.change import FileOutlines
from codeplane.query.compare.changed_files import ChangedFile, Status
from codeplane.query.compare.outline import Outline
from codeplane.query.compare.outline_loader import LoadedOutlines

NOTE = "epochs keep names and signatures: what bodies did, and what exactly changed in a signature, is not known"


def between(
    store: FactStore, snapshot: Snapshot, base: int, target: int, keep: Callable[[str], bool]
) -> LoadedOutlines:
    """Load the files whose definitions changed between two epochs; the present has its texts."""
    loaded = LoadedOutlines(notes=[NOTE])
    before, after = store.at_epoch(base), store.at_epoch(target)
    now = after if target == snapshot.epoch else store.at_epoch(snapshot.epoch)
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path), after.get(path)
        if old is not None and new is not None and old[0] == new[0]:
            continue
        language = languages().of(path)
        name = (new or old or (0, ""))[1] or (language.name if language else "")
        if not keep(path) or not name or language_named(name).kind != "code":
            continue
        if (
            old is not None
            and new is not None
            and _definitions_at(store, path, base) == _definitions_at(store, path, target)
        ):
            # Written again, and as it was.
            continue
        old_outline = _rows(store, path, name, base) if old is not None else None
        new_outline = None
        if new is not None:
            is_present = now.get(path, (-1, ""))[0] == new[0]
            new_outline = (_present(store, snapshot, path) if is_present else None) or _rows(store, path, name, target)
        if old_outline is None and new_outline is None:
            continue
        loaded.files.append(FileOutlines(old=old_outline, new=new_outline))
        status: Status = "added" if old_outline is None else "deleted" if new_outline is None else "modified"
        loaded.differing[path] = ChangedFile(path=path, status=status)
    return loaded


def _definitions_at(store: FactStore, path: str, epoch: int) -> list[tuple[object, ...]] | None:
    """The definitions of a file at an epoch, without lines."""
    rows = store.snapshot(path, epoch)
    return sorted(tuple(map(str, row[:-1])) for row in rows) if rows is not None else None


def _rows(store: FactStore, path: str, language: str, epoch: int) -> Outline | None:
    rows = store.snapshot(path, epoch)
    return Outline.of_rows(path, language, [row for row in rows if len(row) == 5]) if rows is not None else None


def _present(store: FactStore, snapshot: Snapshot, path: str) -> Outline | None:
    """The outline of the present file."""
    known = snapshot.files.get(path)
    if known is None or known.skipped is not None:
        return None
    facts = store.facts(path, known.digest, keep=False)
    return Outline(path, snapshot.text(known), facts) if facts is not None else None
