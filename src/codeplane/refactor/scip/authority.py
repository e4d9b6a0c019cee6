"""What imported indexes say of a snapshot, and what that does to a plan: more certain, or less, never blindly."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from codeplane.code.resolve.tier import SURE
from codeplane.index.snapshot import Snapshot
from codeplane.refactor.draft import Danger, Draft, Edit
from codeplane.refactor.scip.names import inside_module, name_of
from codeplane.refactor.scip.store import ScipStore

_KIND = "scip_disagrees"


class Authority:
    """The word of imported indexes on the files of one snapshot; of a file that has changed since they say nothing."""

    def __init__(self, store: ScipStore, snapshot: Snapshot) -> None:
        self._store = store
        self._snapshot = snapshot
        self._places: dict[str, dict[tuple[int, int], frozenset[str]] | None] = {}

    def spells(self, path: str, start: int, end: int) -> str:
        """The text at a place."""
        known = self._snapshot.files.get(path)
        raw = bytes(self._snapshot.content[known.offset + start : known.offset + end]) if known is not None else b""
        return raw.decode("utf-8", "replace")

    def at(self, path: str, start: int, end: int) -> frozenset[str]:
        """The symbols that a place is, of those that its text spells; none where nothing is said."""
        places = self._of(path)
        found = places.get((start, end), frozenset()) if places is not None else frozenset()
        text = self.spells(path, start, end)
        return frozenset(one for one in found if name_of(one) in (None, text))

    def related(self, symbols: frozenset[str]) -> frozenset[str]:
        """The symbols that belong together with some: what they override, and what overrides them."""
        return symbols.union(*(self._store.related(one) for one in symbols))

    def may_be(self, symbol: str, wanted: frozenset[str]) -> bool:
        """Whether a symbol from outside may be an installed copy of one of ours, which indexers name otherwise."""
        inner = {inside_module(one) for one in wanted}
        return inside_module(symbol) in inner and not self._store.defines(symbol)

    def _of(self, path: str) -> dict[tuple[int, int], frozenset[str]] | None:
        if path not in self._places:
            known = self._snapshot.files.get(path)
            spoken = self._store.spoken(path, known.digest) if known is not None else None
            if spoken is None:
                self._places[path] = None
            else:
                found: dict[tuple[int, int], set[str]] = defaultdict(set)
                for one in spoken:
                    found[one.start, one.end].add(one.symbol)
                self._places[path] = {place: frozenset(symbols) for place, symbols in found.items()}
        return self._places[path]


def raised(draft: Draft, scip: Authority) -> Draft:
    """The plan of a rename as imported indexes see it.

    A place that they give to the very symbol becomes STRONG; one that they give to another is no longer proposed,
    and where it was sure, it is only proposed and said to be a danger.
    """
    dangers: list[Danger] = []
    edits = _seen(draft.edits, scip, dangers)
    candidates = tuple(replace(one, edits=_seen(one.edits, scip, dangers)) for one in draft.candidates)
    return replace(draft, edits=edits, candidates=candidates, dangers=(*draft.dangers, *dict.fromkeys(dangers)))


def _seen(edits: Sequence[Edit], scip: Authority, dangers: list[Danger]) -> tuple[Edit, ...]:
    defining = [one for one in edits if one.role == "DEFINITION" and one.tier in SURE and one.semantic]
    names = {scip.spells(one.path, one.start, one.end) for one in defining}
    wanted = frozenset[str]().union(*(scip.at(one.path, one.start, one.end) for one in defining))
    if len(names) != 1 or not wanted:
        return tuple(edits)
    (name,) = names
    family = scip.related(wanted)
    return tuple(kept for one in edits if (kept := _judged(one, name, wanted, family, scip, dangers)) is not None)


def _judged(
    edit: Edit, name: str, wanted: frozenset[str], family: frozenset[str], scip: Authority, dangers: list[Danger]
) -> Edit | None:
    if not edit.semantic or edit.start == edit.end or scip.spells(edit.path, edit.start, edit.end) != name:
        return edit
    said = scip.at(edit.path, edit.start, edit.end)
    if not said or (said & family and not said & wanted) or any(scip.may_be(one, wanted) for one in said - wanted):
        return edit
    if said & wanted:
        if edit.tier in SURE:
            return edit
        return replace(edit, tier="STRONG", why=f"{edit.why}; SCIP agrees" if edit.why else "SCIP agrees")
    other = sorted(said)[0]
    sure = edit.tier in SURE
    what = f"SCIP says this is {other}" + ("" if sure else ": not proposed")
    dangers.append(Danger(kind=_KIND, what=what, path=edit.path, offset=edit.start))
    return replace(edit, tier="ANCHORED", why=f"SCIP says this is {other}") if sure else None
