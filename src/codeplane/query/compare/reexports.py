"""Re-exports: names that packages or files export without defining them."""

from collections.abc import Callable, Iterator, Mapping, Set

from codeplane.code.languages.registry import LANGUAGES
from codeplane.code.model import Facts
from codeplane.query.compare.source_scan import checked_only_spans, is_passed_on

_DEEPEST = 4
Known = Callable[[str], Facts | None]


class PackageReexports:
    """Tells whether a public package re-exports a name of a private module."""

    def __init__(self, changed: Mapping[str, Facts], known: Known) -> None:
        """`changed` are the changed files of one state; `known` looks up the others."""
        self._changed = changed
        self._known = known

    def is_given(self, path: str, name: str, depth: int = 0) -> bool:
        """Whether a package above a module re-exports one of its names."""
        if depth >= _DEEPEST or not path.endswith(".py"):
            return False
        for folder, facts in self._around(path):
            for local in self._local_names(facts, folder, path, name):
                if local.startswith("_"):
                    continue
                if not is_private(folder) or self.is_given(f"{folder}/__init__.py", local, depth + 1):
                    return True
        return False

    def still_gives(self, path: str, name: str) -> bool:
        """Whether a package above a module still has a name, from anywhere."""
        for folder, facts in self._around(path):
            if is_private(folder):
                continue
            if any(item.local == name and item.scope == 0 for item in facts.imports):
                return True
            if any(definition.name == name and definition.container < 0 for definition in facts.definitions):
                return True
            if any(export.name == name for export in facts.exports):
                return True
        return False

    def _around(self, path: str) -> Iterator[tuple[str, Facts]]:
        """The packages above a module, nearest first."""
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
    def _local_names(facts: Facts, folder: str, path: str, name: str) -> Iterator[str]:
        """The local names of a package for a name imported from its module."""
        inside = path.removeprefix(f"{folder}/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        whole = f"{folder.replace('/', '.')}.{inside}"
        for item in facts.imports:
            if item.scope != 0 or item.imported not in (name, "*"):
                continue
            if item.source == f".{inside}" or item.source == whole or whole.endswith(f".{item.source}"):
                yield name if item.imported == "*" else item.local


def is_private(path: str) -> bool:
    """Whether a path is private by the name of a file or folder."""
    return any(part.startswith("_") and not part.startswith("__") for part in path.split("/"))


def reexported_names(facts: Facts, path: str, text: bytes, defined: Set[str]) -> dict[str, tuple[str, int]]:
    """The re-exported names of a file, each with its source and offset."""
    passed: dict[str, tuple[str, int]] = {}
    how = LANGUAGES[facts.language].contract.re_exports
    if how == "exports":
        taken = {import_.local for import_ in facts.imports if import_.scope == 0 and import_.local}
        for export in facts.exports:
            name = f"* from {export.source}" if export.name == "*" else export.name
            is_passed = export.source or export.local in taken or (export.local and export.local != export.name)
            if is_passed and name not in defined and name != "default":
                passed[name] = (f"{export.local} {export.source}", export.at)
    elif how == "package":
        listed = {export.name for export in facts.exports if export.evidence == "all"}
        package = path.rpartition("/")[2] == "__init__.py" and not listed
        unseen = checked_only_spans(text)
        for item in facts.imports:
            if any(start <= item.local_at < end for start, end in unseen) and item.local not in listed:
                continue
            given = item.local in listed or (package and item.imported and item.source.startswith("."))
            if item.scope == 0 and given and item.local not in defined and not item.local.startswith("_"):
                passed[item.local] = (f"{item.imported} {item.source}", item.local_at)
    elif how == "use":
        for item in facts.imports:
            name = item.local or item.imported or "*"
            if item.scope == 0 and name not in defined and is_passed_on(text, item.local_at):
                name = f"* from {item.source}" if name == "*" else name
                passed[name] = (f"{item.imported} {item.source}", item.local_at)
    return passed
