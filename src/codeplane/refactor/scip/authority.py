"""The authority of imported SCIP indexes: how they change the certainty of a plan's edits."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from codeplane.code.resolve.tier import SURE
from codeplane.index.snapshot import Snapshot
from codeplane.refactor.draft import Danger, Draft, Edit
from codeplane.refactor.scip.names import inside_module, name_of
from codeplane.refactor.scip.store import ScipStore

_KIND = "scip_disagrees"


class ScipAuthority:
    """What imported indexes say about the files of one snapshot; nothing about a file that has changed since."""

    def __init__(self, store: ScipStore, snapshot: Snapshot) -> None:
        self._store = store
        self._snapshot = snapshot
        self._places: dict[str, dict[tuple[int, int], frozenset[str]] | None] = {}

    def spells(self, path: str, start: int, end: int) -> str:
        """Return the text at a place."""
        known = self._snapshot.files.get(path)
        raw = bytes(self._snapshot.content[known.offset + start : known.offset + end]) if known is not None else b""
        return raw.decode("utf-8", "replace")

    def at(self, path: str, start: int, end: int) -> frozenset[str]:
        """Return the symbols at a place whose name its text spells; none if the indexes say nothing."""
        places = self._symbols_of(path)
        found = places.get((start, end), frozenset()) if places is not None else frozenset()
        text = self.spells(path, start, end)
        return frozenset(symbol for symbol in found if name_of(symbol) in (None, text))

    def relatives(self, symbols: frozenset[str]) -> frozenset[str]:
        """Return the symbols with all that they override and that override them."""
        return symbols.union(*(self._store.relatives(symbol) for symbol in symbols))

    def may_be(self, symbol: str, wanted: frozenset[str]) -> bool:
        """Whether an outside symbol may be an installed copy of one of ours, which indexers name differently."""
        inner = {inside_module(selection) for selection in wanted}
        return inside_module(symbol) in inner and not self._store.defines(symbol)

    def _symbols_of(self, path: str) -> dict[tuple[int, int], frozenset[str]] | None:
        if path not in self._places:
            known = self._snapshot.files.get(path)
            spoken = self._store.symbols_of_file(path, known.digest) if known is not None else None
            if spoken is None:
                self._places[path] = None
            else:
                found: dict[tuple[int, int], set[str]] = defaultdict(set)
                for span in spoken:
                    found[span.start, span.end].add(span.symbol)
                self._places[path] = {place: frozenset(symbols) for place, symbols in found.items()}
        return self._places[path]


def apply_authority(draft: Draft, scip: ScipAuthority) -> Draft:
    """Adjust the draft of a rename by imported indexes.

    A place that they assign to the symbol becomes STRONG; one that they assign to another is no longer proposed, or
    if it was certain, is only proposed and reported as a danger.
    """
    dangers: list[Danger] = []
    edits = _adjust_edits(draft.edits, scip, dangers)
    candidates = tuple(
        replace(candidate, edits=_adjust_edits(candidate.edits, scip, dangers)) for candidate in draft.candidates
    )
    return replace(draft, edits=edits, candidates=candidates, dangers=(*draft.dangers, *dict.fromkeys(dangers)))


def _adjust_edits(edits: Sequence[Edit], scip: ScipAuthority, dangers: list[Danger]) -> tuple[Edit, ...]:
    defining = [edit for edit in edits if edit.role == "DEFINITION" and edit.tier in SURE and edit.semantic]
    names = {scip.spells(edit.path, edit.start, edit.end) for edit in defining}
    wanted = frozenset[str]().union(*(scip.at(edit.path, edit.start, edit.end) for edit in defining))
    if len(names) != 1 or not wanted:
        return tuple(edits)
    (name,) = names
    family = scip.relatives(wanted)
    return tuple(
        judged for edit in edits if (judged := _adjust_edit(edit, name, wanted, family, scip, dangers)) is not None
    )


def _adjust_edit(
    edit: Edit, name: str, wanted: frozenset[str], family: frozenset[str], scip: ScipAuthority, dangers: list[Danger]
) -> Edit | None:
    if not edit.semantic or edit.start == edit.end or scip.spells(edit.path, edit.start, edit.end) != name:
        return edit
    symbols = scip.at(edit.path, edit.start, edit.end)
    if (
        not symbols
        or (symbols & family and not symbols & wanted)
        or any(scip.may_be(symbol, wanted) for symbol in symbols - wanted)
    ):
        return edit
    if symbols & wanted:
        if edit.tier in SURE:
            return edit
        return replace(edit, tier="STRONG", why=f"{edit.why}; SCIP agrees" if edit.why else "SCIP agrees")
    other = sorted(symbols)[0]
    sure = edit.tier in SURE
    what = f"SCIP says this is {other}" + ("" if sure else ": not proposed")
    dangers.append(Danger(kind=_KIND, what=what, path=edit.path, offset=edit.start))
    return replace(edit, tier="ANCHORED", why=f"SCIP says this is {other}") if sure else None
