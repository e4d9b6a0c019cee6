"""Parsing of the answers that regopy writes; imports little, like its neighbours."""

import json


class RegoFailed(RuntimeError):
    """The policy gave no answer."""


class RegoUndefined(RegoFailed):
    """The policy's result is undefined."""


def parse_answer(output: str | bytes) -> object:
    """Return the single value of an answer, or raise RegoFailed."""
    try:
        found = json.loads(output)["expressions"]
    except (ValueError, KeyError, TypeError) as error:
        # An error inside a function comes as text that is not JSON, with a success status.
        raise RegoFailed("it ended without an answer") from error
    if not isinstance(found, list) or len(found) != 1:
        raise RegoUndefined("it does not say anything about this")
    value: object = found[0]
    return value
