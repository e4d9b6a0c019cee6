"""Membership of folders in contexts: inner roots and folders such as node_modules are excluded."""

from collections.abc import Iterable

from codeplane.index.contexts.candidate import Candidate, parent, relative

UNIVERSAL = ("node_modules", "venv", "__pycache__", ".git", "target", "dist", "build", "vendor")
UNIVERSAL_GLOBS = tuple(f"**/{name}/**" for name in UNIVERSAL)
_NAMES = frozenset(UNIVERSAL)
_SPECIAL = str.maketrans({char: f"\\{char}" for char in "\\*?[]!# "})


def is_excluded(folder: str) -> bool:
    """Whether any segment of a folder is excluded by name."""
    return not _NAMES.isdisjoint(folder.split("/"))


class Territory:
    """The roots of each family; a folder belongs to the deepest root above it."""

    def __init__(self, roots: Iterable[tuple[str, str]]) -> None:
        self._roots: dict[str, set[str]] = {}
        for family, root in roots:
            self._roots.setdefault(family, set()).add(root)

    def root_of(self, folder: str, family: str) -> str | None:
        """The root that owns a family's files in a folder, or None."""
        roots = self._roots.get(family)
        if roots is None:
            return None
        while folder not in roots:
            outer, _, name = folder.rpartition("/")
            if not folder or name in _NAMES:
                return None
            folder = outer
        return folder


def exclude_specs(candidates: Iterable[Candidate]) -> dict[tuple[str, str], tuple[str, ...]]:
    """The exclude globs of each (family, root): the universal ones, and one for each candidate inside.

    Every candidate punches, whatever became of it: the files of a detached one belong to no context around it.
    """
    listed = sorted({(each.family, each.root) for each in candidates})
    specs: dict[tuple[str, str], list[str]] = {key: list(UNIVERSAL_GLOBS) for key in listed}
    for family, root in listed:
        above = root
        while above:
            above = parent(above)
            if (outer := specs.get((family, above))) is not None:
                outer.append(f"{escape(relative(root, above))}/**")
    return {key: tuple(spec) for key, spec in specs.items()}


def escape(folder: str) -> str:
    """Escape a folder's name as a literal glob."""
    return folder.translate(_SPECIAL)
