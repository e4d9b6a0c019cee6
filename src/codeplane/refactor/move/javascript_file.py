"""What a move of modules changes in one JavaScript or TypeScript file: the sources of its imports and exports."""

import re

from codeplane.code.facts.model import Facts
from codeplane.code.languages.javascript.modules import JavaScriptModules
from codeplane.code.resolve.world import World
from codeplane.refactor.draft import Danger, Edit
from codeplane.refactor.move.relocation import Relocation
from codeplane.refactor.move.specifiers import respecified

_PATH = re.compile(rb"""(['"`])\.{1,2}/[^'"`\r\n]{0,300}\1""")
_MOCK = re.compile(
    rb"""\b(?:mock|unmock|doMock|dontMock|unstable_mockModule|importActual|importMock|requireActual|requireMock|resolve)"""
    rb"""\s*(?:<[^>\n]*>)?\(\s*(?:import\(\s*)?((['"`])[^'"`\r\n]{1,300}\2)"""
)


def javascript_file(
    world: World, relocation: Relocation, before: JavaScriptModules, path: str
) -> tuple[list[Edit], list[Danger]]:
    """The edits of one file: sources of imports and exports are certain, what is said elsewhere is proposed."""
    facts = world.facts(path)
    if facts is None:
        return [], []
    text = world.text(path)
    sources = _sources(facts, text)
    edits: list[Edit] = []
    dangers: list[Danger] = []
    said = {one.start(): one.end() for one in _PATH.finditer(text)}
    said |= {one.start(1): one.end(1) for one in _MOCK.finditer(text)}
    for opened, closed in sorted((said | sources).items()):
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
        new = respecified(relocation, source, path, module)
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
    """The strings, with their quotes, that say what imports and exports are taken from."""
    strings = {start for start, _ in facts.texts.tolist()}
    found: dict[int, int] = {}
    taken = {(one.at, one.source) for one in facts.imports} | {(one.at, one.source) for one in facts.exports}
    for at, source in sorted(one for one in taken if one[1]):
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
