"""Other names of types: a header that says one for the type that it names means the same."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from codeplane.query.compare.header import Header
from codeplane.query.compare.outline import Outline

# By the folder of a package and the name.
Aliases = Mapping[tuple[str, str], str]
_MAX_DEPTH = 5


def aliases_of(outlines: Sequence[Outline | None]) -> Aliases:
    """Return the aliases that some files define, each with the type that it names."""
    found: dict[tuple[str, str], str] = {}
    for outline in outlines:
        if outline is None or not outline.rules.type_aliases:
            continue
        for place, entity in enumerate(outline.entities):
            if entity.kind == "type" and entity.parent < 0:
                header = outline.parts(place).header
                if header.rest.startswith("= ") and not header.generics:
                    found[_folder(outline), entity.name] = header.rest.removeprefix("= ")
    return found


def without_aliases(header: Header, outline: Outline, aliases: Aliases) -> Header:
    """Return a header with the types that its aliases name, each written in the one way of its language."""
    canonical = outline.rules.canonical_type
    if not outline.rules.type_aliases and canonical is None:
        return header
    folder = _folder(outline)

    def resolve_aliases(text: str) -> str:
        text = _replace_aliases(text, folder, aliases) if outline.rules.type_aliases else text
        return canonical(text) if canonical is not None else text

    parameters = header.parameters
    if parameters is not None:
        parameters = tuple(replace(parameter, type=resolve_aliases(parameter.type)) for parameter in parameters)
    return replace(
        header,
        parameters=parameters,
        returns=resolve_aliases(header.returns),
        rest=resolve_aliases(header.rest),
    )


def names_outside(before: str, after: str, old: Outline | None, new: Outline | None) -> bool:
    """Whether two types are names of one third-party package, where either may stand for the other."""
    sides = [text.split(" ") for text in (before, after)]
    if old is None or new is None or not new.rules.type_aliases or before == after:
        return False
    if any(len(words) != 3 or words[1] != "." for words in sides):
        return False
    sources = [_source(outline, words[0]) for outline, words in ((old, sides[0]), (new, sides[1]))]
    # What the language brings along has a path without a host, and keeps its types apart.
    return sources[0] == sources[1] and "." in sources[0].partition("/")[0]


def _source(outline: Outline, package: str) -> str:
    """What a file imports under a name."""
    imports = outline.facts.imports if outline.facts is not None else ()
    return next((item.source for item in imports if package in (item.local, item.source.rpartition("/")[2])), "")


def _replace_aliases(text: str, folder: str, aliases: Aliases) -> str:
    for _ in range(_MAX_DEPTH):
        words = text.split(" ")
        # A name behind a dot is one of another package.
        found = [
            aliases.get((folder, word), word) if at == 0 or words[at - 1] != "." else word
            for at, word in enumerate(words)
        ]
        if found == words:
            break
        text = " ".join(found)
    return text


def _folder(outline: Outline) -> str:
    return outline.path.rpartition("/")[0]
