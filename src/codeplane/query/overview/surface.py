"""What a repository takes from outside and what it gives: imports of others' modules, and names exported."""

import time
from collections import Counter
from collections.abc import Iterable

from codeplane.code.languages.registry import LANGUAGES
from codeplane.code.model import Facts
from codeplane.code.resolve.entity import Bound
from codeplane.code.resolve.resolver import Resolver
from codeplane.code.resolve.world import World
from codeplane.index.fact_store import FactStore
from codeplane.index.files.paths import shown
from codeplane.index.path_kinds import is_test
from codeplane.kernel.counted import counted
from codeplane.kernel.operation import Result

MAX_MODULES = 100
MAX_EXPORTS = 200
_MAX_PACKAGE = 100
_FOR_SEC = 3.0
_FRONTS = ("__init__.py", "__init__.pyi", "index.js", "index.ts", "index.tsx", "index.mjs", "lib.rs", "mod.rs")


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
        cut = "" if self.complete else f"; only the first {counted(self.files, 'file')} looked at"
        looked = f"{counted(self.files, 'file')} without tests, {counted(self.import_count, 'import')} of any kind{cut}"
        return f"external modules: {listed}{more} (imported by {self.importing_files:,} of {looked})"


class PublicName(Result):
    """A name a package gives away."""

    name: str
    path: str
    def_uid: str | None = None
    certainty: str
    evidence: str | None = None


def dependencies(world: World, paths: Iterable[str]) -> Dependencies:
    """What files other than tests import from outside, for as long as there is time."""
    counts: Counter[str] = Counter()
    imports = files = importing = 0
    complete, until = True, time.monotonic() + _FOR_SEC
    # What only tests import is not what the program needs.
    for path in sorted(path for path in paths if not is_test(path)):
        if time.monotonic() > until:
            complete = False
            break
        facts = world.facts(path)
        if facts is None:
            continue
        files += 1
        imports += len(facts.imports)
        named = {name for one in facts.imports if (name := _outside(world, facts, path, one.source))}
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


def public_names(world: World, store: FactStore, paths: Iterable[str]) -> tuple[list[PublicName], int]:
    """What packages give by their front files, nearest to the root first; and how many there are."""
    resolver = Resolver(world)
    fronts = [path for path in paths if path.rpartition("/")[2] in _FRONTS and not is_test(path)]
    found: list[PublicName] = []
    total = 0
    for path in sorted(fronts, key=lambda one: (one.count("/"), one)):
        facts = world.facts(path)
        if facts is None:
            continue
        explicit = {one.name: one.evidence for one in facts.exports if one.name and one.name != "*"}
        # Without a list of its own, what a Python package imports into its front is what it gives, probably.
        names = explicit or {one.local: "" for one in facts.imports if _passed_on(facts, one.source, one.local)}
        total += len(names)
        for name, evidence in names.items():
            if len(found) < MAX_EXPORTS:
                found.append(
                    PublicName(
                        name=name,
                        path=shown(path),
                        def_uid=_uid(resolver, store, path, name),
                        certainty="CERTAIN" if evidence else "UNCERTAIN",
                        evidence=evidence or "imported",
                    )
                )
    return found, total


def _passed_on(facts: Facts, source: str, local: str) -> bool:
    package = LANGUAGES[facts.language].contract.re_exports == "package"
    return package and source.startswith(".") and local not in ("", "*") and local[0] != "_"


def _uid(resolver: Resolver, store: FactStore, path: str, name: str) -> str | None:
    meant = [one for one in resolver.export(path, name) if isinstance(one, Bound)]
    if len(meant) != 1:
        return None
    positions = {position for position, _ in resolver.definitions(meant[0])}
    return next((one.uid for one in store.in_file(meant[0].file, limit=10_000) if one.position in positions), None)


def _outside(world: World, facts: Facts, path: str, source: str) -> str:
    """The package an import names when it is not of this repository and not the language's own."""
    source = source.strip("\"'`<>")
    if not source or source.startswith((".", "/", "#")):
        return ""
    modules = world.modules(facts)
    if modules is not None and modules.find(source, path):
        return ""
    package = modules.outside_package(source, path) if modules is not None else source
    return package if len(package) <= _MAX_PACKAGE else ""
