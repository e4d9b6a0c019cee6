"""The imports of files that are to be deleted."""

import re
import time
from collections.abc import Sequence

from codeplane.code.entity import Bound, Module
from codeplane.code.languages.registry import languages
from codeplane.code.resolve.references import Reference
from codeplane.code.resolve.resolver import Resolver
from codeplane.code.resolve.world import World
from codeplane.index.fact_store import FactStore
from codeplane.refactor.move.module_names import module_parts, modules_of

_WORD = re.compile(r"[\w$]+")


def find_importers(
    world: World, store: FactStore, gone: Sequence[str], root: str, deadline: float
) -> tuple[list[Reference], int, str]:
    """Return the imports of these files in other files, how many files were searched, and what was not searched."""
    going = set(gone)
    resolver = Resolver(world)
    found: dict[tuple[str, int], Reference] = {}
    candidates = sorted(_candidates(world, store, root, gone) - going)
    for count, path in enumerate(candidates):
        if time.monotonic() > deadline:
            return list(found.values()), count, f"time ran out before {path}"
        facts = world.facts(path)
        modules = world.modules(facts) if facts is not None else None
        if facts is None or modules is None:
            continue
        dotted = world.language(facts).names.dotted_modules
        for import_ in facts.imports:
            found_in = modules_of(world, import_.source, path) if dotted else modules.find(import_.source, path)
            places = set(found_in) & going
            if dotted and not found_in:
                continue
            meant = resolver.resolve_import(path, facts, import_) if import_.imported and not places else ()
            if places or any(isinstance(entity, Module) and entity.path in going for entity in meant):
                found.setdefault(
                    (path, import_.at),
                    Reference(path=path, offset=import_.at, tier="STRONG", role="IMPORT", receiver=""),
                )
        for export in facts.exports:
            if export.source and set(modules.find(export.source, path)) & going:
                at = export.at
                found.setdefault((path, at), Reference(path=path, offset=at, tier="STRONG", role="EXPORT", receiver=""))
    return list(found.values()), len(candidates), ""


def default_uses(world: World, store: FactStore, bound: Bound, deadline: float) -> list[Reference]:
    """Return the places in other files that take what a module gives by default, under any name but its own."""
    found: list[Reference] = []
    importers, _, _ = find_importers(world, store, [bound.file], bound.file, deadline)
    for reference in importers:
        facts = world.facts(reference.path)
        if facts is None:
            continue
        names_default = b"default" in world.text(reference.path)
        imports = [import_ for import_ in facts.imports if import_.at == reference.offset]
        taken = any(import_.imported == "default" and import_.local != bound.name for import_ in imports)
        whole = any(import_.imported in ("", "*") for import_ in imports) and names_default
        given = any(export.at == reference.offset and export.local == "default" for export in facts.exports)
        if taken or whole or given:
            found.append(reference)
    return found


def _candidates(world: World, store: FactStore, root: str, gone: Sequence[str]) -> set[str]:
    """Return the files that may import the root: by its last name, or from within its folder by dots."""
    names: set[str] = set()
    steps = module_parts(root)
    names.update(steps[-1:] if root.endswith((".py", ".pyi")) else [])
    stem = root.rpartition("/")[2].partition(".")[0]
    names.update([stem] if stem not in ("index", "__init__") else [stem, *root.split("/")[-2:-1]])
    found: set[str] = set()
    for name in names:
        words = _WORD.findall(name)
        found |= {path for path, _ in store.files_with(max(words, key=len))} if words else set()
    if stem in ("index", "__init__"):
        home = root.rpartition("/")[0]
        found |= {path for path in world.snapshot.files if not home or path.startswith(f"{home}/")}
    families = {language.family for path in gone if (language := languages().of(path)) is not None}
    return {
        path
        for path in found
        if path in world.snapshot.files and (known := languages().of(path)) is not None and known.family in families
    }
