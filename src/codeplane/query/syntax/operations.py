"""The `syntax.` operations: folds, selections, problems and the kinds of names of a file."""

from pathlib import Path

import tree_sitter
from pydantic import BaseModel, ConfigDict, Field

from codeplane.index.files.paths import canonical, path_text
from codeplane.kernel.call import Call
from codeplane.kernel.operation import Risk, operation
from codeplane.query.knowledge import Knowledge
from codeplane.query.navigation.looking import Look, Looking, must_have_facts
from codeplane.query.navigation.records import Span
from codeplane.query.navigation.requests import FileRequest
from codeplane.query.navigation.symbol_lookup import SymbolLookup
from codeplane.query.syntax.folding import MAX_FOLDS, folds
from codeplane.query.syntax.name_kinds import KINDS, MAX_TOKENS, name_kinds
from codeplane.query.syntax.problems import MAX_PROBLEMS, problems
from codeplane.query.syntax.records import Folds, NameTokens, Selections, SyntaxProblem, SyntaxProblems

_MAX_PLACES = 200
_MAX_AROUND = 100


class Place(BaseModel):
    """A place in a file; lines and columns count from 1."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    line: int = Field(ge=1, le=2**31)
    column: int = Field(ge=1, le=2**31)


class SelectionRequest(FileRequest):
    """Places in a file."""

    places: tuple[Place, ...] = Field(min_length=1, max_length=_MAX_PLACES)


class SyntaxOperations:
    """Answers about the syntax of files, from the index and the caller's open documents."""

    def __init__(self, *, root: Path, knowledge: Knowledge) -> None:
        self._root = root
        self._looking = Looking(root=root, knowledge=knowledge)

    @operation("syntax.folds", risk=Risk.READ)
    async def folds(self, call: Call, request: FileRequest) -> Folds:
        """What can be folded in a file: definitions, blocks, comments and imports, by lines."""
        path = canonical(request.path, root=self._root)

        def look(lookup: SymbolLookup) -> Look[Folds]:
            found, whole = folds(_tree(lookup, path))
            cut = None if whole else f"only the first {MAX_FOLDS} are listed"
            answer = Folds(path=path_text(path), folds=tuple(found), cut=cut, epoch=0, commit=None)
            return Look(answer=answer, paths=frozenset([path]))

        return await self._looking.answer(request, look)

    @operation("syntax.selection", risk=Risk.READ)
    async def selection(self, call: Call, request: SelectionRequest) -> Selections:
        """The stretches of syntax around places of a file, each from the innermost to the whole file."""
        path = canonical(request.path, root=self._root)

        def look(lookup: SymbolLookup) -> Look[Selections]:
            root = _tree(lookup, path)
            found = tuple(_around(lookup, path, root, place) for place in request.places)
            answer = Selections(path=path_text(path), selections=found, epoch=0, commit=None)
            return Look(answer=answer, paths=frozenset([path]))

        return await self._looking.answer(request, look)

    @operation("syntax.problems", risk=Risk.READ)
    async def problems(self, call: Call, request: FileRequest) -> SyntaxProblems:
        """Places of a file that the grammar of its language does not know."""
        path = canonical(request.path, root=self._root)

        def look(lookup: SymbolLookup) -> Look[SyntaxProblems]:
            found, whole = problems(_tree(lookup, path), lookup.world.text(path))
            answer = SyntaxProblems(
                path=path_text(path),
                problems=tuple(
                    SyntaxProblem(span=lookup.span(path, start, end), message=message) for start, end, message in found
                ),
                cut=None if whole else f"only the first {MAX_PROBLEMS} are listed",
                epoch=0,
                commit=None,
            )
            return Look(answer=answer, paths=frozenset([path]))

        return await self._looking.answer(request, look)

    @operation("syntax.names", risk=Risk.READ)
    async def names(self, call: Call, request: FileRequest) -> NameTokens:
        """The names of a file with what they are: class, function, parameter and so on."""
        path = canonical(request.path, root=self._root)

        def look(lookup: SymbolLookup) -> Look[NameTokens]:
            facts, text = must_have_facts(lookup.world, path), lookup.world.text(path)
            positions = lookup.positions(path)
            rows: list[tuple[int, int, int, int, bool]] = []
            cut = None
            for start, end, kind, declared in name_kinds(lookup.resolver, path, facts, text):
                if len(rows) >= MAX_TOKENS:
                    cut = f"only the first {MAX_TOKENS} are listed"
                    break
                line, column = positions.place(start)
                rows.append((line, column, positions.place(end)[1] - column, KINDS.index(kind), declared))
            answer = NameTokens(path=path_text(path), kinds=KINDS, rows=tuple(rows), cut=cut, epoch=0, commit=None)
            return Look(answer=answer, paths=frozenset([path]))

        return await self._looking.answer(request, look)


def _tree(lookup: SymbolLookup, path: str) -> tree_sitter.Node:
    """Return the root of a file's syntax tree."""
    must_have_facts(lookup.world, path)
    root = lookup.resolver.syntax.root(path)
    assert root is not None, "a file with facts has a tree"
    return root


def _around(lookup: SymbolLookup, path: str, root: tree_sitter.Node, place: Place) -> tuple[Span, ...]:
    offset = lookup.positions(path).offset(place.line, place.column)
    if offset is None:
        return ()
    node = root.descendant_for_byte_range(offset, offset)
    found: list[Span] = []
    last: tuple[int, int] | None = None
    while node is not None and len(found) < _MAX_AROUND:
        if (node.start_byte, node.end_byte) != last:
            last = (node.start_byte, node.end_byte)
            found.append(lookup.span(path, *last))
        node = node.parent
    return tuple(found)
