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
    if not outline.rules.type_aliases:
        return header
    folder = _folder(outline)

    def named(text: str) -> str:
        text = _named(text, folder, aliases)
        return canonical(text) if canonical is not None else text

    parameters = header.parameters
    if parameters is not None:
        parameters = tuple(replace(parameter, type=named(parameter.type)) for parameter in parameters)
    return replace(
        header,
        parameters=parameters,
        returns=named(header.returns),
        rest=named(header.rest),
    )


def _named(text: str, folder: str, aliases: Aliases) -> str:
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
