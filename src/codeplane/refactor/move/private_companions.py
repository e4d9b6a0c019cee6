"""Private names that only a moved symbol uses: they move with it, as an import of them back would make a cycle."""

import re
from collections.abc import Iterator, Sequence

from codeplane.code.entity import Bound
from codeplane.code.languages.expression import receiver
from codeplane.code.model import REASONS, Facts
from codeplane.code.resolve.occurrences import occurrences
from codeplane.code.resolve.references import references
from codeplane.code.resolve.resolver import Resolver
from codeplane.code.resolve.world import World
from codeplane.index.fact_store import FactStore
from codeplane.kernel.errors import NotRefactorable
from codeplane.refactor.move.python_cut import Piece, cut_symbol

_PRIVATE = re.compile(rb"(?<![\w.\x80-\xff])_(?!_)[\w\x80-\xff]*")
_IMPORTED = REASONS.index("IMPORT_ALIAS")
_MOST = 50


def private_companions(
    world: World, store: FactStore, resolver: Resolver, bound: Bound, to_path: str, pieces: Sequence[Piece]
) -> dict[str, list[Piece]]:
    """Return the private names of the old module that go along, each with the statements that define it."""
    facts, text = world.facts(bound.file), world.text(bound.file)
    assert facts is not None
    going: dict[str, list[Piece]] = {}
    refused: set[str] = {bound.name}
    cut = list(pieces)
    is_more = True
    while is_more and len(going) < _MOST:
        is_more = False
        for name in _private_names(resolver, facts, text, bound.file, cut):
            if name in going or name in refused:
                continue
            found = _companion(world, resolver, store, facts, text, Bound(bound.file, 0, name), to_path, cut)
            if found is None:
                continue
            going[name] = found
            cut += found
            is_more = True
    return going


def _private_names(resolver: Resolver, facts: Facts, text: bytes, path: str, pieces: Sequence[Piece]) -> Iterator[str]:
    """Yield the private names of the module that the pieces use."""
    for piece in list(pieces):
        for match in _PRIVATE.finditer(text, piece.start, piece.end):
            at, name = match.start(), match[0].decode("utf-8", "replace")
            if facts.in_text(at) or at in facts.labels or receiver(text, at, facts.in_text) != ():
                continue
            if resolver.lexical(path, facts, at, name) == Bound(path, 0, name):
                yield name


def _companion(
    world: World,
    resolver: Resolver,
    store: FactStore,
    facts: Facts,
    text: bytes,
    private: Bound,
    to_path: str,
    pieces: Sequence[Piece],
) -> list[Piece] | None:
    """Return the statements of a private name; None if others use it or it cannot be moved."""
    there = world.facts(to_path) if to_path in world.snapshot.files else None
    if there is not None and (0, private.name) in there.rows_by_binding:
        return None
    rows = facts.rows_by_binding.get((0, private.name), [])
    if any(facts.bind_reason(row) == _IMPORTED for row in rows):
        return None
    try:
        own = cut_symbol(private, facts, text)
    except NotRefactorable:
        return None
    inside = [*pieces, *own]
    for at in occurrences(text, private.name):
        # A string or comment outside may mean it, too.
        if not any(piece.begin <= at < piece.until for piece in inside) and (
            facts.in_text(at) or resolver.lexical(private.file, facts, at, private.name) in (private, None)
        ):
            return None
    if any(reference.path != private.file for reference in references(world, store, [private], receivers=False)):
        return None
    return own
