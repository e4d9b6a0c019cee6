"""External modules that a repository imports."""

import re
import time
from collections import Counter
from collections.abc import Iterable

from codeplane.code.languages.registry import PROJECT_FAMILIES
from codeplane.code.model import Facts
from codeplane.code.resolve.world import World
from codeplane.index.path_kinds import is_test, is_vendored
from codeplane.kernel.operation import Result
from codeplane.kernel.plural import plural

MAX_MODULES = 100
_FOR_SEC = 3.0
_MAX_PACKAGE = 100
_TYPES = re.compile(r"(?:\.[A-Z]\w*)+$")
# What languages bring along whose imports name packages, not files.
_BROUGHT = {language: family.brings for family in PROJECT_FAMILIES if family.in_types for language in family.languages}


class Dependencies(Result):
    """Modules that are not of this repository, most imported first; the language's own are left out.

    `import_count` counts every import of the files looked at, of their own repository too; `importing_files` those
    files that import from outside.
    """

    external_modules: tuple[str, ...]
    import_count: int
    files: int
    importing_files: int
    complete: bool = True

    def text(self) -> str:
        listed = ", ".join(self.external_modules[:30]) or "none"
        more = f" and {len(self.external_modules) - 30} more" if len(self.external_modules) > 30 else ""
        cut = "" if self.complete else f"; only the first {plural(self.files, 'file')} looked at"
        looked = f"{plural(self.files, 'file')} without tests, {plural(self.import_count, 'import')} of any kind{cut}"
        return f"external modules: {listed}{more} (imported by {self.importing_files:,} of {looked})"


def dependencies(world: World, paths: Iterable[str]) -> Dependencies:
    """External imports of files other than tests, within a time limit."""
    counts: Counter[str] = Counter()
    imports = files = importing = 0
    complete, until = True, time.monotonic() + _FOR_SEC
    # What only tests or third-party packages import is not what the program itself names.
    looked_at = sorted(path for path in paths if not is_test(path) and not is_vendored(path))
    own = _OwnPackages(looked_at)
    for path in looked_at:
        if time.monotonic() > until:
            complete = False
            break
        facts = world.facts(path)
        if facts is None:
            continue
        files += 1
        imports += len(facts.imports)
        own.add(facts)
        named = {name for item in facts.imports if (name := _outside(world, facts, path, item.source))}
        counts.update(named)
        importing += bool(named)
    counts = Counter({name: count for name, count in counts.items() if name not in own})
    ranked = sorted(counts, key=lambda name: (-counts[name], name))
    return Dependencies(
        external_modules=tuple(ranked[:MAX_MODULES]),
        import_count=imports,
        files=files,
        importing_files=importing,
        complete=complete,
    )


class _OwnPackages:
    """The packages of this repository where imports name packages: those of folders, and namespaces."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._folders = frozenset(path.rpartition("/")[0] for path in paths)
        self._namespaces: set[str] = set()
        self._in_packages = False

    def add(self, facts: Facts) -> None:
        """Take the namespaces of a file."""
        if facts.language in _BROUGHT:
            self._in_packages = True
            self._namespaces |= {each.name for each in facts.definitions if each.kind == "namespace"}

    def __contains__(self, package: object) -> bool:
        if not self._in_packages or not isinstance(package, str):
            return False
        # What is written large is a type, with others inside.
        package = _TYPES.sub("", package)
        below, folder = f"{package}.", package.replace(".", "/")
        return any(name == package or name.startswith(below) for name in self._namespaces) or any(
            each == folder or each.endswith(f"/{folder}") for each in self._folders
        )


def _outside(world: World, facts: Facts, path: str, source: str) -> str:
    """The external package an import names, or an empty string."""
    source = source.strip("\"'`<>")
    if not source or source.startswith((".", "/", "#", "$")):
        return ""
    if source.partition(".")[0] in _BROUGHT.get(facts.language, ()):
        return ""
    modules = world.modules(facts)
    if modules is not None and not all(map(is_vendored, modules.find(source, path))):
        return ""
    package = modules.outside_package(source, path) if modules is not None else source
    return package if len(package) <= _MAX_PACKAGE else ""
