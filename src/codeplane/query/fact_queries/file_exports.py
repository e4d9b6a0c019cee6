"""The names a file exports: those it lists, or those its language exports by how they are declared."""

from collections.abc import Iterator

from msgspec import Struct

from codeplane.code.entity import Bound
from codeplane.code.languages.registry import LANGUAGES
from codeplane.code.resolve.resolver import Resolver
from codeplane.code.resolve.world import World
from codeplane.query.compare.outline import Entity, Outline
from codeplane.query.compare.visibility import visibility_of

_BY_DECLARATION = frozenset({"capital", "modifier", "pub"})
_MEMBERS = frozenset({"enum_member", "field", "method"})


class FileExport(Struct, frozen=True, kw_only=True):
    """An exported name; `position` is that of its definition in the facts of the file, -1 where none is known."""

    name: str
    local: str
    source: str
    evidence: str
    position: int = -1


def file_exports(world: World, path: str) -> list[FileExport]:
    """Return the names a file exports, in their order."""
    facts = world.facts(path)
    if facts is None:
        return []
    visible = LANGUAGES[facts.language].contract.visible
    if visible in _BY_DECLARATION and not facts.exports:
        return list(_declared_exports(Outline(path, world.text(path), facts), capital=visible == "capital"))
    return [
        FileExport(name=export.name, local=export.local, source=export.source, evidence=export.evidence)
        for export in facts.exports
    ]


def definition_of(resolver: Resolver, path: str, export: FileExport) -> tuple[str, int]:
    """Return the file and the position of the definition that an exported name means; -1 where it is not one."""
    if export.position >= 0:
        return path, export.position
    meant = [entity for entity in resolver.export(path, export.name) if isinstance(entity, Bound)]
    rows = resolver.definitions(meant[0]) if len(meant) == 1 else []
    return (meant[0].file, rows[0][0]) if rows else (path, -1)


def _declared_exports(outline: Outline, *, capital: bool) -> Iterator[FileExport]:
    """Yield what the declarations outside of types export; a capital letter does so in programs too."""
    for place, entity in enumerate(outline.entities):
        if entity.kind in _MEMBERS or not _is_outermost(outline, entity):
            continue
        if entity.kind == "export":
            imported, _, source = entity.source.partition(" ")
            name = "*" if entity.name.startswith("* from ") else entity.name
            yield FileExport(name=name, local=imported, source=source, evidence="re_export")
        elif entity.name[:1].isupper() if capital else visibility_of(outline, place) == "public":
            yield FileExport(
                name=entity.name, local=entity.name, source="", evidence="declared", position=entity.position
            )


def _is_outermost(outline: Outline, entity: Entity) -> bool:
    while entity.parent >= 0:
        entity = outline.entities[entity.parent]
        if entity.kind != "namespace":
            return False
    return True
