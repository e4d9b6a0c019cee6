"""The lines of a definition, for those who read by name or id instead of by path."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from codeplane.code.resolve.world import World
from codeplane.index.files.paths import shown
from codeplane.index.snapshot import Snapshot
from codeplane.kernel.errors import CodePlaneError, InvalidArgument, NotFound
from codeplane.query.consistent_read import settled
from codeplane.query.explain.explain import entry, near_names, only_one
from codeplane.query.knowledge import Knowledge
from codeplane.query.search.symbols import targets

PREFIX = "symbol:"
_UID = re.compile(r"[0-9a-f]{16}")
_MAX_CANDIDATES = 10
_MAX_DECORATORS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """Where a definition is, with the decorators above it; both ends included."""

    path: str
    start: int
    end: int


def is_name(text: str) -> bool:
    """Whether an entry asks for a definition: symbol:Class.method, or an id."""
    return text.startswith(PREFIX) or _UID.fullmatch(text) is not None


async def named_lines(knowledge: Knowledge, names: Sequence[str]) -> dict[str, Lines | CodePlaneError]:
    """For each name its lines, or why there are none."""

    def look(snapshot: Snapshot) -> dict[str, Lines | CodePlaneError]:
        world = World(snapshot, knowledge.store, knowledge.modules)
        return {name: _lines(world, knowledge, name.removeprefix(PREFIX).strip()) for name in names}

    found = await settled(
        knowledge, look, lambda answer: {one.path for one in answer.values() if isinstance(one, Lines)}
    )
    if found.partial:
        for one in found.answer.values():
            if isinstance(one, NotFound):
                one.message += f" ({found.partial})"
    return found.answer


def _lines(world: World, knowledge: Knowledge, name: str) -> Lines | CodePlaneError:
    if not name:
        return InvalidArgument("no symbol is named", hint="write symbol:Class.method")
    try:
        found = targets(world, knowledge.store, name)
    except CodePlaneError as error:
        return error
    if not found:
        near = near_names(knowledge.store, name)
        advice = f"; did you mean {', '.join(near)}?" if near else ""
        return NotFound(f"nothing is defined as {name!r}{advice}", hint="search finds names: mode=symbol")
    chosen, _ = only_one(found)
    if chosen is None:
        listed = "; ".join(entry(one).text() for one in found[:_MAX_CANDIDATES])
        more = f"; and {len(found) - _MAX_CANDIDATES} more" if len(found) > _MAX_CANDIDATES else ""
        return InvalidArgument(
            f"{len(found)} definitions are called {name!r}: {listed}{more}", hint="ask again with one of the ids"
        )
    if chosen.definition is None:
        return NotFound(f"{name!r} has no definition of its own in {shown(chosen.bound.file)}")
    one, text = chosen.definition, world.text(chosen.bound.file)
    above = text[: one.start].split(b"\n")[:-1]
    start = len(above) + 1
    for line in reversed(above[-_MAX_DECORATORS:]):
        if not line.strip().startswith((b"@", b"#[")):
            break
        start -= 1
    return Lines(path=chosen.bound.file, start=start, end=one.end_line)
