"""Uses of a name in files that could not be parsed, which no plan can see."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from codeplane.code.resolve.world import World
from codeplane.index.fact_store import FactStore
from codeplane.index.files.paths import shown
from codeplane.refactor.draft import Danger, Draft

UNPARSED_USE = "unparsed_use"
_MOST = 20
# Files that are imported by the name of their folder.
_BY_FOLDER = frozenset({"__init__", "index", "mod"})


def unparsed_uses(world: World, store: FactStore, draft: Draft) -> Iterator[Danger]:
    """Yield a danger for each unparsed file that contains the name of what is renamed, moved or deleted."""
    names = sorted(_names(draft))
    if not names:
        return
    pattern = re.compile(rb"\b(?:%s)\b" % b"|".join(re.escape(name.encode()) for name in names))
    found = 0
    for path in sorted(store.problems()):
        known = world.snapshot.files.get(path)
        if known is None or known.skipped is not None or world.facts(path) is not None:
            continue
        if place := pattern.search(world.text(path)):
            found += 1
            if found > _MOST:
                yield Danger(kind=UNPARSED_USE, what=f"and more than {_MOST} files that could not be parsed")
                return
            what = f"{shown(path)} could not be parsed, and says {place[0].decode(errors='replace')}"
            yield Danger(kind=UNPARSED_USE, what=what, path=path, offset=place.start())


def _names(draft: Draft) -> set[str]:
    """Return the names that a use would contain."""
    if draft.word:
        return {draft.word}
    paths = [PurePosixPath(path) for path in (*(move.path for move in draft.moves), *draft.removes)]
    return {path.parent.name if path.stem in _BY_FOLDER else path.stem for path in paths} - {""}
