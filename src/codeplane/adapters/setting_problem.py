"""Problems with settings, described for people."""

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from pydantic_core import ErrorDetails

from codeplane.kernel.errors import ConfigInvalid
from codeplane.kernel.json import JsonValue

_KINDS = {
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "string_type": "must be text (in quotes where YAML would read something else)",
    "tuple_type": "must be a list",
    "model_type": "must be a section of `key: value` lines",
}
_BOUNDS = {
    "greater_than_equal": ("at least", "ge"),
    "greater_than": ("more than", "gt"),
    "less_than_equal": ("at most", "le"),
    "less_than": ("less than", "lt"),
}
# Settings of earlier versions, and what holds without them.
REMOVED = {
    "approvals.elicit_risky": "was removed; shell commands and what destroys are never asked about in clients, so "
    "leave it out",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingProblem:
    """One problem and its location."""

    place: str
    key: str
    text: str

    def __str__(self) -> str:
        # Keys are shown as they were written, and may hold what would move a terminal's cursor.
        key = self.key[:100] if self.key.isprintable() else repr(self.key[:100])
        return f"{self.place}: {key}: {self.text}" if key else f"{self.place}: {self.text}"


def config_invalid(problems: Iterable[SettingProblem]) -> ConfigInvalid:
    """Return one ConfigInvalid for all problems."""
    found = list(problems)
    listed: list[JsonValue] = [{"place": each.place, "key": each.key, "problem": each.text} for each in found]
    return ConfigInvalid("; ".join(str(each) for each in found), details={"problems": listed})


def describe_problem(item: ErrorDetails, item_keys: tuple[str, ...]) -> str:
    """Describe a pydantic error in plain words."""
    kind, given, context = item["type"], item["input"], item.get("ctx", {})
    if kind == "extra_forbidden":
        near = difflib.get_close_matches(str(item["loc"][-1]), item_keys, n=1)
        return unknown_key_problem(near[0] if near else None, item_keys)
    if given is None:
        return "has no value; leave it out to have the default"
    if kind == "literal_error":
        # Levels are listed in both cases; one of them is enough to read.
        names = {name.lower(): name for name in reversed(re.findall(r"'([^']*)'", str(context["expected"])))}
        return f"must be one of {', '.join(reversed(names.values()))}, not {format_value(given)}"
    if kind in _BOUNDS:
        words, bound = _BOUNDS[kind]
        return f"must be {words} {context[bound]:g}, not {format_value(given)}"
    if kind in _KINDS:
        return f"{_KINDS[kind]}, not {format_value(given)}"
    return f"{item['msg']}, not {format_value(given)}"


def unknown_key_problem(near: str | None, known: Iterable[str]) -> str:
    """Return the problem of an unknown key, with the nearest known one."""
    return f"unknown key; did you mean {near!r}?" if near else f"unknown key; there are: {', '.join(sorted(known))}"


def format_value(value: object) -> str:
    """Format a value as its author wrote it."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return f"the text {value[:60]!r}"
        case dict():
            return "a section"
        case list() | tuple():
            return "a list"
        case _:
            return str(value)[:60]
