"""Imports that only a deleted definition used, in a language that does not compile with unused ones."""

import re
from collections.abc import Iterator, Sequence

from codeplane.code.model import Import
from codeplane.code.resolve.occurrences import occurrences
from codeplane.code.resolve.resolver import Resolver
from codeplane.code.resolve.world import World
from codeplane.refactor.delete.sites import Site
from codeplane.refactor.draft import Edit
from codeplane.refactor.move.span import line_end, line_start, past_newline

_VERSION = re.compile(r"(?:^|[./-])v\d+$")
_WORD = re.compile(r"[A-Za-z_]\w*")
_ALONE_BEFORE = re.compile(rb"\s*(?:import\s+)?")
_ALONE_BEHIND = re.compile(rb"[ \t]*(?://[^\r\n]*)?")


def orphan_imports(world: World, resolver: Resolver, path: str, going: Sequence[Site]) -> Iterator[Edit]:
    """Yield the edits that remove the imports that nothing uses once some statements of a file are gone."""
    facts, text = world.facts(path), world.text(path)
    if facts is None or not world.language(facts).names.unused_imports_fail:
        return
    for import_ in facts.imports:
        names = _names(import_)
        places = [at for name in names for at in occurrences(text, name) if not facts.in_text(at)]
        places = [at for at in places if at not in (import_.local_at, import_.imported_at)]
        inside = [at for at in places if any(site.start <= at < site.end for site in going)]
        if not inside or len(inside) < len(places):
            continue
        span = _line_of(resolver, path, text, import_)
        if span is not None:
            why = "only what is deleted used it"
            yield Edit(path=path, start=span[0], end=span[1], new="", tier="STRONG", role="IMPORT", why=why)


def _names(import_: Import) -> set[str]:
    """Return the names that an import may be known by: its alias, or what its path ends in."""
    if import_.alias or import_.imported == "*":
        return {import_.alias} - {"", "_", "."}
    path = _VERSION.sub("", import_.source)
    last = path.rpartition("/")[2]
    found = {import_.local, last, last.removeprefix("go-"), last.removesuffix("-go"), last.removesuffix(".go")}
    return {name for name in found if _WORD.fullmatch(name)}


def _line_of(resolver: Resolver, path: str, text: bytes, import_: Import) -> tuple[int, int] | None:
    """Return the line of an import, if nothing else stands there."""
    node = resolver.syntax.node(path, import_.at, import_.at + 1)
    while node is not None and node.type != "import_spec":
        node = node.parent
    if node is None:
        return None
    start, end = line_start(text, node.start_byte), line_end(text, node.end_byte)
    before, behind = text[start : node.start_byte], text[node.end_byte : end]
    if _ALONE_BEFORE.fullmatch(before) is None or _ALONE_BEHIND.fullmatch(behind) is None:
        return None
    return start, past_newline(text, end)
