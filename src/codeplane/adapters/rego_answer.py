"""What the library writes as the answer to a question, and what it comes to; imports little, as all beside it."""

import json


class RegoFailed(RuntimeError):
    """A policy that gave no answer."""


class RegoUndefined(RegoFailed):
    """A policy that has nothing to say."""


def value_of(said: str | bytes) -> object:
    """The one value of an answer; RegoFailed when it has none."""
    try:
        found = json.loads(said)["expressions"]
    except (ValueError, KeyError, TypeError) as error:
        # An error inside a function comes as text that is no JSON, said to be fine.
        raise RegoFailed("it ended without an answer") from error
    if not isinstance(found, list) or len(found) != 1:
        raise RegoUndefined("it does not say anything about this")
    value: object = found[0]
    return value
