"""The `symbol.` operations: what a name at a place means, its file's outline, and who refers to it."""

from collections.abc import AsyncIterator, Mapping
from pathlib import Path

from codeplane.code.languages.registry import LANGUAGES
from codeplane.index.files.paths import canonical, path_text
from codeplane.kernel.call import Call
from codeplane.kernel.errors import NotFound
from codeplane.kernel.operation import Risk, operation
from codeplane.query.knowledge import Knowledge
from codeplane.query.navigation.looking import Look, Looking, must_have_facts
from codeplane.query.navigation.positions import Positions
from codeplane.query.navigation.records import (
    OutlineEntry,
    ReferenceBatch,
    SymbolAt,
    SymbolList,
    SymbolOutline,
    SymbolPlace,
    TextColumns,
)
from codeplane.query.navigation.reference_stream import ReferenceStream
from codeplane.query.navigation.related_symbols import implementations, types
from codeplane.query.navigation.requests import (
    ColumnsRequest,
    FindRequest,
    OutlineRequest,
    ReferencesAtRequest,
    SymbolAtRequest,
)
from codeplane.query.navigation.symbol_finder import NameTables, find_symbols
from codeplane.query.navigation.symbol_lookup import MAX_PLACES, NameAt, SymbolLookup, outside_source
from codeplane.query.signature import signature

_STREAM_SEC = 120.0


class NavigationOperations:
    """Answers about places, from the index and the caller's open documents."""

    def __init__(self, *, root: Path, knowledge: Knowledge) -> None:
        self._root = root
        self._store = knowledge.store
        self._looking = Looking(root=root, knowledge=knowledge)
        self._names = NameTables(knowledge.store)

    @operation("symbol.at", risk=Risk.READ)
    async def at(self, call: Call, request: SymbolAtRequest) -> SymbolAt:
        """What the name at path, line and column means: its definitions with ranges and certainty, without counting
        references. want=type gives the type of a value, want=implementation what builds on a class or method."""
        path = canonical(request.path, root=self._root)

        def look(lookup: SymbolLookup) -> Look[SymbolAt]:
            answer = _symbol_at(lookup, path, request)
            named = (*answer.definitions, *answer.declarations)
            return Look(answer=answer, paths=frozenset([path, *(place.path for place in named)]))

        return await self._looking.answer(request, look)

    @operation("symbol.outline", risk=Risk.READ)
    async def outline(self, call: Call, request: OutlineRequest) -> SymbolOutline:
        """Every definition of a file, of every depth, with the ranges of its name and of all of it."""
        path = canonical(request.path, root=self._root)

        def look(lookup: SymbolLookup) -> Look[SymbolOutline]:
            return Look(answer=_outline(lookup, path, detail=request.detail), paths=frozenset([path]))

        return await self._looking.answer(request, look)

    @operation("symbol.find", risk=Risk.READ)
    async def find(self, call: Call, request: FindRequest) -> SymbolList:
        """Definitions whose name equals, starts with, contains or is abbreviated by the query, with their ranges."""

        def look(lookup: SymbolLookup) -> Look[SymbolList]:
            answer = find_symbols(lookup, self._store, self._names, request)
            return Look(answer=answer, paths=frozenset(symbol.path for symbol in answer.symbols))

        return await self._looking.answer_from_disk(request.columns, look)

    @operation("text.columns", risk=Risk.READ)
    async def columns(self, call: Call, request: ColumnsRequest) -> TextColumns:
        """The columns of places as another program counts them, such as in UTF-16 for editors."""
        paths = {place.path: canonical(place.path, root=self._root) for place in request.places}

        def look(lookup: SymbolLookup) -> Look[TextColumns]:
            answer = TextColumns(columns=_columns(lookup, paths, request), epoch=0, commit=None)
            return Look(answer=answer, paths=frozenset(paths.values()))

        return await self._looking.answer_from_disk(request.columns, look)

    @operation("symbol.references", risk=Risk.READ, timeout_sec=_STREAM_SEC)
    async def references(self, call: Call, request: ReferencesAtRequest) -> AsyncIterator[ReferenceBatch]:
        """Every place that refers to the name at path, line and column, or may, as they are found, with certainty;
        uses under the names that imports give it are among them. The last batch says what was not looked at."""
        path = canonical(request.path, root=self._root)
        async with self._looking.session(request) as session:
            stream = ReferenceStream(session.lookup, self._store, path, request)
            async for batch in stream.batches(session):
                yield batch


