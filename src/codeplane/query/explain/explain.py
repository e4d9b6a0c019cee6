"""The `explain_symbol` operation: a symbol's definition, members, references and tests in one answer."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pydantic import Field

from codeplane.code.entity import Bound
from codeplane.code.model import Definition, Facts
from codeplane.code.resolve.resolver import Resolver
from codeplane.code.resolve.world import World
from codeplane.index.fact_store import FactStore, Symbol
from codeplane.index.files.paths import path_text
from codeplane.index.path_kinds import is_copy, is_test
from codeplane.index.snapshot import Snapshot
from codeplane.kernel.call import Call
from codeplane.kernel.errors import CodePlaneError, NotFound
from codeplane.kernel.operation import Risk, operation
from codeplane.kernel.workspace_request import WorkspaceRequest
from codeplane.query.consistent_read import read_consistently
from codeplane.query.explain.explanation import (
    ExplainResult,
    Explanation,
    Member,
    SymbolEntry,
)
from codeplane.query.explain.file_outline import outline_file
from codeplane.query.explain.reference_summary import summarise_references
from codeplane.query.knowledge import Knowledge
from codeplane.query.near_names import near_names
from codeplane.query.search.matches import Place
from codeplane.query.search.scope import Keep, scope
from codeplane.query.search.symbols import Target, targets
from codeplane.query.signature import doc, signature

_MAX_CANDIDATES = 30
_MAX_FILES = 10
_MAX_ELSEWHERE = 5
_MAX_MEMBERS = 40
_MAX_BASES = 8
_MAX_SOURCE_LINES = 40
# Of a long function as much as people read at first.
_FIRST_SOURCE_LINES = 30
_CALLABLES = frozenset({"function", "method", "constructor"})
_FOR_TESTS_SEC = 5.0


class ExplainRequest(WorkspaceRequest):
    """Which symbol, and how long the answer may be."""

    symbol: str = Field(
        min_length=1,
        max_length=2000,
        description="name, Class.method, path:name, path:line[:column], id, or files: a.py b.py",
    )
    paths: tuple[str, ...] = Field((), description="globs or folders it is defined in", max_length=100)
    budget: int = Field(4_000, ge=800, le=20_000, description="characters of text")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """What a snapshot has for a query: one symbol, several, or none with similar names."""

    explanation: Explanation | None = None
    files: tuple[Explanation, ...] = ()
    candidates: tuple[Target, ...] = ()
    in_tests: int = 0
    near: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    paths: frozenset[str] = frozenset()


class TestFinder(Protocol):
    """Finds the tests of a file."""

    async def test_files(self, snapshot: Snapshot, path: str) -> tuple[str, ...] | None: ...


class ExplainOperations:
    """Explains symbols."""

    def __init__(self, *, root: Path, knowledge: Knowledge, tests: TestFinder | None = None) -> None:
        self._root = root
        self._knowledge = knowledge
        self._tests = tests

    @operation("explain_symbol", risk=Risk.READ, toolset="core")
    async def explain_symbol(self, call: Call, request: ExplainRequest) -> ExplainResult:
        """A symbol's definition, doc, bases, members, references by certainty and tests, by name, Class.method,
        path:line[:column] or id; several of a name are listed with ids, and paths picks among them. Files give their
        outlines and the tests that reach them."""
        keep = scope(request.paths, (), "include", self._root)
        read = await read_consistently(
            self._knowledge,
            lambda snapshot: self._look(call, snapshot, request.symbol.strip(), keep),
            lambda look: look.paths,
        )
        look = read.answer
        if look.explanation is None and not look.candidates and not look.files:
            raise _not_found(request.symbol, look, read.partial)
        explanation = look.explanation
        if explanation is not None and explanation.kind == "file":
            explanation = await self._with_tests(read.snapshot, explanation, request.symbol.strip())
        return ExplainResult(
            explanation=explanation,
            files=tuple(
                [
                    await self._with_tests(read.snapshot, file, path)
                    for file, path in zip(look.files, request.symbol.split(), strict=False)
                ]
            ),
            candidates=tuple(entry(candidate) for candidate in look.candidates[:_MAX_CANDIDATES]),
            candidate_count=len(look.candidates),
            also_in_tests=look.in_tests,
            budget=request.budget,
            epoch=read.snapshot.epoch,
            commit=read.snapshot.commit,
            partial=read.partial,
            stale=read.stale,
        )

    async def _with_tests(self, snapshot: Snapshot, explanation: Explanation, path: str) -> Explanation:
        """The outline of a file with the tests that reach it, where they are known in time."""
        found: tuple[str, ...] | None = None
        if self._tests is None or is_test(explanation.path):
            return explanation
        with suppress(TimeoutError, CodePlaneError):
            async with asyncio.timeout(_FOR_TESTS_SEC):
                found = await self._tests.test_files(snapshot, path.removeprefix("./"))
        known = {"test_files": tuple(map(path_text, found))} if found is not None else {"tests_unknown": True}
        return explanation.model_copy(update=known)

    def _look(self, call: Call, snapshot: Snapshot, symbol: str, keep: Keep | None) -> _Look:
        store = self._knowledge.store
        world = World(snapshot, store, self._knowledge.modules)
        path = symbol.removeprefix("./")
        if path in snapshot.files and (file := outline_file(world, store, path)) is not None:
            return _Look(explanation=file, paths=frozenset({path}))
        if len(several := [part.removeprefix("./") for part in symbol.split()]) > 1:
            files = [
                outline_file(world, store, part) if part in snapshot.files else None for part in several[:_MAX_FILES]
            ]
            if None not in files:
                if len(several) > _MAX_FILES:
                    call.warn(f"the first {_MAX_FILES} of {len(several)} files: ask for the others by themselves")
                return _Look(files=tuple(file for file in files if file), paths=frozenset(several[:_MAX_FILES]))
        everywhere = targets(world, store, symbol.removeprefix("./"))
        targets_kept = [target for target in everywhere if keep is None or keep(target.bound.file)]
        if not targets_kept and everywhere:
            return _Look(elsewhere=tuple(entry(target).text() for target in everywhere[:_MAX_ELSEWHERE]))
        if not targets_kept:
            return _Look(near=near_names(store, symbol))
        chosen, in_tests = only_one(targets_kept)
        if chosen is None:
            return _Look(
                candidates=tuple(targets_kept),
                paths=frozenset(target.bound.file for target in targets_kept[:_MAX_CANDIDATES]),
            )
        explanation, paths = _explain(call, world, store, chosen)
        return _Look(explanation=explanation, in_tests=in_tests, paths=paths)


def only_one(candidates: list[Target]) -> tuple[Target | None, int]:
    """The only target, or the only one outside tests and copies, with the number of the others."""
    written = [target for target in candidates if not is_test(target.bound.file) and not is_copy(target.bound.file)]
    if len(candidates) == 1:
        return candidates[0], 0
    return (written[0], len(candidates) - 1) if len(written) == 1 else (None, 0)


def entry(target: Target) -> SymbolEntry:
    """A target as a list entry."""
    symbol = target.symbol
    return SymbolEntry(
        id=symbol.uid if symbol else None,
        kind=symbol.kind if symbol else "name",
        name=target.bound.name,
        qualified_name=symbol.path if symbol else target.bound.name,
        path=path_text(target.bound.file),
        line=symbol.line if symbol else 0,
    )


def _not_found(symbol: str, look: _Look, partial: str | None) -> NotFound:
    near = look.near
    if look.elsewhere:
        return NotFound(
            f"nothing is defined as {symbol!r} in the paths given", hint=f"elsewhere: {'; '.join(look.elsewhere)}"
        )
    hint = f"did you mean {', '.join(near)}?" if near else "search finds text and parts of names: mode=symbol"
    return NotFound(
        f"nothing is defined as {symbol!r}" + (f" ({partial})" if partial else ""),
        hint=hint,
        details={"near": list(near)},
    )


def _explain(call: Call, world: World, store: FactStore, target: Target) -> tuple[Explanation, frozenset[str]]:
    bound, definition = target.bound, target.definition
    facts, text = world.facts(bound.file), world.text(bound.file)
    summary, paths = summarise_references(world, store, target)
    if definition is None or facts is None:
        offset = _first_place(facts, bound)
        hit = Place(path=bound.file, offset=offset).hit(world.snapshot, 0)
        return Explanation(
            id=None,
            kind="name",
            name=bound.name,
            qualified_name=bound.name,
            path=path_text(bound.file),
            line=hit.line,
            end_line=hit.line,
            signature=hit.snippet.strip(),
            references=summary,
        ), paths | {bound.file}
    symbol = target.symbol
    inside = {row.position: row for row in store.in_file(bound.file, limit=10_000)}
    members = _members(facts, text, symbol.position if symbol else -1, inside)
    container = facts.definitions[definition.container].path if definition.container >= 0 else None
    source, left_out = _source(call, text, definition)
    return Explanation(
        id=symbol.uid if symbol else None,
        kind=definition.kind,
        name=definition.name,
        qualified_name=definition.path,
        path=path_text(bound.file),
        line=definition.line,
        end_line=definition.end_line,
        signature=signature(facts, text, definition),
        source=source,
        source_left_out=left_out,
        doc=_doc(facts, text, definition),
        container=container,
        bases=_bases(world, bound, definition),
        members=tuple(members[:_MAX_MEMBERS]),
        member_count=len(members),
        references=summary,
    ), paths | {bound.file}


def _source(call: Call, text: bytes, definition: Definition) -> tuple[str | None, int]:
    """The lines of a definition as they can be edited, and how many are left out: most of a long class, which has an
    outline, and the end of a long function."""
    count, shown = definition.end_line - definition.line + 1, 0
    if count <= _MAX_SOURCE_LINES:
        shown = count
    elif definition.kind in _CALLABLES:
        shown = _FIRST_SOURCE_LINES
    if not shown:
        return None, count
    lines = text.split(b"\n")
    begin = sum(len(line) + 1 for line in lines[: definition.line - 1])
    size = len(b"\n".join(lines[definition.line - 1 : definition.line - 1 + shown]))
    # A secret that reaches beyond these lines is redacted as in the whole file.
    part = call.part(text, begin, begin + size)
    return part.replace(b"\r\n", b"\n").rstrip().decode("utf-8", "replace"), count - shown


def _doc(facts: Facts, text: bytes, definition: Definition) -> str | None:
    """The documentation of a definition; of overloads, the last that has any."""
    documentation = doc(facts, text, definition)
    for index in reversed(facts.definitions_by_binding.get((definition.scope, definition.name), [])):
        documentation = documentation or doc(facts, text, facts.definitions[index])
    return documentation or None


def _first_place(facts: Facts | None, bound: Bound) -> int:
    rows = facts.rows_by_binding.get((bound.scope, bound.name), []) if facts else []
    return facts.bind_at(rows[0]) if facts is not None and rows else 0


def _members(facts: Facts, text: bytes, position: int, inside: dict[int, Symbol]) -> list[Member]:
    """Members, public first, then in file order; a name set twice is one member."""
    members: dict[tuple[str, str], Member] = {}
    for index, definition in enumerate(facts.definitions):
        if position >= 0 and definition.container == position:
            row = inside.get(index)
            members.setdefault(
                (definition.name, definition.signature),
                Member(
                    id=row.uid if row else None,
                    kind=definition.kind,
                    name=definition.name,
                    line=definition.line,
                    signature=signature(facts, text, definition),
                ),
            )
    order = {"variable": 1, "constant": 1, "field": 2}
    return sorted(
        members.values(), key=lambda member: (member.name.startswith("_"), order.get(member.kind, 0), member.line)
    )


def _bases(world: World, bound: Bound, definition: Definition) -> tuple[str, ...]:
    """The base classes of a class, in lookup order."""
    if definition.bases is None:
        return ()
    line, whole = Resolver(world).line_of(bound)
    names = []
    for base in line[1 : 1 + _MAX_BASES]:
        facts = world.facts(base.file)
        rows = facts.definitions_by_binding.get((base.scope, base.name), []) if facts else []
        at = f":{facts.definitions[rows[0]].line}" if facts and rows else ""
        names.append(f"{base.name} ({path_text(base.file)}{at})")
    if len(line) > 1 + _MAX_BASES:
        names.append(f"and {len(line) - 1 - _MAX_BASES} more")
    # With none of ours among them, the signature says all there is.
    return (*names, "others that are not of this repository") if names and not whole else tuple(names)
