"""What classes have from the classes that they build on, now."""

import re
from collections.abc import Iterable, Mapping, Sequence

from codeplane.query.compare.outline import Outline
from codeplane.query.compare.pairing import Pair

_KINDS = ("class", "interface", "trait")
_MOST_ABOVE = 20
Located = tuple[Outline, int]


class Inheritance:
    """The changed classes of the later state by name, and those they build on, as far as those have changed."""

    def __init__(self, outlines: Iterable[Outline], pairs: Sequence[Pair]) -> None:
        """`pairs` say where classes are now that were in another file."""
        self._classes: dict[str, list[Located]] = {}
        for outline in outlines:
            for place, entity in enumerate(outline.entities):
                if entity.kind in _KINDS:
                    self._classes.setdefault(entity.name, []).append((outline, place))
        self._now: Mapping[tuple[str, int], Located] = {
            (pair.old.path, pair.old_place): (pair.new, pair.new_place)
            for pair in pairs
            if pair.old is not None and pair.new is not None
        }

    def has(self, old: Outline, parent: int, name: str) -> bool:
        """Whether a class has a member of this name now, from what it builds on."""
        own = old.entities[parent]
        now = self._now.get((old.path, parent))
        around = [located for located in self._classes.get(own.name, ()) if located[0].path == old.path]
        around += [now] if now is not None and now not in around else []
        builtins = old.rules.builtins
        if around and builtins is not None and builtins.has_member(old.rules.implied_base, name):
            return True
        waiting = list(around)
        looked: set[tuple[str, int]] = set()
        while waiting and len(looked) < _MOST_ABOVE:
            outline, place = waiting.pop()
            if (outline.path, place) in looked:
                continue
            looked.add((outline.path, place))
            is_own = (outline, place) in around
            if not is_own and any(outline.entities[child].name == name for child in outline.children.get(place, ())):
                return True
            for base in outline.parts(place).header.bases if outline.known else ():
                if builtins is not None and builtins.has_member(library_name(outline, base), name):
                    return True
            waiting += self.above(outline, place)
        return False

    def is_inherited(self, outline: Outline, place: int, name: str) -> bool:
        """Whether a class that this one builds on has a member of a name."""
        waiting, looked = self.above(outline, place), set[tuple[str, int]]()
        while waiting and len(looked) < _MOST_ABOVE:
            above, at = waiting.pop()
            if (above.path, at) in looked:
                continue
            looked.add((above.path, at))
            if any(above.entities[child].name == name for child in above.children.get(at, ())):
                return True
            waiting += self.above(above, at)
        return False

    def bases_above(self, outline: Outline, place: int) -> list[tuple[Outline, str]]:
        """The bases that the base classes of a class name, each in its file."""
        found: list[tuple[Outline, str]] = []
        waiting = self.above(outline, place)
        looked: set[tuple[str, int]] = set()
        while waiting and len(looked) < _MOST_ABOVE:
            above, at = waiting.pop()
            if (above.path, at) not in looked:
                looked.add((above.path, at))
                found += [(above, base) for base in above.parts(at).header.bases]
                waiting += self.above(above, at)
        return found

    def above(self, outline: Outline, place: int) -> list[Located]:
        """The base classes of a class, from its own file or the module they are imported from."""
        classes: list[Located] = []
        facts = outline.facts
        for base in outline.parts(place).header.bases if facts is not None else ():
            words = [word for word in re.split(r"[\[(<=]", base)[0].split(" ") if word.isidentifier()]
            if not words or facts is None:
                continue
            source = next((item for item in facts.imports if item.local == words[0] and item.scope == 0), None)
            if source is None:
                # Files of one package may name each other's classes without an import.
                here, folder = outline.path, outline.path.rpartition("/")[0]
                is_shared = outline.rules.module == "folder"
                classes += [
                    located
                    for located in self._classes.get(words[-1], ())
                    if located[0].path == here or (is_shared and located[0].path.rpartition("/")[0] == folder)
                ]
                continue
            wanted = words[-1] if len(words) > 1 else source.imported
            modules = {re.split(r"[./:]", source.source)[-1], source.imported} if len(words) > 1 else set()
            modules |= {re.split(r"[./:]", source.source)[-1]}
            classes += [located for located in self._classes.get(wanted, ()) if stem_of(located[0].path) in modules]
        return classes


def library_name(outline: Outline, base: str) -> str:
    """The dotted name of a class that a file names and does not define, without type arguments."""
    name = re.split(r"[\[<(=]", base)[0].replace(" ", "")
    first, _, rest = name.partition(".")
    if any(entity.name == first for entity in outline.entities if entity.parent < 0):
        return ""
    for item in outline.facts.imports if outline.facts is not None else ():
        if item.scope == 0 and item.local == first:
            parts = (item.source, item.imported, rest)
            return ".".join(part for part in parts if part)
    return name


def stem_of(path: str) -> str:
    """The name a module is imported as."""
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    return folder.rpartition("/")[2] if stem in ("__init__", "index", "mod") else stem
