"""The lines of a definition, found by its name or id."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from codeplane.code.resolve.world import World
from codeplane.index.files.paths import shown
from codeplane.index.snapshot import Snapshot
from codeplane.kernel.errors import CodePlaneError, InvalidArgument, NotFound
from codeplane.query.consistent_read import read_consistently
from codeplane.query.explain.explain import entry, near_names, only_one
from codeplane.query.knowledge import Knowledge
from codeplane.query.search.symbols import targets

PREFIX = "symbol:"
_UID = re.compile(r"[0-9a-f]{16}")
_MAX_CANDIDATES = 10
_MAX_DECORATORS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """The lines of a definition with its decorators, both ends included."""

    path: str
    start: int
    end: int


def is_name(text: str) -> bool:
    """Whether a text names a definition: symbol:Class.method, or an id."""
    return text.startswith(PREFIX) or _UID.fullmatch(text) is not None


async def named_lines(knowledge: Knowledge, names: Sequence[str]) -> dict[str, Lines | CodePlaneError]:
    """The lines of each name, or the error."""

    def look(snapshot: Snapshot) -> dict[str, Lines | CodePlaneError]:
        world = World(snapshot, knowledge.store, knowledge.modules)
        return {name: _lines(world, knowledge, name.removeprefix(PREFIX).strip()) for name in names}

    read = await read_consistently(
        knowledge, look, lambda answer: {lines.path for lines in answer.values() if isinstance(lines, Lines)}
    )
    if read.partial:
        for lines in read.answer.values():
            if isinstance(lines, NotFound):
                lines.message += f" ({read.partial})"
    return read.answer


def _lines(world: World, knowledge: Knowledge, name: str) -> Lines | CodePlaneError:
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
    if chosen is None:
        listed = "; ".join(entry(target).text() for target in candidates[:_MAX_CANDIDATES])
        more = f"; and {len(candidates) - _MAX_CANDIDATES} more" if len(candidates) > _MAX_CANDIDATES else ""
        return InvalidArgument(
            f"{len(candidates)} definitions are called {name!r}: {listed}{more}", hint="ask again with one of the ids"
        )
    if chosen.definition is None:
        return NotFound(f"{name!r} has no definition of its own in {shown(chosen.bound.file)}")
    target, text = chosen.definition, world.text(chosen.bound.file)
    above = text[: target.start].split(b"\n")[:-1]
    start = len(above) + 1
    for line in reversed(above[-_MAX_DECORATORS:]):
        if not line.strip().startswith((b"@", b"#[")):
            break
        start -= 1
    return Lines(path=chosen.bound.file, start=start, end=target.end_line)