def _columns(lookup: SymbolLookup, paths: Mapping[str, str], request: ColumnsRequest) -> tuple[int, ...]:
    characters: dict[str, Positions] = {}
    found: list[int] = []
    for place in request.places:
        path = paths[place.path]
        if path not in lookup.world.snapshot.files:
            raise NotFound(f"{path_text(path)!r} is not indexed", hint="list_dir shows what is")
        positions = characters.get(path)
        if positions is None:
            positions = characters[path] = Positions(lookup.world.text(path))
        offset = positions.offset(place.line, place.column)
        if offset is None:
            raise NotFound(f"{path_text(path)} has no line {place.line}", hint="lines count from 1")
        found.append(lookup.positions(path).place(offset)[1])
    return tuple(found)


def _symbol_at(lookup: SymbolLookup, path: str, request: SymbolAtRequest) -> SymbolAt:
    facts = must_have_facts(lookup.world, path)
    offset = lookup.positions(path).offset(request.line, request.column)
    found = lookup.name_at(path, facts, offset) if offset is not None else f"there is no line {request.line}"
    if isinstance(found, str):
        return SymbolAt(unknown=found, epoch=0, commit=None)
    lookups = {"definition": None, "type": types, "implementation": implementations}
    wanted = lookups[request.want]
    if wanted is None:
        listed: list[SymbolPlace] = []
        cut: str | None = None
        for place in lookup.places(found, detail=request.detail):
            if len(listed) == MAX_PLACES:
                cut = f"only the first {MAX_PLACES} definitions are listed"
                break
            listed.append(place)
    else:
        listed, cut = wanted(lookup, path, found, detail=request.detail)
    outside = outside_source(found.meaning) if request.want == "definition" else None
    unknown = None if listed or outside else _why_unknown(found, request.want)
    nearby: list[SymbolPlace] = []
    count = 0
    if unknown and request.want == "definition":
        nearby, count = lookup.candidates(found.token.name, LANGUAGES[facts.language].group)
    return SymbolAt(
        name=found.token.name,
        name_span=lookup.span(path, found.token.start, found.token.end),
        role=found.role,
        definitions=tuple(listed),
        declarations=tuple(lookup.declaration_places(path, found)) if request.want == "definition" else (),
        outside=outside,
        unknown=unknown,
        candidates=tuple(nearby),
        candidate_count=count,
        cut=cut,
        epoch=0,
        commit=None,
    )


def _why_unknown(name: NameAt, want: str) -> str:
    if want != "definition":
        return f"no {want} of {name.token.name} is known"
    if name.meaning.how == "member":
        return f"what {name.token.name} is a member of is not known"
    return f"nothing that is known here defines {name.token.name}"


def _outline(lookup: SymbolLookup, path: str, *, detail: bool) -> SymbolOutline:
    facts = must_have_facts(lookup.world, path)
    text = lookup.world.text(path)
    return SymbolOutline(
        path=path_text(path),
        language=facts.language,
        entries=tuple(
            OutlineEntry(
                id=lookup.uid(path, facts, definition),
                kind=definition.kind,
                name=definition.name,
                container=definition.container,
                name_span=lookup.span(path, definition.name_at, definition.name_at + len(definition.name.encode())),
                span=lookup.span(path, definition.start, definition.end),
                signature=signature(facts, text, definition) if detail else "",
            )
            for definition in facts.definitions
        ),
        partial="there are more definitions than are kept" if facts.clipped else None,
        epoch=0,
        commit=None,
    )
