"""Definitions by parts of their names."""

from codeplane.index.fact_store import FactStore
from codeplane.query.navigation.records import SymbolList, SymbolPlace
from codeplane.query.navigation.requests import FindRequest
from codeplane.query.navigation.symbol_lookup import SymbolLookup
from codeplane.query.search.name_table import NameTable
from codeplane.query.search.symbols import symbols


class NameTables:
    """The table of all names, made again when they change."""

    def __init__(self, store: FactStore) -> None:
        self._store = store
        self._held: NameTable | None = None

    def newest(self) -> NameTable:
        """Return the table of the names that there are now."""
        names = self._store.all_names()
        held = self._held
        if held is None or held.names is not names:
            held = self._held = NameTable(names)
        return held


def find_symbols(lookup: SymbolLookup, store: FactStore, names: NameTables, request: FindRequest) -> SymbolList:
    """Return the definitions whose names are like a query, best first."""
    matches = symbols(lookup.world.snapshot, store, names.newest(), request.query, keep=None, kinds=())
    found: list[SymbolPlace] = []
    for place in matches.places[: request.limit]:
        symbol = place.symbol
        facts = lookup.world.facts(place.path)
        if symbol is not None and facts is not None and symbol.position < len(facts.definitions):
            found.append(lookup.definition_place(place.path, facts.definitions[symbol.position], "PROVEN"))
    left = len(matches.places) - request.limit
    more = f"{left} more definitions are like it" if left > 0 else None
    return SymbolList(
        symbols=tuple(found),
        cut=more or (None if matches.exact else "more names are like it"),
        epoch=0,
        commit=None,
    )
