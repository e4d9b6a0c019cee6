"""The `explain_symbol` operation: everything worth knowing of one symbol, in one answer."""

import difflib
import re
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from codeplane.code.model import Definition, Facts
from codeplane.code.resolve.entity import Bound
from codeplane.code.resolve.references import Reference, references
from codeplane.code.resolve.resolver import Resolver
from codeplane.code.resolve.tier import SURE, TIERS
from codeplane.code.resolve.world import World
from codeplane.index.fact_store import FactStore, Symbol
from codeplane.index.files.paths import shown
from codeplane.index.path_kinds import is_copy, is_test
from codeplane.index.snapshot import Snapshot
from codeplane.kernel.call import Call
from codeplane.kernel.errors import NotFound
from codeplane.kernel.operation import Risk, operation
from codeplane.kernel.workspace_request import WorkspaceRequest
from codeplane.query.consistent_read import settled
from codeplane.query.explain.explanation import ExplainResult, Explanation, Member, ReferenceSummary, SymbolEntry
from codeplane.query.explain.file_outline import outlined
from codeplane.query.knowledge import Knowledge
from codeplane.query.search.matches import Place
from codeplane.query.search.scope import Keep, scope
from codeplane.query.search.symbols import Target, targets
from codeplane.query.signature import doc, signature

_MAX_CANDIDATES = 30
_MAX_ELSEWHERE = 5
_MAX_MEMBERS = 40
_MAX_BASES = 8
_MAX_LINES = 8
_PER_FILE = 2
_MAX_REFERENCES = 20_000
_MAX_TESTS = 20
_MAX_CHECKED = 2_000
_FOR_SEC = 2.0
_MAX_NEAR = 50_000


class ExplainRequest(WorkspaceRequest):
    """Which symbol, and how long the answer may be."""

    symbol: str = Field(
        min_length=1, max_length=1000, description="name, Class.method, path:line, path:line:column, id, or a file"
    )
    paths: tuple[str, ...] = Field((), description="globs or folders it is defined in", max_length=100)
    budget: int = Field(4_000, ge=800, le=20_000, description="characters of text")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """What one look at a snapshot found: one symbol, several, or none with what is called nearly so."""

    explanation: Explanation | None = None
    candidates: tuple[Target, ...] = ()
    in_tests: int = 0
    near: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    paths: frozenset[str] = frozenset()


class ExplainOperations:
    """Explains symbols."""

    def __init__(self, *, root: Path, knowledge: Knowledge) -> None:
        self._root = root
        self._knowledge = knowledge

    @operation("explain_symbol", risk=Risk.READ, toolset="core")
    async def explain_symbol(self, call: Call, request: ExplainRequest) -> ExplainResult:
        """A symbol's definition, doc, bases, members, references by certainty and tests, by name, Class.method,
        path:line[:column] or id; several of a name are listed with ids, and paths picks among them. A file's path gives
        its outline."""
        keep = scope(request.paths, (), "include", self._root)
        found = await settled(
            self._knowledge,
            lambda snapshot: self._look(snapshot, request.symbol.strip(), keep),
            lambda look: look.paths,
        )
        look = found.answer
        if look.explanation is None and not look.candidates:
            raise _not_found(request.symbol, look, found.partial)
        return ExplainResult(
            explanation=look.explanation,
            candidates=tuple(entry(one) for one in look.candidates[:_MAX_CANDIDATES]),
            candidate_count=len(look.candidates),
            also_in_tests=look.in_tests,
            budget=request.budget,
            epoch=found.snapshot.epoch,
            commit=found.snapshot.commit,
            partial=found.partial,
            stale=found.stale,
        )

    def _look(self, snapshot: Snapshot, symbol: str, keep: Keep | None) -> _Look:
        store = self._knowledge.store
        world = World(snapshot, store, self._knowledge.modules)
        path = symbol.removeprefix("./")
        if path in snapshot.files and (file := outlined(world, store, path)) is not None:
            return _Look(explanation=file, paths=frozenset({path}))
        everywhere = targets(world, store, symbol.removeprefix("./"))
        found = [one for one in everywhere if keep is None or keep(one.bound.file)]
        if not found and everywhere:
            return _Look(elsewhere=tuple(entry(one).text() for one in everywhere[:_MAX_ELSEWHERE]))
        if not found:
            return _Look(near=near_names(store, symbol))
        chosen, in_tests = only_one(found)
        if chosen is None:
            return _Look(candidates=tuple(found), paths=frozenset(one.bound.file for one in found[:_MAX_CANDIDATES]))
        explanation, paths = _explained(world, store, chosen)
        return _Look(explanation=explanation, in_tests=in_tests, paths=paths)


