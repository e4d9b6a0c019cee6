"""The renderer of changes into the answer."""

import os

from codeplane.index.fact_store import FactStore
from codeplane.index.files.paths import path_text
from codeplane.index.parse_worker import uid_of
from codeplane.query.compare.answer import FileChangeInfo, ImpactInfo, RefTiers, StructuralChange
from codeplane.query.compare.change import Change
from codeplane.query.compare.file_category import category
from codeplane.query.compare.impact import Impacts, first_files, tiers_of
from codeplane.query.compare.outline import Outline
from codeplane.query.compare.outline_loader import Unparsed
from codeplane.query.signature import signature

_STATIC = frozenset({"static", "companion"})


class ChangeRenderer:
    """Renders changes as results."""

    def __init__(self, store: FactStore, impacts: Impacts) -> None:
        self._store = store
        self._impacts = impacts

    def change(self, change: Change) -> StructuralChange:
        """Render a change with its nested changes."""
        if change.is_module:
            return self._module(change)
        pair, now = change.pair, change.pair.now
        before, after = pair.before, pair.after
        outline, place = (pair.new, pair.new_place) if pair.new is not None else (pair.old, pair.old_place)
        assert outline is not None
        definition = now.definition
        differs = change.change in ("signature_changed", "renamed", "moved", "removed", "added") and change.itself
        end_column = None
        if definition is not None:
            end_column = definition.end - outline.text.rfind(b"\n", 0, definition.end)
        return StructuralChange(
            path=path_text(outline.path),
            kind=now.kind,
            name=now.name,
            qualified_name=now.path,
            change=change.change,
            structural_severity="breaking" if change.is_broken else "non_breaking",
            behavior_change_risk=change.risk,
            why=change.why or None,
            entity_id=self._uid(outline, place) if pair.new is not None else None,
            old_signature=_signature(pair.old, pair.old_place) if differs and before is not None else None,
            new_signature=_signature(pair.new, pair.new_place) if differs and after is not None else None,
            old_name=before.name if change.change in ("renamed", "moved") and before is not None else None,
            old_path=path_text(pair.old.path) if change.moved and pair.old is not None else None,
            start_line=now.line,
            start_col=definition.column + 1 if definition is not None else None,
            end_line=definition.end_line if definition is not None else None,
            end_col=end_column,
            lines_changed=change.lines.count if change.lines is not None else None,
            delta_tags=tuple(change.tags),
            change_preview=change.lines.preview if change.lines is not None else None,
            impact=self._impact(change, outline, place),
            nested_changes=tuple(self.change(inner) for inner in change.nested) or None,
        )

    @staticmethod
    def _module(change: Change) -> StructuralChange:
        old = change.pair.old
        assert old is not None
        return StructuralChange(
            path=path_text(change.path),
            kind="module",
            name=path_text(change.path.rpartition("/")[2]),
            change=change.change,
            structural_severity="breaking" if change.breaking else "non_breaking",
            behavior_change_risk=change.risk,
            why=change.why or None,
            old_name=path_text(old.path.rpartition("/")[2]),
            old_path=path_text(old.path),
            start_line=1,
            delta_tags=tuple(change.tags),
        )

    def _impact(self, change: Change, outline: Outline, place: int) -> ImpactInfo | None:
        if not change.itself:
            return None
        static = None
        if outline.known and outline.entities[place].definition is not None:
            header = outline.parts(place).header
            static = not _STATIC.isdisjoint(header.modifiers) or any("staticmethod" in mark for mark in header.marks)
        impact = self._impacts.of(change)
        if impact is None or impact.basis == "unknown":
            return ImpactInfo(visibility=change.visibility, is_static=static)
        return ImpactInfo(
            reference_count=impact.count,
            ref_tiers=RefTiers(**tiers_of(impact)),
            reference_basis="ref_facts_resolved" if impact.basis == "ref_facts_resolved" else "ref_facts_partial",
            referencing_files=tuple(map(path_text, first_files(impact.referencing))),
            importing_files=tuple(map(path_text, first_files(impact.importing))),
            affected_test_files=tuple(map(path_text, impact.tests)),
            confidence="high" if impact.is_sure else "low",
            visibility=change.visibility,
            is_static=static,
        )

    def _uid(self, outline: Outline, place: int) -> str | None:
        """The indexed id of a definition, or None."""
        definition = outline.entities[place].definition
        if definition is None:
            return None
        name = os.fsencode(outline.path).decode("latin-1")
        uid = uid_of(outline.language.family_name, name, definition).hex()
        return uid if self._store.with_uid(uid) is not None else None


def render_file(file: Unparsed) -> FileChangeInfo:
    """Render a file without an outline."""
    return FileChangeInfo(
        path=path_text(file.file.path),
        status=file.file.status,
        category=category(file.file.path),
        language=file.language,
        old_path=path_text(file.file.old_path) if file.file.old_path is not None else None,
        note=file.note,
    )


def _signature(outline: Outline | None, place: int) -> str | None:
    if outline is None or outline.facts is None or place < 0:
        return None
    definition = outline.entities[place].definition
    return signature(outline.facts, outline.text, definition) if definition is not None else None
