"""Edits of one JavaScript or TypeScript file for moved modules: the sources of its imports and exports."""

import re

from codeplane.code.languages.javascript.modules import JavaScriptModules
from codeplane.code.model import Facts
from codeplane.code.resolve.world import World
from codeplane.refactor.draft import Danger, Edit
from codeplane.refactor.move.relocation import Relocation
from codeplane.refactor.move.specifiers import rewrite_specifier

_PATH = re.compile(rb"""(['"`])\.{1,2}/[^'"`\r\n]{0,300}\1""")
_MOCK = re.compile(
    rb"""\b(?:mock|unmock|doMock|dontMock|unstable_mockModule|importActual|importMock|requireActual|requireMock|resolve)"""
    rb"""\s*(?:<[^>\n]*>)?\(\s*(?:import\(\s*)?((['"`])[^'"`\r\n]{1,300}\2)"""
)


def plan_javascript_file(
    world: World, relocation: Relocation, before: JavaScriptModules, path: str
) -> tuple[list[Edit], list[Danger]]:
    """Return the edits of one file: sources of imports and exports are certain, other strings are proposed."""
    facts = world.facts(path)
    if facts is None:
        return [], []
    text = world.text(path)
    sources = _sources(facts, text)
    edits: list[Edit] = []
    dangers: list[Danger] = []
    strings = {match.start(): match.end() for match in _PATH.finditer(text)}
    strings |= {match.start(1): match.end(1) for match in _MOCK.finditer(text)}
    for opened, closed in sorted((strings | sources).items()):
        at, end = opened + 1, closed - 1
        source = text[at:end].decode("utf-8", "replace")
        stated = opened in sources
        places = before.find(source, path)
        if len(places) != 1:
            continue
        module = places[0]
        new_module = relocation.path(module)
        if new_module == module and relocation.path(path) == path:
            continue
        if relocation.javascript.find(source, relocation.path(path)) == (new_module,):
            continue
        new = rewrite_specifier(relocation, source, path, module)
        if new is None:
            what = f"{source} cannot be written so that it leads to {new_module}"
            dangers.append(Danger(kind="unresolved_import", what=what, path=path, offset=at))
            continue
        edits.append(
            Edit(
                path=path,
                start=at,
                end=end,
                new=new,
                tier="STRONG" if stated else "UNKNOWN",
                role="IMPORT" if stated else "STRING",
                why=f"{source} is {new} afterwards" if stated else "a string that leads to the module",
            )
        )
    return edits, dangers


def _sources(facts: Facts, text: bytes) -> dict[int, int]:
    """Return the spans of the source strings of imports and exports, with their quotes."""
    strings = {start for start, _ in facts.texts.tolist()}
    found: dict[int, int] = {}
    taken = {(import_.at, import_.source) for import_ in facts.imports} | {
        (export.at, export.source) for export in facts.exports
    }
    for at, source in sorted(source_at for source_at in taken if source_at[1]):
        written = source.encode()
        place = text.find(written, at)
        while place > 0:
            end = place + len(written)
            quote = text[place - 1 : place]
            if quote in (b"'", b'"', b"`") and quote == text[end : end + 1] and (place - 1 in strings or quote == b"`"):
                found[place - 1] = end + 1
                break
            place = text.find(written, end)
    return found
