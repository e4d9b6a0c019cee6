"""Compares and describes the limits of tasks."""

from codeplane.kernel.config import TaskLimits
from codeplane.kernel.json import JsonObject

_WORDS = {"max_mutations": "mutations", "max_test_runs": "test runs", "max_duration_sec": "seconds"}


def raised_limits(wanted: TaskLimits, given: TaskLimits) -> list[str]:
    """The limits of `wanted` that are above those of `given`, in words."""
    wanted_amounts, given_amounts = wanted.model_dump(), given.model_dump()
    return [
        f"{_WORDS[name]} {given_amounts[name]} → {wanted_amounts[name]}"
        for name in _WORDS
        if wanted_amounts[name] > given_amounts[name]
    ]


def limits_to_json(limits: TaskLimits) -> JsonObject:
    """The limits as JSON for the log."""
    return {
        "max_mutations": limits.max_mutations,
        "max_test_runs": limits.max_test_runs,
        "max_duration_sec": limits.max_duration_sec,
    }


def describe_limits(limits: TaskLimits) -> str:
    """The limits in one line."""
    amounts = limits.model_dump()
    return ", ".join(f"{amounts[name]} {word}" for name, word in _WORDS.items())
