"""The lines of a definition, found by its name or id."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from codeplane.code.languages.registry import languages
from codeplane.code.model import Definition
from codeplane.code.resolve.world import World
from codeplane.index.files.paths import path_text
from codeplane.index.snapshot import Snapshot
from codeplane.kernel.errors import CodePlaneError, InvalidArgument, NotFound
from codeplane.query.consistent_read import read_consistently
from codeplane.query.explain.explain import entry, only_one
from codeplane.query.knowledge import Knowledge
from codeplane.query.near_names import near_names
from codeplane.query.read.long_comments import long_comments
from codeplane.query.search.symbols import Target, targets

PREFIX = "symbol:"
_UID = re.compile(r"[0-9a-f]{16}")
_MAX_CANDIDATES = 10
_MAX_DECORATORS = 20
# Definitions of one name in a file, overloads too, are read together where they are few or have few lines.
_FEW_DEFINITIONS, _TOGETHER = 3, 150
# Of a definition of this many lines the bodies of functions inside are left out, unless they have few lines.
_LONG = 150
_FEW = 4
_FUNCTIONS = frozenset({"function", "method", "constructor"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """The lines of a definition with its decorators, both ends included."""

    path: str
    start: int
    end: int
    # First and last lines of the bodies and comments that a long definition is shown without.
    left_out: tuple[tuple[int, int], ...] = ()


def is_name(text: str) -> bool:
    """Whether a text names a definition: symbol:Class.method, or an id."""
    return text.startswith(PREFIX) or _UID.fullmatch(text) is not None


async def named_lines(knowledge: Knowledge, names: Sequence[str]) -> dict[str, list[Lines] | CodePlaneError]:
    """The lines of each name, or the error; short ones of a name in a file that is named, too, are all meant."""

    def look(snapshot: Snapshot) -> dict[str, list[Lines] | CodePlaneError]:
        world = World(snapshot, knowledge.store, knowledge.modules)
        return {name: _lines(world, knowledge, name.removeprefix(PREFIX).strip()) for name in names}

    read = await read_consistently(
        knowledge,
        look,
        lambda answer: {each.path for lines in answer.values() if isinstance(lines, list) for each in lines},
    )
    if read.partial:
        for lines in read.answer.values():
            if isinstance(lines, NotFound):
                lines.message += f" ({read.partial})"
    return read.answer


def _lines(world: World, knowledge: Knowledge, name: str) -> list[Lines] | CodePlaneError:
    if not name:
        return InvalidArgument("no symbol is named", hint="write symbol:Class.method")
    try:
        candidates = targets(world, knowledge.store, name)
    except CodePlaneError as error:
        return error
    if not candidates:
        near = near_names(knowledge.store, name)
        advice = f"; did you mean {', '.join(near)}?" if near else ""
        return NotFound(f"nothing is defined as {name!r}{advice}", hint="search finds names: mode=symbol")
    chosen, _ = only_one(candidates)
    in_file = name.rpartition(":")[0] in world.snapshot.files
    if chosen is None and in_file:
        together = _join([lines for target in candidates for lines in _of(world, target)])
        if len(candidates) <= _FEW_DEFINITIONS or _count(together) <= _TOGETHER:
            return together
    if chosen is None:
        listed = "; ".join(entry(target).text() for target in candidates[:_MAX_CANDIDATES])
        more = f"; and {len(candidates) - _MAX_CANDIDATES} more" if len(candidates) > _MAX_CANDIDATES else ""
        return InvalidArgument(
            f"{len(candidates)} definitions are called {name!r}: {listed}{more}", hint="ask again with one of the ids"
        )
    if chosen.definition is None:
        return NotFound(f"{name!r} has no definition of its own in {path_text(chosen.bound.file)}")
    overloads = _of(world, chosen)
    together = _join(overloads)
    return together if _count(together) <= _TOGETHER else overloads[:1]


def _count(found: Sequence[Lines]) -> int:
    return sum(lines.end - lines.start + 1 for lines in found)


def _join(found: Sequence[Lines]) -> list[Lines]:
    """Lines in order, those that touch as one."""
    joined: list[Lines] = []
    for lines in sorted(found, key=lambda each: each.start):
        if joined and lines.start <= joined[-1].end + 2:
            before = joined.pop()
            lines = replace(before, end=max(before.end, lines.end), left_out=(*before.left_out, *lines.left_out))
        joined.append(lines)
    return joined


def _of(world: World, chosen: Target) -> list[Lines]:
    """The lines of a target's definition, then those of its overloads."""
    if chosen.definition is None:
        return []
    facts, target = world.facts(chosen.bound.file), chosen.definition
    same = facts.definitions_by_binding.get((target.scope, target.name), ()) if facts is not None else ()
    overloads = [facts.definitions[index] for index in same] if facts is not None else []
    found = [target, *(each for each in overloads if each.start != target.start)]
    return [_lines_of(world, chosen.bound.file, definition) for definition in found]


def _lines_of(world: World, path: str, target: Definition) -> Lines:
    above = world.text(path)[: target.start].split(b"\n")[:-1]
    start = len(above) + 1
    for line in reversed(above[-_MAX_DECORATORS:]):
        if not line.strip().startswith((b"@", b"#[")):
            break
        start -= 1
    bodies = _bodies(world, path, target) if target.end_line - target.line >= _LONG else ()
    comments = _comments(world, path, start, target, bodies) if bodies else ()
    return Lines(path=path, start=start, end=target.end_line, left_out=tuple(sorted({*bodies, *comments})))


def _bodies(world: World, path: str, target: Definition) -> tuple[tuple[int, int], ...]:
    """The lines inside functions that a definition consists of, where leaving them out saves some."""
    facts, text = world.facts(path), world.text(path)
    bodies: list[tuple[int, int]] = []
    for inner in facts.definitions if facts is not None else ():
        last = bodies[-1][1] if bodies else 0
        if not (target.start < inner.start and inner.end <= target.end and inner.kind in _FUNCTIONS):
            continue
        braced = text[inner.body : inner.body + 1] == b"{"
        first = text.count(b"\n", 0, inner.body) + 1 + braced
        end = inner.end_line - braced
        if first > max(last, inner.line) and end - first >= _FEW:
            bodies.append((first, end))
    return tuple(bodies)


def _comments(
    world: World, path: str, start: int, target: Definition, bodies: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """The lines of long comments and of the docstring outside of bodies."""
    facts, text = world.facts(path), world.text(path)
    language = languages().by_name.get(facts.language) if facts is not None else None
    if language is None:
        return []
    rows = text.split(b"\n")[start - 1 : target.end_line]
    docstring = text.count(b"\n", 0, target.body) + 1 - start if language.docstrings else -1
    in_bodies = {line - start for first, last in bodies for line in range(first, last + 1)}
    found = long_comments(rows, language.comments, in_bodies, docstring)
    return [(start + first, start + last) for first, last in found]
