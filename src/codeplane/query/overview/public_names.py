"""Public names: what packages export by their front files."""

from collections.abc import Iterable

from codeplane.code.entity import Bound
from codeplane.code.languages.registry import LANGUAGES
from codeplane.code.model import Facts
from codeplane.code.resolve.resolver import Resolver
from codeplane.code.resolve.world import World
from codeplane.index.fact_store import FactStore
from codeplane.index.files.paths import path_text
from codeplane.index.path_kinds import is_test
from codeplane.kernel.operation import Result

MAX_EXPORTS = 200
_FRONTS = ("__init__.py", "__init__.pyi", "index.js", "index.ts", "index.tsx", "index.mjs", "lib.rs", "mod.rs")


class PublicName(Result):
    """A name a package gives away."""

    name: str
    path: str
    def_uid: str | None = None
    certainty: str
    evidence: str | None = None


def public_names(world: World, store: FactStore, paths: Iterable[str]) -> tuple[list[PublicName], int]:
    """The exports of packages' front files, nearest to the root first; and their total."""
    resolver = Resolver(world)
    fronts = [path for path in paths if path.rpartition("/")[2] in _FRONTS and not is_test(path)]
    listed: list[PublicName] = []
    total = 0
    for path in sorted(fronts, key=lambda front: (front.count("/"), front)):
        facts = world.facts(path)
        if facts is None:
            continue
        explicit = {export.name: export.evidence for export in facts.exports if export.name and export.name != "*"}
        # Without a list of its own, what a Python package imports into its front is what it gives, probably.
        names = explicit or {item.local: "" for item in facts.imports if _is_reexport(facts, item.source, item.local)}
        total += len(names)
        for name, evidence in names.items():
            if len(listed) < MAX_EXPORTS:
                listed.append(
                    PublicName(
                        name=name,
                        path=path_text(path),
                        def_uid=_uid(resolver, store, path, name),
                        certainty="CERTAIN" if evidence else "UNCERTAIN",
                        evidence=evidence or "imported",
                    )
                )
    return listed, total


def _is_reexport(facts: Facts, source: str, local: str) -> bool:
    package = LANGUAGES[facts.language].contract.re_exports == "package"
    return package and source.startswith(".") and local not in ("", "*") and local[0] != "_"


def _uid(resolver: Resolver, store: FactStore, path: str, name: str) -> str | None:
    meant = [bound for bound in resolver.export(path, name) if isinstance(bound, Bound)]
    if len(meant) != 1:
        return None
    positions = {position for position, _ in resolver.definitions(meant[0])}
    return next(
        (bound.uid for bound in store.in_file(meant[0].file, limit=10_000) if bound.position in positions), None
    )
