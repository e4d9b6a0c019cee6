"""A task's limits against each other: what one of them gives more than another."""

from codeplane.kernel.config import TaskLimits

_WORDS = {"max_mutations": "mutations", "max_test_runs": "test runs", "max_duration_sec": "seconds"}


def exceeding(wanted: TaskLimits, given: TaskLimits) -> list[str]:
    """Where `wanted` is more than was given, in words; nothing when it is the same or less."""
    asked, had = wanted.model_dump(), given.model_dump()
    return [f"{_WORDS[name]} {had[name]} → {asked[name]}" for name in _WORDS if asked[name] > had[name]]


def told(limits: TaskLimits) -> str:
    """All of them in one line."""
    amounts = limits.model_dump()
    return ", ".join(f"{amounts[name]} {word}" for name, word in _WORDS.items())
