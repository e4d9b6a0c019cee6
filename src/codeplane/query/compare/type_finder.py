"""Where the types are defined that a file names, in one state."""

from collections.abc import Callable, Sequence

from codeplane.query.compare.outline import Outline
from codeplane.query.compare.public_surface import PublicSurface

_KINDS = ("type", "interface", "class", "enum")
# Where the type is defined that a file names: an outline and the place there.
FindType = Callable[[Outline, str], tuple[Outline, int] | None]


def type_here(outline: Outline, name: str) -> tuple[Outline, int] | None:
    """The type of a name in the same file."""
    places = [place for kind in _KINDS for place in outline.named.get((-1, kind, name), ())]
    return (outline, places[0]) if len(places) == 1 else None


class TypeFinder:
    """Finds the definitions of types in one state, in the same file or through imports."""

    def __init__(self, changed: Sequence[Outline | None], surface: PublicSurface | None) -> None:
        self._outlines = {outline.path: outline for outline in changed if outline is not None}
        self._surface = surface

    def find(self, outline: Outline, name: str) -> tuple[Outline, int] | None:
        """The outline that defines the type a file calls by a name, and its place there."""
        found = type_here(outline, name)
        if found is not None or self._surface is None:
            return found
        named = self._surface.type_named(outline.path, name)
        home = self._outline(named[0]) if named is not None else None
        return type_here(home, named[1]) if named is not None and home is not None else None

    def _outline(self, path: str) -> Outline | None:
        if path not in self._outlines and self._surface is not None:
            facts, text = self._surface.facts(path), self._surface.text(path)
            if facts is None or text is None:
                return None
            self._outlines[path] = Outline(path, text, facts)
        return self._outlines.get(path)
