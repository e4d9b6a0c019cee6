"""Where the types are defined that a file names, in one state."""

from collections.abc import Callable, Mapping, Sequence

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

    def __init__(self, changed: Sequence[Outline | None], surfaces: Mapping[str, PublicSurface]) -> None:
        """`surfaces` are those of the packages, by family of languages."""
        self._outlines = {outline.path: outline for outline in changed if outline is not None}
        self._surfaces = surfaces

    def find(self, outline: Outline, name: str) -> tuple[Outline, int] | None:
        """The outline that defines the type a file calls by a name, and its place there."""
        found = type_here(outline, name)
        surface = self._surfaces.get(outline.language.family_name)
        if found is not None or surface is None or not outline.rules.package_entries or outline.rules.crates:
            return found
        named = surface.type_named(outline.path, name)
        home = self._outline(named[0], surface) if named is not None else None
        return type_here(home, named[1]) if named is not None and home is not None else None

    def _outline(self, path: str, surface: PublicSurface) -> Outline | None:
        if path not in self._outlines:
            facts, text = surface.facts(path), surface.text(path)
            if facts is None or text is None:
                return None
            self._outlines[path] = Outline(path, text, facts)
        return self._outlines.get(path)
