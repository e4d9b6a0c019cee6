"""The public surfaces of the packages of both compared states."""

from collections.abc import Callable, Mapping

from codeplane.code.languages.module_layouts import MODULE_LAYOUTS
from codeplane.code.languages.registry import language_named
from codeplane.code.model import Facts
from codeplane.code.resolve.syntax_trees import SyntaxTrees
from codeplane.code.resolve.world import World
from codeplane.query.compare.crate_surface import crate_surface
from codeplane.query.compare.outline import Outline
from codeplane.query.compare.outline_loader import LoadedOutlines
from codeplane.query.compare.public_surface import PublicSurface

# Of families whose packages are more than lists of files.
_SURFACES = {"rust": crate_surface}


def surface_pairs(loaded: LoadedOutlines, world: World) -> Mapping[str, tuple[PublicSurface, PublicSurface]]:
    """By family, the surfaces before and now, where its packages say what they export."""
    outlines = [outline for file in loaded.files for outline in (file.old, file.new) if outline is not None]
    families = {outline.language.family_name for outline in outlines if outline.rules.package_entries}
    if not families:
        return {}
    gone = {file.path for file in loaded.every() if file.status == "deleted"}
    gone_before = {file.path for file in loaded.every() if file.status in ("added", "renamed")}
    before = {file.before for file in loaded.every() if file.status != "added"}
    now = {file.path for file in loaded.every() if file.status != "deleted"}
    known = world.snapshot.files.keys()
    old_paths = (known - gone_before) | before
    new_paths = (known - gone - (before - now)) | now
    old = {file.old.path: file.old for file in loaded.files if file.old is not None}
    new = {file.new.path: file.new for file in loaded.files if file.new is not None}
    return {
        family: (
            _surface(family, old_paths, loaded.old_manifests, old, world),
            _surface(family, new_paths, loaded.new_manifests, new, world),
        )
        for family in sorted(families)
    }


def _surface(
    family: str, paths: set[str], manifests: Mapping[str, bytes], changed: Mapping[str, Outline], world: World
) -> PublicSurface:
    """The surface of one state: what changed as it is there, the rest as it is indexed."""

    def text(path: str) -> bytes | None:
        if path in changed:
            return changed[path].text
        if path in manifests:
            return manifests[path]
        known = world.snapshot.files.get(path)
        return world.text(path) if known is not None and known.skipped is None else None

    def facts(path: str) -> Facts | None:
        return changed[path].facts if path in changed else world.facts(path)

    read: Callable[[str], bytes | None] = text
    make = _SURFACES.get(family)
    if make is not None:
        trees, language = SyntaxTrees(world), language_named(family)
        return make(paths, facts, text, lambda source: trees.parse(language, source))
    return PublicSurface(MODULE_LAYOUTS[family].find_all(paths, read), facts, text)
