"""Changes as the answer carries them."""

import os

from codeplane.index.fact_store import FactStore
from codeplane.index.files.paths import shown
from codeplane.index.parse_worker import uid_of
from codeplane.query.compare.answer import FileChangeInfo, ImpactInfo, RefTiers, StructuralChange
from codeplane.query.compare.change import Change
from codeplane.query.compare.file_category import category
from codeplane.query.compare.impact import Impacts, named, tiers_of
from codeplane.query.compare.outline import Outline
from codeplane.query.compare.outline_loader import Unparsed
from codeplane.query.signature import signature

_STATIC = frozenset({"static", "companion"})


class Rendering:
    """Makes answers of changes."""

    def __init__(self, store: FactStore, impacts: Impacts) -> None:
        self._store = store
        self._impacts = impacts

    def change(self, one: Change) -> StructuralChange:
        """A change with all that is inside it."""
        if one.is_module:
            return self._module(one)
        pair, now = one.pair, one.pair.now
        before, after = pair.before, pair.after
        outline, place = (pair.new, pair.new_place) if pair.new is not None else (pair.old, pair.old_place)
        assert outline is not None
        definition = now.definition
        differs = one.change in ("signature_changed", "renamed", "moved", "removed", "added") and one.itself
        end_column = None
        if definition is not None:
            end_column = definition.end - outline.text.rfind(b"\n", 0, definition.end)
        return StructuralChange(
            path=shown(outline.path),
            kind=now.kind,
            name=now.name,
            qualified_name=now.path,
            change=one.change,
            structural_severity="breaking" if one.is_broken else "non_breaking",
            behavior_change_risk=one.risk,
            why=one.why or None,
            entity_id=self._uid(outline, place) if pair.new is not None else None,
            old_signature=_signature(pair.old, pair.old_place) if differs and before is not None else None,
            new_signature=_signature(pair.new, pair.new_place) if differs and after is not None else None,
            old_name=before.name if one.change in ("renamed", "moved") and before is not None else None,
            old_path=shown(pair.old.path) if one.moved and pair.old is not None else None,
            start_line=now.line,
            start_col=definition.column + 1 if definition is not None else None,
            end_line=definition.end_line if definition is not None else None,
            end_col=end_column,
            lines_changed=one.lines.count if one.lines is not None else None,
            delta_tags=tuple(one.tags),
            change_preview=one.lines.preview if one.lines is not None else None,
            impact=self._impact(one, outline, place),
            nested_changes=tuple(self.change(inner) for inner in one.nested) or None,
        )

    @staticmethod
    def _module(one: Change) -> StructuralChange:
        old = one.pair.old
        assert old is not None
        return StructuralChange(
            path=shown(one.path),
            kind="module",
            name=shown(one.path.rpartition("/")[2]),
            change=one.change,
            structural_severity="breaking" if one.breaking else "non_breaking",
            behavior_change_risk=one.risk,
            why=one.why or None,
            old_name=shown(old.path.rpartition("/")[2]),
            old_path=shown(old.path),
            start_line=1,
            delta_tags=tuple(one.tags),
        )

    def _impact(self, one: Change, outline: Outline, place: int) -> ImpactInfo | None:
        if not one.itself:
            return None
        static = None
        if outline.known and outline.entities[place].definition is not None:
            header = outline.parts(place).header
            static = not _STATIC.isdisjoint(header.modifiers) or any("staticmethod" in mark for mark in header.marks)
        found = self._impacts.of(one)
        if found is None or found.basis == "unknown":
            return ImpactInfo(visibility=one.visibility, is_static=static)
        return ImpactInfo(
            reference_count=found.count,
            ref_tiers=RefTiers(**tiers_of(found)),
            reference_basis="ref_facts_resolved" if found.basis == "ref_facts_resolved" else "ref_facts_partial",
            referencing_files=tuple(map(shown, named(found.referencing))),
            importing_files=tuple(map(shown, named(found.importing))),
            affected_test_files=tuple(map(shown, found.tests)),
            confidence="high" if found.is_sure else "low",
            visibility=one.visibility,
            is_static=static,
        )

    def _uid(self, outline: Outline, place: int) -> str | None:
        """The id by which the index knows a definition, if it does."""
        one = outline.entities[place].definition
        if one is None:
            return None
        name = os.fsencode(outline.path).decode("latin-1")
        uid = uid_of(outline.language.family_name, name, one).hex()
        return uid if self._store.with_uid(uid) is not None else None


def other(one: Unparsed) -> FileChangeInfo:
    """A file that is told of as a whole."""
    return FileChangeInfo(
        path=shown(one.file.path),
        status=one.file.status,
        category=category(one.file.path),
        language=one.language,
        old_path=shown(one.file.old_path) if one.file.old_path is not None else None,
        note=one.note,
    )


def _signature(outline: Outline | None, place: int) -> str | None:
    if outline is None or outline.facts is None or place < 0:
        return None
    one = outline.entities[place].definition
    return signature(outline.facts, outline.text, one) if one is not None else None
