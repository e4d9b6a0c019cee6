"""The matches of a search before they are paged."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from msgspec import Struct

from codeplane.index.fact_store import Symbol
from codeplane.index.snapshot import Snapshot
from codeplane.query.search.hit import Hit, MatchType, SymbolInfo, line_at, line_hit


class Place(Struct, frozen=True, kw_only=True, gc=False):
    """A matching place in a file; `length` is the highlighted part."""

    path: str
    offset: int
    length: int = 0
    score: float = 1.0
    match_type: MatchType = "exact"
    symbol: Symbol | None = None
    tier: str | None = None
    # Where to look is found out only for what is shown.
    located: Callable[[bytes], int] | None = None

    def hit(self, snapshot: Snapshot, context: int) -> Hit:
        """The hit of the place's line."""
        known = snapshot.files[self.path]
        offset = self.offset if self.located is None else self.located(snapshot.text(known))
        number, start, end = line_at(snapshot, known, offset)
        at = known.offset + offset - start
        return line_hit(
            snapshot,
            known,
            number=number,
            start=start,
            end=end,
            spans=((at, min(at + self.length, end - start)),) if self.length else (),
            context=context,
            score=round(min(self.score, 1.0), 4),
            match_type=self.match_type,
            symbol=SymbolInfo.of(self.symbol) if self.symbol is not None else None,
            tier=self.tier,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchList:
    """The places a mode found; `whole` unless only the first page is in final order."""

    places: Sequence[Place]
    total: int
    exact: bool = True
    whole: bool = True
    tiers: dict[str, int] | None = None
    of: tuple[str, ...] = ()
    model: str | None = None
    partial: str | None = None
    # How many files were too far behind the best to be listed, in words.
    weaker: str | None = None
    # Why none of the files is an answer, with those that come nearest.
    nothing: str | None = None
    # What is missing from the places though the caller may look for it there.
    aside: str | None = None
    missing: frozenset[str] = field(default_factory=frozenset)
