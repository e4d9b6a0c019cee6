"""The references to the name at a place, in batches as they are found."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Mapping

from codeplane.code.entity import Bound, Side
from codeplane.code.model import Facts
from codeplane.code.resolve.references import Reference, references
from codeplane.index.fact_store import FactStore
from codeplane.index.files.paths import path_text
from codeplane.query.navigation.looking import Session, must_have_facts
from codeplane.query.navigation.records import ReferenceBatch, ReferencePlace
from codeplane.query.navigation.requests import ReferencesAtRequest
from codeplane.query.navigation.symbol_lookup import NameAt, SymbolLookup, outside_source
from codeplane.query.search.references import other_names

MAX_REFERENCES = 200_000
_BATCH = 1_000
_BATCH_SEC = 0.05
_MAX_ALIASES = 20
_PASSING = frozenset({"IMPORT", "EXPORT"})
_FOR_SEC = 60.0


class ReferenceStream:
    """Finds references bit by bit, so that the first ones leave before the last are found."""

    def __init__(self, lookup: SymbolLookup, store: FactStore, path: str, request: ReferencesAtRequest) -> None:
        self._lookup = lookup
        self._store = store
        self._path = path
        self._request = request
        self._total = 0
        self._paths: set[str] = set()
        self._of: tuple[str, ...] = ()
        self._cut: str | None = None
        self._only_file = request.only_file

    async def batches(self, session: Session) -> AsyncIterator[ReferenceBatch]:
        """Yield the references; the last batch says whether they are all."""
        places = self._places()
        done = False
        while not done:
            part, done = await asyncio.to_thread(_take, places)
            self._total += len(part)
            stale = await session.stale(frozenset(self._paths)) if done else ()
            missing = len(self._lookup.world.missing) if done else 0
            behind = session.partial or (f"{missing} files are not parsed yet" if missing else None)
            yield ReferenceBatch(
                places=tuple(part),
                of=self._of,
                total=self._total,
                done=done,
                cut=self._cut,
                epoch=session.snapshot.epoch,
                commit=session.snapshot.commit,
                partial=behind if done else None,
                stale=stale,
                open_documents=tuple(map(path_text, session.open_documents)),
            )

    def _places(self) -> Iterator[ReferencePlace]:
        path, lookup = self._path, self._lookup
        facts = must_have_facts(lookup.world, path)
        offset = lookup.positions(path).offset(self._request.line, self._request.column)
        found = lookup.name_at(path, facts, offset) if offset is not None else "there is no such line"
        if isinstance(found, str):
            self._cut = found
            return
        bounds = self._wanted(path, facts, found)
        if not bounds:
            self._cut = f"what {found.token.name} means here is not known"
            return
        self._of = tuple(f"{bound.name} in {path_text(bound.file)}" for bound in bounds)
        yield from self._all_of(bounds, found.meaning.side)

    def _all_of(self, bounds: list[Bound], side: Side) -> Iterator[ReferencePlace]:
        """Yield the references under the symbol's own name, then those under the names that imports give it."""
        until = time.monotonic() + _FOR_SEC
        done: set[str] = set()
        waiting: list[tuple[str, list[Bound]]] = [(name, []) for name in dict.fromkeys(bound.name for bound in bounds)]
        while waiting:
            name, aliases = waiting.pop(0)
            done.add(name)
            searched = [bound for bound in bounds if bound.name == name] if not aliases else [*aliases, *bounds]
            passing: dict[str, list[int]] = {bound.file: [] for bound in searched if bound.scope == 0}
            for reference in self._references(searched, side):
                if self._total_so_far >= MAX_REFERENCES or time.monotonic() > until:
                    self._cut = f"references beyond {path_text(reference.path)} were not looked at"
                    return
                if reference.role in _PASSING and reference.tier in ("PROVEN", "STRONG"):
                    passing.setdefault(reference.path, []).append(reference.offset)
                if self._request.declaration or reference.role != "DEFINITION" or aliases:
                    yield self._place(reference, name)
            yield from self._listed_exports(name, searched, passing)
            if self._only_file:
                passing = {path: places for path, places in passing.items() if path == self._path}
            for alias, paths in other_names(self._lookup.world, name, passing).items():
                if alias in done or len(done) + len(waiting) >= _MAX_ALIASES:
                    self._cut = self._cut or (None if alias in done else f"uses as {alias} were not looked at")
                    continue
                waiting.append((alias, [Bound(path, 0, alias) for path in paths]))

    def _listed_exports(
        self, name: str, bounds: list[Bound], passing: Mapping[str, list[int]]
    ) -> Iterator[ReferencePlace]:
        """Yield the places in lists of exports that are texts, as in `__all__`, of files that have the symbol."""
        world, size = self._lookup.world, len(name.encode())
        for path in passing:
            facts = world.facts(path) if not self._only_file or path == self._path else None
            for export in facts.exports if facts is not None else ():
                if facts is None or export.local != name or export.source or not facts.in_text(export.at):
                    continue
                meant = self._lookup.resolver.meaning(Bound(path, 0, name))
                at = world.text(path).find(name.encode(), export.at, export.at + size + 4)
                if at >= 0 and any(entity in bounds for entity in meant):
                    found = Reference(path=path, offset=at, tier="STRONG", role="EXPORT", receiver="")
                    yield self._place(found, name)

    def _references(self, bounds: list[Bound], side: Side) -> Iterator[Reference]:
        lookup = self._lookup
        keep = (lambda path: path == self._path) if self._only_file else None
        return references(
            lookup.world,
            self._store,
            bounds,
            keep=keep,
            receivers=False,
            resolver=lookup.resolver,
            side=side,
            documentation=True,
        )

    @property
    def _total_so_far(self) -> int:
        return self._total + _BATCH

    def _wanted(self, path: str, facts: Facts, name: NameAt) -> list[Bound]:
        bounds = list(name.bounds)
        own = self._lookup.own_binding(path, name)
        if not bounds and own is not None and own.file == path:
            # An import of something that is not here is at least a name of this file.
            self._only_file = True
            source = outside_source(name.meaning)
            why = f"it comes from outside this repository ({source})" if source else "what it means is not known"
            self._cut = f"{why}: its uses in other files are not listed"
            return [own]
        return bounds

    def _place(self, reference: Reference, name: str) -> ReferencePlace:
        self._paths.add(reference.path)
        positions = self._lookup.positions(reference.path)
        line, column = positions.place(reference.offset)
        _, end_column = positions.place(reference.offset + len(name.encode()))
        return ReferencePlace(
            path=path_text(reference.path),
            line=line,
            column=column,
            end_column=end_column,
            tier=reference.tier,
            role=reference.role,
            name=name,
        )


def _take(places: Iterator[ReferencePlace]) -> tuple[list[ReferencePlace], bool]:
    """Return the next places, and whether there are no more."""
    part: list[ReferencePlace] = []
    until = time.monotonic() + _BATCH_SEC
    for place in places:
        part.append(place)
        if len(part) >= _BATCH or time.monotonic() > until:
            return part, False
    return part, True
