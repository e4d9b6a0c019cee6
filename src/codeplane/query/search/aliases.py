"""The other names that what was asked for is known by: `import a as b`, `export { a as b }`."""

from collections.abc import Iterable, Mapping

from codeplane.code.resolve.world import World
from codeplane.index.files.paths import shown
from codeplane.kernel.counted import counted

_TOLD = 5
_NO_NAMES = frozenset({"", "*", "default"})


def other_names(world: World, name: str, places: Mapping[str, Iterable[int]]) -> dict[str, list[str]]:
    """Each other name with the files that give it; `places` are where files take the name, or give it away."""
    found: dict[str, list[str]] = {}
    for path, offsets in places.items():
        facts, there = world.facts(path), frozenset(offsets)
        if facts is None:
            continue
        taken = [one.alias for one in facts.imports if one.imported == name and one.imported_at in there]
        given = [one.name for one in facts.exports if one.local == name]
        for other in dict.fromkeys((*taken, *given)):
            if other != name and other not in _NO_NAMES:
                found.setdefault(other, []).append(path)
    return found


def told(names: Mapping[str, list[str]]) -> str | None:
    """That uses under these names are not among those listed."""
    if not names:
        return None
    said = [
        f"{name} in {shown(paths[0]) if len(paths) == 1 else counted(len(paths), 'file')}"
        for name, paths in list(names.items())[:_TOLD]
    ]
    more = f" and {len(names) - _TOLD} more names" if len(names) > _TOLD else ""
    return f"also known as {', '.join(said)}{more}; uses under another name are not listed: mode=literal finds them"
