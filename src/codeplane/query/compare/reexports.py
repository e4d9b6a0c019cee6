"""Python packages that give away what their private modules define: who uses the package uses that."""

from collections.abc import Callable, Iterator, Mapping

from codeplane.code.model import Facts

_DEEPEST = 4
Known = Callable[[str], Facts | None]


class Passing:
    """Says whether a name of a private module is to be had from a package that is not."""

    def __init__(self, changed: Mapping[str, Facts], known: Known) -> None:
        """`changed` are the files of one state that differ; `known` knows the others."""
        self._changed = changed
        self._known = known

    def is_given(self, path: str, name: str, depth: int = 0) -> bool:
        """Whether a package around a module, or one around that, gives a name of it away."""
        if depth >= _DEEPEST or not path.endswith(".py"):
            return False
        for folder, facts in self._around(path):
            for local in self._called(facts, folder, path, name):
                if local.startswith("_"):
                    continue
                if not is_private(folder) or self.is_given(f"{folder}/__init__.py", local, depth + 1):
                    return True
        return False

    def still_gives(self, path: str, name: str) -> bool:
        """Whether a package around a module still has a name, wherever it is from."""
        for folder, facts in self._around(path):
            if is_private(folder):
                continue
            if any(one.local == name and one.scope == 0 for one in facts.imports):
                return True
            if any(one.name == name and one.container < 0 for one in facts.definitions):
                return True
            if any(one.name == name for one in facts.exports):
                return True
        return False

    def _around(self, path: str) -> Iterator[tuple[str, Facts]]:
        """The packages a module is in, from the nearest."""
        folder = path.rpartition("/")[0]
        if path.endswith("/__init__.py"):
            folder = folder.rpartition("/")[0]
        while folder:
            place = f"{folder}/__init__.py"
            facts = self._changed.get(place) or self._known(place)
            if facts is not None:
                yield folder, facts
            folder = folder.rpartition("/")[0]

    @staticmethod
    def _called(facts: Facts, folder: str, path: str, name: str) -> Iterator[str]:
        """What a package calls a name that it takes from a module in it."""
        inside = path.removeprefix(f"{folder}/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        whole = f"{folder.replace('/', '.')}.{inside}"
        for one in facts.imports:
            if one.scope != 0 or one.imported not in (name, "*"):
                continue
            if one.source == f".{inside}" or one.source == whole or whole.endswith(f".{one.source}"):
                yield name if one.imported == "*" else one.local


def is_private(path: str) -> bool:
    """Whether the names of a file and its folders say that it is nobody else's."""
    return any(part.startswith("_") and not part.startswith("__") for part in path.split("/"))
