"""A task's limits against each other: what one of them gives more than another."""

from codeplane.kernel.config import TaskLimits
from codeplane.kernel.json import JsonObject

_WORDS = {"max_mutations": "mutations", "max_test_runs": "test runs", "max_duration_sec": "seconds"}


def exceeding(wanted: TaskLimits, given: TaskLimits) -> list[str]:
    """Where `wanted` is more than was given, in words; nothing when it is the same or less."""
    asked, had = wanted.model_dump(), given.model_dump()
    return [f"{_WORDS[name]} {had[name]} → {asked[name]}" for name in _WORDS if asked[name] > had[name]]


def recorded(limits: TaskLimits) -> JsonObject:
    """The limits as the log keeps them."""
    return {
        "max_mutations": limits.max_mutations,
        "max_test_runs": limits.max_test_runs,
        "max_duration_sec": limits.max_duration_sec,
    }


def told(limits: TaskLimits) -> str:
    """All of them in one line."""
    amounts = limits.model_dump()
    return ", ".join(f"{amounts[name]} {word}" for name, word in _WORDS.items())
