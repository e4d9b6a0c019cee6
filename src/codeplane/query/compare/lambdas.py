"""Python's functions that are values: one with a name is a function to whoever calls it."""

from codeplane.query.compare.outline import Outline
from codeplane.query.compare.parameters import Parameter, parameters
from codeplane.query.compare.tokens import code_of


def called_with(outline: Outline, place: int) -> tuple[Parameter, ...] | None:
    """The parameters of a function or of `name = lambda …`; None for what is neither."""
    given = outline.parts(place).header.parameters
    definition = outline.entities[place].definition
    if given is not None or definition is None or outline.facts is None or not outline.rules.lambda_values:
        return given
    said = code_of(outline.facts, outline.text, [(definition.name_at, definition.end)])
    if said[1:3] != ["=", "lambda"] or ":" not in said:
        return None
    return parameters(said[3 : said.index(":")], outline.rules.shape)