def only_one(found: list[Target]) -> tuple[Target | None, int]:
    """The one that is plainly meant: the only one, or the only one that is neither test nor built; how many are."""
    written = [one for one in found if not is_test(one.bound.file) and not is_copy(one.bound.file)]
    if len(found) == 1:
        return found[0], 0
    return (written[0], len(found) - 1) if len(written) == 1 else (None, 0)


def entry(one: Target) -> SymbolEntry:
    """A target as it is listed."""
    symbol = one.symbol
    return SymbolEntry(
        id=symbol.uid if symbol else None,
        kind=symbol.kind if symbol else "name",
        name=one.bound.name,
        qualified_name=symbol.path if symbol else one.bound.name,
        path=shown(one.bound.file),
        line=symbol.line if symbol else 0,
    )


def near_names(store: FactStore, symbol: str) -> tuple[str, ...]:
    """Names that are spelled nearly as the last part of what was asked for."""
    wanted = re.split(r"::|[.#]", symbol.removesuffix("()"))[-1]
    low = wanted.lower()
    alike = [name for name in store.all_names() if abs(len(name) - len(wanted)) <= 4 or low in name.lower()]
    by_case: dict[str, list[str]] = {}
    for name in alike[:_MAX_NEAR]:
        by_case.setdefault(name.lower(), []).append(name)
    found = difflib.get_close_matches(low, by_case, n=5, cutoff=0.6)
    # Spelled as it was meant first: `Client` for `Clinet`.
    return tuple(
        name
        for near in found
        for name in sorted(by_case[near], key=lambda one: (one[:1].isupper() != wanted[:1].isupper(), one))
    )[:5]


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


def _explained(world: World, store: FactStore, target: Target) -> tuple[Explanation, frozenset[str]]:
    bound, one = target.bound, target.definition
    facts, text = world.facts(bound.file), world.text(bound.file)
    summary, paths = _references(world, store, target)
    if one is None or facts is None:
        offset = _first_place(facts, bound)
        hit = Place(path=bound.file, offset=offset).hit(world.snapshot, 0)
        return Explanation(
            id=None,
            kind="name",
            name=bound.name,
            qualified_name=bound.name,
            path=shown(bound.file),
            line=hit.line,
            end_line=hit.line,
            signature=hit.snippet.strip(),
            references=summary,
        ), paths | {bound.file}
    symbol = target.symbol
    inside = {row.position: row for row in store.in_file(bound.file, limit=10_000)}
    members = _members(facts, text, symbol.position if symbol else -1, inside)
    container = facts.definitions[one.container].path if one.container >= 0 else None
    return Explanation(
        id=symbol.uid if symbol else None,
        kind=one.kind,
        name=one.name,
        qualified_name=one.path,
        path=shown(bound.file),
        line=one.line,
        end_line=one.end_line,
        signature=signature(facts, text, one),
        doc=_doc(facts, text, one),
        container=container,
        bases=_bases(world, bound, one),
        members=tuple(members[:_MAX_MEMBERS]),
        member_count=len(members),
        references=summary,
    ), paths | {bound.file}


def _doc(facts: Facts, text: bytes, one: Definition) -> str | None:
    """What its author wrote of it; of several definitions of a name, as overloads are, the last that says something."""
    said = doc(facts, text, one)
    for index in reversed(facts.declared.get((one.scope, one.name), [])):
        said = said or doc(facts, text, facts.definitions[index])
    return said or None


