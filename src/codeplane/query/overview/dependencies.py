"""External modules that a repository imports."""

import time
from collections import Counter
from collections.abc import Iterable

from codeplane.code.model import Facts
from codeplane.code.resolve.world import World
from codeplane.index.path_kinds import is_test, is_vendored
from codeplane.kernel.operation import Result
from codeplane.kernel.plural import plural

MAX_MODULES = 100
_FOR_SEC = 3.0
_MAX_PACKAGE = 100


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
    for path in sorted(path for path in paths if not is_test(path) and not is_vendored(path)):
        if time.monotonic() > until:
            complete = False
            break
        facts = world.facts(path)
        if facts is None:
            continue
        files += 1
        imports += len(facts.imports)
        named = {name for item in facts.imports if (name := _outside(world, facts, path, item.source))}
        counts.update(named)
        importing += bool(named)
    ranked = sorted(counts, key=lambda name: (-counts[name], name))
    return Dependencies(
        external_modules=tuple(ranked[:MAX_MODULES]),
        import_count=imports,
        files=files,
        importing_files=importing,
        complete=complete,
    )


def _outside(world: World, facts: Facts, path: str, source: str) -> str:
    """The external package an import names, or an empty string."""
    source = source.strip("\"'`<>")
    if not source or source.startswith((".", "/", "#")):
        return ""
    modules = world.modules(facts)
    if modules is not None and not all(map(is_vendored, modules.find(source, path))):
        return ""
    package = modules.outside_package(source, path) if modules is not None else source
    return package if len(package) <= _MAX_PACKAGE else ""