def _first_place(facts: Facts | None, bound: Bound) -> int:
    rows = facts.bound.get((bound.scope, bound.name), []) if facts else []
    return facts.bind_at(rows[0]) if facts is not None and rows else 0


def _members(facts: Facts, text: bytes, position: int, inside: dict[int, Symbol]) -> list[Member]:
    """Public ones first, each in the order of the file; what a name is set to twice is one member."""
    found: dict[tuple[str, str], Member] = {}
    for index, one in enumerate(facts.definitions):
        if position >= 0 and one.container == position:
            row = inside.get(index)
            found.setdefault(
                (one.name, one.signature),
                Member(
                    id=row.uid if row else None,
                    kind=one.kind,
                    name=one.name,
                    line=one.line,
                    signature=signature(facts, text, one),
                ),
            )
    order = {"variable": 1, "constant": 1, "field": 2}
    return sorted(found.values(), key=lambda one: (one.name.startswith("_"), order.get(one.kind, 0), one.line))


def _bases(world: World, bound: Bound, one: Definition) -> tuple[str, ...]:
    """The classes a class is built on, in the order members are looked up."""
    if one.bases is None:
        return ()
    line, whole = Resolver(world).line_of(bound)
    said = []
    for base in line[1 : 1 + _MAX_BASES]:
        facts = world.facts(base.file)
        rows = facts.declared.get((base.scope, base.name), []) if facts else []
        at = f":{facts.definitions[rows[0]].line}" if facts and rows else ""
        said.append(f"{base.name} ({shown(base.file)}{at})")
    if len(line) > 1 + _MAX_BASES:
        said.append(f"and {len(line) - 1 - _MAX_BASES} more")
    # With none of ours among them, the signature says all there is.
    return (*said, "others that are not of this repository") if said and not whole else tuple(said)


def _references(world: World, store: FactStore, target: Target) -> tuple[ReferenceSummary, frozenset[str]]:
    tiers: Counter[str] = Counter()
    files: set[str] = set()
    tests: Counter[str] = Counter()
    found: list[Reference] = []
    exact, until = True, time.monotonic() + _FOR_SEC
    for one in references(world, store, [target.bound], receivers=False):
        if one.role == "DEFINITION":
            continue
        if len(found) >= _MAX_REFERENCES or time.monotonic() > until:
            exact = False
            break
        found.append(one)
        tiers[one.tier] += 1
        files.add(one.path)
        if is_test(one.path):
            tests[one.path] += 1
    best = _telling(found, target.bound.file)
    size = len(target.bound.name.encode())
    hits = [Place(path=one.path, offset=one.offset, length=size, tier=one.tier).hit(world.snapshot, 0) for one in best]
    ranked = sorted(tests, key=lambda path: (-tests[path], path))
    summary = ReferenceSummary(
        total=len(found),
        total_is_exact=exact and not world.missing,
        tiers={tier: tiers[tier] for tier in TIERS if tiers[tier]},
        files=len(files),
        lines=tuple(hits),
        not_shown=len(found) - len(hits),
        tests={shown(path): tests[path] for path in ranked[:_MAX_TESTS]},
        test_count=len(tests),
    )
    # Whatever is counted is looked at again before the answer leaves, what it names first.
    named = dict.fromkeys([*(one.path for one in best), *ranked, *sorted(files)])
    return summary, frozenset(list(named)[:_MAX_CHECKED])


def _telling(found: list[Reference], home: str) -> list[Reference]:
    """A few uses: the surest first, those of other files before its own, imports and tests last."""
    order = sorted(
        range(len(found)),
        key=lambda index: (
            is_test(found[index].path),
            found[index].tier not in SURE,
            found[index].role == "IMPORT",
            found[index].path == home,
            index,
        ),
    )
    chosen: list[int] = []
    held: Counter[str] = Counter()
    for index in order:
        if len(chosen) < _MAX_LINES and held[found[index].path] < _PER_FILE:
            held[found[index].path] += 1
            chosen.append(index)
    places = {found[index].path: place for place, index in reversed(list(enumerate(chosen)))}
    return sorted((found[index] for index in chosen), key=lambda one: (places[one.path], one.offset))
